import { expect, test } from 'vitest';
import { MONO, type Theme, themeFor, themeProblem } from '../../../src/viewer/present/theme.ts';

const XTERM = { TERM: 'xterm-256color' };
const light = themeFor({ ...XTERM, ROLLOUT_VIEWER_THEME: 'light' });

test('a light background is taken from COLORFGBG, a wanted theme comes first, NO_COLOR before all', () => {
  const dark = themeFor(XTERM);
  expect(light.warning).not.toBe(dark.warning);
  for (const told of ['0;15', '0;default;15', '0;7']) expect(themeFor({ ...XTERM, COLORFGBG: told })).toEqual(light);
  for (const told of ['15;0', '12;8', 'default;default', '', 'x', '0;15;', '0;99'])
    expect(themeFor({ ...XTERM, COLORFGBG: told })).toEqual(dark);
  expect(themeFor({ ...XTERM, COLORFGBG: '0;15', ROLLOUT_VIEWER_THEME: 'dark' })).toEqual(dark);
  expect(themeFor({ ...XTERM, ROLLOUT_VIEWER_THEME: 'light', NO_COLOR: '1' })).toBe(MONO);
});

/** The contrast of a colour of the cube or the greys of 256 with white, by WCAG. */
function onWhite(colour: number): number {
  const levels = [0, 95, 135, 175, 215, 255];
  const of = colour - 16;
  const rgb =
    colour >= 232
      ? Array(3).fill(8 + 10 * (colour - 232))
      : [of / 36, (of / 6) % 6, of % 6].map((i) => levels[Math.floor(i)]);
  const [r = 0, g = 0, b = 0] = rgb.map((value: number) =>
    value / 255 <= 0.03928 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4,
  );
  return 1.05 / (0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05);
}

test('text in the colours of the light theme is readable on white', () => {
  const words: (keyof Theme)[] = ['accent', 'trained', 'warning', 'string', 'number', 'key'];
  for (const word of words) {
    const colour = Number(/38;5;(\d+)/.exec(light[word])?.[1]);
    expect(onWhite(colour), word).toBeGreaterThan(4.5);
  }
});

test('contrast has nothing faint; an unknown name is said', () => {
  const contrast = themeFor({ ...XTERM, ROLLOUT_VIEWER_THEME: 'contrast' });
  expect(Object.values(contrast).filter((codes) => codes.split(';').includes('2') && !codes.includes('38;'))).toEqual(
    [],
  );
  expect(themeProblem({ ROLLOUT_VIEWER_THEME: 'sepia' })).toContain('sepia: unknown theme; known: auto, dark');
  expect([themeProblem({}), themeProblem({ ROLLOUT_VIEWER_THEME: 'contrast' })]).toEqual([null, null]);
});

test('with sixteen colours nothing on white is written in yellow, and each step of a scale keeps its look', () => {
  const sixteen = themeFor({ TERM: 'xterm-16color', ROLLOUT_VIEWER_THEME: 'light' });
  for (const [style, codes] of Object.entries(sixteen))
    expect([style, codes]).not.toEqual([style, expect.stringMatching(/^(?:\d;)?33$/)]);
  expect(
    new Set(
      (['heat lowest', 'heat low', 'heat middle', 'heat high', 'heat highest'] as const).map((one) => sixteen[one]),
    ).size,
  ).toBe(5);
});
