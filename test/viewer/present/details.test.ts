import { expect, test } from 'vitest';
import { verl } from '../../../src/core/formats/verl.ts';
import type { JsonObject } from '../../../src/core/json/value.ts';
import { type Details, detailBlocks } from '../../../src/viewer/present/transcript/details-view.ts';
import { unpaused } from '../../../src/viewer/present/transcript/section.ts';
import { toolRollout } from '../../support/dump.ts';

function details(record: object, more: Partial<Details> = {}, validation = false): string[] {
  const rollout = verl.read(record as JsonObject, { validation });
  const around = {
    locator: '3.jsonl:1',
    unread: [],
    bytes: 1400,
    fileStep: 3,
    group: '',
    groupFrom: 'not known yet',
    advantage: null,
    labels: [],
  };
  return [...unpaused(detailBlocks({ rollout, ...around, ...more }))].map(({ label, text }) => `${label}${text}`);
}

test('what is known, and where each of it comes from', () => {
  const record = { ...toolRollout(3, 5, 1), uid: 'p_0_1', acc: true };
  expect(details(record, { group: 'group 2/4, mean 0.50', groupFrom: 'by uid', advantage: 0.8660239 })).toEqual([
    'record 3.jsonl:1  1.4 kB, format verl',
    'score 1.00  recorded',
    'ground truth 95  recorded',
    'group group 2/4, mean 0.50  by uid',
    'advantage +0.87  recomputed from score, GRPO',
    expect.stringMatching(/^loss mask ~77 % trained, \d+ of \d+ characters {2}inferred from roles$/),
    'turns 5  all borders are certain',
    'tool calls 1  1 answered',
    'step 3  recorded',
    'uid p_0_1  recorded',
    'ended unknown  nothing recorded says how it ended',
    'acc true  extra',
    expect.stringMatching(/^passed bad, away, lost line, error, cut, .* {2}\d\d checks$/),
    expect.stringMatching(/^skipped no notes of its writer: no score, warned; .* {2}\d\d checks$/),
  ]);
});

test('what is not known says why; a step that its file denies is reported', () => {
  const shown = details(toolRollout(7, 5, 1));
  expect(shown).toContain('group none  not known yet');
  expect(shown).toContain("step 7  recorded; the file's name says 3");
  expect(details({ ...toolRollout(7, 5, 1), step: undefined })).toContain("step 3  the file's name");
  expect(details(toolRollout(3, 5, 1), {}, true)).toContain(
    'loss mask none  validation is not trained on; known by the name of a file or folder, or by --validation',
  );
});

test('tools of the prompt, calls that could not be read, and what was noticed', () => {
  const tools = '<tools>\n{"type": "function", "function": {"name": "search", "parameters": {}}}\n</tools>';
  const record = {
    input: `system\n${tools}\nuser\nGo.\nassistant\n`,
    output: '<tool_call>\n{"name": "search"}\n</tool_call>',
    gts: { target: ['a'] },
    score: 0,
    step: 3,
  };
  const shown = details(record);
  expect(shown).toContain('tools search  schemas in the prompt');
  expect(shown).toContain('tool calls 1  0 answered, 1 not readable');
  expect(shown).toContainEqual(expect.stringMatching(/^error ! search was not executed: no "arguments" {2}t\d$/));
  expect(shown.join('\n')).toContain('ground truth {\n  "target": [');
});
