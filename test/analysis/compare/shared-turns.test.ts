import { diffArrays } from 'diff';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compareTurns } from '../../../src/analysis/compare/turns.ts';
import type { Rollout } from '../../../src/core/rollout/rollout.ts';

const turn = fc.record({ role: fc.constantFrom('user', 'assistant'), text: fc.constantFrom('', 'a', 'b', 'c d') });
const indexed = (turns: readonly { role: string; text: string }[]) =>
  ({ turns: turns.map((one, index) => ({ ...one, index })) }) as unknown as Pick<Rollout, 'turns'>;

test('turns that both begin with are matched as a comparison of all turns matches them', () => {
  fc.assert(
    fc.property(fc.array(turn), fc.array(turn), fc.array(turn), (shared, a, b) => {
      const [first, second] = [indexed([...shared, ...a]), indexed([...shared, ...b])];
      const whole = diffArrays(first.turns, second.turns, {
        comparator: (one, two) => one.role === two.role && one.text === two.text,
      });
      const matched: [number, number][] = [];
      let [atA, atB] = [0, 0];
      for (const { added, removed, count } of whole) {
        if (!added && !removed) for (let i = 0; i < count; i++) matched.push([atA + i, atB + i]);
        if (!added) atA += count;
        if (!removed) atB += count;
      }
      const same = compareTurns(first, second).filter(({ isSame }) => isSame);
      expect(same.map((pair) => [pair.a?.turn, pair.b?.turn])).toEqual(matched);
    }),
  );
});
