import { describe, expect, test } from 'vitest';
import { FIELD_NAMES } from '../../../src/analysis/query/fields.ts';
import { LineIndex } from '../../../src/core/dump/line-index.ts';
import { parseLine } from '../../../src/core/dump/parse-line.ts';
import { CHECKS } from '../../../src/core/rollout/checks.ts';
import { FACT_ROW, Facts, factRow } from '../../../src/core/rollout/fact-row.ts';
import { FACTS } from '../../../src/core/rollout/facts.ts';
import { NO_GROUP } from '../../../src/core/rollout/group-key.ts';
import { ask, directoryWith, jsonLines, verlLine } from '../../program.ts';

const call = '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>';
const failed = `<think>\nhm\n</think>\n${call}user\n<tool_response>\nTraceback (most recent call last):\nValueError: x\n</tool_response>\nassistant\nit broke.`;

const factsOf = (line: string): Facts => {
  const { rollout, findings } = parseLine(line.trim(), { validation: false });
  return new Facts(factRow(rollout, findings));
};

describe('the facts of a rollout', () => {
  test('are what it says, and null for the rest', () => {
    const facts = factsOf(verlLine({ output: failed }));
    expect(facts.value('tool_calls')).toBe(1);
    expect(facts.value('tool_errors')).toBe(1);
    expect(facts.value('contexts')).toBe(1);
    expect(facts.value('tokens')).toBeNull();
    expect(facts.value('think_chars')).toBe('<think>\nhm\n</think>'.length);
    expect(facts.findings).toEqual(['tool_error']);
  });

  test('no tool result is no tool without errors', () => {
    expect(factsOf(verlLine({ output: 'done.' })).value('tool_errors')).toBeNull();
  });

  test('a bad record has counts of 0 and its finding', () => {
    const facts = factsOf('broken');
    expect([facts.value('turns'), facts.value('chars'), facts.findings]).toEqual([0, null, ['bad_record']]);
  });
});

test('the index keeps any facts beside any findings, and knows who was not looked at', () => {
  const index = new LineIndex();
  for (let record = 0; record < 200; record++) index.add(record, 1, null, null);
  const rows = CHECKS.map((check, i) => {
    const row = factRow(null, [{ check, severity: 'warning', turn: null, message: '' }]);
    row[1] = i % 2;
    return row;
  });
  for (const [i, row] of rows.entries()) index.setFacts(i * 3, { row, score: null, group: NO_GROUP, cells: new Map() });
  for (const [i, check] of CHECKS.entries()) {
    expect([index.facts(i * 3)?.value('tool_calls'), index.facts(i * 3)?.findings]).toEqual([i % 2, [check]]);
    expect(index.facts(i * 3 + 1)).toBeUndefined();
  }
  expect(index.looked).toBe(CHECKS.length);
  expect(CHECKS.length).toBeLessThanOrEqual(48);
  index.truncate(3);
  expect(index.looked).toBe(1);
  index.add(9, 1, null, null);
  expect(index.facts(3)).toBeUndefined();
  expect(rows[0]).toHaveLength(FACT_ROW);
});

test('an entry of the table is a name for filters and sort orders, and a key of the JSON', async () => {
  const directory = directoryWith({ '1.jsonl': verlLine({ output: 'done.' }) + verlLine({ output: failed }) });
  for (const { name } of FACTS) expect(FIELD_NAMES).toContain(name);
  const rows = jsonLines((await ask(['ls', '--json', '--filter', 'tool_errors > 0', directory])).stdout);
  expect(rows.map(({ sample }) => sample)).toEqual([2]);
  for (const { name } of FACTS) expect(rows[0]).toHaveProperty([name]);
  const byWord = await ask(['ls', '--json', '--filter', 'ended == "length"', directory]);
  expect(byWord.code).toBe(1);
  const longest = jsonLines((await ask(['ls', '--json', '--sort', 'chars:desc', '--limit', '1', directory])).stdout);
  expect(longest[0]).toMatchObject({ sample: 2 });
});
