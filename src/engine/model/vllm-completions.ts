import { z } from 'zod';
import type { JsonObject } from '../../core/json/value.ts';
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
import {
  askForTurn,
  checkChoice,
  finishOf,
  parseAnswer,
  type SampledTurnReader,
  tokenLimit,
  WHOLE_TURN_MS,
} from './served-turn.ts';

const CompletionAnswer = z.looseObject({
  choices: z
    .array(
      z.looseObject({
        index: z.number().nullish(),
        error: z.unknown().optional(),
        text: z.string().nullish(),
        finish_reason: z.string().nullish(),
        token_ids: z.array(z.number().int()).nullish(),
        /** A prompt token: its own log probability, and those of the likeliest others, by id. */
        prompt_logprobs: z.array(z.record(z.string(), z.looseObject({ logprob: z.number() })).nullable()).nullish(),
        logprobs: z.looseObject({ token_logprobs: z.array(z.number().nullable()).nullish() }).nullish(),
      }),
    )
    .nullish(),
  usage: z.looseObject({ prompt_tokens: z.number().nullish(), completion_tokens: z.number().nullish() }).nullish(),
  error: z.unknown().optional(),
});
type CompletionAnswer = z.infer<typeof CompletionAnswer>;

/** vLLM's `/v1/completions` with token ids in, and with `return_token_ids` out. `url` goes up to and including /v1. */
export class VllmCompletionsModel implements Model {
  readonly exact = true;
  readonly name: string;
  readonly #tokenizer: ChatTokenizer;
  readonly #base: string;
  readonly #http: ModelServer;

  constructor(name: string, tokenizer: ChatTokenizer, { url, ...http }: ModelServer) {
    this.name = name;
    this.#base = url;
    this.#tokenizer = tokenizer;
    this.#http = { idleMs: WHOLE_TURN_MS, ...http, url: `${url.replace(/\/+$/, '')}/completions` };
  }

  async generate(request: ModelRequest): Promise<Generation> {
    if (request.inputIds === null) throw new TypeError('VllmCompletionsModel needs inputIds');
    const { max_new_tokens, prompt_logprobs, n: _n, ...sampling } = request.sampling;
    const judges = request.wantsPromptLogprobs === true;
    // vLLM does not stream them.
    const stream = !judges && (request.onDelta !== undefined || request.suspend !== undefined);
    const body: JsonObject = {
      model: this.name,
      prompt: request.inputIds as number[],
      ...sampling,
      ...tokenLimit('max_tokens', max_new_tokens, request.maxNewTokens),
      logprobs: 1,
      ...(judges ? { prompt_logprobs: prompt_logprobs ?? 0 } : {}),
      return_token_ids: true,
      skip_special_tokens: false,
      spaces_between_special_tokens: false,
      stream,
      ...(stream ? { stream_options: { include_usage: true } } : {}),
    };
    return askForTurn(this.#http, body, request, () => new CompletionTurn(this.#tokenizer, request));
  }

  async probe({ sampling, signal }: Parameters<NonNullable<Model['probe']>>[0]): Promise<string | null> {
    const http = { ...this.#http, url: this.#base, attempts: 1, idleMs: PROBE_MS };
    const once = new VllmCompletionsModel(this.name, this.#tokenizer, http);
    const inputIds = this.#tokenizer.encode('ping');
    return probed(once.generate({ messages: [], tools: [], sampling, signal, maxNewTokens: 1, inputIds }));
  }
}

class CompletionTurn implements SampledTurnReader {
  readonly #ids: number[] = [];
  readonly #logprobs: (number | null)[] = [];
  #promptLogprobs: (number | null)[] | null = null;
  #reason: string | null = null;
  #usage: CompletionAnswer['usage'] = null;
  readonly #tokenizer: ChatTokenizer;
  readonly #request: ModelRequest;

  constructor(tokenizer: ChatTokenizer, request: ModelRequest) {
    this.#tokenizer = tokenizer;
    this.#request = request;
  }

  add(json: string): void {
    this.#request.onActivity?.();
    const { choices, usage } = parseAnswer(json, CompletionAnswer);
    if (usage) this.#usage = usage;
    const choice = choices?.find(({ index }) => (index ?? 0) === 0);
    if (!choice) return;
    checkChoice(choice);
    if ((choice.token_ids ?? []).length === 0 && choice.text)
      throw new ModelError(
        'the server sends no token ids; is it vLLM from 0.10.2 on (return_token_ids)?',
        null,
        'refused',
      );
    this.#ids.push(...(choice.token_ids ?? []));
    this.#logprobs.push(...(choice.logprobs?.token_logprobs ?? []));
    if (choice.prompt_logprobs) this.#promptLogprobs = this.#ofPrompt(choice.prompt_logprobs);
    if (choice.text) this.#request.onDelta?.({ kind: 'text', text: choice.text });
    if (choice.finish_reason) this.#reason = choice.finish_reason;
  }

  #ofPrompt(given: readonly (Record<string, { logprob: number }> | null)[]): (number | null)[] {
    const ids = this.#request.inputIds ?? [];
    return given.map((one, at) => one?.[String(ids[at])]?.logprob ?? null);
  }

  finish(): SampledTurn {
    return this.#turn(finishOf(this.#reason, 0, this.#ids.length === 0));
  }

  soFar(): SampledTurn {
    return this.#turn('abort');
  }

  #turn(finishReason: ServedFinish): SampledTurn {
    const ids = [...this.#ids];
    const logprobs = this.#logprobs.filter((one) => one !== null);
    return {
      text: this.#tokenizer.decode(ids, true),
      reasoning: null,
      toolCalls: [],
      finishReason,
      ids,
      logprobs: logprobs.length === ids.length ? logprobs : null,
      promptLogprobs: this.#promptLogprobs,
      promptTokens: this.#usage?.prompt_tokens ?? null,
      completionTokens: this.#usage?.completion_tokens ?? null,
    };
  }
}
