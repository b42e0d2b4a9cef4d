import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect } from 'vitest';
import { comparedFiles } from '../../../src/analysis/files/compared-files.ts';
import { FollowedFiles } from '../../../src/analysis/files/followed-files.ts';
import { type DrawnShell, drawnCalls, ranSession } from './drawn-commands.ts';

/** Runs drawn sessions, and holds each certain file of their records against the real one after each call. */
export function expectNoneCertainAndWrong(numRuns: number, seed: number): void {
  let certain = 0;
  const shells = fc.constantFrom<DrawnShell>('execute_bash', 'shell_command', 'Bash');
  fc.assert(
    fc.property(drawnCalls, shells, (calls, shell) => {
      const ran = ranSession(calls, shell);
      try {
        const { states } = FollowedFiles.of(ran.actions, ran.work);
        for (const call of calls.keys()) {
          const last = new Map(
            states.filter(({ change }) => change.call <= call).map(({ change }) => [change.path, change]),
          );
          for (const { path, status, sha256, why } of last.values()) {
            if (status !== 'certain') continue;
            certain++;
            const real = ran.contentAfter(call, path);
            const seen = real === null ? null : createHash('sha256').update(real).digest('hex');
            expect(sha256, `${path} after call ${call} (${why})`).toBe(seen);
          }
        }
      } finally {
        ran.end();
      }
    }),
    { numRuns, seed },
  );
  expect(certain).toBeGreaterThan(numRuns);
}

const drawnParts = fc.tuple(drawnCalls, drawnCalls, drawnCalls).map((parts) => parts.map((calls) => calls.slice(0, 4)));

/** Runs two drawn sessions that begin alike, and holds each claim about their files against the real ones. */
export function expectTrueComparisons(numRuns: number, seed: number): void {
  let claims = 0;
  const shells = fc.constantFrom<DrawnShell>('execute_bash', 'shell_command', 'Bash');
  fc.assert(
    fc.property(drawnParts, shells, ([begin = [], a = [], b = []], shell) => {
      const calls = [a, b].map((rest) => [...begin, ...rest]);
      const ran = calls.map((all) => ranSession(all, shell));
      try {
        const [one, two] = ran.map(({ actions, work }) => {
          const renamed = actions.map((action) => JSON.parse(JSON.stringify(action).replaceAll(work, '/home/w')));
          const workdir = { path: '/home/w', how: 'recorded' as const, why: '' };
          return { actions: renamed, workdir, states: FollowedFiles.of(renamed, '/home/w').states };
        });
        if (one === undefined || two === undefined) throw new Error('no sessions');
        const real = (side: number, after: number, path: string) =>
          after < 0
            ? null
            : (ran[side]?.contentAfter(after, path.replace('/home/w', ran[side].work))?.toString('latin1') ?? null);
        const found = new Map(comparedFiles(one, two).map((file) => [file.path, file.outcome]));
        for (const path of new Set([...one.states, ...two.states].map(({ change }) => change.path))) {
          const ends = calls.map((all, side) => real(side, all.length - 1, path));
          const starts = calls.map((_, side) => real(side, begin.length - 1, path));
          const outcome = found.get(path);
          if (outcome !== 'unsure') claims++;
          if (outcome === undefined) expect(ends[0], path).toBe(ends[1]);
          if (outcome === 'differs') expect(ends[0], path).not.toBe(ends[1]);
          if (outcome === 'only_a') expect(ends[1], path).toBe(starts[1]);
          if (outcome === 'only_b') expect(ends[0], path).toBe(starts[0]);
        }
      } finally {
        for (const one of ran) one.end();
      }
    }),
    { numRuns, seed },
  );
  expect(claims).toBeGreaterThan(numRuns / 2);
}
