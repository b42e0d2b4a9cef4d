import { randomUUID } from 'node:crypto';
import { TimedOutError, withTimeout } from '../../async/timeout.ts';
import type { JsonObject, JsonValue } from '../../json/value.ts';
import { type Cause, RolloutFault } from '../faults.ts';
import type { Interaction } from '../interactions/interaction.ts';
import { type Message, messageText } from '../message.ts';
import type { ChatTokenizer } from '../model/chat-tokenizer.ts';
import type { FinishReason, Generation, Model, ModelDelta, SamplingParams } from '../model/model.ts';
import { ModelError } from '../model/model.ts';
import type { TrajectoryStatus } from '../status.ts';
import { type OpenAIFunctionToolSchema, templateSchema, wireSchema } from '../tools/schema.ts';
import { budgetOf, type Lengths, type TokenBudget } from './budget.ts';
import { DEFAULT_LIMITS, type Limits } from './limits.ts';
import { readTurn } from './read-turn.ts';
import type { GenerationRecord, PartialRollout, RolloutWarning } from './records.ts';
import { plainRenderer, type Renderer, TemplateRenderer } from './renderer.ts';
import { failedCallText, type LoopRules, rulesOf, type VerlVersion } from './rules.ts';
import { type TokenizationCheck, tokenizationWarning } from './tokenization-check.ts';
import { type CallRecord, shownText } from './tool-calls.ts';
import { type ToolGrammar, toolGrammar } from './tool-grammar.ts';
import { type ToolChoice, ToolInstances } from './tool-instances.ts';
import { Transcript } from './transcript.ts';
import { guessTokens, ModelWindow, readRefusal } from './window.ts';

/** verl's states: running is `generating`, tool_calling `processing_tools` in its agent loop; completed and failed are both `terminated`. */
export type RequestState =
  | 'pending'
  | 'running'
  | 'tool_calling'
  | 'interacting'
  | 'completed'
  | 'suspended'
  | 'failed';

/** An event while a rollout is made. `turn` is the index of the message. */
export type RolloutEvent =
  | { kind: 'state'; state: RequestState }
  | { kind: 'delta'; turn: number; delta: ModelDelta }
  | { kind: 'message'; turn: number; message: Message }
  | { kind: 'call'; call: Readonly<CallRecord> }
  | { kind: 'result'; call: Readonly<CallRecord> };

export interface RequestOptions extends ToolChoice {
  model: Model;
  /** Any prefix of a conversation. */
  messages: readonly Message[];
  sampling?: SamplingParams;
  limits?: Partial<Limits>;
  /** Needed by a model that takes ids; with any other it renders `input` and `output` in the model's own template. */
  tokenizer?: ChatTokenizer | undefined;
  /** verl's `apply_chat_template_kwargs`. */
  templateKwargs?: JsonObject | undefined;
  tokenizationCheck?: TokenizationCheck;
  /** The grammar of calls that a model writes in its text. */
  toolFormat?: string;
  /** A simulated user, who answers turns without a call. */
  user?: { interaction: Interaction; kwargs: JsonObject } | undefined;
  /** Exactly as this tree of verl, mistakes included. */
  verlCompat?: VerlVersion | null | undefined;
  /** The server's window as far as it is known, shared by the rollouts of a run. */
  window?: ModelWindow | undefined;
  /** A rollout that was broken off, to be gone on with. */
  partial?: PartialRollout | undefined;
  requestId?: string;
  signal?: AbortSignal | undefined;
  /** Ends the rollout between two steps, or in the middle of a turn whose tokens the server gives; it can be gone on with. */
  suspend?: AbortSignal | undefined;
  onEvent?: ((event: RolloutEvent) => void) | undefined;
}

/** How often a turn that the server aborted is asked for anew. */
const ABORTED_ATTEMPTS = 3;

/**
 * One rollout as a state machine: pending → running ⇄ tool_calling or interacting → completed, suspended or failed
 * (verl `ToolAgentLoop`). It owns its messages, its tool instances and its transcript; nothing is shared with other rollouts.
 */
export class RolloutRequest {
  readonly requestId: string;
  readonly toolSchemas: OpenAIFunctionToolSchema[];
  readonly messages: Message[];
  /** How many of the messages were given; a tool that speaks when it is created speaks in the prompt. */
  promptLength: number;
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
  readonly warnings: RolloutWarning[] = [];
  /** Seconds from the start to the end. */
  duration = 0;
  /** The text of a turn was put together from what the server gave in parts: its calls, its reasoning. */
  isRewritten = false;

  readonly #options: RequestOptions;
  readonly #renderer: Renderer;
  readonly #tools: ToolInstances;
  readonly #grammar: ToolGrammar;
  readonly #window: ModelWindow;
  readonly #schemas: JsonObject[];
  #transcript: Transcript | null = null;
  #closing: (() => void) | null = null;
  #startedAt = 0;
  #hasUser = false;
  /** The last turn as it was sampled. */
  #spoken = '';
  /** Tokens of the first prompt and of everything, as the server counts, and what was given since then; null while it has not said. */
  #counted: { prompt: number; all: number } | null = null;
  #sinceCounted = { exact: 0, guessed: 0 };
  /** Something of the turn that is being sampled has come. */
  #isAlive = false;
  /** The last message is a turn that was broken off in its middle. */
  #isTurnOpen = false;

  constructor(options: RequestOptions) {
    if (options.model.exact && !options.tokenizer)
      throw new TypeError(`${options.model.name} takes token ids: a tokenizer is needed`);
    this.#options = options;
    this.rules = rulesOf(options.verlCompat);
    const { tokenizer, templateKwargs: kwargs = {} } = options;
    this.#renderer = tokenizer
      ? new TemplateRenderer(tokenizer, { kwargs, separator: this.rules.separator })
      : plainRenderer;
    this.requestId = options.partial?.request_id ?? options.requestId ?? randomUUID();
    this.messages = [...(options.partial?.messages ?? options.messages)];
    this.promptLength = options.partial?.prompt_turns ?? options.messages.length;
    this.sampling = { ...options.sampling };
    this.limits = { ...DEFAULT_LIMITS, ...options.limits };
    this.#window = options.window ?? new ModelWindow();
    this.#grammar = toolGrammar(options.toolFormat ?? 'hermes');
    this.#tools = new ToolInstances(options, this.requestId, {
      limits: this.limits,
      rules: this.rules,
      warn: (message) => this.#warn('tool', message),
    });
    this.toolSchemas = this.#tools.schemas;
    this.#schemas = this.toolSchemas.map(options.model.exact ? templateSchema : wireSchema);
    if (options.partial) this.#restore(options.partial);
  }

  /** Rendered when it is first asked for. */
  get transcript(): Transcript {
    this.#transcript ??= new Transcript(this.#promptRendering());
    return this.#transcript;
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
    return this.#options.user?.interaction.sid ?? this.#tools.sid;
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
      counted: this.#counted,
      since_counted: this.#sinceCounted,
      transcript: this.transcript.state(),
      ...(this.#isTurnOpen ? { open_turn: true } : {}),
    };
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
        const { user } = this.#options;
        if (user?.interaction.isWorld && calls.length === 0 && (await this.#askUser(signal, true)))
          return this.#finish();
        const isDone = calls.length === 0 && !user;
        return isDone ? this.#complete('SUCCEEDED', null) : this.#complete('MAX_STEPS_REACHED', 'turn_limit');
      }
      let isEnd = false;
      if (calls.length > 0) {
        this.#enter('tool_calling');
        isEnd = await this.#callTools(calls, signal);
      } else if (this.#options.user) {
        this.#enter('interacting');
        isEnd = await this.#askUser(signal);
      } else return this.#complete('SUCCEEDED', null);
      if (isEnd) return this.#finish();
    }
  }

  // ── pending ──
  async #open(signal: AbortSignal): Promise<void> {
    const opened = await this.#tools.create(signal);
    const { failure } = this.#tools;
    if (failure !== null) throw new RolloutFault('tool_unavailable', failure);
    if (this.#options.partial === undefined) {
      this.messages.push(...opened);
      this.promptLength += opened.length;
    }
    const { user, tokenizer } = this.#options;
    if (user) {
      // An environment that fails half way has something to close.
      this.#hasUser = user.interaction.isWorld === true;
      await this.#ofUser(user.interaction.start(this.requestId, user.kwargs, signal));
      this.#hasUser = true;
      const { opening } = user.interaction;
      if (opening && this.#options.partial === undefined) {
        this.messages.splice(0, this.promptLength, ...opening);
        this.promptLength = opening.length;
      }
    }
    const limit = this.limits.max_prompt_length;
    if (!tokenizer) return;
    const length = this.transcript.promptTokens;
    if (limit !== null && length !== null && length > limit && !this.rules.cutsPrompt)
      this.#warn('prompt', `the prompt has ${length} tokens, more than max_prompt_length ${limit}`);
  }

  #promptRendering() {
    if (this.isExact && this.messages.some(({ content }) => Array.isArray(content) && content.some(isPicture)))
      throw new RolloutFault('prompt_not_rendered', 'pictures have no token ids here: use --api chat');
    let rendering: ReturnType<Renderer['prompt']>;
    try {
      rendering = this.#renderer.prompt(this.messages.slice(0, this.promptLength), this.#schemas);
    } catch (error) {
      throw new RolloutFault('prompt_not_rendered', `the chat template: ${(error as Error).message}`);
    }
    const limit = this.limits.max_prompt_length;
    const { ids } = rendering;
    if (!this.rules.cutsPrompt || limit === null || ids === null || ids.length <= limit) return rendering;
    this.#warn('prompt', `the prompt of ${ids.length} tokens was cut to its last ${limit}, as verl does`);
    const kept = ids.slice(-limit);
    const text = this.#options.tokenizer!.decode(kept, true);
    return { ids: kept, pieces: [{ turn: this.promptLength - 1, kind: 'marker' as const, text }] };
  }

  #restore(partial: PartialRollout): void {
    this.#transcript = Transcript.restore(partial.transcript);
    this.calls.push(...partial.calls);
    this.generations.push(...partial.generations);
    this.userTurns = partial.user_turns;
    this.turnScores.push(...partial.turn_scores);
    Object.assign(this.metrics, partial.metrics);
    this.#counted = partial.counted;
    this.#isTurnOpen = partial.open_turn === true;
    this.#sinceCounted = partial.since_counted;
  }

  // ── running ──
  #budget(): TokenBudget {
    return budgetOf(this.limits, this.rules, this.#lengths());
  }

  #lengths(): Lengths {
    const window = this.#window.size;
    const { transcript } = this;
    const known = { window, guessed: 0 };
    if (this.isExact) return { ...known, prompt: transcript.promptTokens, all: transcript.ids!.length };
    if (this.#counted) {
      const { prompt, all } = this.#counted;
      const { exact, guessed } = this.#sinceCounted;
      return { window, prompt, all: all + exact, guessed };
    }
    // Nothing was sampled yet: with a tokenizer the prompt is counted, without one it is guessed where a window must be kept.
    const prompt = transcript.promptTokens;
    if (prompt !== null) return { ...known, prompt, all: prompt };
    const isBound = window !== null || this.limits.max_model_len !== null;
    return isBound
      ? { window, prompt: 0, all: 0, guessed: guessTokens(transcript.input) }
      : { ...known, prompt: null, all: null };
  }

  #isTurnLimitMet(): boolean {
    const { max_assistant_turns: turns, max_user_turns: answers } = this.limits;
    return (turns !== null && this.assistantTurns >= turns) || (answers !== null && this.userTurns >= answers);
  }

  #isResponseFull(): boolean {
    if (this.finishReason === 'length') return true;
    const length = this.transcript.responseTokens;
    return this.#options.model.exact && length !== null && length >= this.limits.max_response_length;
  }

  /** One assistant turn. @returns its calls; the cause is set where the turn ends the rollout */
  async #generate(budget: TokenBudget, signal: AbortSignal): Promise<CallRecord[] | 'suspended'> {
    const { onEvent } = this.#options;
    const isOpen = this.#isTurnOpen;
    const turn = isOpen ? this.messages.length - 1 : this.messages.length;
    const started = this.#now();
    const generation = await this.#sample(turn, budget, signal);
    if (generation === null) return [];
    const before = isOpen ? messageText(this.messages.at(-1)!) : '';
    const whole = { ...generation, text: before + generation.text };
    if (generation.finishReason === 'abort' && generation.ids === null) return 'suspended';
    this.#count(generation);
    const { ids, logprobs, weightVersion } = generation;
    const sampled = this.#textOf(generation);
    this.#spoken = ids && this.#options.tokenizer ? this.#options.tokenizer.decode(ids, false) : sampled;
    this.transcript.addSampled(turn, sampled, ids, logprobs, weightVersion);
    if (isOpen) this.messages.pop();
    this.#isTurnOpen = generation.finishReason === 'abort' && (isOpen || ids!.length > 0);
    if (generation.finishReason === 'abort') {
      // The deadline came in the middle of the turn; what was sampled of it is kept.
      if (this.#isTurnOpen) this.messages.push({ role: 'assistant', content: whole.text });
      return 'suspended';
    }
    const { rules } = this;
    const place = { turn, earlier: this.calls, schemas: this.#schemas, rules };
    const { message, calls } = readTurn(whole, this.#grammar, place);
    this.calls.push(...calls);
    this.messages.push(message);
    const { finishReason } = generation;
    this.finishReason = calls.length > 0 ? 'tool_calls' : finishReason === 'length' ? 'length' : 'stop';
    if (finishReason === 'length' && rules.readsCutTurns) this.finishReason = calls.length > 0 ? 'tool_calls' : 'stop';
    this.generations.push({
      turn,
      finish_reason: this.finishReason,
      started,
      duration: this.#now() - started,
      prompt_tokens: generation.promptTokens,
      completion_tokens: generation.completionTokens ?? generation.ids?.length ?? null,
      retries: generation.retries,
    });
    onEvent?.({ kind: 'message', turn, message });
    for (const call of calls) onEvent?.({ kind: 'call', call });
    if (finishReason === 'content_filter') this.#end('CONTENT_FILTERED', 'content_filter');
    else if (this.finishReason === 'length') this.#end('MAX_CONTEXT_LIMIT_REACHED', budget.ends);
    return calls;
  }

  #textOf(generation: Generation): string {
    if (this.#options.model.exact) return generation.text;
    if (generation.toolCalls.length > 0 || generation.reasoning) this.isRewritten = true;
    return this.#renderer.assistantText({
      role: 'assistant',
      content: generation.text,
      ...(generation.reasoning ? { reasoning_content: generation.reasoning } : {}),
      tool_calls: generation.toolCalls,
    });
  }

  /** Asks for a turn, once more where the server says that less fits, or aborts it. Null where the window is full. */
  async #sample(turn: number, budget: TokenBudget, signal: AbortSignal): Promise<Generation | null> {
    let tokens = budget.tokens;
    for (let aborted = 0, isRefused = false; ; ) {
      try {
        const generation = await this.#ask(turn, tokens, signal);
        if (generation.finishReason !== 'abort' || this.#options.suspend?.aborted) return generation;
        if (++aborted >= ABORTED_ATTEMPTS)
          throw new RolloutFault('model_aborted', `the server aborted the turn ${aborted} times`);
      } catch (error) {
        if (!(error instanceof ModelError) || error.kind !== 'overflow') throw error;
        const asked = least(tokens, this.sampling.max_new_tokens);
        const refusal = readRefusal(error.detail, asked);
        this.#window.learn(refusal.window);
        const left = refusal.window !== null && refusal.prompt !== null ? refusal.window - refusal.prompt : null;
        if (isRefused || (left !== null && left <= 0) || asked === null) return this.#overflow(error);
        isRefused = true;
        tokens = left === null ? null : Math.min(left, tokens ?? left);
        if (refusal.prompt !== null) this.#recount(refusal.prompt);
      }
    }
  }

  /** The server has counted what was only guessed. */
  #recount(prompt: number): void {
    this.#counted = { prompt: this.#counted?.prompt ?? prompt, all: prompt };
    this.#sinceCounted = { exact: 0, guessed: 0 };
  }

  /** A window that is full ends the rollout as a limit does; at the very first turn there is no rollout to keep. */
  #overflow(error: ModelError): null {
    if (this.generations.length === 0) throw new RolloutFault('prompt_too_long', error.message, { cause: error });
    this.#warn('window', error.message);
    this.finishReason = 'length';
    this.#end('MAX_CONTEXT_LIMIT_REACHED', 'context_full');
    return null;
  }

  async #ask(turn: number, maxNewTokens: number | null, signal: AbortSignal): Promise<Generation> {
    const { model, onEvent, suspend } = this.#options;
    this.#isAlive = false;
    const generation = await model.generate({
      messages: this.messages,
      tools: this.#schemas,
      sampling: this.sampling,
      templateKwargs: this.#options.templateKwargs,
      maxNewTokens,
      inputIds: model.exact ? this.transcript.ids : null,
      signal,
      suspend,
      onActivity: () => {
        this.#isAlive = true;
      },
      onDelta: onEvent && ((delta) => onEvent({ kind: 'delta', turn, delta })),
    });
    this.#isAlive = true;
    return generation;
  }

  #count({ promptTokens, completionTokens }: Generation): void {
    if (promptTokens === null || completionTokens === null) return;
    this.#counted = { prompt: this.#counted?.prompt ?? promptTokens, all: promptTokens + completionTokens };
    this.#sinceCounted = { exact: 0, guessed: 0 };
    const own = this.generations.length === 0 ? this.transcript.promptTokens : null;
    if (own !== null && own !== promptTokens && !this.isExact)
      this.#warn(
        'template',
        `the server counts ${promptTokens} tokens of prompt, the chat template gives ${own}: the server uses another template, and input is not what its model saw`,
      );
  }

  // ── tool_calling ──
  /** @returns whether the rollout ends with it */
  async #callTools(calls: CallRecord[], signal: AbortSignal): Promise<boolean> {
    const limit = this.limits.max_parallel_calls;
    const { tool_calls: written = [] } = this.messages[calls[0]!.turn]!;
    const run = this.rules.answersEveryCall || limit === null ? calls : calls.slice(0, limit);
    await Promise.all(
      run.map(async (call, position) => {
        call.started = this.#now();
        if (limit !== null && position >= limit) this.#refuse(call, `only the first ${limit} calls of a turn are run`);
        else await this.#execute(call, written[position]?.function.arguments ?? '', signal);
        this.#options.onEvent?.({ kind: 'result', call });
      }),
    );
    signal.throwIfAborted();
    return !this.#addAnswers(
      run.map((call) => this.#answerOf(call)),
      run,
    );
  }

  #refuse(call: CallRecord, error: string): void {
    call.error = error;
    call.fault = 'model';
    call.result = failedCallText(this.rules, call.name, error);
    call.duration = 0;
  }

  async #execute(call: CallRecord, argumentText: string, signal: AbortSignal): Promise<void> {
    try {
      const outcome = await this.#tools.execute({ ...call, argumentText }, signal);
      call.arguments = outcome.arguments;
      call.result = outcome.response.text;
      call.error = outcome.response.error ?? null;
      call.fault = call.error === null ? null : (outcome.response.fault ?? 'model');
      if (outcome.response.images?.length) call.images = [...outcome.response.images];
      call.reward = outcome.reward;
      call.metrics = outcome.metrics;
      call.waited = outcome.waited;
      if (call.fault === 'tool') this.#warn('tool', `tool '${call.name}' raised an exception: ${call.error}`);
    } catch (error) {
      call.error = (error as Error).message;
      call.fault = 'world';
      throw error;
    } finally {
      call.duration = this.#now() - call.started! - (call.waited ?? 0);
    }
  }

  #answerOf({ id, name, result, images }: CallRecord): Message {
    const text = shownText(result ?? '', this.limits, this.rules);
    const content = images?.length
      ? [...images.map(({ url }) => ({ type: 'image_url', image_url: { url } })), { type: 'text', text }]
      : text;
    return { role: 'tool', tool_call_id: id, name, content };
  }

  /** Results come in any order; the transcript has them in the order of the calls. @returns whether they fit */
  #addAnswers(answers: Message[], calls: CallRecord[]): boolean {
    const first = this.messages.length;
    for (const [position, call] of calls.entries()) {
      call.result_turn = first + position;
      if (call.metrics === null) continue;
      this.metrics[call.name] ??= [];
      this.metrics[call.name]!.push(call.metrics);
    }
    return this.#addGiven(answers, true);
  }

  // ── interacting ──
  /** @param isLast nothing is sampled after it, so its answer is not shown. @returns whether the rollout ends with it */
  async #askUser(signal: AbortSignal, isLast = false): Promise<boolean> {
    const { interaction, kwargs } = this.#options.user!;
    const turn = this.messages.length - 1;
    const word = await this.#ofUser(interaction.respond(this.requestId, this.messages, kwargs, signal, this.#spoken));
    if (word.score !== null) this.turnScores.push({ turn, score: word.score });
    if (isLast || (word.terminate && word.text === '' && !word.messages?.length)) {
      if (word.terminate) this.#end('SUCCEEDED', null);
      return word.terminate;
    }
    const given = word.messages ? [...word.messages] : [{ role: 'user', content: word.text }];
    const fits = this.#addGiven(given, this.rules.checksUserLength);
    if (fits && word.terminate) this.#end('SUCCEEDED', null);
    return !fits || word.terminate;
  }

  async #ofUser<T>(work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (error) {
      if (error instanceof RolloutFault || error instanceof TimedOutError) throw error;
      const { interaction } = this.#options.user!;
      const who = interaction.isWorld ? `the ${interaction.name}` : 'the simulated user';
      throw new RolloutFault('user_fault', `${who}: ${(error as Error).message}`, { cause: error });
    }
  }

  /** @returns false where the messages do not fit response_length or the window: their tokens are then left out, as in verl */
  #addGiven(messages: Message[], isChecked: boolean): boolean {
    const { transcript } = this;
    const first = this.messages.length;
    const { lastId } = transcript;
    const rendering = this.#renderer.continuation(messages, first, lastId, true);
    this.messages.push(...messages);
    for (const [position, message] of messages.entries()) {
      this.#options.onEvent?.({ kind: 'message', turn: first + position, message });
    }
    if (this.isExact && isChecked && transcript.ids && rendering.ids) {
      const room = this.#window.size ?? this.limits.max_model_len ?? Number.POSITIVE_INFINITY;
      const isLong = transcript.responseTokens! + rendering.ids.length >= this.limits.max_response_length;
      if (isLong || (this.rules.version === null && transcript.ids.length + rendering.ids.length >= room)) {
        this.finishReason = 'length';
        this.#end('MAX_CONTEXT_LIMIT_REACHED', 'context_full');
        return false;
      }
    }
    transcript.addGiven(rendering);
    this.#closing = () => transcript.replaceGiven(this.#renderer.continuation(messages, first, lastId, false));
    const given = this.#sinceCounted;
    if (rendering.ids) given.exact += rendering.ids.length;
    else given.guessed += rendering.pieces.reduce((sum, { text }) => sum + guessTokens(text), 0);
    this.userTurns++;
    return true;
  }

  // ── the end ──
  /** The header of an assistant turn that never came is no part of the rollout. */
  #dropGenerationPrompt(): void {
    if (this.rules.keepsOpenHeader || this.messages.at(-1)?.role === 'assistant') return;
    this.#closing?.();
    this.#closing = null;
  }

  #end(status: TrajectoryStatus, cause: Cause | null): void {
    this.status = status;
    this.cause = cause;
  }

  #complete(status: TrajectoryStatus, cause: Cause | null): void {
    this.#end(status, cause);
    this.#finish();
  }

  #finish(): void {
    const { cause, status } = this;
    if (cause === 'cut_by_length' || cause === 'context_full') this.finishReason = 'length';
    else if (status === 'SUCCEEDED') this.finishReason = 'stop';
    this.finishReason ??= 'stop';
    this.#dropGenerationPrompt();
    this.#enter('completed');
    const { tokenizer } = this.#options;
    if (tokenizer && this.isExact) {
      const prompt = this.transcript.promptTokens ?? 0;
      const room = this.limits.max_model_len === null ? Number.POSITIVE_INFINITY : this.limits.max_model_len - prompt;
      this.transcript.truncate(Math.min(this.limits.max_response_length, room), (ids) => tokenizer.decode(ids, true));
    }
  }

  /** Compares what was sampled with the conversation rendered anew. A rollout that ended before its time has no such rendering. */
  async #checkTokenization(): Promise<void> {
    const { tokenizer, tokenizationCheck: mode = 'strict', templateKwargs = {} } = this.#options;
    const isWhole = this.messages.at(-1)?.role === 'assistant' && this.finishReason === 'stop';
    if (!tokenizer || !this.isExact || !isWhole || mode === 'disable' || this.rules.version !== null) return;
    let rendered: string;
    try {
      rendered = tokenizer.render(this.messages, this.#schemas, false, templateKwargs);
    } catch (error) {
      this.#warn('tokenization', `the chat template cannot render the conversation again: ${(error as Error).message}`);
      return;
    }
    const warning = await tokenizationWarning(rendered, this.transcript.ids ?? [], tokenizer, mode);
    if (warning !== null) this.#warn('tokenization', warning);
  }

  #suspend(): void {
    this.status = 'PARTIAL';
    this.#enter('suspended');
  }

  #fail(error: Error): void {
    this.error = this.#options.signal?.aborted ? 'cancelled' : error.message;
    this.cause = this.#causeOf(error);
    this.status = this.cause === 'timeout' ? 'TIMEOUT' : 'FAILED';
    try {
      this.#dropGenerationPrompt();
    } catch {
      // A template that fails has failed already.
    }
    this.#enter('failed');
  }

  #causeOf(error: Error): Cause {
    if (this.#options.signal?.aborted) return 'interrupted';
    if (error instanceof RolloutFault) return error.reason;
    if (error instanceof TimedOutError) return this.state === 'running' && !this.#isAlive ? 'model_hung' : 'timeout';
    if (error instanceof ModelError) return error.kind === 'unreachable' ? 'model_gone' : 'model_refused';
    return 'own_fault';
  }

  async #close(): Promise<void> {
    const { user, signal } = this.#options;
    if (user && this.#hasUser) {
      await user.interaction
        .finalize(this.requestId, user.kwargs)
        .catch((error: Error) => this.#warn('tool', `the simulated user, at the end: ${error.message}`));
    }
    const { rewards, failure } = await this.#tools.end(this.state === 'completed', signal);
    this.rewardScores = rewards;
    this.rewardFailure = failure;
  }

  /** Why a tool's calc_reward could not be had. */
  rewardFailure: string | null = null;

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

const isPicture = ({ type }: JsonObject): boolean => type === 'image_url' || type === 'image';

const least = (...numbers: (number | null | undefined)[]): number | null => {
  const given = numbers.filter((one) => one !== null && one !== undefined);
  return given.length === 0 ? null : Math.min(...given);
};

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
