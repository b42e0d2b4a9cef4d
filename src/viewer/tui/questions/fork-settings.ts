import { errorMessage } from '../../../core/text/thrown.ts';
import { type SettingTexts, settingsOfFlags } from '../../../engine/collect/setting-flags.ts';
import { LIMIT_SETTINGS, RUN_SETTINGS, SAMPLING_SETTINGS, type Setting } from '../../../engine/collect/setting-list.ts';
import type { ForkSettings } from '../state/replay.ts';

const KNOWN: readonly Setting[] = [
  ...RUN_SETTINGS.filter(({ key }) => key === 'n').map((n) => ({ ...n, help: 'branches (1)' })),
  ...SAMPLING_SETTINGS,
  ...LIMIT_SETTINGS,
];
const settingNamed = (name: string): Setting | undefined =>
  KNOWN.find(({ key, aliases }) => key === name || aliases?.includes(name) === true);

const WORD = /(\w+)=("(?:[^"\\]|\\.)*"|\S*)|\S+/g;

/** Reads `n=2 temperature=0.7 stop="\n\n"`. @throws SettingError */
export function parseForkSettings(line: string): ForkSettings {
  const texts: Record<string, string | string[]> = {};
  for (const { 0: word, 1: name, 2: value = '', index } of line.matchAll(WORD)) {
    const setting = settingNamed(name ?? word);
    if (setting === undefined) throw new SettingError(`${name ?? word} is not a setting`, index);
    if (name === undefined || value === '') throw new SettingError(`${word.replace('=', '')} needs a value`, index);
    const text = unquoted(value);
    const before = texts[setting.key];
    texts[setting.key] = setting.kind === 'texts' ? [...(Array.isArray(before) ? before : []), text] : text;
    try {
      settingsOfFlags({ [setting.key]: text });
    } catch (error) {
      throw new SettingError(errorMessage(error).replace(/^.*?: /, ''), index + name.length + 1);
    }
  }
  const { n = '1', ...rest } = texts;
  return { n: Number(n), texts: rest };
}

export class SettingError extends Error {
  /** UTF-16 offset in the line. */
  readonly at: number;
  constructor(message: string, at: number) {
    super(message);
    this.at = at;
  }
}

function unquoted(value: string): string {
  if (!value.startsWith('"')) return value;
  try {
    return JSON.parse(value) as string;
  } catch {
    return value;
  }
}

/** In the syntax of parseForkSettings. */
export const forkLine = ({ n, texts }: ForkSettings): string =>
  [...(n === 1 ? [] : [`n=${n}`]), ...settingEntries(texts).map(([key, text]) => `${key}=${quotedSetting(text)}`)].join(
    ' ',
  );

const quotedSetting = (text: string): string => (/[\s"]/.test(text) ? JSON.stringify(text) : text);

/** For people: `temperature 0.7, top_p 0.9`. */
export const spokenSettings = ({ texts }: ForkSettings): string =>
  settingEntries(texts)
    .map(([key, text]) => `${key} ${quotedSetting(text)}`)
    .join(', ');

const settingEntries = (texts: SettingTexts): [key: string, text: string][] =>
  Object.entries(texts).flatMap(([key, value]) =>
    (typeof value === 'string' ? [value] : (value ?? [])).map((text): [string, string] => [key, text]),
  );

/** Explains the word being typed. */
export function settingHelp(line: string): string {
  const name = /(\w+)=?\S*$/.exec(line)?.[1];
  const setting = name === undefined ? undefined : settingNamed(name);
  if (setting !== undefined) return `${setting.key}: ${setting.help}`;
  return 'n=4 temperature=0.7 top_p=0.9 max_tokens=512 …; Tab names them all';
}

/** Completions of a partial name, as whole lines. */
export function settingChoices(line: string): string[] {
  const [, before = '', begun = ''] = /^(.*?)(\w*)$/s.exec(line) ?? [];
  if (before !== '' && !/\s$/.test(before)) return [];
  return KNOWN.filter(({ key }) => key.startsWith(begun)).map(({ key }) => `${before}${key}=`);
}
