// What every command says of files that hold no rollout, and of steps that no number holds.
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { ask, directoryWith, verlLine } from '../../program.ts';

const said = async (words: string[], folder: string): Promise<string[]> =>
  (await ask([...words, folder], { env: { XDG_STATE_HOME: directoryWith({}) } })).stderr
    .split('\n')
    .filter((line) => / of no known form|: no rollout: |: an index/.test(line));

const EVERY = [['ls'], ['stats'], ['facts', '--csv'], ['groups'], ['audit'], ['signal'], ['triage'], ['errors']];

test.each<[string, Record<string, string | Uint8Array>, string]>([
  ['lines that no format knows', { 'a.jsonl': '{"hello": 1}\n{"hello": 2}\n' }, '2 records of no known form'],
  ['the same beside a rollout', { 'a.jsonl': '{"hello": 1}\n', '1.jsonl': verlLine() }, '1 record of no known form'],
  [
    'a packed file that was found on a walk',
    { 'a.jsonl.gz': gzipSync('{"hello": 1}\n{"hello": 2}\n') },
    '2 records of no',
  ],
  [
    'a part of a known writer',
    { 'a.jsonl': '{"index": 3, "file_name": "s.bin", "rollout_viewer_none": 1}\n' },
    '1 record',
  ],
])('%s: all commands say the same', async (_, files, says) => {
  const folder = directoryWith(files);
  const words = await Promise.all(EVERY.map((command) => said(command, folder)));
  expect(words[0]?.join()).toContain(says);
  for (const [at, own] of words.entries()) expect([EVERY[at], own]).toEqual([EVERY[at], words[0]]);
});

test('of a long file, the first thousand records are counted', async () => {
  const folder = directoryWith({ 'a.jsonl': '{"hello": 1}\n'.repeat(1002) });
  const [own] = await said(['stats'], folder);
  expect(own).toContain(`${join(folder, 'a.jsonl')}: 1000 records among the first 1000 of no known form`);
});

test.each([['ls'], ['stats'], ['facts', '--csv']])(
  '%s %s says that a step is rounded, and only then',
  async (...words) => {
    const at = (step: string) => directoryWith({ '1.jsonl': verlLine().replace(/"step": ?1/, `"step": ${step}`) });
    const rounded = 'steps above 9007199254740991 are rounded: some that differ may be shown as one';
    expect((await ask([...words, at('9007199254740993')])).stderr).toContain(rounded);
    expect((await ask([...words, at('9007199254740991')])).stderr).not.toContain('rounded');
  },
);
