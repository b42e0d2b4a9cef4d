import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { plainPage, topicText, topicTitles } from '../../../src/viewer/commands/help-topics.ts';
import { ask, root } from '../../program.ts';

const docs = join(root, 'docs');
const pages = readdirSync(docs).filter((name) => /^[a-z-]+\.md$/.test(name));
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

test('the index of docs/ links every page', () => {
  const index = read('docs/README.md');
  expect(pages.filter((name) => !index.includes(`(${name})`))).toEqual([]);
});

test('help prints each page of docs/, and lists them in the order of the index', async () => {
  for (const name of pages) expect(topicText(name.replace('.md', ''))).toBe(plainPage(read(`docs/${name}`)));
  const titles = topicTitles();
  expect(titles.slice(0, 3).map(([name]) => name)).toEqual(['reading', 'keys', 'masks']);
  expect(titles.length).toBe(pages.length + 2);
  expect((await ask(['help', 'masks'])).stdout).toBe(topicText('masks'));
  expect((await ask(['help', 'replay'])).stdout).toContain('Every flag: rollout-viewer replay --help');
});

test('a page of help has no Markdown left in it that hides its words', () => {
  const text = plainPage(
    '# A\n![x](y.svg)\n\n| a | b |\n|---|---|\n| `c` | d \\| e |\n| h | i · j |\n\n**f** [g](h.md)\n```yaml\ni: 1\n```\n',
  );
  expect(text).toBe('# A\n  a   b\n  `c`   d | e\n  h\n    i\n    j\n\nf g\ni: 1\n');
  expect(plainPage('| key | |\n|---|---|\n| `a` | | b |\n')).toBe('  key\n  `a`   b\n');
});

test('a topic without a page is unknown', () => {
  for (const name of ['../README', 'no-such', '', 'README']) expect(topicText(name)).toBeNull();
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
