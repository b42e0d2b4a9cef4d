import { parse, YAMLParseError } from 'yaml';
import { z } from 'zod';
import type { SamplingParams } from '../model/model.ts';
import type { Limits } from '../request/limits.ts';
import { LIMIT_SETTINGS, SAMPLING_SETTINGS, SETTINGS, type Setting } from './setting-list.ts';

const typed = ({ kind, choices, isOptional, min = 0 }: Setting): z.ZodType => {
  const of = {
    integer: z.number().int().min(min),
    number: z.number(),
    text: z.string().min(1),
    texts: z.union([z.string().transform((text) => [text]), z.array(z.string())]),
    choice: z.enum((choices ?? ['']) as [string]),
  }[kind];
  return (isOptional ? of.nullable() : of).optional();
};

const SettingsFile = z.strictObject({
  ...Object.fromEntries(SETTINGS.map((one) => [one.key, typed(one)])),
  /** data_source → reward function. */
  rewards: z.record(z.string(), z.string()).optional(),
});

/** What a run is made with. Keys that are not set are not there. */
export interface Settings extends Partial<Limits>, Omit<SamplingParams, 'n'> {
  model_url?: string;
  model?: string;
  api?: 'chat' | 'generate';
  tools?: string;
  sandbox?: string;
  tool_format?: string;
  tokenizer?: string;
  chat_template?: string;
  tokenization_check?: 'disable' | 'strict' | 'ignore_strippable';
  out?: string;
  n?: number;
  concurrency?: number;
  step?: number;
  batch_size?: number;
  gamma?: number;
  reward?: string;
  reward_url?: string;
  sandbox_fusion_url?: string;
  rewards?: Record<string, string>;
}

/** Reads the text of a configuration file. @throws Error that names the file, the key and what is wrong. */
export function parseSettings(text: string, path: string): Settings {
  let value: unknown;
  try {
    value = parse(text);
  } catch (error) {
    const line = error instanceof YAMLParseError ? `:${error.linePos?.[0].line ?? 1}` : '';
    throw new Error(`${path}${line}: not YAML: ${(error as Error).message.split('\n')[0]}`);
  }
  const settings = SettingsFile.safeParse(value ?? {});
  if (!settings.success) throw new Error(`${path}: ${z.prettifyError(settings.error).replaceAll('\n', ' ')}`);
  return settings.data as Settings;
}

/** The flags' texts by key, as values. @throws Error that names the flag. */
export function settingsOfFlags(flags: Readonly<Record<string, string | string[] | undefined>>): Settings {
  const settings: Record<string, unknown> = {};
  for (const one of SETTINGS) {
    const text = flags[one.key];
    if (text === undefined) continue;
    const value =
      text === 'none' && one.isOptional
        ? null
        : one.kind === 'integer' || one.kind === 'number'
          ? numberOf(text)
          : text;
    const read = typed(one).safeParse(value);
    if (!read.success)
      throw new Error(`--${one.key.replaceAll('_', '-')} ${String(text)}: ${read.error.issues[0]?.message}`);
    settings[one.key] = read.data;
  }
  return settings as Settings;
}

const numberOf = (text: string | string[]): unknown =>
  String(text).trim() === '' ? text : Number.isNaN(Number(text)) ? text : Number(text);

function pick<T>(settings: Settings, of: readonly Setting[]): T {
  const held = settings as Record<string, unknown>;
  return Object.fromEntries(of.filter(({ key }) => held[key] !== undefined).map(({ key }) => [key, held[key]])) as T;
}

export const limitsOf = (settings: Settings): Partial<Limits> => pick(settings, LIMIT_SETTINGS);
export const samplingOf = (settings: Settings): SamplingParams => pick(settings, SAMPLING_SETTINGS);
