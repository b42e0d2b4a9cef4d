import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect } from 'vitest';
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
        const { states } = new FollowedFiles(ran.actions, ran.work);
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
