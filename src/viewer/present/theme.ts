/** From the lowest value of a run to its highest: orange to blue, distinguishable for eyes that confuse red and green. */
const SCALE = ['lowest', 'low', 'middle', 'high', 'highest'] as const;
/** The same as cells of a heat map. */
const HEAT = ['heat lowest', 'heat low', 'heat middle', 'heat high', 'heat highest'] as const;

/**
 * Colours by meaning. All but the scales are among the terminal's sixteen, so the user's light or dark palette stays readable; nothing
 * depends on colour alone.
 */
const STYLES = [
  /** Unstyled text. */
  'plain',
  /** The reader's position, which should catch the eye first. */
  'accent',
  'strong',
  /** Labels, hints, folded parts. */
  'quiet',
  /** The gutter bar and role of trained text. */
  'trained',
  /** Text with an unknown mask. */
  'unknown',
  'error',
  'warning',
  /** A token that the model was unsure of: underlined, with and without colours. */
  'unlikely',
  /** Hits of a search, and the one under the cursor. */
  'match',
  'current',
  'heading',
  /** Role headers and tags that a template writes, in the raw text. */
  'marker',
  /** Syntax of code and JSON. */
  'key',
  'string',
  'number',
  ...SCALE,
  ...HEAT,
] as const;

export type Style = (typeof STYLES)[number];

/** SGR parameters for each meaning; '' leaves the text as it is. */
export type Theme = Record<Style, string>;

export const COLOURS: Theme = {
  plain: '',
  accent: '36',
  strong: '1',
  quiet: '2',
  trained: '36',
  unknown: '95',
  error: '31',
  warning: '33',
  unlikely: '4;33',
  match: '30;43',
  current: '1;30;46',
  heading: '1',
  marker: '35',
  key: '34',
  string: '32',
  number: '35',
  lowest: '33',
  low: '33',
  middle: '',
  high: '34',
  highest: '34',
  'heat lowest': '30;43',
  'heat low': '33',
  'heat middle': '',
  'heat high': '34',
  'heat highest': '97;44',
};

/** Medium lightness, so that they are readable on black and on white. */
const SCALES_OF_256: Partial<Theme> = {
  lowest: '38;5;166',
  low: '38;5;137',
  middle: '',
  high: '38;5;67',
  highest: '38;5;33',
  'heat lowest': '38;5;231;48;5;130',
  'heat low': '38;5;231;48;5;95',
  'heat middle': '38;5;231;48;5;240',
  'heat high': '38;5;231;48;5;60',
  'heat highest': '38;5;231;48;5;25',
};

/** The place of a value between the lowest and the highest of its run; plain if all are the same. */
export const scaleStyle = (value: number, low: number, high: number): Style =>
  placeIn(SCALE, value, low, high) ?? 'plain';
export const heatStyle = (value: number, low: number, high: number): Style =>
  placeIn(HEAT, value, low, high) ?? 'plain';

function placeIn(scale: readonly Style[], value: number, low: number, high: number): Style | undefined {
  if (!(high > low)) return undefined;
  const share = Math.min(1, Math.max(0, (value - low) / (high - low)));
  return scale[Math.min(scale.length - 1, Math.floor(share * scale.length))];
}

/** For NO_COLOR: only weight, underline and reverse video. */
export const MONO: Theme = {
  plain: '',
  accent: '1',
  strong: '1',
  quiet: '2',
  trained: '1',
  unknown: '4',
  error: '1',
  warning: '4',
  unlikely: '4',
  match: '7',
  current: '1;4;7',
  heading: '1',
  marker: '2',
  key: '1',
  string: '',
  number: '',
  lowest: '2',
  low: '',
  middle: '',
  high: '',
  highest: '1',
  'heat lowest': '2',
  'heat low': '',
  'heat middle': '',
  'heat high': '1',
  'heat highest': '7',
};

/** The same without weight: for the pane without focus. Faint text would be unreadable on white. */
export function dimmed(theme: Theme): Theme {
  const light = (codes: string): string =>
    codes
      .split(';')
      .filter((code) => code !== '1')
      .join(';');
  return Object.fromEntries(Object.entries(theme).map(([style, codes]) => [style, light(codes)])) as Theme;
}

/** On white, where yellow and the light tones of green and cyan fade. */
const ON_LIGHT: Partial<Theme> = {
  warning: '35',
  unlikely: '4;35',
  lowest: '35',
  low: '35',
  'heat lowest': '97;45',
  'heat low': '35',
};
const ON_LIGHT_OF_256: Partial<Theme> = {
  accent: '38;5;25',
  trained: '38;5;25',
  warning: '38;5;130',
  unlikely: '4;38;5;130',
  string: '38;5;22',
  number: '38;5;90',
  key: '38;5;19',
};

/** Nothing is faint, and what matters is bold or reversed. */
const CONTRAST: Partial<Theme> = {
  accent: '1;7',
  quiet: '',
  trained: '1;36',
  error: '1;31',
  warning: '1;4',
  match: '7',
  current: '1;4;7',
  string: '',
  number: '',
  low: '',
  high: '',
  lowest: '4',
  highest: '1',
};

/** The names of themes; auto: light where the terminal says so, else for any background. */
const THEMES = ['auto', 'dark', 'light', 'contrast'] as const;

/** Why a wanted theme cannot be had; null if it can, or none is wanted. */
export function themeProblem({ ROLLOUT_VIEWER_THEME: wanted }: Record<string, string | undefined>): string | null {
  if (!wanted || THEMES.some((name) => name === wanted)) return null;
  return `ROLLOUT_VIEWER_THEME=${wanted}: unknown theme; known: ${THEMES.join(', ')}`;
}

/** COLORFGBG is `foreground;background` in the terminal's sixteen colours; 7 and 9 to 15 are light. */
function isLight({ COLORFGBG: colours }: Record<string, string | undefined>): boolean {
  const background = /^\d+;(?:default;)?(\d+)$/.exec(colours ?? '')?.[1];
  return background !== undefined && (background === '7' || (Number(background) >= 9 && Number(background) <= 15));
}

/** Whether the theme depends on the terminal's background. Linux's console prints the question instead of answering. */
export const asksBackground = (env: Record<string, string | undefined>): boolean =>
  !env.NO_COLOR && env.TERM !== 'dumb' && env.TERM !== 'linux' && wantedTheme(env) === 'auto';

const wantedTheme = (env: Record<string, string | undefined>): (typeof THEMES)[number] =>
  THEMES.find((name) => name === env.ROLLOUT_VIEWER_THEME) ?? 'auto';

/**
 * NO_COLOR (set and not empty) overrides everything else in the environment; TERM=dumb has no colours. ROLLOUT_VIEWER_THEME
 * names a theme; COLORFGBG distinguishes a light background from a dark one.
 * @param isLightHere what the terminal itself said of its background
 */
export function themeFor(env: Record<string, string | undefined>, isLightHere = isLight(env)): Theme {
  if (env.NO_COLOR || env.TERM === 'dumb') return MONO;
  const has256 = /256col|direct/.test(env.TERM ?? '') || /truecolor|24bit/.test(env.COLORTERM ?? '');
  const theme = has256 ? { ...COLOURS, ...SCALES_OF_256 } : COLOURS;
  const wanted = wantedTheme(env);
  if (wanted === 'contrast') return { ...theme, ...CONTRAST };
  if (wanted === 'dark' || (wanted === 'auto' && !isLightHere)) return theme;
  return { ...theme, ...ON_LIGHT, ...(has256 ? { ...SCALES_OF_256, ...ON_LIGHT_OF_256 } : {}) };
}

/** The text in its style, reset after it. */
export function styled(theme: Theme, style: Style, text: string): string {
  const codes = theme[style];
  return codes === '' || text === '' ? text : `\x1b[${codes}m${text}\x1b[0m`;
}
