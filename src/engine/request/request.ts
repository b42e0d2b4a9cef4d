import { randomUUID } from 'node:crypto';
import { withTimeout } from '../../core/async/timeout.ts';
import type { JsonObject } from '../../core/json/value.ts';
import { thrownError } from '../../core/text/thrown.ts';
import { type Cause, RolloutFault } from '../common/faults.ts';
import type { Message } from '../common/message.ts';
import type { TrajectoryStatus } from '../common/status.ts';
import type { SamplingParams } from '../model/model.ts';
import { type OpenAIFunctionToolSchema, templateSchema, wireSchema } from '../tools/schema.ts';
import { assistantTurn } from './assistant-turn.ts';
import { budgetOf, type TokenBudget } from './budget.ts';
import { causeOfEnd } from './cause-of.ts';
import { Conversation } from './conversation.ts';
import { toolTurn, userTurn } from './given-turn.ts';
import { DEFAULT_LIMITS, type Limits } from './limits.ts';
import { RolloutNotes } from './notes.ts';
import type { RequestOptions } from './options.ts';
import type { RolloutParts } from './parts.ts';
import type { PartialRollout } from './records.ts';
import { type LoopRules, rulesOf } from './rules.ts';
import { SimulatedUser } from './simulated-user.ts';
import { TokenCount } from './token-count.ts';
import { toolGrammar } from './tool-grammar.ts';
import { ToolInstances } from './tool-instances.ts';
import type { Transcript } from './transcript.ts';
import { TurnSampler } from './turn-sampler.ts';
import { ModelWindow } from './window.ts';

/**
 * One rollout as a state machine: pending → running ⇄ tool_calling or interacting → completed, suspended or failed
 * (verl `ToolAgentLoop`). Its turns are in assistant-turn.ts and given-turn.ts, the policy for each fault in ../faults.ts.
 */
export class RolloutRequest extends RolloutNotes {
  readonly requestId: string;
  readonly toolSchemas: OpenAIFunctionToolSchema[];
  readonly #parts: RolloutParts;
  readonly #user: SimulatedUser | null;

  constructor(options: RequestOptions) {
    if (options.model.exact && !options.tokenizer)
      throw new TypeError(`${options.model.name} takes token ids: a tokenizer is needed`);
    super(options);
    const { partial, model, user } = options;
    const rules = rulesOf(options.verlCompat);
    const limits = { ...DEFAULT_LIMITS, ...options.limits };
    this.requestId = partial?.request_id ?? options.requestId ?? newId();
    const tools = new ToolInstances(options, this.requestId, {
      limits,
      rules,
      warn: (message) => this.warn('tool', message),
    });
    this.toolSchemas = tools.schemas;
    const schemas = this.toolSchemas.map(model.exact ? templateSchema : wireSchema);
    const window = options.window ?? new ModelWindow();
    const count = new TokenCount(model.exact, partial);
    this.#parts = {
      options,
      rules,
      limits,
      sampling: { ...options.sampling },
      schemas,
      grammar: toolGrammar(options.toolFormat ?? 'hermes'),
      conversation: new Conversation(options, {
        rules,
        schemas,
        limit: limits.max_prompt_length,
        warn: (message) => this.warn('prompt', message),
      }),
      count,
      window,
      sampler: new TurnSampler(options, window, count),
      tools,
      notes: this,
    };
    this.#user = user ? new SimulatedUser(user, this.requestId, rules) : null;
  }

  get sampling(): SamplingParams {
    return this.#parts.sampling;
  }

  get limits(): Limits {
    return this.#parts.limits;
  }

  get rules(): LoopRules {
    return this.#parts.rules;
  }

  get messages(): Message[] {
    return this.#parts.conversation.messages;
  }

  /** Number of given messages. */
  get promptLength(): number {
    return this.#parts.conversation.promptLength;
  }

  get transcript(): Transcript {
    return this.#parts.conversation.transcript;
  }

  /** The schemas shown to the model. */
  get shownSchemas(): readonly JsonObject[] {
    return this.#parts.schemas;
  }

  /** The assistant turns so far. */
  get assistantTurns(): number {
    return this.generations.length;
  }

  /** The session the rollout was played in; null if there was none. */
  get sid(): string | null {
    return this.#user?.interaction.sid ?? this.#parts.tools.sid;
  }

  /** The tools with calls in progress. */
  get runningTools(): string[] {
    return this.calls.filter(({ started, duration }) => started !== null && duration === null).map(({ name }) => name);
  }

  /** Whether the ids of the response are exactly the sampled ones. */
  get isExact(): boolean {
    return this.#parts.options.model.exact;
  }

  /** The state that a later run resumes from; only meaningful once the rollout is suspended. */
  partial(): PartialRollout {
    return {
      request_id: this.requestId,
      messages: this.messages,
      prompt_turns: this.promptLength,
      calls: this.calls,
      generations: this.generations,
      user_turns: this.userTurns,
      turn_scores: this.turnScores,
      metrics: this.metrics,
      ...this.#parts.count.state(),
      transcript: this.transcript.state(),
      ...(this.isTurnOpen ? { open_turn: true } : {}),
    };
  }

  /** Runs the rollout to its end and resolves with itself; failures are reported in `state`, `status`, `cause` and `error`. */
  async run(): Promise<this> {
    if (this.state !== 'pending') throw new Error(`request ${this.requestId} has run already`);
    this.start();
    try {
      await withTimeout(this.limits.timeout, this.#parts.options.signal, (signal) => this.#loop(signal));
      await this.#checkTokenization();
    } catch (error) {
      this.#fail(thrownError(error));
    } finally {
      await this.#close();
      this.duration = this.now();
    }
    return this;
  }

  async #loop(signal: AbortSignal): Promise<void> {
    const parts = this.#parts;
    const user = this.#user;
    await this.#open(signal);
    for (;;) {
      if (parts.options.suspend?.aborted) return this.#suspend();
      this.enter('running');
      const budget = this.#budget();
      if (budget.tokens !== null && budget.tokens <= 0) return this.#complete('MAX_CONTEXT_LIMIT_REACHED', budget.ends);
      const turn = await assistantTurn(parts, budget, signal);
      if (turn === null) return this.#suspend();
      if (this.cause !== null) return this.#finish();
      const { calls, spoken } = turn;
      if (this.#isResponseFull()) return this.#complete('MAX_CONTEXT_LIMIT_REACHED', 'cut_by_length');
      if (this.#isTurnLimitMet()) {
        const isWorldAsked = user?.interaction.isWorld === true && calls.length === 0;
        if (isWorldAsked && (await userTurn(parts, user, { spoken, isLast: true }, signal))) return this.#finish();
        const isDone = calls.length === 0 && user === null;
        return isDone ? this.#complete('SUCCEEDED', null) : this.#complete('MAX_STEPS_REACHED', 'turn_limit');
      }
      if (calls.length === 0 && user === null) return this.#complete('SUCCEEDED', null);
      this.enter(calls.length > 0 ? 'tool_calling' : 'interacting');
      const isEnd =
        calls.length > 0
          ? await toolTurn(parts, calls, signal)
          : await userTurn(parts, user!, { spoken, isLast: false }, signal);
      if (isEnd) return this.#finish();
    }
  }

  async #open(signal: AbortSignal): Promise<void> {
    const { conversation, limits, options, rules, tools } = this.#parts;
    const isNew = options.partial === undefined;
    const opened = await tools.create(signal);
    const { failure } = tools;
    if (failure !== null) throw new RolloutFault(tools.failureCause, failure);
    if (isNew) conversation.open(opened, false);
    const opening = await this.#user?.start(signal);
    if (opening && isNew) conversation.open(opening, true);
    const limit = limits.max_prompt_length;
    if (!options.tokenizer) return;
    const length = this.transcript.promptTokens;
    if (limit !== null && length !== null && length > limit && !rules.cutsPrompt)
      this.warn('prompt', `the prompt has ${length} tokens, more than max_prompt_length ${limit}`);
  }

  // ── the limits ──
  #budget(): TokenBudget {
    const { count, limits, rules, window } = this.#parts;
    return budgetOf(limits, rules, count.lengths(this.transcript, limits, window));
  }

  #isTurnLimitMet(): boolean {
    const { max_assistant_turns: turns, max_user_turns: answers } = this.limits;
    // Python treats 0 as no limit.
    const isMet = (limit: number | null, count: number) =>
      limit !== null && count >= limit && (limit > 0 || this.rules.version === null);
    return isMet(turns, this.assistantTurns) || isMet(answers, this.userTurns);
  }

  #isResponseFull(): boolean {
    if (this.finishReason === 'length') return true;
    const length = this.transcript.responseTokens;
    return this.isExact && length !== null && length >= this.limits.max_response_length;
  }

  // ── the end ──
  #complete(status: TrajectoryStatus, cause: Cause | null): void {
    this.end(status, cause);
    this.#finish();
  }

  #finish(): void {
    const { cause, status, limits } = this;
    const { conversation } = this.#parts;
    if (cause === 'cut_by_length' || cause === 'context_full') this.finishReason = 'length';
    else if (status === 'SUCCEEDED') this.finishReason = 'stop';
    this.finishReason ??= 'stop';
    conversation.dropOpenHeader();
    this.enter('completed');
    conversation.truncate(limits.max_response_length, limits.max_model_len);
  }

  /** A rollout that ended early has no rendering to compare with. */
  async #checkTokenization(): Promise<void> {
    if (this.messages.at(-1)?.role !== 'assistant' || this.finishReason !== 'stop') return;
    const warning = await this.#parts.conversation.tokenizationWarning();
    if (warning !== null) this.warn('tokenization', warning);
  }

  #suspend(): void {
    this.status = 'PARTIAL';
    this.enter('suspended');
  }

  #fail(error: Error): void {
    const { conversation, limits, options, sampler } = this.#parts;
    const isCancelled = options.signal?.aborted === true;
    const trouble = this.state === 'running' ? sampler.trouble : null;
    this.error = isCancelled ? 'cancelled' : trouble === null ? error.message : `${error.message}: ${trouble}`;
    // A rollout of many turns may reach its limit just after a request to the server.
    const isSilent = this.state === 'running' && sampler.silentSeconds >= limits.timeout / 2;
    this.cause = isCancelled
      ? 'interrupted'
      : causeOfEnd(error, trouble !== null ? 'failing' : isSilent ? 'silent' : 'answers');
    this.status = this.cause === 'timeout' ? 'TIMEOUT' : 'FAILED';
    try {
      conversation.dropOpenHeader();
    } catch {
      // A failing template has already failed earlier.
    }
    this.enter('failed');
  }

  async #close(): Promise<void> {
    const problem = (await this.#user?.finalize()) ?? null;
    if (problem !== null) this.warn('tool', problem);
    const { tools, options } = this.#parts;
    const { rewards, failure } = await tools.end(this.state === 'completed', options.signal);
    this.rewardScores = rewards;
    this.rewardFailure = failure;
  }
}

/** Node draws UUIDs from a pool of random bytes, so one costs little. */
const newId = (): string => randomUUID().replaceAll('-', '').slice(-16);

/** Makes one rollout from any message prefix. Never rejects for failures in it: see `state`, `status` and `error`. */
export const runRequest = (options: RequestOptions): Promise<RolloutRequest> => new RolloutRequest(options).run();

/** The n rollouts of one prompt, pending. Each gets its own seed if one is given. */
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
