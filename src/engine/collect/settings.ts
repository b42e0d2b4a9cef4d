import { parse, YAMLParseError } from 'yaml';
import { z } from 'zod';
import type { SamplingParams } from '../model/model.ts';
import type { Limits } from '../request/limits.ts';

/** One thing that can be set for a run: a key of the configuration file, and with dashes a flag. */
export interface Setting {
  key: string;
  kind: 'integer' | 'number' | 'text' | 'texts' | 'choice';
  help: string;
  choices?: readonly string[];
  /** Whether `null` (on the command line: none) switches it off. */
  isOptional?: boolean;
}

const setting = (kind: Setting['kind'], key: string, help: string, more: Partial<Setting> = {}): Setting => ({
  key,
  kind,
  help,
  ...more,
});
const none = { isOptional: true };

export const LIMIT_SETTINGS: readonly Setting[] = [
  setting('integer', 'max_prompt_length', 'tokens; a longer prompt is told', none),
  setting('integer', 'max_response_length', 'tokens after the prompt, tool results included (8192)'),
  setting('integer', 'max_model_len', 'tokens in all (32768)'),
  setting('integer', 'max_assistant_turns', 'assistant turns; none: a third of max_model_len', none),
  setting('integer', 'max_parallel_calls', 'tool calls of one turn that are run; none: all', none),
  setting('integer', 'max_tool_response_length', 'characters of a tool result; none: whole (256)', none),
  setting('choice', 'tool_response_truncate_side', 'which end of a long tool result is kept (middle: both)', {
    choices: ['left', 'right', 'middle'],
  }),
  setting('number', 'tool_timeout', 'seconds for a tool call (300)'),
  setting('number', 'timeout', 'seconds for a rollout (3600)'),
];

export const SAMPLING_SETTINGS: readonly Setting[] = [
  setting('number', 'temperature', 'sampling temperature'),
  setting('number', 'top_p', 'nucleus sampling'),
  setting('integer', 'top_k', 'sample from the k likeliest tokens'),
  setting('number', 'min_p', 'least probability, relative to the likeliest token'),
  setting('number', 'presence_penalty', 'penalty for tokens that occurred'),
  setting('number', 'frequency_penalty', 'penalty for tokens by how often they occurred'),
  setting('number', 'repetition_penalty', 'factor for tokens that occurred'),
  setting('integer', 'max_new_tokens', 'tokens of one turn'),
  setting('texts', 'stop', 'text that ends a turn; may be given again'),
  setting('integer', 'seed', 'rollout i of a task is sampled with seed + i'),
];

export const RUN_SETTINGS: readonly Setting[] = [
  setting('text', 'model_url', 'address of the model server, up to and with /v1'),
  setting('text', 'model', 'name of the model'),
  setting('choice', 'api', 'chat: chat completions (default); generate: SGLang, exact token ids', {
    choices: ['chat', 'generate'],
  }),
  setting('text', 'tools', "tool file in verl's form (YAML)"),
  setting('text', 'tool_format', 'how the model writes calls in its text (hermes)'),
  setting('text', 'tokenizer', "the model's tokenizer.json"),
  setting('text', 'chat_template', "the model's chat template, where tokenizer_config.json has none"),
  setting('choice', 'tokenization_check', 'compare sampled ids with the conversation rendered anew (strict)', {
    choices: ['disable', 'strict', 'ignore_strippable'],
  }),
  setting('text', 'out', 'directory of the dump'),
  setting('integer', 'n', 'rollouts a task (1)'),
  setting('integer', 'concurrency', 'rollouts in flight (32)'),
  setting('integer', 'step', 'number of the first step (1)'),
  setting('integer', 'batch_size', 'tasks a step; without it all tasks are one step'),
  setting('number', 'gamma', 'discount of the returns (1)'),
  setting('text', 'reward', 'reward function for tasks whose data_source has none'),
  setting('text', 'reward_url', 'address of a reward service, for the reward function http'),
  setting('text', 'sandbox_fusion_url', 'sandbox of the reward function code'),
];

const typed = ({ kind, choices, isOptional }: Setting): z.ZodType => {
  const of = {
    integer: z.number().int().nonnegative(),
    number: z.number(),
    text: z.string().min(1),
    texts: z.union([z.string().transform((text) => [text]), z.array(z.string())]),
    choice: z.enum((choices ?? ['']) as [string]),
  }[kind];
  return (isOptional ? of.nullable() : of).optional();
};

const SettingsFile = z.strictObject({
  ...Object.fromEntries([...RUN_SETTINGS, ...LIMIT_SETTINGS, ...SAMPLING_SETTINGS].map((one) => [one.key, typed(one)])),
  /** data_source → reward function. */
  rewards: z.record(z.string(), z.string()).optional(),
});

/** What a run is made with. Keys that are not set are not there. */
export interface Settings extends Partial<Limits>, Omit<SamplingParams, 'n'> {
  model_url?: string;
  model?: string;
  api?: 'chat' | 'generate';
  tools?: string;
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
  for (const one of [...RUN_SETTINGS, ...LIMIT_SETTINGS, ...SAMPLING_SETTINGS]) {
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
