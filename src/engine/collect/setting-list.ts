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
  setting('integer', 'max_prompt_length', 'tokens; a longer prompt is told', { ...none, aliases: ['prompt_length'] }),
  setting('integer', 'max_response_length', 'tokens after the prompt, tool results included (8192)', {
    aliases: ['response_length'],
  }),
  setting('integer', 'max_model_len', 'tokens in all; without it what the server says', {
    min: 1,
    ...none,
    aliases: ['max_seq_len'],
  }),
  setting('integer', 'max_assistant_turns', 'assistant turns; none: no limit', none),
  setting('integer', 'max_user_turns', 'turns of tool results and of a simulated user; none: no limit', none),
  setting('integer', 'max_parallel_calls', 'tool calls of one turn that are run; none: all', none),
  setting('integer', 'max_tool_response_length', 'characters of a tool result; none: whole (256)', none),
  setting('choice', 'tool_response_truncate_side', 'which end of a long tool result is cut off (middle: neither)', {
    choices: ['left', 'right', 'middle'],
  }),
  setting('number', 'tool_timeout', 'seconds for a tool call, its wait in a queue not counted (300)'),
  setting('number', 'timeout', 'seconds for a rollout (3600)'),
];

export const SAMPLING_SETTINGS: readonly Setting[] = [
  setting('number', 'temperature', 'sampling temperature'),
  setting('number', 'top_p', 'nucleus sampling'),
  setting('integer', 'top_k', 'sample from the k likeliest tokens; -1: all', { min: -1 }),
  setting('number', 'min_p', 'least probability, relative to the likeliest token'),
  setting('number', 'presence_penalty', 'penalty for tokens that occurred'),
  setting('number', 'frequency_penalty', 'penalty for tokens by how often they occurred'),
  setting('number', 'repetition_penalty', 'factor for tokens that occurred'),
  setting('integer', 'prompt_logprobs', 'keep log probabilities of the prompt too, where the --api has token ids (0)'),
  setting('integer', 'max_new_tokens', 'tokens of one turn', { aliases: ['max_tokens'] }),
  setting('texts', 'stop', 'text that ends a turn; may be given again'),
  setting('integer', 'seed', 'rollout i of a task is sampled with seed + i'),
];

export const RUN_SETTINGS: readonly Setting[] = [
  setting('text', 'model_url', 'address of the model server, up to and with /v1'),
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
  setting(
    'texts',
    'tool_class',
    'CLASS=KIND: what a class in the tool file stands for, by a class that is known; may be given again',
  ),
  setting('text', 'interaction_config', "simulated users, in verl's form (YAML)", {
    aliases: ['interaction_config_path'],
  }),
  setting('text', 'sandbox', 'where code runs, whatever the tool file says: auto, bubblewrap, pyodide, or an address'),
  setting('text', 'tool_format', 'how the model writes calls in its text (hermes)', { aliases: ['format'] }),
  setting('text', 'tokenizer', "the model's tokenizer.json, or its folder"),
  setting('text', 'chat_template', "the model's chat template, where tokenizer_config.json has none"),
  setting('choice', 'tokenization_check', 'compare sampled ids with the conversation rendered again (strict)', {
    choices: ['disable', 'strict', 'ignore_strippable'],
    aliases: ['tokenization_sanity_check_mode'],
  }),
  setting(
    'object',
    'apply_chat_template_kwargs',
    'what the chat template reads beside the messages, as JSON: {"enable_thinking": false}',
  ),
  setting('choice', 'verl_compat', 'exactly as this tree of verl rolls out, mistakes included', {
    choices: VERL_VERSIONS,
  }),
  setting('text', 'out', 'directory of the dump', { aliases: ['rollout_data_dir'] }),
  setting('integer', 'n', 'rollouts a task (1)', { min: 1 }),
  setting('integer', 'concurrency', 'rollouts in flight (32)', { min: 1 }),
  setting('integer', 'model_requests', 'turns asked of the model server at once, by all workers with --queue', {
    min: 1,
  }),
  setting('integer', 'step', 'number of the first step (1)'),
  setting('integer', 'batch_size', 'tasks a step; without it all tasks are one step', {
    min: 1,
    aliases: ['train_batch_size'],
  }),
  setting(
    'number',
    'deadline',
    'seconds for a step; rollouts that are not whole then are kept, and gone on with by --resume',
  ),
  setting('integer', 'enough', 'rollouts that end a step, the others are kept and gone on with by --resume', {
    min: 1,
  }),
  setting('number', 'gamma', 'discount of the returns (1)'),
  setting(
    'text',
    'agent',
    'who speaks with --env: model, tool, or a class of your own (FILE.py:Class, FILE.mjs#Class)',
  ),
  setting('text', 'env', 'environment that answers every turn: task, tool, or a class of your own'),
  setting('text', 'python', 'interpreter for Python of your own: tool classes, reward files (python3)'),
  setting('texts', 'python_path', 'folder where its imports are looked for first; may be given again'),
  setting(
    'text',
    'reward',
    'reward function for tasks whose data_source has none; http and a file with compute_score judge all',
  ),
  setting('text', 'function', 'the function in that file (compute_score)'),
  setting('object', 'reward_kwargs', 'what that function is called with besides, as JSON'),
  setting(
    'object',
    'overlong_buffer',
    'what a response costs that nears max_response_length, as JSON: {"len": 512, "penalty_factor": 1}',
    { aliases: ['overlong_buffer_cfg'] },
  ),
  setting('texts', 'session_url', 'address of a session service that answers every turn; given again, several in turn'),
  setting('texts', 'session_stop', 'text with which the model ends a session; may be given again'),
  setting('text', 'reward_url', 'address of a reward service, for the reward function http'),
  setting(
    'texts',
    'reward_keys',
    'key that this service is sent; may be given again: sid alone for services made for verl (all)',
  ),
  setting('text', 'sandbox_fusion_url', 'sandbox of the reward function code'),
];

export const SETTINGS: readonly Setting[] = [...RUN_SETTINGS, ...LIMIT_SETTINGS, ...SAMPLING_SETTINGS];
