import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import stringWidth from '../../../src/core/text/string-width.ts';
import { topicText, topicTitles } from '../../../src/viewer/commands/help-topics.ts';
import { terminalPage } from '../../../src/viewer/commands/terminal-page.ts';
import { ask, root } from '../../program.ts';

const docs = join(root, 'docs');
const pages = readdirSync(docs).filter((name) => /^[a-z-]+\.md$/.test(name));
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

test('the index of docs/ links every page', () => {
  const index = read('docs/README.md');
  expect(pages.filter((name) => !index.includes(`(${name})`))).toEqual([]);
});

test('help prints each page of docs/, and lists them in the order of the index', async () => {
  for (const name of pages) expect(topicText(name.replace('.md', ''), 80)).toBe(terminalPage(read(`docs/${name}`), 80));
  const titles = topicTitles();
  expect(titles.slice(0, 3).map(([name]) => name)).toEqual(['reading', 'keys', 'masks']);
  expect(titles.length).toBe(pages.length + 2);
  expect((await ask(['help', 'masks'])).stdout).toBe(topicText('masks', 80));
  expect((await ask(['help', 'replay'])).stdout).toContain('Every flag: rollout-viewer replay --help');
});

test('a page of help has no Markdown left in it that hides its words', () => {
  const page =
    '# A\n![x](y.svg)\n\n| a | b |\n|---|---|\n| `c` | d \\| e |\n\n**f** [g](h.md)\n```yaml\ni: 1\n```\n- j k\nl';
  expect(terminalPage(page, 80)).toBe('A\n\n  a    b\n  `c`  d | e\n\n  f g\n\n    i: 1\n\n  - j k\n  l\n');
  expect(terminalPage('| h | i · j |\n|---|---|\n', 80)).toBe('  h\n    i\n    j\n');
  expect(terminalPage('| key | |\n|---|---|\n| `a` | | b |\n', 80)).toBe('  key\n  `a`  b\n');
});

test('a table that is too wide has the text of a row beside or below its first cell', () => {
  const rows = `| a | ${'word '.repeat(6)}|\n| ${'long '.repeat(10)}| end |\n`;
  expect(terminalPage(rows, 50)).toBe(
    [
      '  a                         word word word word',
      '                            word word',
      '  long long long long long long long long long',
      '  long',
      '    end',
      '',
    ].join('\n'),
  );
});

test('no line of help is wider than the terminal, but for commands', () => {
  for (const name of pages)
    for (const line of terminalPage(read(`docs/${name}`), 80).split('\n'))
      if (!line.startsWith('    ')) expect(stringWidth(line), `${name}: ${line}`).toBeLessThanOrEqual(80);
});

test('each page begins with an example, but for the one about the limits of the program', () => {
  const begins = (name: string): boolean =>
    read(`docs/${name}`)
      .split('\n')
      .slice(0, 5)
      .some((line) => line.startsWith('```'));
  expect(pages.filter((name) => name !== 'vision.md' && !begins(name))).toEqual([]);
});

test('a topic without a page is unknown', () => {
  for (const name of ['../README', 'no-such', '', 'README']) expect(topicText(name, 80)).toBeNull();
});

test('links in the README and in docs/ lead to files', () => {
  for (const page of ['README.md', 'CONTRIBUTING.md', 'ARCHITECTURE.md', ...pages.map((name) => `docs/${name}`)]) {
    const folder = page.startsWith('docs/') ? docs : root;
    const links = [...read(page).matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map((match) => match[1] ?? '');
    expect(
      links.filter((link) => !existsSync(join(folder, link))),
      page,
    ).toEqual([]);
  }
});

test('the README fits into the first five minutes', () => {
  expect(read('README.md').split('\n').length).toBeLessThanOrEqual(121);
});
