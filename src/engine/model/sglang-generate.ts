import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { exchange } from '../../core/http/client.ts';
import type { JsonObject } from '../../core/json/value.ts';
import { itemAt } from '../../core/lists/at.ts';
import type { ChatTokenizer } from './chat-tokenizer.ts';
import {
  type Generation,
  type Model,
  ModelError,
  type ModelRequest,
  type SampledTurn,
  type ServedFinish,
} from './model.ts';
import type { ModelServer } from './post-with-retry.ts';
import { PROBE_MS, probed } from './probe.ts';
import { askForTurn, finishOf, parseAnswer, type SampledTurnReader, tokenLimit, WHOLE_TURN_MS } from './served-turn.ts';

type TokenLogprob = readonly [number | null, number, ...unknown[]];

// Checked by hand, since there are thousands of them, and copying each would create garbage.
const areIds = (value: unknown): boolean => Array.isArray(value) && value.every(Number.isInteger);
function areLogprobs(value: unknown): boolean {
  if (!Array.isArray(value)) return false;
  for (let at = 0; at < value.length; at++) {
    const pair: unknown = value[at];
    if (!Array.isArray(pair) || !(pair[0] === null || typeof pair[0] === 'number') || !Number.isInteger(pair[1]))
      return false;
  }
  return true;
}

const GeneratedAnswer = z.looseObject({
  text: z.string().nullish(),
  output_ids: z.custom<number[]>(areIds, 'expected token ids').nullish(),
  meta_info: z
    .looseObject({
      finish_reason: z
        .looseObject({ type: z.string(), message: z.string().nullish(), status_code: z.number().nullish() })
        .nullish(),
      prompt_tokens: z.number().nullish(),
      completion_tokens: z.number().nullish(),
      weight_version: z.string().nullish(),
      /** [log probability, token id, text or null] per sampled token. */
      input_token_logprobs: z.custom<TokenLogprob[]>(areLogprobs, 'expected [log probability, id] a token').nullish(),
      output_token_logprobs: z.custom<TokenLogprob[]>(areLogprobs, 'expected [log probability, id] a token').nullish(),
    })
    .nullish(),
  error: z.unknown().optional(),
});
type GeneratedAnswer = z.infer<typeof GeneratedAnswer>;

/** SGLang's `/generate`: ids in, ids and log probabilities out. `baseUrl` may be the same /v1 address as for the chat API. */
export class SglangGenerateModel implements Model {
  readonly exact = true;
  readonly name: string;
  readonly #tokenizer: ChatTokenizer;
  readonly #base: string;
  readonly #http: ModelServer;

  constructor(name: string, tokenizer: ChatTokenizer, { url, ...http }: ModelServer) {
    this.name = name;
    this.#base = url;
    this.#tokenizer = tokenizer;
    this.#http = { idleMs: WHOLE_TURN_MS, ...http, url: `${url.replace(/\/+$/, '').replace(/\/v1$/, '')}/generate` };
  }

  async generate(request: ModelRequest): Promise<Generation> {
    if (request.inputIds === null) throw new TypeError('SglangGenerateModel needs inputIds');
    const { max_new_tokens, seed, prompt_logprobs: _, n: _n, ...sampling } = request.sampling;
    const body: JsonObject = {
      input_ids: request.inputIds as number[],
      sampling_params: {
        ...sampling,
        ...(seed === undefined ? {} : { sampling_seed: seed }),
        ...tokenLimit('max_new_tokens', max_new_tokens, request.maxNewTokens),
        skip_special_tokens: false,
        spaces_between_special_tokens: false,
      },
      return_logprob: true,
      ...(request.wantsPromptLogprobs ? { logprob_start_len: 0 } : {}),
      // Every event repeats the whole turn, so the cost of a stream is quadratic: only stream if someone is watching.
      stream: request.onDelta !== undefined,
    };
    const rid = randomUUID();
    return askForTurn(
      this.#http,
      request.suspend ? { ...body, rid } : body,
      request,
      () => new TokenTurn(this.#tokenizer, request),
      () => this.#abort(rid),
    );
  }

  /** SGLang then answers with the part it has sampled. */
  async #abort(rid: string): Promise<void> {
    const { url, apiKey } = this.#http;
    const headers: Record<string, string> = apiKey ? { authorization: `Bearer ${apiKey}` } : {};
    const where = url.replace(/generate$/, 'abort_request');
    const { status } = await exchange({
      url: where,
      method: 'POST',
      body: JSON.stringify({ rid }),
      headers,
      timeoutMs: 2000,
    });
    if (status > 299) throw new Error(`HTTP ${status}`);
  }

  async probe({ sampling, signal }: Parameters<NonNullable<Model['probe']>>[0]): Promise<string | null> {
    const http = { ...this.#http, url: this.#base, attempts: 1, idleMs: PROBE_MS };
    const once = new SglangGenerateModel(this.name, this.#tokenizer, http);
    const inputIds = this.#tokenizer.encode('ping');
    return probed(once.generate({ messages: [], tools: [], sampling, signal, maxNewTokens: 1, inputIds }));
  }
}

const isNone = (value: unknown): value is undefined | null => value === undefined || value === null;

/** The usual form of an answer. */
function isUsual(value: unknown): value is GeneratedAnswer {
  const { text, output_ids: ids, meta_info: meta, error } = (value ?? {}) as GeneratedAnswer;
  if (error || (!isNone(text) && typeof text !== 'string') || (!isNone(ids) && !areIds(ids))) return false;
  if (typeof meta !== 'object' || meta === null) return false;
  const { finish_reason: finish, prompt_tokens: prompt, completion_tokens: sampled } = meta;
  return (
    (isNone(finish) || (typeof finish === 'object' && typeof finish.type === 'string' && finish.type !== 'abort')) &&
    (isNone(prompt) || typeof prompt === 'number') &&
    (isNone(sampled) || typeof sampled === 'number') &&
    (isNone(meta.weight_version) || typeof meta.weight_version === 'string') &&
    (isNone(meta.input_token_logprobs) || areLogprobs(meta.input_token_logprobs)) &&
    (isNone(meta.output_token_logprobs) || areLogprobs(meta.output_token_logprobs))
  );
}

/** The ids come from the log probabilities, if there are any. A token without its own has NaN. */
function idsAndLogprobs(pairs: readonly TokenLogprob[] | null, given: number[]): { ids: number[]; logprobs: number[] } {
  if (pairs === null) return { ids: given, logprobs: [] };
  const ids: number[] = [];
  const logprobs: number[] = [];
  for (let at = 0; at < pairs.length; at++) {
    const [logprob, id] = itemAt(pairs, at);
    ids.push(id);
    logprobs.push(logprob ?? Number.NaN);
  }
  return { ids, logprobs };
}

class TokenTurn implements SampledTurnReader {
  #ids: number[] = [];
  #logprobs: number[] = [];
  #shown = '';
  #meta: NonNullable<GeneratedAnswer['meta_info']> | null = null;
  readonly #tokenizer: ChatTokenizer;
  readonly #request: ModelRequest;

  constructor(tokenizer: ChatTokenizer, request: ModelRequest) {
    this.#tokenizer = tokenizer;
    this.#request = request;
  }

  add(json: string): void {
    this.#request.onActivity?.();
    const { text, output_ids, meta_info } = parseAnswer(json, GeneratedAnswer, isUsual);
    const { ids, logprobs } = idsAndLogprobs(meta_info?.output_token_logprobs ?? null, output_ids ?? []);
    // A chunk holds the whole turn so far or, with --stream-output / incremental streaming, only its new tokens; the count distinguishes them.
    const grows = meta_info?.completion_tokens === this.#ids.length + ids.length && this.#ids.length > 0;
    this.#ids = grows ? [...this.#ids, ...ids] : ids.length >= this.#ids.length ? ids : this.#ids;
    this.#logprobs = grows
      ? [...this.#logprobs, ...logprobs]
      : logprobs.length >= this.#logprobs.length
        ? logprobs
        : this.#logprobs;
    if (meta_info) this.#meta = meta_info;
    if (!text || !this.#request.onDelta) return;
    const fresh = text.startsWith(this.#shown) && !grows ? text.slice(this.#shown.length) : text;
    this.#shown = grows ? this.#shown + text : text;
    if (fresh) this.#request.onDelta({ kind: 'text', text: fresh });
  }

  finish(): SampledTurn {
    const finish = this.#meta?.finish_reason;
    const status = finish?.status_code ?? null;
    if (finish?.type === 'abort' && status !== null && status >= 400 && status < 500)
      throw new ModelError(`the server aborted the turn: ${finish.message ?? 'no reason given'}`, status, 'refused');
    const hasNoIds = this.#ids.length === 0;
    const counted = this.#meta?.completion_tokens ?? 0;
    const finishReason = finishOf(finish?.type, 0, hasNoIds && counted === 0);
    if (hasNoIds && counted > 0) throw new ModelError('the server sends no token ids; is it SGLang?', null, 'refused');
    return this.#turn(finishReason);
  }

  soFar(): SampledTurn {
    return this.#turn('abort');
  }

  #turn(finishReason: ServedFinish): SampledTurn {
    const ids = this.#ids;
    const given = this.#meta?.input_token_logprobs;
    return {
      text: this.#tokenizer.decode(ids, true),
      reasoning: null,
      toolCalls: [],
      finishReason,
      ids,
      logprobs: this.#logprobs.length === ids.length && !this.#logprobs.some(Number.isNaN) ? this.#logprobs : null,
      promptLogprobs: this.#request.wantsPromptLogprobs && given ? given.map(([logprob]) => logprob) : null,
      promptTokens: this.#meta?.prompt_tokens ?? null,
      completionTokens: this.#meta?.completion_tokens ?? null,
      weightVersion: this.#meta?.weight_version ?? null,
    };
  }
}
