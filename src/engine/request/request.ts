import { randomUUID } from 'node:crypto';
import { TimedOutError, withTimeout } from '../../async/timeout.ts';
import type { JsonObject, JsonValue } from '../../json/value.ts';
import type { Message } from '../message.ts';
import type { ChatTokenizer } from '../model/chat-tokenizer.ts';
import type { FinishReason, Generation, Model, ModelDelta, SamplingParams } from '../model/model.ts';
import { ModelError } from '../model/model.ts';
import type { TrajectoryStatus } from '../status.ts';
import type { OpenAIFunctionToolSchema } from '../tools/schema.ts';
import { DEFAULT_LIMITS, type Limits } from './limits.ts';
import { readTurn } from './read-turn.ts';
import { plainRenderer, type Renderer, TemplateRenderer } from './renderer.ts';
import { type TokenizationCheck, tokenizationWarning } from './tokenization-check.ts';
import { type CallRecord, shownText } from './tool-calls.ts';
import { type ToolGrammar, toolGrammar } from './tool-grammar.ts';
import { type ToolChoice, ToolInstances } from './tool-instances.ts';
import { Transcript } from './transcript.ts';

/** verl's AsyncRolloutRequestStateEnum, without the interactions. */
export type RequestState = 'pending' | 'running' | 'tool_calling' | 'completed' | 'failed';

/** What happens while a rollout is made. `turn` is the index of the message. */
export type RolloutEvent =
  | { kind: 'state'; state: RequestState }
  | { kind: 'delta'; turn: number; delta: ModelDelta }
  | { kind: 'message'; turn: number; message: Message }
  | { kind: 'call'; call: Readonly<CallRecord> }
  | { kind: 'result'; call: Readonly<CallRecord> };

/** How one assistant turn came to be; seconds count from the rollout's start. */
export interface GenerationRecord {
  turn: number;
  finish_reason: FinishReason;
  started: number;
  duration: number;
  prompt_tokens: number | null;
  completion_tokens: number | null;
  retries: number;
}

export interface RequestOptions extends ToolChoice {
  model: Model;
  /** Any prefix of a conversation. */
  messages: readonly Message[];
  sampling?: SamplingParams;
  limits?: Partial<Limits>;
  /** Needed by a model that takes ids; with any other it renders `input` and `output` in the model's own template. */
  tokenizer?: ChatTokenizer | undefined;
  tokenizationCheck?: TokenizationCheck;
  /** The grammar of calls that a model writes in its text. */
  toolFormat?: string;
  requestId?: string;
  signal?: AbortSignal | undefined;
  onEvent?: ((event: RolloutEvent) => void) | undefined;
}

/**
 * One rollout as a state machine (verl `_async_rollout_a_request`): pending → running ⇄ tool_calling → completed or failed.
 * It owns its messages, its tool instances and its transcript; nothing is shared with other rollouts.
 */
export class RolloutRequest {
  readonly requestId: string;
  readonly toolSchemas: OpenAIFunctionToolSchema[];
  readonly messages: Message[];
  /** How many of the messages were given; a tool that speaks when it is created speaks in the prompt. */
  promptLength: number;
  readonly sampling: SamplingParams;
  readonly limits: Limits;
  state: RequestState = 'pending';
  status: TrajectoryStatus = 'RUNNING';
  /** Of the last turn, or of the limit that was met. Null while no turn was sampled. */
  finishReason: FinishReason | null = null;
  /** Why the rollout failed or timed out. */
  error: string | null = null;
  readonly calls: CallRecord[] = [];
  readonly generations: GenerationRecord[] = [];
  /** What the tools measured, a list a tool. */
  readonly metrics: Record<string, JsonValue[]> = {};
  /** calcReward of each tool. */
  rewardScores: Record<string, JsonValue> = {};
  readonly warnings: string[] = [];
  /** Seconds from the start to the end. */
  duration = 0;

  readonly #options: RequestOptions;
  readonly #renderer: Renderer;
  readonly #tools: ToolInstances;
  readonly #grammar: ToolGrammar;
  #transcript: Transcript | null = null;
  #closing: (() => void) | null = null;
  #startedAt = 0;
  /** Tokens of the first prompt and of everything, as the server counts; null while it has not said. */
  #counted: { prompt: number; all: number } | null = null;

  constructor(options: RequestOptions) {
    if (options.model.exact && !options.tokenizer)
      throw new TypeError(`${options.model.name} takes token ids: a tokenizer is needed`);
    this.#options = options;
    this.#renderer = options.tokenizer ? new TemplateRenderer(options.tokenizer) : plainRenderer;
    this.requestId = options.requestId ?? randomUUID();
    this.messages = [...options.messages];
    this.promptLength = options.messages.length;
    this.sampling = { ...options.sampling };
    this.limits = { ...DEFAULT_LIMITS, ...options.limits };
    this.#grammar = toolGrammar(options.toolFormat ?? 'hermes');
    this.#tools = new ToolInstances(options, this.requestId, this.limits, (message) => this.warnings.push(message));
    this.toolSchemas = this.#tools.schemas;
  }

  /** Rendered when it is first asked for. */
  get transcript(): Transcript {
    this.#transcript ??= new Transcript(
      this.#renderer.prompt(this.messages.slice(0, this.promptLength), this.#schemaObjects()),
    );
    return this.#transcript;
  }

  /** The assistant turns so far. */
  get assistantTurns(): number {
    return this.generations.length;
  }

  /** Runs the rollout to its end and resolves with itself; what goes wrong is told by `state`, `status` and `error`. */
  async run(): Promise<this> {
    if (this.state !== 'pending') throw new Error(`request ${this.requestId} has run already`);
    this.#startedAt = performance.now();
    const { timeout } = this.limits;
    try {
      await withTimeout(timeout, this.#options.signal, (signal) => this.#loop(signal));
    } catch (error) {
      this.#fail(error as Error);
    } finally {
      this.rewardScores = await this.#tools.end(this.status !== 'FAILED', this.#options.signal);
      this.duration = this.#now();
    }
    return this;
  }

  async #loop(signal: AbortSignal): Promise<void> {
    await this.#open(signal);
    const turnLimit = this.limits.max_assistant_turns ?? Math.floor(this.limits.max_model_len / 3);
    let used = 0;
    for (;;) {
      this.#enter('running');
      if (used >= turnLimit) return this.#complete('MAX_STEPS_REACHED', this.finishReason ?? 'stop');
      const budget = this.#budget();
      if (budget <= 0) return this.#complete('MAX_CONTEXT_LIMIT_REACHED', 'length');
      const calls = await this.#generate(budget, signal);
      used++;
      if (this.finishReason === 'length') return this.#complete('MAX_CONTEXT_LIMIT_REACHED', 'length');
      if (calls.length === 0) return this.#complete('SUCCEEDED', 'stop');
      if (used >= turnLimit) return this.#complete('MAX_STEPS_REACHED', 'tool_calls');
      this.#enter('tool_calling');
      await this.#callTools(calls, signal);
    }
  }

  // ── pending ──
  async #open(signal: AbortSignal): Promise<void> {
    const opened = await this.#tools.create(signal);
    this.messages.push(...opened);
    this.promptLength += opened.length;
    const limit = this.limits.max_prompt_length;
    const length = this.#options.tokenizer ? this.transcript.promptTokens : null;
    if (limit !== null && length !== null && length > limit) {
      this.warnings.push(`the prompt has ${length} tokens, more than max_prompt_length ${limit}`);
    }
  }

  // ── running ──
  /** How many tokens the next turn may have; 0 or less when a limit is met. */
  #budget(): number {
    const exact = this.#options.model.exact ? this.transcript.ids : null;
    const all = exact?.length ?? this.#counted?.all ?? 0;
    const prompt = exact ? (this.transcript.promptTokens ?? 0) : (this.#counted?.prompt ?? 0);
    return Math.min(this.limits.max_response_length - (all - prompt), this.limits.max_model_len - all - 1);
  }

  async #generate(budget: number, signal: AbortSignal): Promise<CallRecord[]> {
    const { model, onEvent } = this.#options;
    const turn = this.messages.length;
    const started = this.#now();
    let generation: Generation;
    try {
      generation = await model.generate({
        messages: this.messages,
        tools: this.#schemaObjects(),
        sampling: this.sampling,
        maxNewTokens: budget,
        inputIds: model.exact ? this.transcript.ids : null,
        signal,
        onDelta: onEvent && ((delta) => onEvent({ kind: 'delta', turn, delta })),
      });
    } catch (error) {
      // A window that is full ends the rollout as a limit does; at the very first turn there is no rollout to keep.
      if (!(error instanceof ModelError) || error.kind !== 'overflow' || this.generations.length === 0) throw error;
      this.warnings.push(error.message);
      this.finishReason = 'length';
      return [];
    }
    this.#count(generation);
    const place = { turn, earlier: this.calls, hasTools: this.toolSchemas.length > 0 };
    const { message, calls } = readTurn(generation, this.#grammar, place);
    this.calls.push(...calls);
    this.messages.push(message);
    this.finishReason = calls.length > 0 ? 'tool_calls' : generation.finishReason === 'length' ? 'length' : 'stop';
    this.generations.push({
      turn,
      finish_reason: this.finishReason,
      started,
      duration: this.#now() - started,
      prompt_tokens: generation.promptTokens,
      completion_tokens: generation.completionTokens ?? generation.ids?.length ?? null,
      retries: generation.retries,
    });
    const text = model.exact
      ? generation.text
      : this.#renderer.assistantText({
          role: 'assistant',
          content: generation.text,
          ...(generation.reasoning ? { reasoning_content: generation.reasoning } : {}),
          tool_calls: generation.toolCalls,
        });
    this.transcript.addSampled(turn, text, generation.ids, generation.logprobs);
    onEvent?.({ kind: 'message', turn, message });
    for (const call of calls) onEvent?.({ kind: 'call', call });
    return calls;
  }

  #count({ promptTokens, completionTokens }: Generation): void {
    if (promptTokens === null || completionTokens === null) return;
    this.#counted = { prompt: this.#counted?.prompt ?? promptTokens, all: promptTokens + completionTokens };
  }

  // ── tool_calling ──
  async #callTools(calls: CallRecord[], signal: AbortSignal): Promise<void> {
    const limit = this.limits.max_parallel_calls;
    const { tool_calls: written = [] } = this.messages[calls[0]!.turn]!;
    await Promise.all(
      calls.map(async (call, position) => {
        call.started = this.#now();
        if (limit !== null && position >= limit) {
          call.error = `only the first ${limit} calls of a turn are run`;
          call.result = `Error executing tool '${call.name}': ${call.error}`;
        } else {
          const argumentText = written[position]?.function.arguments ?? '';
          const outcome = await this.#tools.execute({ ...call, argumentText }, signal);
          call.arguments = outcome.arguments;
          call.result = outcome.response.text;
          call.error = outcome.response.error ?? null;
          call.reward = outcome.reward;
          call.metrics = outcome.metrics;
        }
        call.duration = this.#now() - call.started;
        this.#options.onEvent?.({ kind: 'result', call });
      }),
    );
    signal.throwIfAborted();
    // Results come in any order; the transcript has them in the order of the calls.
    const first = this.messages.length;
    for (const [position, call] of calls.entries()) {
      call.result_turn = first + position;
      if (call.metrics !== null) {
        this.metrics[call.name] ??= [];
        this.metrics[call.name]!.push(call.metrics);
      }
    }
    this.#addGiven(
      calls.map(({ id, name, result }) => ({
        role: 'tool',
        tool_call_id: id,
        name,
        content: shownText(result ?? '', this.limits),
      })),
    );
  }

  #addGiven(messages: Message[]): void {
    const first = this.messages.length;
    const lastId = this.transcript.lastId;
    this.transcript.addGiven(this.#renderer.continuation(messages, first, lastId, true));
    this.#closing = () => this.transcript.replaceGiven(this.#renderer.continuation(messages, first, lastId, false));
    this.messages.push(...messages);
    for (const [position, message] of messages.entries()) {
      this.#options.onEvent?.({ kind: 'message', turn: first + position, message });
    }
  }

  // ── the end ──
  /** The header of an assistant turn that never came is no part of the rollout. */
  #dropGenerationPrompt(): void {
    if (this.messages.at(-1)?.role !== 'assistant') this.#closing?.();
  }

  #complete(status: TrajectoryStatus, finishReason: FinishReason): void {
    this.status = status;
    this.finishReason = finishReason;
    this.#dropGenerationPrompt();
    const { tokenizer, model, tokenizationCheck = 'strict' } = this.#options;
    if (tokenizer && model.exact) {
      const warning = this.#checkTokenization(tokenizer, tokenizationCheck);
      if (warning !== null) this.warnings.push(warning);
      const prompt = this.transcript.promptTokens ?? 0;
      const limit = Math.min(this.limits.max_response_length, this.limits.max_model_len - prompt);
      this.transcript.truncate(limit, (ids) => tokenizer.decode(ids, true));
    }
    this.#enter('completed');
  }

  #checkTokenization(tokenizer: ChatTokenizer, mode: TokenizationCheck): string | null {
    const ids = this.transcript.ids;
    if (mode === 'disable' || ids === null) return null;
    const isOpen = this.messages.at(-1)?.role !== 'assistant';
    let rendered: string;
    try {
      rendered = tokenizer.render(this.messages, this.#schemaObjects(), isOpen);
    } catch (error) {
      return `the chat template cannot render the conversation again: ${(error as Error).message}`;
    }
    // The template writes a line end after the last turn, which no one has sampled.
    const accumulated = tokenizer.decode(ids, false);
    return tokenizationWarning(rendered.trimEnd(), accumulated.trimEnd(), mode);
  }

  #fail(error: Error): void {
    this.status = error instanceof TimedOutError ? 'TIMEOUT' : 'FAILED';
    this.#dropGenerationPrompt();
    this.error = this.#options.signal?.aborted ? 'cancelled' : error.message;
    this.#enter('failed');
  }

  #enter(state: RequestState): void {
    if (state === this.state) return;
    this.state = state;
    this.#options.onEvent?.({ kind: 'state', state });
  }

  #schemaObjects = (): JsonObject[] => this.toolSchemas as unknown as JsonObject[];
  #now = (): number => (performance.now() - this.#startedAt) / 1000;
}

/** Makes one rollout from any message prefix. Never rejects for what happens in it: see `state`, `status` and `error`. */
export const runRequest = (options: RequestOptions): Promise<RolloutRequest> => new RolloutRequest(options).run();

/** The n rollouts of one prompt, pending. Each has its own seed where one is given. */
export function createRequests(
  options: Omit<RequestOptions, 'requestId'>,
  n = options.sampling?.n ?? 1,
): RolloutRequest[] {
  return Array.from({ length: n }, (_, index) => {
    const { seed } = options.sampling ?? {};
    const sampling = seed === undefined ? options.sampling : { ...options.sampling, seed: seed + index };
    return new RolloutRequest({ ...options, ...(sampling ? { sampling } : {}) });
  });
}
