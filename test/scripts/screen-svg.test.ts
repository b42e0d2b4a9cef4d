import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import xterm from '@xterm/headless';
import { describe, expect, test } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { screenSvg } from '../../scripts/screen-svg.mjs';
import { root } from '../program.ts';

const CELL = 8.43;
const TEXT = /<text x="([\d.]+)" y="(\d+)"[^>]*>([^<]*)<\/text>/g;
const plain = (text: string) =>
  text.replace(/&(lt|gt|amp);/g, (_, name) => ({ lt: '<', gt: '>', amp: '&' })[name as 'lt']);

test('every text of the picture starts at its column, without a blank that a renderer may drop', async () => {
  const terminal = new xterm.Terminal({ cols: 40, rows: 4, allowProposedApi: true });
  await new Promise<void>((resolve) =>
    terminal.write(
      '  step   \x1b[1mscore\x1b[0m<1 & 2\r\n\x1b[31m   ▁▃█ 你好 x\x1b[0m\r\n\x1b[44m  a  b\x1b[0m',
      resolve,
    ),
  );
  const placed = [...screenSvg(terminal).matchAll(TEXT)].map(([, x, y, text]) => [
    Math.round(Number(x) / CELL),
    (Number(y) - 13) / 18,
    plain(text!),
  ]);
  expect(placed).toEqual([
    [2, 0, 'step'],
    [9, 0, 'score'],
    [14, 0, '<1'],
    [17, 0, '&'],
    [19, 0, '2'],
    [3, 1, '▁▃█'],
    [7, 1, '你好'],
    [12, 1, 'x'],
    [2, 2, 'a'],
    [5, 2, 'b'],
  ]);
});

describe.each(['screen', 'incident', 'retry', 'live'])('docs/%s.svg', (name) => {
  const svg = readFileSync(join(root, `docs/${name}.svg`), 'utf8');

  test('each text starts at its column', () => {
    const texts = [...svg.matchAll(TEXT)];
    expect(texts.length).toBeGreaterThan(100);
    for (const [whole, x, , text] of texts) {
      expect(text?.trim(), whole).toBe(text);
      const column = Number(x) / CELL;
      expect(Math.abs(column - Math.round(column)), whole).toBeLessThan(0.02);
    }
  });

  test('it is of this version: node scripts/record.mjs makes it', () => {
    expect(svg).toContain(`<title>rollout-viewer ${manifest.version}</title>`);
  });
});
