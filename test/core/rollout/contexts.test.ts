import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseLine } from '../../../src/core/dump/parse-line.ts';
import { contextTree, historyAt, keptBy } from '../../../src/core/rollout/contexts.ts';
import type { Rollout } from '../../../src/core/rollout/rollout.ts';

const read = (record: object) => parseLine(JSON.stringify(record), { validation: false }).rollout!;

/** A trace whose nodes point at the one before; null begins a history. */
const trace = (parents: readonly (number | null)[]): Rollout =>
  read({
    nodes: parents.map((parent, at) => ({
      ...(parent === null ? {} : { parent }),
      message: { role: at % 2 === 0 ? 'user' : 'assistant', content: `node ${at}` },
      sampled: at % 2 === 1,
    })),
    rewards: {},
    timing: {},
  });

describe('the histories of a rollout', () => {
  it('are behind the one that they leave', () => {
    // 0 ─ 1 ─ 2 ─ 3, and 4 ─ 5 from 1.
    const nodes = contextTree(trace([null, 0, 1, 2, 1, 4]));
    expect(nodes.map(({ depth, parent, context }) => [depth, parent, context.kind])).toEqual([
      [0, null, 'main'],
      [1, 0, 'branch'],
    ]);
  });

  it('a turn saw the nodes on the way from its root, and no other', () => {
    const parents = fc
      .array(fc.nat(), { minLength: 1, maxLength: 30 })
      .map((picks) => picks.map((pick, at) => (at === 0 || pick % 7 === 0 ? null : pick % at)));
    fc.assert(
      fc.property(parents, (graph) => {
        const rollout = trace(graph);
        for (const turn of rollout.turns) {
          const node = Number(turn.text.replace('node ', ''));
          const way: string[] = [];
          for (let at: number | null = node; at !== null; at = graph[at]!) way.unshift(`node ${at}`);
          expect(historyAt(rollout, turn.index).map(({ text }) => text)).toEqual(way);
        }
        const own = contextTree(rollout).flatMap(({ turns }) => turns);
        expect(own.toSorted((a, b) => a - b)).toEqual(rollout.turns.map(({ index }) => index));
      }),
    );
  });

  it('that loop, or point nowhere, are each reported once', () => {
    const rollout = trace([null, 0]);
    const loop = { ...rollout.turns[1]!, index: 2, context: 1 };
    const broken: Rollout = {
      ...rollout,
      turns: [...rollout.turns, loop, { ...loop, index: 3, context: 2 }],
      contexts: [
        { kind: 'main', name: null, after: null },
        { kind: 'branch', name: null, after: 3 },
        { kind: 'branch', name: null, after: 2 },
        { kind: 'branch', name: null, after: 99 },
      ],
    };
    expect(
      contextTree(broken)
        .map(({ index }) => index)
        .toSorted(),
    ).toEqual([0, 1, 2, 3]);
    expect(historyAt(broken, 2).map(({ index }) => index)).toEqual([3, 2]);
  });

  it('ten thousand, each leaving the one before', () => {
    const rollout = trace([null, 0]);
    const count = 10_000;
    const many: Rollout = {
      ...rollout,
      turns: Array.from({ length: count }, (_, index) => ({ ...rollout.turns[1]!, index, context: index })),
      contexts: Array.from({ length: count }, (_, index) => ({
        kind: index === 0 ? 'main' : 'branch',
        name: null,
        after: index === 0 ? null : index - 1,
      })),
    };
    const nodes = contextTree(many);
    expect(nodes).toHaveLength(count);
    expect(nodes.at(-1)).toMatchObject({ index: count - 1, depth: count - 1 });
    expect(historyAt(many, count - 1)).toHaveLength(count);
  });

  it('ten thousand that leave one long history are read whole, without the ids that would fill the memory', () => {
    const count = 10_000;
    const nodes = Array.from({ length: 2 * count }, (_, at) => ({
      ...(at === 0 ? {} : { parent: at < count ? at - 1 : at - count }),
      message: { role: 'assistant', content: 'x' },
      sampled: true,
      token_ids: [1, 2],
      mask: [1, 1],
    }));
    const { contexts, turns } = read({ nodes, rewards: {}, timing: {} });
    expect(turns).toHaveLength(2 * count);
    expect(contexts).toHaveLength(count);
    expect(contexts![0]!.tokens).toBeDefined();
    expect(contexts!.at(-1)!.tokens).toBeUndefined();
  });

  it('a compaction keeps some turns of the one before, drops others and adds a summary', () => {
    const message = (role: string, content: string, context: number, index: number) => ({
      ...trace([null]).turns[0]!,
      role,
      text: content,
      context,
      index,
    });
    const rollout: Rollout = {
      ...trace([null]),
      turns: [
        message('system', 'rules', 0, 0),
        message('user', 'q', 0, 1),
        message('assistant', 'a', 0, 2),
        message('system', 'rules', 1, 3),
        message('user', 'summary', 1, 4),
      ],
      contexts: [
        { kind: 'main', name: null, after: null },
        { kind: 'compaction', name: null, after: 2 },
      ],
    };
    const node = contextTree(rollout)[1]!;
    expect(keptBy(rollout, node.index)).toEqual({ kept: [0], dropped: [1, 2], added: [4] });
    expect(historyAt(rollout, 4).map(({ index }) => index)).toEqual([3, 4]);
  });
});
