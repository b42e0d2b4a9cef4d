import { expect, test } from 'vitest';
import { verl } from '../../../src/core/formats/verl.ts';

const findings = (output: string) =>
  verl
    .read({ input: 'user\nq\nassistant\n', output, gts: '1', score: 1, step: 1 }, { validation: false })
    .findings.map(({ check, severity, turn }) => [check, severity, turn]);
const broken = '<tool_call>\n{"name": "f", "arguments": {"a": 1,}}\n</tool_call>\n';
const xml = '<tool_call>\n<function=f>\n<parameter=a>\n1\n</parameter>\n</function>\n</tool_call>\n';
const result = 'user\n<tool_response>\n1\n</tool_response>\nassistant\nOne.';

test('a call that was not read was not run, unless its result is behind it', () => {
  expect(findings(broken)).toEqual([['call_unparsed', 'error', 1]]);
  expect(findings(broken + result)).toEqual([['call_unparsed', 'warning', 1]]);
});

test('a call in XML with its result is no finding', () => {
  expect(findings(xml + result)).toEqual([]);
});

test('reasoning that a call ends is never closed; the response ends inside of it only where its text does', () => {
  const messages = (output: string) =>
    verl
      .read({ input: 'user\nq\nassistant\n', output, gts: '1', score: 1, step: 1 }, { validation: false })
      .findings.filter(({ check }) => check === 'unclosed')
      .map(({ message }) => message);
  expect(messages('<think>\nI wonder')).toEqual(['the response ends inside <think>']);
  expect(messages(`<think>\nI wonder\n${xml.trimEnd()}`)).toEqual(['<think> is never closed']);
  expect(messages(`<think>\nI wonder\n${xml}${result}`)).toEqual(['<think> is never closed']);
});

test('a think tag that is named in prose opens no reasoning', () => {
  expect(findings('I would write a <think> tag here. #### 1')).toEqual([]);
});
