// A comparison of two runs, and the tree of a group, as one page: nothing of the data is markup in it.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { ask } from '../../program.ts';
import { writeDump } from '../../support/dump.ts';

const HOSTILE = '<script>alert(1)</script><img src=x onerror=alert(2)>';
const record = (prompt: string, output: string, score: number | null) => ({
  input: `user\n${prompt} ${HOSTILE}\nassistant\n`,
  output,
  ...(score === null ? {} : { score }),
  step: 1,
});
const a = writeDump({ '1.jsonl': [record('p', 'so 4', 0), record('q', 'so 5', 1), record('q', `so ${HOSTILE}`, 0)] });
const b = writeDump({ '1.jsonl': [record('p', 'so 7', 1), record('q', 'so 9', 0.5), record('z', 'so', 1)] });
const out = mkdtempSync(join(tmpdir(), 'compare-html-'));
afterAll(() => {
  a.remove();
  b.remove();
  rmSync(out, { recursive: true, force: true });
});

/** The tags of a page that come from neither its style nor its script. */
const tagsOf = (html: string): string[] => [
  ...new Set(
    [...html.replace(/<style>.*?<\/style>|<script>.*<\/script>/gs, '').matchAll(/<([a-z][a-z0-9]*)/g)].map(
      ([, tag]) => tag!,
    ),
  ),
];

describe('compare --html', () => {
  test('of two runs is a table of prompts; what changed links to both sides', async () => {
    const page = join(out, 'runs.html');
    const { code, stderr } = await ask(['compare', a.dir, b.dir, '--html', page]);
    expect([code, stderr]).toEqual([
      0,
      expect.stringContaining('3 prompts, 1 of them with a rollout of each side by side'),
    ]);
    const html = readFileSync(page, 'utf8');
    expect(html).toContain('won 1, lost 0, same 1, flips 1, never scored 0, only in a 0, only in b 1');
    expect(html).toMatch(/<a href="#p1"><span class="good">won, flip<\/span><\/a><\/td><td class="n">\+1\.00/);
    expect(html).toMatch(/<article id="p1">.*<del>4<\/del>.*<ins>7<\/ins>/s);
    expect(tagsOf(html)).not.toContain('script');
    expect(tagsOf(html)).not.toContain('img');
  });

  test('of a rollout is the tree of its group, with each answer below it', async () => {
    const page = join(out, 'tree.html');
    const { code } = await ask(['compare', `${join(a.dir, '1.jsonl')}:2`, '--html', page]);
    expect(code).toBe(0);
    const html = readFileSync(page, 'utf8');
    expect(html).toMatch(/<div class="branch"><b>2 rollouts, mean score 0\.50<\/b> so/);
    expect(html.match(/<div class="branch">/g)).toHaveLength(3);
    expect(html.match(/<\/div>/g)!.length).toBeGreaterThanOrEqual(3);
    expect(html).toMatch(/href="#r1".*href="#r2"/s);
    expect(html.match(/<article id="r\d">/g)).toHaveLength(2);
    expect(tagsOf(html)).not.toContain('img');
  });

  test('writes over no file that is no page', async () => {
    const { code, stderr } = await ask(['compare', a.dir, b.dir, '--html', join(a.dir, '1.jsonl')]);
    expect([code, stderr]).toEqual([2, expect.stringContaining('is not a page by this program')]);
  });
});
