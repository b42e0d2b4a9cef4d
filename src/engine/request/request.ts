import { randomUUID } from 'node:crypto';
import { withTimeout } from '../../async/timeout.ts';
import type { JsonObject, JsonValue } from '../../json/value.ts';
import { type Cause, RolloutFault } from '../faults.ts';
import { type Message, messageText } from '../message.ts';
import type { FinishReason, Generation, SamplingParams } from '../model/model.ts';
import type { TrajectoryStatus } from '../status.ts';
import { type OpenAIFunctionToolSchema, templateSchema, wireSchema } from '../tools/schema.ts';
import { budgetOf, type TokenBudget } from './budget.ts';
import { causeOfEnd } from './cause-of.ts';
import { Conversation } from './conversation.ts';
import { DEFAULT_LIMITS, type Limits } from './limits.ts';
import type { RequestOptions, RequestState } from './options.ts';
import { readTurn } from './read-turn.ts';
import type { GenerationRecord, PartialRollout, RolloutWarning } from './records.ts';
import type { Rendering } from './renderer.ts';
import { type LoopRules, rulesOf } from './rules.ts';
import { SimulatedUser } from './simulated-user.ts';
import { TokenCount } from './token-count.ts';
import type { CallRecord } from './tool-calls.ts';
import { type ToolGrammar, toolGrammar } from './tool-grammar.ts';
import { ToolInstances } from './tool-instances.ts';
import { runCalls } from './tool-turn.ts';
import type { Transcript } from './transcript.ts';
import { TurnSampler } from './turn-sampler.ts';
import { ModelWindow } from './window.ts';

/**
 * One rollout as a state machine: pending → running ⇄ tool_calling or interacting → completed, suspended or failed
 * (verl `ToolAgentLoop`). It owns its conversation, its tool instances and its notes; nothing is shared with other rollouts.
 */
export class RolloutRequest {
  readonly requestId: string;
  readonly toolSchemas: OpenAIFunctionToolSchema[];
  readonly sampling: SamplingParams;
  readonly limits: Limits;
  readonly rules: LoopRules;
  state: RequestState = 'pending';
  status: TrajectoryStatus = 'RUNNING';
  /** The fault that ended the rollout early; null where the model ended it. */
  cause: Cause | null = null;
  /** The reason of the last turn, or of the limit that was met. Null while no turn was sampled. */
  finishReason: FinishReason | null = null;
  /** Why the rollout failed or timed out. */
  error: string | null = null;
  readonly calls: CallRecord[] = [];
  readonly generations: GenerationRecord[] = [];
  /** Turns of tool results and of the simulated user. */
  userTurns = 0;
  /** The simulated user's reward for a turn. */
  readonly turnScores: { turn: number; score: number }[] = [];
  /** The tools' metrics, a list a tool. */
  readonly metrics: Record<string, JsonValue[]> = {};
  /** calcReward of each tool. */
  rewardScores: Record<string, JsonValue> = {};
  /** Why a tool's calc_reward could not be had. */
  rewardFailure: string | null = null;
  readonly warnings: RolloutWarning[] = [];
  /** Seconds from the start to the end. */
  duration = 0;
  /** The text of a turn was put together from what the server gave in parts: its calls, its reasoning. */
  isRewritten = false;

  readonly #options: RequestOptions;
  readonly #schemas: JsonObject[];
  readonly #conversation: Conversation;
  readonly #count: TokenCount;
  readonly #window: ModelWindow;
  readonly #sampler: TurnSampler;
  readonly #tools: ToolInstances;
  readonly #user: SimulatedUser | null;
  readonly #grammar: ToolGrammar;
  #startedAt = 0;
  /** The last turn as it was sampled. */
  #spoken = '';
  /** The last message is a turn that was broken off in its middle. */
  #isTurnOpen = false;

  constructor(options: RequestOptions) {
    if (options.model.exact && !options.tokenizer)
      throw new TypeError(`${options.model.name} takes token ids: a tokenizer is needed`);
    this.#options = options;
    const { partial, model, user } = options;
    this.rules = rulesOf(options.verlCompat);
    this.requestId = partial?.request_id ?? options.requestId ?? newId();
    this.sampling = { ...options.sampling };
    this.limits = { ...DEFAULT_LIMITS, ...options.limits };
    this.#grammar = toolGrammar(options.toolFormat ?? 'hermes');
    this.#tools = new ToolInstances(options, this.requestId, {
      limits: this.limits,
      rules: this.rules,
      warn: (message) => this.#warn('tool', message),
    });
    this.toolSchemas = this.#tools.schemas;
    this.#schemas = this.toolSchemas.map(model.exact ? templateSchema : wireSchema);
    this.#conversation = new Conversation(options, {
      rules: this.rules,
      schemas: this.#schemas,
      limit: this.limits.max_prompt_length,
      warn: (message) => this.#warn('prompt', message),
    });
    this.#user = user ? new SimulatedUser(user, this.requestId) : null;
    this.#window = options.window ?? new ModelWindow();
    this.#count = new TokenCount(model.exact, partial);
    this.#sampler = new TurnSampler(options, this.#window, this.#count);
    if (partial) this.#restore(partial);
  }

  get messages(): Message[] {
    return this.#conversation.messages;
  }

  /** How many of the messages were given. */
  get promptLength(): number {
    return this.#conversation.promptLength;
  }

  get transcript(): Transcript {
    return this.#conversation.transcript;
  }

  /** The schemas as the model is shown them. */
  get shownSchemas(): readonly JsonObject[] {
    return this.#schemas;
  }

  /** The assistant turns so far. */
  get assistantTurns(): number {
    return this.generations.length;
  }

  /** The session that the rollout was played in; null where there was none. */
  get sid(): string | null {
    return this.#user?.interaction.sid ?? this.#tools.sid;
  }

  /** The tools whose calls are being run. */
  get runningTools(): string[] {
    return this.calls.filter(({ started, duration }) => started !== null && duration === null).map(({ name }) => name);
  }

  /** Whether the ids of the response are those that were sampled. */
  get isExact(): boolean {
    return this.#options.model.exact;
  }

  /** The state from which a later run goes on; it means something once the rollout is suspended. */
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
      ...this.#count.state(),
      transcript: this.transcript.state(),
      ...(this.#isTurnOpen ? { open_turn: true } : {}),
    };
  }

  #restore(partial: PartialRollout): void {
    this.calls.push(...partial.calls);
    this.generations.push(...partial.generations);
    this.userTurns = partial.user_turns;
    this.turnScores.push(...partial.turn_scores);
    Object.assign(this.metrics, partial.metrics);
    this.#isTurnOpen = partial.open_turn === true;
  }

  /** Runs the rollout to its end and resolves with itself; what goes wrong is told by `state`, `status`, `cause` and `error`. */
  async run(): Promise<this> {
    if (this.state !== 'pending') throw new Error(`request ${this.requestId} has run already`);
    this.#startedAt = performance.now();
    const { timeout } = this.limits;
    try {
      await withTimeout(timeout, this.#options.signal, (signal) => this.#loop(signal));
      await this.#checkTokenization();
    } catch (error) {
      this.#fail(error as Error);
    } finally {
      await this.#close();
      this.duration = this.#now();
    }
    return this;
  }

  async #loop(signal: AbortSignal): Promise<void> {
    await this.#open(signal);
    for (;;) {
      if (this.#options.suspend?.aborted) return this.#suspend();
      this.#enter('running');
      const budget = this.#budget();
      if (budget.tokens !== null && budget.tokens <= 0) return this.#complete('MAX_CONTEXT_LIMIT_REACHED', budget.ends);
      const calls = await this.#generate(budget, signal);
      if (calls === 'suspended') return this.#suspend();
      if (this.cause !== null) return this.#finish();
      if (this.#isResponseFull()) return this.#complete('MAX_CONTEXT_LIMIT_REACHED', 'cut_by_length');
      if (this.#isTurnLimitMet()) {
        if (this.#user?.interaction.isWorld && calls.length === 0 && (await this.#askUser(this.#user, signal, true)))
          return this.#finish();
        const isDone = calls.length === 0 && this.#user === null;
        return isDone ? this.#complete('SUCCEEDED', null) : this.#complete('MAX_STEPS_REACHED', 'turn_limit');
      }
      let isEnd = false;
      if (calls.length > 0) {
        this.#enter('tool_calling');
        isEnd = await this.#callTools(calls, signal);
      } else if (this.#user) {
        this.#enter('interacting');
        isEnd = await this.#askUser(this.#user, signal);
      } else return this.#complete('SUCCEEDED', null);
      if (isEnd) return this.#finish();
    }
  }

  // ── pending ──
  async #open(signal: AbortSignal): Promise<void> {
    const { partial, tokenizer } = this.#options;
    const opened = await this.#tools.create(signal);
    const { failure } = this.#tools;
    if (failure !== null) throw new RolloutFault(this.#tools.failureCause, failure);
    if (partial === undefined) this.#conversation.open(opened, false);
    const opening = await this.#user?.start(signal);
    if (opening && partial === undefined) this.#conversation.open(opening, true);
    const limit = this.limits.max_prompt_length;
    if (!tokenizer) return;
    const length = this.transcript.promptTokens;
    if (limit !== null && length !== null && length > limit && !this.rules.cutsPrompt)
      this.#warn('prompt', `the prompt has ${length} tokens, more than max_prompt_length ${limit}`);
  }

  // ── running ──
  #budget(): TokenBudget {
    return budgetOf(this.limits, this.rules, this.#count.lengths(this.transcript, this.limits, this.#window));
  }

  #isTurnLimitMet(): boolean {
    const { max_assistant_turns: turns, max_user_turns: answers } = this.limits;
    // Python takes 0 for none.
    const isMet = (limit: number | null, count: number) =>
      limit !== null && count >= limit && (limit > 0 || this.rules.version === null);
    return isMet(turns, this.assistantTurns) || isMet(answers, this.userTurns);
  }

  #isResponseFull(): boolean {
    if (this.finishReason === 'length') return true;
    const length = this.transcript.responseTokens;
    return this.isExact && length !== null && length >= this.limits.max_response_length;
  }

  /** One assistant turn. @returns its calls; the cause is set where the turn ends the rollout */
  async #generate(budget: TokenBudget, signal: AbortSignal): Promise<CallRecord[] | 'suspended'> {
    const { onEvent, tokenizer } = this.#options;
    const { messages, transcript } = this;
    const isOpen = this.#isTurnOpen;
    const turn = isOpen ? messages.length - 1 : messages.length;
    const started = this.#now();
    const inputIds = this.isExact ? transcript.ids : null;
    const asked = { turn, tokens: budget.tokens, messages, tools: this.#schemas, sampling: this.sampling, inputIds };
    const generation = await this.#sampler.sample(asked, signal);
    if ('overflow' in generation) return this.#overflow(generation.overflow);
    const before = isOpen ? messageText(messages.at(-1)!) : '';
    const whole = { ...generation, text: before + generation.text };
    const { finishReason, ids, logprobs, weightVersion } = generation;
    if (finishReason === 'abort' && ids === null) return 'suspended';
    this.#count.sampled(generation);
    this.#compareTemplates(generation);
    const sampled = this.#textOf(generation);
    if (this.#user) this.#spoken = ids && tokenizer ? tokenizer.decode(ids, false) : sampled;
    transcript.addSampled(turn, sampled, ids, logprobs, weightVersion);
    if (isOpen) messages.pop();
    this.#isTurnOpen = finishReason === 'abort' && (isOpen || ids!.length > 0);
    if (finishReason === 'abort') {
      // The deadline came in the middle of the turn; what was sampled of it is kept.
      if (this.#isTurnOpen) messages.push({ role: 'assistant', content: whole.text });
      return 'suspended';
    }
    const { rules } = this;
    const { message, calls } = readTurn(whole, this.#grammar, {
      turn,
      earlier: this.calls,
      schemas: this.#schemas,
      rules,
    });
    this.calls.push(...calls);
    messages.push(message);
    this.finishReason = calls.length > 0 ? 'tool_calls' : finishReason === 'length' ? 'length' : 'stop';
    if (finishReason === 'length' && rules.readsCutTurns) this.finishReason = calls.length > 0 ? 'tool_calls' : 'stop';
    this.generations.push({
      turn,
      finish_reason: this.finishReason,
      started,
      duration: this.#now() - started,
      prompt_tokens: generation.promptTokens,
      completion_tokens: generation.completionTokens ?? ids?.length ?? null,
      retries: generation.retries,
    });
    onEvent?.({ kind: 'message', turn, message });
    for (const call of calls) onEvent?.({ kind: 'call', call });
    if (finishReason === 'content_filter') this.#end('CONTENT_FILTERED', 'content_filter');
    else if (this.finishReason === 'length') this.#end('MAX_CONTEXT_LIMIT_REACHED', budget.ends);
    return calls;
  }

  #textOf(generation: Generation): string {
    if (this.isExact) return generation.text;
    if (generation.toolCalls.length > 0 || generation.reasoning) this.isRewritten = true;
    return this.#conversation.renderer.assistantText({
      role: 'assistant',
      content: generation.text,
      ...(generation.reasoning ? { reasoning_content: generation.reasoning } : {}),
      tool_calls: generation.toolCalls,
    });
  }

  /** A window that is full ends the rollout as a limit does; at the very first turn there is no rollout to keep. */
  #overflow(error: Error): [] {
    if (this.generations.length === 0) throw new RolloutFault('prompt_too_long', error.message, { cause: error });
    this.#warn('window', error.message);
    this.finishReason = 'length';
    this.#end('MAX_CONTEXT_LIMIT_REACHED', 'context_full');
    return [];
  }

  #compareTemplates({ promptTokens, completionTokens }: Generation): void {
    if (this.isExact || this.generations.length > 0 || promptTokens === null || completionTokens === null) return;
    const own = this.transcript.promptTokens;
    if (own !== null && own !== promptTokens)
      this.#warn(
        'template',
        `the server counts ${promptTokens} tokens of prompt, the chat template gives ${own}: the server uses another template, and input is not what its model saw`,
      );
  }

  // ── tool_calling ──
  /** @returns whether the rollout ends with it */
  async #callTools(calls: CallRecord[], signal: AbortSignal): Promise<boolean> {
    const { limits, rules } = this;
    const { run, answers } = await runCalls(
      calls,
      this.messages[calls[0]!.turn]!,
      {
        tools: this.#tools,
        limits,
        rules,
        now: this.#now,
        warn: (message) => this.#warn('tool', message),
        onResult: (call) => this.#options.onEvent?.({ kind: 'result', call }),
      },
      signal,
    );
    const first = this.messages.length;
    for (const [position, call] of run.entries()) {
      call.result_turn = first + position;
      if (call.metrics === null) continue;
      this.metrics[call.name] ??= [];
      this.metrics[call.name]!.push(call.metrics);
    }
    return !this.#addGiven(answers, true);
  }

  // ── interacting ──
  /** @param isLast nothing is sampled after it, so its answer is not shown. @returns whether the rollout ends with it */
  async #askUser(user: SimulatedUser, signal: AbortSignal, isLast = false): Promise<boolean> {
    const turn = this.messages.length - 1;
    const word = await user.respond(this.messages, this.#spoken, signal);
    if (word.score !== null) this.turnScores.push({ turn, score: word.score });
    if (word.warning !== undefined) this.#warn('tool', word.warning);
    if (isLast || (word.terminate && word.text === '' && !word.messages?.length)) {
      if (word.terminate) this.#end('SUCCEEDED', null);
      return word.terminate;
    }
    const given = word.messages ? [...word.messages] : [{ role: 'user', content: word.text }];
    const fits = this.#addGiven(given, this.rules.checksUserLength);
    if (fits && word.terminate) this.#end('SUCCEEDED', null);
    return !fits || word.terminate;
  }

  /** @returns false where the messages do not fit response_length or the window: their tokens are then left out, as in verl */
  #addGiven(messages: readonly Message[], isChecked: boolean): boolean {
    const rendering = this.#conversation.addGiven(messages, (one) => !isChecked || this.#fits(one));
    if (rendering === null) {
      this.finishReason = 'length';
      this.#end('MAX_CONTEXT_LIMIT_REACHED', 'context_full');
      return false;
    }
    this.#count.given(rendering);
    this.userTurns++;
    return true;
  }

  #fits({ ids }: Rendering): boolean {
    const { transcript, limits } = this;
    if (!this.isExact || !transcript.ids || !ids) return true;
    const room = this.#window.size ?? limits.max_model_len ?? Number.POSITIVE_INFINITY;
    if (transcript.responseTokens! + ids.length >= limits.max_response_length) return false;
    return this.rules.version !== null || transcript.ids.length + ids.length < room;
  }

  // ── the end ──
  #end(status: TrajectoryStatus, cause: Cause | null): void {
    this.status = status;
    this.cause = cause;
  }

  #complete(status: TrajectoryStatus, cause: Cause | null): void {
    this.#end(status, cause);
    this.#finish();
  }

  #finish(): void {
    const { cause, status, limits } = this;
    if (cause === 'cut_by_length' || cause === 'context_full') this.finishReason = 'length';
    else if (status === 'SUCCEEDED') this.finishReason = 'stop';
    this.finishReason ??= 'stop';
    this.#conversation.dropOpenHeader();
    this.#enter('completed');
    this.#conversation.truncate(limits.max_response_length, limits.max_model_len);
  }

  /** A rollout that ended before its time has no rendering to compare with. */
  async #checkTokenization(): Promise<void> {
    if (this.messages.at(-1)?.role !== 'assistant' || this.finishReason !== 'stop') return;
    const warning = await this.#conversation.tokenizationWarning();
    if (warning !== null) this.#warn('tokenization', warning);
  }

  #suspend(): void {
    this.status = 'PARTIAL';
    this.#enter('suspended');
  }

  #fail(error: Error): void {
    const isCancelled = this.#options.signal?.aborted === true;
    this.error = isCancelled ? 'cancelled' : error.message;
    const isSilent = this.state === 'running' && !this.#sampler.isAlive;
    this.cause = isCancelled ? 'interrupted' : causeOfEnd(error, isSilent);
    this.status = this.cause === 'timeout' ? 'TIMEOUT' : 'FAILED';
    try {
      this.#conversation.dropOpenHeader();
    } catch {
      // A template that fails has failed already.
    }
    this.#enter('failed');
  }

  async #close(): Promise<void> {
    const problem = (await this.#user?.finalize()) ?? null;
    if (problem !== null) this.#warn('tool', problem);
    const { rewards, failure } = await this.#tools.end(this.state === 'completed', this.#options.signal);
    this.rewardScores = rewards;
    this.rewardFailure = failure;
  }

  #warn(kind: RolloutWarning['kind'], message: string): void {
    if (!this.warnings.some((one) => one.message === message)) this.warnings.push({ kind, message });
  }

  #enter(state: RequestState): void {
    if (state === this.state) return;
    this.state = state;
    this.#options.onEvent?.({ kind: 'state', state });
  }

  #now = (): number => (performance.now() - this.#startedAt) / 1000;
}

/** Node draws UUIDs from a store of random bytes, so that one costs little. */
const newId = (): string => randomUUID().replaceAll('-', '').slice(-16);

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
