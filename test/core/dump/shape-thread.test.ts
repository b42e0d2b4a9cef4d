import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { fileShapeOf, heavyBeginning } from '../../../src/core/dump/shape.ts';
import { fileShapeBetweenKeys } from '../../../src/core/dump/shape-thread.ts';

const folder = mkdtempSync(join(tmpdir(), 'shape-thread-'));
afterAll(() => rmSync(folder, { recursive: true }));

const context = { validation: false };
const text = 'a line of text\n'.repeat(600_000);
const LINES = {
  messages: {
    messages: [
      { role: 'user', content: 'q' },
      { role: 'assistant', content: text },
    ],
    reward: 1,
  },
  'steps of Tunix': {
    task: { question: 'q' },
    steps: [{ model_response: text, observation: 'o', reward: 1 }],
    reward: 1,
  },
  'a list of messages': [
    { role: 'user', content: 'q' },
    { role: 'assistant', content: text },
  ],
  'no format': { nothing: text },
  'a prompt and a reply': { input: 'user\nq\nassistant\n', output: text, score: 1, step: 1 },
  'an event of a session': { type: 'user', sessionId: 's', uuid: 'u', message: { role: 'user', content: text } },
};

test.each(Object.entries(LINES))('a heavy first line tells a thread what it tells at once: %s', async (name, line) => {
  const path = join(folder, `${name}.jsonl`);
  const printed = JSON.stringify(line);
  for (const [rest, isHeavy] of [
    [`\n${printed}\n`, true],
    ['\n{"messages": []}\n', true],
    ['', false],
  ] as const) {
    writeFileSync(path, printed + rest);
    expect(heavyBeginning(path, context) > 0).toBe(isHeavy && !('input' in line));
    expect(await fileShapeBetweenKeys(path, context)).toEqual(fileShapeOf(path, context));
  }
});

test('a first line that is short needs no thread', () => {
  const path = join(folder, 'short.jsonl');
  writeFileSync(path, `{"messages": []}\n${JSON.stringify(LINES.messages)}\n`);
  expect(heavyBeginning(path, context)).toBe(0);
});
