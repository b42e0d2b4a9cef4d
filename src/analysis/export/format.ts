import type { Printable } from '../../core/json/print.ts';
import type { ExportConversation } from './conversation.ts';
import type { ExportLimit } from './limits.ts';
import type { LoaderRule } from './loader-rule.ts';

/** A row of an export: what the loader reads. */
export type ExportRow = { [key: string]: Printable };

/** Two answers to one prompt, the better first; `response` may come after turns that both share. */
export interface AnswerPair {
  better: ExportConversation;
  worse: ExportConversation;
  /** Messages of `better` that form the prompt of both. */
  shared: number;
  /** Messages of each answer that the pair compares; Infinity = all. */
  length: number;
  reason: string;
}

/** A prompt with the scores of its rollouts. */
export interface PromptGroup {
  conversation: ExportConversation;
  rollouts: number;
  /** Those that are finite. */
  scores: number[];
  /** Its difficulty, from 0, the easiest; null if it has no scores, undefined unless buckets were asked for. */
  bucket?: number | null;
}

interface FormatBase {
  name: string;
  /** The trainer, and what its loader trains on. */
  about: string;
  file: 'jsonl' | 'json' | 'parquet' | 'pt' | 'bin';
  limits: readonly ExportLimit[];
  /** How its loader makes tokens. recorded: it takes the recorded ids; null: it applies its own template. */
  tokens: LoaderRule | 'recorded' | null;
  /** It takes calls, results and reasoning only as parts, also those that are cut from text. */
  cutsText?: true;
  /** Parquet columns, in order; each is a string column unless it says otherwise. */
  columns?: readonly ParquetColumn[];
}

export interface ParquetColumn {
  name: string;
  /** text, number (64-bit float), or messages: a list of {role, content}. */
  type: 'text' | 'number' | 'messages' | 'struct';
  /** The text keys of a struct. */
  keys?: readonly string[];
}

/** Set if the trainer takes one rollout per row. */
export interface RolloutFormat extends FormatBase {
  takes: 'rollouts';
  row: (conversation: ExportConversation) => ExportRow;
}

/** Set if the trainer takes a better and a worse answer. */
export interface PairFormat extends FormatBase {
  takes: 'pairs';
  row: (pair: AnswerPair) => ExportRow;
}

/** Set if the trainer takes one answer and whether it is good. */
export interface LabelFormat extends FormatBase {
  takes: 'labels';
  row: (conversation: ExportConversation, isGood: boolean) => ExportRow;
}

/** Set if the trainer takes prompts to sample from. */
export interface PromptFormat extends FormatBase {
  takes: 'prompts';
  row: (group: PromptGroup, index: number) => ExportRow;
}

export type ExportFormat = RolloutFormat | PairFormat | LabelFormat | PromptFormat;

/** Losses common to all loaders of messages. */
export const CHAT_LIMITS = [
  'contexts',
  'pictures',
  'roles',
  'half_characters',
] as const satisfies readonly ExportLimit[];

/** Losses common to all loaders that train on messages. */
export const REPLY_LIMITS = ['empty', 'cut', 'inferred', 'split_mask', ...CHAT_LIMITS] as const;

/** Losses common to all loaders that cannot mask single replies. */
export const SFT_LIMITS = [...REPLY_LIMITS, 'masked_turns', 'prompt_replies'] as const;

/** Losses of loaders with templates of their own, which fill in places by text that a rollout may contain. */
export const PLACEHOLDERS = ['empty_system', 'placeholders'] as const satisfies readonly ExportLimit[];

/** Losses common to all loaders of answers to a prompt, which they train whole. */
export const ANSWER_LIMITS = ['empty', 'cut', ...CHAT_LIMITS, 'no_prompt'] as const;
