// The histories of rollouts as read, against a count of the records themselves that uses nothing of the reader.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { contextTree, historyAt } from '../../../src/core/rollout/contexts.ts';
import type { Rollout } from '../../../src/core/rollout/rollout.ts';
import { type Recorded, recordedLines, sharedData } from '../../support/shared-data.ts';
import { rolloutsOf } from './rollouts-of.ts';

const home = join(sharedData, 'formats');
const linesOf = (file: string): Recorded[] => recordedLines(join(home, file));

const truths = linesOf('truth.jsonl');
const named = (pattern: RegExp): Recorded[] =>
  truths.filter(({ file, rollouts }) => pattern.test(file) && rollouts > 0);

const kindsIn = (rollouts: readonly Rollout[], kind: string): number =>
  rollouts.flatMap(({ contexts }) => contexts ?? []).filter((context) => context.kind === kind).length;

/** Each turn is in one history, and every history in the tree once. */
function isWhole(rollout: Rollout): void {
  const nodes = contextTree(rollout);
  expect(nodes.flatMap(({ turns }) => turns).toSorted((a, b) => a - b)).toEqual(
    rollout.turns.map(({ index }) => index),
  );
  expect(nodes.map(({ index }) => index).toSorted((a, b) => a - b)).toEqual(
    (rollout.contexts ?? [null]).map((_, index) => index),
  );
}

// A clone alone has no samples of other writers.
describe.skipIf(truths.length === 0)('histories of samples (skipped without ../shared/data)', () => {
  test.each(
    named(/^(verifiers-v1|prime-rl\/.*(traces|stream|train_rollouts)).*\.jsonl(\.zst)?$|traces\/$/).filter(
      ({ contexts }) => contexts.branches !== undefined,
    ),
  )('$file: a history for each leaf', async ({ file, contexts }) => {
    const rollouts = await rolloutsOf(join(home, file));
    const told = rollouts.reduce((sum, { contexts: own }) => sum + (own?.length ?? 1), 0);
    expect(told).toBe(contexts.branches);
    for (const rollout of rollouts) isWhole(rollout);
  });

  test.each(named(/^(verifiers-v1|prime-rl)\/.*\.jsonl$/).filter(({ contexts }) => contexts.branches !== undefined))(
    '$file: a turn saw the nodes between its root and itself, and no other',
    async ({ file }) => {
      const traces = linesOf(file).flatMap((line) => line.traces ?? (line.nodes ? [line] : []));
      const rollouts = await rolloutsOf(join(home, file));
      expect(rollouts.length).toBe(traces.length);
      let compared = 0;
      for (const [at, rollout] of rollouts.entries()) {
        const nodes: Recorded[] = traces[at].nodes;
        const ways = nodes
          .map((_, node) => node)
          .filter((node) => nodes.every(({ parent }) => parent !== node))
          .map((leaf) => {
            const way: number[] = [];
            for (let node: number | null = leaf; node !== null; node = nodes[node].parent ?? null) way.unshift(node);
            return way;
          });
        // A message of calls alone has no text, and so no span in the record.
        const placeOf = new Map(
          rollout.spans.map(({ field, turn }) => [turn, Number(/^\/nodes\/(\d+)\//.exec(field)?.[1])]),
        );
        for (const { index, context = 0 } of rollout.turns) {
          const way = ways[context]!;
          for (const [i, turn] of historyAt(rollout, index).entries()) {
            // A reply that was not sampled here has a role that says so.
            expect(turn.role.replace(/^given_/, '')).toBe(nodes[way[i]!].message.role);
            if (placeOf.has(turn.index)) expect(placeOf.get(turn.index)).toBe(way[i]);
          }
          compared++;
        }
        const told = contextTree(rollout).map(({ index, turns }) => [index, historyAt(rollout, turns.at(-1)!).length]);
        expect(told.toSorted(([a], [b]) => a! - b!)).toEqual(ways.map((way, index) => [index, way.length]));
      }
      expect(compared).toBeGreaterThan(0);
    },
  );

  test.each(named(/^(atif|harbor)\//))(
    '$file: a subagent for each reference, behind the step that names it',
    async ({ file, contexts }) => {
      const rollouts = await rolloutsOf(join(home, file));
      expect(kindsIn(rollouts, 'subagent')).toBe(contexts.subagent_refs);
      expect(kindsIn(rollouts, 'compaction')).toBe(contexts.continued ? 1 : 0);
      const path = file.endsWith('result.json') ? join(dirname(file), 'agent/trajectory.json') : file;
      if (!existsSync(join(home, path))) return;
      const { steps } = JSON.parse(readFileSync(join(home, path), 'utf8')) as Recorded;
      const referring: string[] = steps.flatMap((step: Recorded) =>
        (step.observation?.results ?? []).flatMap((result: Recorded) =>
          [result.subagent_trajectory_ref ?? []]
            .flat()
            .map(({ trajectory_path }: Recorded) => `${step.step_id} ${trajectory_path}`),
        ),
      );
      const told = rollouts.flatMap(({ contexts: own = [], turns, spans }) =>
        own
          .filter(({ kind }) => kind === 'subagent')
          .map(({ name, after }) => {
            const { field } = spans.find(({ turn }) => turn === after)!;
            const step = steps[Number(/steps\/(\d+)\//.exec(field)![1])];
            expect(turns[after!]!.role).toBe('tool');
            return `${step.step_id} ${name}`;
          }),
      );
      expect(told).toEqual(referring);
      for (const rollout of rollouts) isWhole(rollout);
    },
  );

  test.each(named(/^claude-code\/[^/]+\.jsonl$|^claude-code\/subagent\/[^/]+\.jsonl$/))(
    '$file: compactions and subagents as its lines and files say',
    async ({ file, contexts }) => {
      const rollouts = await rolloutsOf(join(home, file));
      const lines = linesOf(file);
      const cuts = lines.filter((line) => line.isCompactSummary === true || line.subtype === 'compact_boundary').length;
      // A line `summary` is the title of a session, and cuts nothing.
      const titles = lines.filter((line) => line.type === 'summary').length;
      expect(cuts + titles).toBe(contexts.compact_summary);
      expect(kindsIn(rollouts, 'compaction')).toBe(cuts);
      expect(rollouts.filter(({ extras }) => typeof extras.summary === 'string').length).toBe(titles);
      const beside = join(home, file.replace(/\.jsonl$/, ''), 'subagents');
      const subagents = existsSync(beside) ? readdirSync(beside).filter((name) => name.endsWith('.jsonl')).length : 0;
      expect(kindsIn(rollouts, 'subagent')).toBe(subagents);
      for (const rollout of rollouts) isWhole(rollout);
    },
  );

  test.each(named(/^codex\//))('$file: a history for each line that compacts', async ({ file, contexts }) => {
    const rollouts = await rolloutsOf(join(home, file));
    expect(kindsIn(rollouts, 'compaction')).toBe(contexts.compacted);
    for (const rollout of rollouts) isWhole(rollout);
  });
});
