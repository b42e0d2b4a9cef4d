import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ask, directoryWith, root } from '../../program.ts';

const seeds = join(root, '../shared/seeds');
const page = (prefix: string): string => {
  const name = readdirSync(seeds).find((file) => file.startsWith(prefix));
  return readFileSync(join(seeds, name ?? ''), 'utf8');
};

/** The sample as it is on its page, with the page's own line breaks and indents taken out of its strings. */
function sampleOf(text: string): string {
  const start = text.indexOf('"input": "');
  const body = text.slice(text.lastIndexOf('{', start), text.indexOf('"step": 1', start));
  return `${body}"step": 1}`.replace(/\n\s*/g, '');
}

/** The readable version of the page, without the indent of a code block. */
function readableOf(text: string): string {
  const lines = text.slice(text.indexOf('[system]')).split('\n');
  return lines.map((line) => line.replace(/^ {3}/, '')).join('\n');
}

const withoutTrailingBlanks = (text: string): string =>
  text
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n')
    .trimEnd();

test.skipIf(!existsSync(seeds)).each([
  ['000', 'English', (text: string) => text],
  ['001', 'Chinese', (text: string) => text.slice(0, text.indexOf('您也可以使用'))],
])(
  'show --plain prints the readable version that the documents give (%s, %s; skipped without ../shared/seeds)',
  async (prefix, _, cut) => {
    const text = page(prefix);
    const directory = directoryWith({ '1.jsonl': `${sampleOf(text)}\n` });
    const { stdout, code } = await ask(['show', '--plain', join(directory, '1.jsonl:1')]);
    const expected = prefix === '000' ? text.slice(text.indexOf('[system]')) : readableOf(cut(text));
    expect(withoutTrailingBlanks(stdout)).toBe(withoutTrailingBlanks(expected));
    expect(code).toBe(0);
  },
);
