import { printJson } from '../../../core/json/print.ts';
import type { PromptFormat, RolloutFormat } from '../format.ts';
import { CHAT_LIMITS, SFT_LIMITS } from '../format.ts';
import { exportMessages, plainMessage } from '../openai-messages.ts';

/**
 * verl's MultiTurnSFTDataset (verl b178a3cd5, utils/dataset/multiturn_sft_dataset.py). Each turn goes out as its exact text: the class
 * breaks on parallel calls and reads no tools from a string, so the tools stay in the system text.
 */
export const toVerl: RolloutFormat = {
  name: 'verl',
  about: "verl multi-turn SFT parquet: trains the model's turns and the line break behind each end token",
  takes: 'rollouts',
  file: 'parquet',
  limits: [...SFT_LIMITS, 'apart'],
  tokens: { renders: 'each', trains: 'messages', isText: true },
  columns: [
    { name: 'id', type: 'text' },
    { name: 'messages', type: 'messages' },
  ],
  row: (one) => ({
    id: typeof one.id === 'string' ? one.id : printJson(one.id),
    messages: one.messages.map(plainMessage),
  }),
};

/** verl's RLHFDataset: prompts with a rule's ground truth (utils/dataset/rl_dataset.py). */
export const toVerlRl: PromptFormat = {
  name: 'verl-rl',
  about: 'verl RL parquet: prompts with ground truth and pass rate',
  takes: 'prompts',
  file: 'parquet',
  limits: [...CHAT_LIMITS, 'no_prompt', 'no_truth', 'prompt_apart'],
  tokens: { renders: 'prompt', trains: null, isText: true },
  columns: [
    { name: 'data_source', type: 'text' },
    { name: 'prompt', type: 'messages' },
    { name: 'ability', type: 'text' },
    { name: 'reward_model', type: 'struct', keys: ['style', 'ground_truth'] },
    { name: 'extra_info', type: 'struct', keys: ['index', 'source', 'pass_rate', 'rollouts', 'bucket'] },
  ],
  row: ({ conversation, scores, bucket = null }, index) => ({
    data_source: conversation.dataSource ?? 'unknown',
    prompt: conversation.messages.slice(0, conversation.response).map(plainMessage),
    ability: 'unknown',
    reward_model: { style: 'rule', ground_truth: truthText(conversation.groundTruth) },
    extra_info: {
      index: String(index),
      source: conversation.source,
      pass_rate: passRate(scores) === null ? '' : String(passRate(scores)),
      rollouts: String(scores.length),
      bucket: bucket === null ? '' : String(bucket),
    },
  }),
};

/** Prompts as JSON lines: what to sample from again. */
export const toPrompts: PromptFormat = {
  name: 'prompts',
  about: 'prompts as JSON lines, with ground truth and pass rate',
  takes: 'prompts',
  file: 'jsonl',
  limits: [...CHAT_LIMITS, 'no_prompt'],
  tokens: { renders: 'prompt', trains: null, isText: true },
  row: ({ conversation, scores, bucket }) => ({
    prompt: exportMessages({ isRecorded: false }, conversation.messages.slice(0, conversation.response)),
    ...(conversation.isTextWhole ? {} : { tools: conversation.tools }),
    ...(conversation.groundTruth === undefined ? {} : { ground_truth: conversation.groundTruth }),
    ...(conversation.dataSource === null ? {} : { data_source: conversation.dataSource }),
    pass_rate: passRate(scores),
    scores,
    bucket,
    source: conversation.locator,
  }),
};

/** The share of positive scores; null without scores. */
export const passRate = (scores: readonly number[]): number | null =>
  scores.length === 0 ? null : scores.filter((score) => score > 0).length / scores.length;

const truthText = (value: Parameters<typeof printJson>[0]): string =>
  typeof value === 'string' ? value : printJson(value ?? null);
