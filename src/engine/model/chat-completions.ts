import { z } from 'zod';
import type { JsonObject, JsonValue } from '../../core/json/value.ts';
import type { Message, MessageToolCall } from '../common/message.ts';
import type { Generation, Model, ModelRequest, SampledTurn, SamplingParams } from './model.ts';
import { type ModelServer, RetryableError } from './post-with-retry.ts';
import { PROBE_MS, probed } from './probe.ts';
import { askForTurn, checkChoice, finishOf, parseAnswer, type SampledTurnReader, tokenLimit } from './served-turn.ts';

const text = z.string().nullish();
const CallDelta = z.looseObject({
  index: z.number().nullish(),
  id: text,
  // Most servers send JSON text in pieces; some send the whole object.
  function: z
    .looseObject({ name: text, arguments: z.union([z.string(), z.record(z.string(), z.unknown())]).nullish() })
    .nullish(),
});
const Body = z.looseObject({
  content: text,
  reasoning_content: text,
  reasoning: text,
  /** The text of a refusal by OpenAI's models, in place of content. */
  refusal: text,
  tool_calls: z.array(CallDelta).nullish(),
  error: z.unknown().optional(),
});
/** A chunk of a stream has `delta`, a whole answer `message`. */
const Chunk = z.looseObject({
  choices: z
    .array(
      z.looseObject({
        index: z.number().nullish(),
        delta: Body.nullish(),
        message: Body.nullish(),
        finish_reason: text,
        error: z.unknown().optional(),
      }),
    )
    .nullish(),
  usage: z.looseObject({ prompt_tokens: z.number().nullish(), completion_tokens: z.number().nullish() }).nullish(),
  error: z.unknown().optional(),
});
type Chunk = z.infer<typeof Chunk>;

/** OpenAI's chat completions API as served by vLLM, SGLang, llama.cpp and Ollama, streamed. `baseUrl` goes up to and including /v1. */
export class ChatCompletionsModel implements Model {
  readonly exact = false;
  readonly name: string;
  readonly #base: string;
  readonly #http: ModelServer;

  constructor(name: string, { url, ...http }: ModelServer) {
    this.name = name;
    this.#base = url;
    this.#http = { ...http, url: `${url.replace(/\/+$/, '')}/chat/completions` };
  }

  async generate(request: ModelRequest): Promise<Generation> {
    const body: JsonObject = {
      model: this.name,
      messages: request.messages.map(wireMessage),
      ...(request.tools.length > 0 ? { tools: [...request.tools] } : {}),
      ...wireSampling(request.sampling, request.maxNewTokens),
      ...(request.templateKwargs ? { chat_template_kwargs: request.templateKwargs } : {}),
      stream: true,
      stream_options: { include_usage: true },
    };
    return askForTurn(this.#http, body, request, () => new TurnBuilder(request));
  }

  async probe({ tools, sampling, signal }: Parameters<NonNullable<Model['probe']>>[0]): Promise<string | null> {
    const messages: Message[] = [{ role: 'user', content: 'ping' }];
    const once = new ChatCompletionsModel(this.name, { ...this.#http, url: this.#base, attempts: 1, idleMs: PROBE_MS });
    return probed(once.generate({ messages, tools, sampling, signal, maxNewTokens: 1, inputIds: null }));
  }
}

/** Without ids a turn cannot be resumed in the middle. */
const BROKEN_OFF: SampledTurn = {
  text: '',
  reasoning: null,
  toolCalls: [],
  finishReason: 'abort',
  ids: null,
  logprobs: null,
  promptTokens: null,
  completionTokens: null,
};

/** Servers reject or mangle an assistant turn whose arguments are not a JSON object (vLLM decodes them): such a call is sent with empty arguments. */
function wireMessage(message: Message): JsonObject {
  const calls = message.tool_calls?.map((call) => ({
    ...call,
    function: {
      name: call.function.name,
      arguments: isObjectText(call.function.arguments) ? call.function.arguments : '{}',
    },
  }));
  return { ...message, ...(calls ? { tool_calls: calls } : {}) };
}

function isObjectText(value: string): boolean {
  try {
    const parsed: unknown = JSON.parse(value);
    return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed);
  } catch {
    return false;
  }
}

function wireSampling(
  { max_new_tokens, prompt_logprobs: _, ...rest }: SamplingParams,
  budget: number | null,
): JsonObject {
  return { ...rest, ...tokenLimit('max_tokens', max_new_tokens, budget) };
}

const isNone = (value: unknown): value is undefined | null => value === undefined || value === null;
const isTextOrNone = (value: unknown): boolean => isNone(value) || typeof value === 'string';
const isNumberOrNone = (value: unknown): boolean => isNone(value) || typeof value === 'number';
const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

/** The usual form of a piece. */
function isUsual(value: unknown): value is Chunk {
  if (!isObject(value) || value.error || !Array.isArray(value.choices)) return false;
  const { usage } = value;
  if (
    !isNone(usage) &&
    !(isObject(usage) && isNumberOrNone(usage.prompt_tokens) && isNumberOrNone(usage.completion_tokens))
  )
    return false;
  return value.choices.every(
    (choice) =>
      isObject(choice) &&
      isNone(choice.error) &&
      isTextOrNone(choice.finish_reason) &&
      choice.message === undefined &&
      isObject(choice.delta) &&
      isNone(choice.delta.error) &&
      isTextOrNone(choice.delta.content) &&
      isTextOrNone(choice.delta.reasoning_content) &&
      isTextOrNone(choice.delta.reasoning) &&
      isTextOrNone(choice.delta.refusal) &&
      (isNone(choice.delta.tool_calls) ||
        (Array.isArray(choice.delta.tool_calls) && choice.delta.tool_calls.every(isUsualCall))),
  );
}

const isUsualCall = (call: unknown): boolean =>
  isObject(call) &&
  isNumberOrNone(call.index) &&
  isTextOrNone(call.id) &&
  isObject(call.function) &&
  isTextOrNone(call.function.name) &&
  isTextOrNone(call.function.arguments);

/** The tokens of an empty thought, which some servers omit from the answer. */
const MOST_UNSAID = 8;

class TurnBuilder implements SampledTurnReader {
  #text = '';
  #isThere = false;
  /** Content arrived, possibly empty; null means no content. */
  #hasContent = false;
  #reasoning = '';
  #calls: MessageToolCall[] = [];
  #slots = new Map<number, MessageToolCall>();
  #reason: string | null = null;
  #usage: Chunk['usage'] = null;
  readonly #request: ModelRequest;

  constructor(request: ModelRequest) {
    this.#request = request;
  }

  add(json: string): void {
    this.#request.onActivity?.();
    const chunk = parseAnswer(json, Chunk, isUsual);
    if (chunk.usage) this.#usage = chunk.usage;
    // Only one turn is requested; other choices are ignored.
    const choice = chunk.choices?.find(({ index }) => (index ?? 0) === 0);
    if (!choice) return;
    checkChoice(choice);
    const body = choice.delta ?? choice.message;
    if (body) this.#isThere = true;
    if (typeof body?.content === 'string') this.#hasContent = true;
    const reasoning = body?.reasoning_content ?? body?.reasoning;
    if (reasoning) {
      this.#reasoning += reasoning;
      this.#request.onDelta?.({ kind: 'reasoning', text: reasoning });
    }
    const words = body?.content || body?.refusal;
    if (words) {
      this.#text += words;
      this.#request.onDelta?.({ kind: 'text', text: words });
    }
    for (const delta of body?.tool_calls ?? []) this.#addCall(delta);
    if (choice.finish_reason) this.#reason = choice.finish_reason;
  }

  /** Pieces of one call share an index; if a server sends none, or one for all, a new id with a name starts a new call. */
  #addCall({ index, id, function: fn }: z.infer<typeof CallDelta>): void {
    const slot = index ?? 0;
    let call = this.#slots.get(slot);
    if (!call || (id && call.id && id !== call.id && fn?.name)) {
      call = { id: '', type: 'function', function: { name: '', arguments: '' } };
      this.#slots.set(slot, call);
      this.#calls.push(call);
    }
    if (id) call.id = id;
    if (fn?.name && !call.function.name) call.function.name = fn.name;
    const args = fn?.arguments;
    if (args) call.function.arguments += typeof args === 'string' ? args : JSON.stringify(args as JsonValue);
  }

  finish(): SampledTurn {
    if (this.#reason !== null && !this.#isThere) throw new RetryableError('the server sent a turn without a message');
    const toolCalls = this.#calls.filter((call) => call.function.name !== '');
    const isSaid = this.#text !== '' || this.#reasoning !== '' || toolCalls.length > 0;
    const counted = this.#usage?.completion_tokens ?? 0;
    if (!isSaid && !this.#hasContent && counted > MOST_UNSAID)
      throw new RetryableError(`the server counts ${counted} sampled tokens and sent no text of them`);
    const isEmpty = !isSaid && counted === 0;
    return {
      text: this.#text,
      reasoning: this.#reasoning || null,
      toolCalls,
      finishReason: finishOf(this.#reason, toolCalls.length, isEmpty),
      ids: null,
      logprobs: null,
      promptTokens: this.#usage?.prompt_tokens ?? null,
      completionTokens: this.#usage?.completion_tokens ?? null,
    };
  }

  soFar(): SampledTurn {
    return BROKEN_OFF;
  }
}
