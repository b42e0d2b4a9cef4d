import { expect, test } from 'vitest';
import { ErrorTable } from '../../src/analysis/errors/error-table.ts';
import { parseLine } from '../../src/core/dump/parse-line.ts';

const READING = { validation: false, directory: '/' };

/** A table of one rollout a step; each has calls with the results that the function gives. */
function tableOf(steps: number, calls: number, resultOf: (step: number, call: number) => string) {
  const table = new ErrorTable<number>();
  for (let step = 1; step <= steps; step++) {
    const turns = Array.from({ length: calls }, (_, call) => [
      `<tool_call>\n{"name": "calculator", "arguments": {"a": ${step}, "b": ${call}}}\n</tool_call>`,
      `user\n<tool_response>\n${resultOf(step, call)}\n</tool_response>\nassistant\n`,
    ]);
    const record = { input: 'user\n?\nassistant\n', output: `${turns.flat().join('')}done.`, step };
    const { rollout } = parseLine(JSON.stringify(record), READING);
    if (rollout !== null) table.add(rollout, step, (turn) => turn);
  }
  return table;
}

const constants = (table: ErrorTable<number>) =>
  table.rows().flatMap(({ kind, step, count, answer }) => (kind === 'one_answer' ? [[step, count, answer]] : []));

test('a tool that answers 0 to everything has a row in each step, however few calls a step has', () => {
  expect(constants(tableOf(4, 3, () => '0'))).toEqual([1, 2, 3, 4].map((step) => [step, 3, '0']));
});

test('a tool that answers 0 from a step on has a row in the steps from there', () => {
  const broken = tableOf(4, 12, (step, call) => (step > 2 ? '0' : String(step * call)));
  expect(constants(broken)).toEqual([
    [3, 12, '0'],
    [4, 12, '0'],
  ]);
});

test('answers that differ, calls that are too few, failures and empty results are no one answer', () => {
  expect(constants(tableOf(2, 12, (_, call) => String(call % 2)))).toEqual([]);
  expect(constants(tableOf(1, 9, () => '0'))).toEqual([]);
  expect(constants(tableOf(1, 12, () => 'Error: refused'))).toEqual([]);
  expect(constants(tableOf(1, 12, () => ''))).toEqual([]);
});
