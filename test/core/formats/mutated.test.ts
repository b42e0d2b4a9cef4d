import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { random } from '../../../bench/support/random.ts';
import { DamagedFiles, faultOf, sampleRecords } from '../../../bench/support/variants.ts';
import { parseLine } from '../../../src/core/dump/parse-line.ts';

const VARIANTS = 1000;
const FILES = 300;
const root = fileURLToPath(new URL('../../..', import.meta.url));

describe('records that are not what their writer writes', () => {
  test('a message that is an integer of 22 digits is text like any other', () => {
    const step =
      '{"chat_completions":[{"role":"user","content":1180591620717411303424},{"role":"assistant","content":"a"}]}';
    const line = `{"episode_id":"e","trajectories":[{"name":"solver","reward":1,"steps":[${step}]}]}`;
    const { rollout, error } = parseLine(line, { validation: false }, 1);
    expect(error).toBeNull();
    expect(rollout!.turns.map(({ role }) => role)).toEqual(['user', 'assistant']);
  });

  test(`${VARIANTS} of them are read or refused, and what is read holds together`, async () => {
    const records = await sampleRecords(root);
    const next = random(7);
    for (let i = 0; i < VARIANTS; i++) expect(faultOf(records[i % records.length]!, next)).toBeNull();
  });

  test(`${FILES} files with bytes cut off, changed or exchanged are read or refused, and whole lines before them stay`, async () => {
    const files = new DamagedFiles(root);
    const next = random(8);
    for (let i = 0; i < FILES; i++) expect(await files.faultOf(i, next)).toBeNull();
    files.close();
  });
});
