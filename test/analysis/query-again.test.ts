import { expect, test } from 'vitest';
import type { RunAgain } from '../../src/analysis/query/again.ts';
import { compileQuery } from '../../src/analysis/query/query.ts';
import type { Subject } from '../../src/analysis/query/subject.ts';

const ran = (values: Partial<RunAgain>): RunAgain => ({
  ...{ status: 'same', verdict: 'same', call: 0, turn: 1, tool: 'code_interpreter', exit: 0 },
  ...{ backend: 'bubblewrap', python: '3.11.2', reason: null },
  ...values,
});
const drifted = ran({ status: 'drift', verdict: 'now_fails', call: 1, exit: 1, reason: 'exit status 1' });
const holds = (text: string, again: RunAgain[]) => compileQuery(text).accepts({ again } as unknown as Subject);

test.each([
  ['again == drift', true],
  ['again == now_fails', true],
  ['again == "drift"', true],
  ['again == flaky', false],
  ['again != drift', true],
  ['again.exit != 0', true],
  ['again.exit == 2', false],
  ['again.call > 0', true],
  ['again.tool == code_interpreter', true],
  ['again.python ~ /^3\\.11/', true],
  ['again.reason ~ "exit status"', true],
  ['again == null', false],
  ['again != null', true],
  ['!(again == drift)', false],
])('%s is asked of each call that was run again', (text, expected) => {
  expect(holds(text, [ran({}), drifted])).toBe(expected);
});

test('for a rollout whose calls were not run again, only null holds', () => {
  expect(holds('again == null', [])).toBe(true);
  expect(holds('again != drift', [])).toBe(false);
  expect(holds('again.exit != 0', [])).toBe(false);
});

test('a call that is not the one with the verdict does not make up for it', () => {
  expect(holds('again != drift', [drifted])).toBe(false);
  expect(holds('again.exit != 0', [ran({})])).toBe(false);
});

test('a part that there is not is named, with those that there are', () => {
  expect(() => compileQuery('again.color == red')).toThrow('again.exit');
  expect(compileQuery('score < 1 && again == drift').asksKept).toBe(true);
  expect(compileQuery('score < 1').asksKept).toBe(false);
});
