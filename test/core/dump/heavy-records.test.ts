import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { DumpFile } from '../../../src/core/dump/dump-file.ts';
import { HeavyRecords } from '../../../src/core/dump/heavy-records.ts';
import type { GroupKey } from '../../../src/core/rollout/group-key.ts';

const keyOf = (record: number): GroupKey => ({ from: 'prompt', key: `k${record}`, prompt: `p${record}`, uid: null });
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const step = fc.oneof(
  fc.record({ ask: fc.nat(3) }),
  fc.constant('pause' as const),
  fc.constant('resume' as const),
  fc.constant('wait' as const),
);

test('heavy records are read one at a time, none during a pause, and each once for all that is asked of it', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      const heavy = new HeavyRecords();
      const file = { index: { length: () => 1 } } as unknown as DumpFile;
      const read: number[] = [];
      let underWay = 0;
      let pauses = 0;
      const asked: Promise<void>[] = [];
      for (const one of steps) {
        if (one === 'pause') {
          heavy.pause(true);
          pauses++;
        } else if (one === 'resume' && pauses > 0) {
          pauses--;
          heavy.pause(false);
        } else if (one === 'wait') await turn();
        else if (typeof one === 'object') {
          const keys: (GroupKey | null)[] = [];
          const answer = heavy.ask(
            file,
            one.ask,
            async (own) => {
              expect([pauses, ++underWay]).toEqual([0, 1]);
              read.push(one.ask);
              await turn();
              underWay--;
              own.push(keyOf(one.ask));
              return true;
            },
            keys,
          );
          asked.push(
            answer.then((isOpen) => {
              expect([isOpen, keys]).toEqual([true, [keyOf(one.ask)]]);
            }),
          );
        }
      }
      for (; pauses > 0; pauses--) heavy.pause(false);
      await Promise.all(asked);
      expect(new Set(read).size).toBe(read.length);
    }),
    { numRuns: 50 },
  );
});

test('a line that grew is read again, and one whose file changed meanwhile has no key yet', async () => {
  const heavy = new HeavyRecords();
  let length = 1;
  const file = { index: { length: () => length } } as unknown as DumpFile;
  const answers: (GroupKey | null)[][] = [[], [keyOf(1)], [keyOf(2)], [null]];
  const read = async (own: (GroupKey | null)[]): Promise<boolean> => {
    own.push(...(answers.shift() ?? []));
    return true;
  };
  const keysOf = async (): Promise<(GroupKey | null)[]> => {
    const keys: (GroupKey | null)[] = [];
    await heavy.ask(file, 0, read, keys);
    return keys;
  };
  expect([await keysOf(), await keysOf(), await keysOf()]).toEqual([[], [keyOf(1)], [keyOf(1)]]);
  length = 2;
  expect([await keysOf(), await keysOf()]).toEqual([[keyOf(2)], [keyOf(2)]]);
});
