import type { JsonObject } from '../../json/value.ts';
import type { Message, MessageToolCall } from '../message.ts';

/**
 * How to sample, in the words of SGLang and vLLM. Unset keys are not sent, so that the server's own defaults hold.
 * Values are never changed in place: copy with `{ ...params, temperature: 0.8 }`.
 */
export interface SamplingParams {
  n?: number;
  temperature?: number;
  top_p?: number;
  top_k?: number;
  min_p?: number;
  presence_penalty?: number;
  frequency_penalty?: number;
  repetition_penalty?: number;
  max_new_tokens?: number;
  stop?: string[];
  /** Rollout i of a task is sampled with seed + i, so that the rollouts of one prompt differ and can be made again. */
  seed?: number;
}

export type FinishReason = 'stop' | 'length' | 'tool_calls';

/** A piece of a turn as it arrives. After `retry` what came of this turn so far is void: the stream was dropped and starts anew. */
export type ModelDelta = { kind: 'text' | 'reasoning'; text: string } | { kind: 'retry'; reason: string };

export interface ModelRequest {
  messages: readonly Message[];
  tools: readonly JsonObject[];
  sampling: SamplingParams;
  /** The most tokens the turn may have; null leaves it to the server. */
  maxNewTokens: number | null;
  /** The exact ids of everything so far, for engines that take tokens. */
  inputIds: readonly number[] | null;
  signal?: AbortSignal | undefined;
  onDelta?: ((delta: ModelDelta) => void) | undefined;
}

/** One sampled turn. */
export interface Generation {
  /** Without special tokens. Calls that the server parsed itself are in `toolCalls`, not here. */
  text: string;
  reasoning: string | null;
  toolCalls: MessageToolCall[];
  finishReason: FinishReason;
  /** The sampled ids, the end-of-turn token included, and their log probabilities; null where the server does not tell ids. */
  ids: number[] | null;
  logprobs: number[] | null;
  /** As counted by the server; null where it does not say. */
  promptTokens: number | null;
  completionTokens: number | null;
  /** How often the request was sent again. */
  retries: number;
}

export interface Model {
  readonly name: string;
  /** true: the engine takes `inputIds` and gives ids back, so that a tokenizer is needed. */
  readonly exact: boolean;
  /** Rejects with ModelError when the server says no for good, with the signal's reason when it is aborted. */
  generate(request: ModelRequest): Promise<Generation>;
}

export class ModelError extends Error {
  override name = 'ModelError';
  /** The HTTP status; null for a connection that failed. */
  readonly status: number | null;
  /** overflow: the conversation is longer than the model's window. */
  readonly kind: 'refused' | 'unreachable' | 'overflow';
  constructor(message: string, status: number | null, kind: 'refused' | 'unreachable' | 'overflow') {
    super(message);
    this.status = status;
    this.kind = kind;
  }
}
