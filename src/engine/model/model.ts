import type { JsonObject } from '../../core/json/value.ts';
import type { Message, MessageToolCall } from '../common/message.ts';

/**
 * Sampling parameters, in the terms of SGLang and vLLM. Unset keys are not sent, so the server's defaults apply.
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
  /** vLLM's name: log probabilities of the prompt's tokens, requested with the first turn. Only each token's own is kept, whatever the number. */
  prompt_logprobs?: number;
  stop?: string[];
  /** Rollout i of a task is sampled with seed + i, so the rollouts of one prompt differ and can be reproduced. */
  seed?: number;
}

export type FinishReason = 'stop' | 'length' | 'tool_calls';

/** The server's finish reason: also broken off by itself, or blocked by a filter. */
export type ServedFinish = FinishReason | 'abort' | 'content_filter';

/** A piece of a turn as it arrives. `retry` voids everything of this turn so far: the stream was dropped and starts again. */
export type ModelDelta = { kind: 'text' | 'reasoning'; text: string } | { kind: 'retry'; reason: string };

export interface ModelRequest {
  messages: readonly Message[];
  tools: readonly JsonObject[];
  sampling: SamplingParams;
  /** The most tokens the turn may have; null leaves it to the server. */
  maxNewTokens: number | null;
  /** The exact ids of everything so far, for engines that take tokens. */
  inputIds: readonly number[] | null;
  /** Also score the tokens of the prompt. */
  wantsPromptLogprobs?: boolean;
  /** verl's `apply_chat_template_kwargs`, for a server that renders. */
  templateKwargs?: JsonObject | undefined;
  signal?: AbortSignal | undefined;
  /** Ends the turn where it is: the part sampled so far is returned with the finish reason abort. */
  suspend?: AbortSignal | undefined;
  onDelta?: ((delta: ModelDelta) => void) | undefined;
  /** Called for each piece of an answer, to distinguish a slow server from a hanging one. */
  onActivity?: (() => void) | undefined;
  /** Called before the request is sent again, with the reason. */
  onTrouble?: ((reason: string) => void) | undefined;
}

/** One sampled turn. */
export interface Generation {
  /** Without special tokens. Calls that the server parsed itself are in `toolCalls`, not here. */
  text: string;
  reasoning: string | null;
  toolCalls: MessageToolCall[];
  finishReason: ServedFinish;
  /** The sampled ids, including the end-of-turn token, and their log probabilities; null if the server reports no ids. */
  ids: number[] | null;
  logprobs: number[] | null;
  /** One per prompt token, null for the first; absent if not requested, or if the server gives none. */
  promptLogprobs?: (number | null)[] | null;
  /** As counted by the server; null if it does not report it. */
  promptTokens: number | null;
  completionTokens: number | null;
  /** How often the request was sent again. */
  retries: number;
  /** The version of the weights that sampled the turn, if the server reports it. */
  weightVersion?: string | null;
}

/** A turn, regardless of retries. */
export type SampledTurn = Omit<Generation, 'retries'>;

export interface Model {
  readonly name: string;
  /** true: the engine takes `inputIds` and returns ids, so a tokenizer is needed. */
  readonly exact: boolean;
  /** Rejects with ModelError when the server refuses for good, with the signal's reason when it is aborted. */
  generate(request: ModelRequest): Promise<Generation>;
  /** Requests one token, once, the way a rollout would: null if the server returns it, else what is wrong with the server. */
  probe?(request: Pick<ModelRequest, 'tools' | 'sampling' | 'signal'>): Promise<string | null>;
}

export class ModelError extends Error {
  override name = 'ModelError';
  /** The HTTP status; null for a connection that failed. */
  readonly status: number | null;
  /** refused: the request as such; unreachable: down, too busy, or broken; overflow: the conversation, or the requested length, exceeds the window. */
  readonly kind: 'refused' | 'unreachable' | 'overflow';
  /** The server's text. */
  readonly detail: string;
  constructor(message: string, status: number | null, kind: ModelError['kind'], detail = '') {
    super(message);
    this.status = status;
    this.kind = kind;
    this.detail = detail;
  }
}
