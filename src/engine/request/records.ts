import type { JsonValue } from '../../core/json/value.ts';
import type { Message } from '../common/message.ts';
import type { FinishReason } from '../model/model.ts';
import type { CountSnapshot } from './token-count.ts';
import type { CallRecord } from './tool-calls.ts';
import type { TranscriptSnapshot } from './transcript.ts';

/** How one assistant turn was generated; seconds count from the rollout's start. */
export type GenerationRecord = {
  turn: number;
  finish_reason: FinishReason;
  started: number;
  duration: number;
  prompt_tokens: number | null;
  completion_tokens: number | null;
  retries: number;
};

/** A readable warning. All warnings of a sort share a `kind`, so it is printed once. */
export interface RolloutWarning {
  kind: 'tool' | 'prompt' | 'tokenization' | 'window' | 'template' | 'partial' | 'lost' | 'empty';
  message: string;
}

/** A rollout suspended by a deadline, with its tokens and log probabilities, as plain data. */
export interface PartialRollout extends CountSnapshot {
  request_id: string;
  messages: Message[];
  prompt_turns: number;
  calls: CallRecord[];
  generations: GenerationRecord[];
  user_turns: number;
  turn_scores: { turn: number; score: number }[];
  metrics: Record<string, JsonValue[]>;
  transcript: TranscriptSnapshot;
  /** The last message is a turn that was broken off in the middle, to be resumed. */
  open_turn?: boolean;
}
