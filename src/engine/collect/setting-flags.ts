import { parseJson } from '../../core/json/parse.ts';
import type { SamplingParams } from '../model/model.ts';
import type { Limits } from '../request/limits.ts';
import { LIMIT_SETTINGS, SAMPLING_SETTINGS, SETTINGS, type Setting, settingProblem } from './setting-list.ts';
import type { Settings } from './settings.ts';

export type SettingTexts = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Settings from the command line, as values by key. @throws Error naming the flag */
export function settingsOfFlags(flags: SettingTexts): Settings {
  const settings: Record<string, unknown> = {};
  for (const one of SETTINGS) {
    const text = flags[one.key];
    if (text === undefined) continue;
    const value = readText(one, text);
    const problem = settingProblem(one, value);
    if (problem !== null) throw new Error(`--${one.key.replaceAll('_', '-')} ${String(text)}: ${problem}`);
    settings[one.key] = value;
  }
  return settings;
}

function readText({ kind, isOptional }: Setting, text: string | readonly string[]): unknown {
  if (text === 'none' && isOptional) return null;
  if (kind === 'texts') return typeof text === 'string' ? [text] : text;
  if (kind === 'object') return readObject(String(text));
  if (kind !== 'integer' && kind !== 'number') return text;
  return String(text).trim() === '' ? text : Number(text);
}

function readObject(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return text;
  }
}

function pick<T>(settings: Settings, of: readonly Setting[]): T {
  const held = settings as Record<string, unknown>;
  return Object.fromEntries(of.filter(({ key }) => held[key] !== undefined).map(({ key }) => [key, held[key]])) as T;
}

export const limitsOf = (settings: Settings): Partial<Limits> => pick(settings, LIMIT_SETTINGS);
export const samplingOf = (settings: Settings): SamplingParams => pick(settings, SAMPLING_SETTINGS);
