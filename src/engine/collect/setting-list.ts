import { isJsonObject, type JsonValue } from '../../core/json/value.ts';
import { VERL_VERSIONS } from '../request/rules.ts';

/** One setting of a run: a key of the configuration file and, with dashes, a flag. */
export interface Setting {
  key: string;
  kind: 'integer' | 'number' | 'text' | 'texts' | 'choice' | 'object';
  help: string;
  choices?: readonly string[];
  /** Whether `null` (on the command line: none) switches it off. */
  isOptional?: boolean;
  /** The least value of an integer; default 0. */
  min?: number;
  /** Aliases: verl's names. */
  aliases?: readonly string[];
}

/** The error in a value, read from YAML or from a flag; null if it is valid. */
export function settingProblem({ kind, choices, isOptional, min = 0 }: Setting, value: unknown): string | null {
  if (value === null && isOptional) return null;
  const none = isOptional ? ', or none' : '';
  if (kind === 'integer')
    return Number.isInteger(value) && (value as number) >= min ? null : `expected a whole number from ${min}${none}`;
  if (kind === 'number') return typeof value === 'number' && Number.isFinite(value) ? null : `expected a number${none}`;
  if (kind === 'object') return isJsonObject(value as JsonValue) ? null : 'expected an object, as JSON';
  if (kind === 'choice') return choices?.includes(value as string) ? null : `expected ${choices?.join(', ')}`;
  if (kind === 'texts' && Array.isArray(value))
    return value.every((text) => typeof text === 'string') ? null : 'expected texts';
  return typeof value === 'string' && value !== '' ? null : 'expected a text';
}

const setting = (kind: Setting['kind'], key: string, help: string, more: Partial<Setting> = {}): Setting => ({
  key,
  kind,
  help,
  ...more,
});
const none = { isOptional: true };

export const LIMIT_SETTINGS: readonly Setting[] = [
  setting('integer', 'max_prompt_length', 'tokens; a longer prompt gives a warning', {
    ...none,
    aliases: ['prompt_length'],
  }),
  setting('integer', 'max_response_length', 'tokens after the prompt, including tool results (8192)', {
    aliases: ['response_length'],
  }),
  setting('integer', 'max_model_len', 'tokens in total (default: as the server says)', {
    min: 1,
    ...none,
    aliases: ['max_seq_len'],
  }),
  setting('integer', 'max_assistant_turns', 'assistant turns; none: no limit', none),
  setting('integer', 'max_user_turns', 'turns of tool results and of a simulated user; none: no limit', none),
  setting('integer', 'max_parallel_calls', 'tool calls to run of one turn; none: all', none),
  setting('integer', 'max_tool_response_length', 'characters of a tool result; none: no limit (256)', none),
  setting('choice', 'tool_response_truncate_side', 'the part of a long tool result to cut', {
    choices: ['left', 'right', 'middle'],
  }),
  setting('number', 'tool_timeout', 'seconds for a tool call, without its wait in a queue (300)'),
  setting('number', 'timeout', 'seconds for a rollout (3600)'),
];

export const SAMPLING_SETTINGS: readonly Setting[] = [
  setting('number', 'temperature', 'sampling temperature'),
  setting('number', 'top_p', 'nucleus sampling'),
  setting('integer', 'top_k', 'sample from the k likeliest tokens; -1: all', { min: -1 }),
  setting('number', 'min_p', 'lowest probability, relative to the likeliest token'),
  setting('number', 'presence_penalty', 'penalty for tokens that occurred'),
  setting('number', 'frequency_penalty', 'penalty for tokens by how often they occurred'),
  setting('number', 'repetition_penalty', 'factor for tokens that occurred'),
  setting(
    'integer',
    'prompt_logprobs',
    'keep log probabilities of the prompt too, with an --api that has token ids (0)',
  ),
  setting('integer', 'max_new_tokens', 'tokens of one turn', { aliases: ['max_tokens'] }),
  setting('texts', 'stop', 'text that ends a turn; repeatable'),
  setting('integer', 'seed', 'rollout i of a task is sampled with seed + i'),
];

export const RUN_SETTINGS: readonly Setting[] = [
  setting('text', 'model_url', 'address of the model server, including /v1'),
  setting('text', 'model', 'name of the model'),
  setting(
    'choice',
    'api',
    'chat: chat completions (default); generate: SGLang, completions: vLLM, both with exact token ids',
    {
      choices: ['chat', 'generate', 'completions'],
    },
  ),
  setting('text', 'tools', "tool file in verl's form (YAML)", { aliases: ['tool_config_path'] }),
  setting('texts', 'tool_class', 'CLASS=KIND: treat CLASS in the tool file as the built-in KIND; repeatable'),
  setting('text', 'interaction_config', "simulated users, in verl's form (YAML)", {
    aliases: ['interaction_config_path'],
  }),
  setting('text', 'sandbox', 'where code runs, overriding the tool file: auto, bubblewrap, pyodide, or an address'),
  setting('text', 'tool_format', 'how the model writes tool calls in its text (hermes)', { aliases: ['format'] }),
  setting('text', 'tokenizer', "the model's tokenizer.json, or its folder"),
  setting('text', 'chat_template', "the model's chat template, if tokenizer_config.json has none"),
  setting('choice', 'tokenization_check', 'compare sampled ids with the conversation rendered again (strict)', {
    choices: ['disable', 'strict', 'ignore_strippable'],
    aliases: ['tokenization_sanity_check_mode'],
  }),
  setting(
    'object',
    'apply_chat_template_kwargs',
    'more variables for the chat template, as JSON: {"enable_thinking": false}',
  ),
  setting('choice', 'verl_compat', 'behave exactly as this version of verl, including its mistakes', {
    choices: VERL_VERSIONS,
  }),
  setting('text', 'out', 'directory of the dump', { aliases: ['rollout_data_dir'] }),
  setting('integer', 'n', 'rollouts per task (1)', { min: 1 }),
  setting('integer', 'concurrency', 'rollouts in flight (32)', { min: 1 }),
  setting(
    'integer',
    'model_requests',
    'requests to the model server at the same time, with --queue from all workers together',
    {
      min: 1,
    },
  ),
  setting('integer', 'step', 'number of the first step (1)'),
  setting('integer', 'batch_size', 'tasks per step (default: all tasks are one step)', {
    min: 1,
    aliases: ['train_batch_size'],
  }),
  setting('number', 'deadline', 'seconds per step; unfinished rollouts are saved, and --resume continues them'),
  setting(
    'integer',
    'enough',
    'end a step after this many rollouts; the others are saved, and --resume continues them',
    {
      min: 1,
    },
  ),
  setting('number', 'gamma', 'discount of the returns (1)'),
  setting('text', 'agent', 'who acts in --env: model, tool, or your own class (FILE.py:Class, FILE.mjs#Class)'),
  setting('text', 'env', 'environment that answers every turn: task, tool, or your own class'),
  setting('text', 'python', 'interpreter for your own Python: tool classes, reward files (python3)'),
  setting('texts', 'python_path', 'folder that its imports search first; repeatable'),
  setting(
    'text',
    'reward',
    'reward function for tasks whose data_source has none; http, or a file with compute_score, scores all',
  ),
  setting('text', 'function', 'the function in that file (compute_score)'),
  setting('object', 'reward_kwargs', 'more arguments for that function, as JSON'),
  setting(
    'object',
    'overlong_buffer',
    'penalty for a response near max_response_length, as JSON: {"len": 512, "penalty_factor": 1}',
    { aliases: ['overlong_buffer_cfg'] },
  ),
  setting('texts', 'session_url', 'address of a session service that answers every turn; repeatable, used in turn'),
  setting('texts', 'session_stop', 'text with which the model ends a session; repeatable'),
  setting('text', 'reward_url', 'address of a reward service, for the reward function http'),
  setting(
    'texts',
    'reward_keys',
    'key to send to this service; repeatable: sid alone for services made for verl (all)',
  ),
  setting('text', 'sandbox_fusion_url', 'sandbox of the reward function code'),
];

export const SETTINGS: readonly Setting[] = [...RUN_SETTINGS, ...LIMIT_SETTINGS, ...SAMPLING_SETTINGS];
