import { RolloutFault } from '../common/faults.ts';
import { type Generation, ModelError, type ModelRequest } from '../model/model.ts';
import type { RequestOptions } from './options.ts';
import type { TokenCount } from './token-count.ts';
import { type ModelWindow, readRefusal } from './window.ts';

/** How often to request a turn that the server aborted. */
const ABORTED_ATTEMPTS = 3;

/** The server reports that the turn does not fit the window. */
export interface Overflow {
  overflow: ModelError;
}

export type TurnAsked = Pick<ModelRequest, 'messages' | 'tools' | 'sampling' | 'inputIds' | 'wantsPromptLogprobs'> & {
  /** Index of the message. */
  turn: number;
  /** The most tokens it may have; null leaves it to the server. */
  tokens: number | null;
};

/** Requests the turns of one rollout from the model. */
export class TurnSampler {
  readonly #options: RequestOptions;
  readonly #window: ModelWindow;
  readonly #count: TokenCount;
  /** Since when the current turn has been silent; null once something arrived. */
  #silentSince: number | null = null;

  constructor(options: RequestOptions, window: ModelWindow, count: TokenCount) {
    this.#options = options;
    this.#window = window;
    this.#count = count;
  }

  /** Why the current turn is being retried; null if nothing has failed since. */
  trouble: string | null = null;

  /** Seconds of silence in the current turn, to distinguish a slow server from a hanging one. */
  get silentSeconds(): number {
    return this.#silentSince === null ? 0 : (performance.now() - this.#silentSince) / 1000;
  }

  /** Requests a turn, and again if the server says that less fits, or aborts it. @throws RolloutFault, ModelError */
  async sample(asked: TurnAsked, signal: AbortSignal): Promise<Generation | Overflow> {
    let { tokens } = asked;
    for (let aborted = 0, isRefused = false; ; ) {
      try {
        const generation = await this.#ask(asked, tokens, signal);
        if (generation.finishReason !== 'abort' || this.#options.suspend?.aborted) return generation;
        if (++aborted >= ABORTED_ATTEMPTS)
          throw new RolloutFault('model_aborted', `the server aborted the turn ${aborted} times`);
      } catch (error) {
        if (!(error instanceof ModelError) || error.kind !== 'overflow') throw error;
        const most = least(tokens, asked.sampling.max_new_tokens);
        const refusal = readRefusal(error.detail, most);
        this.#window.learn(refusal.window);
        const left = refusal.window !== null && refusal.prompt !== null ? refusal.window - refusal.prompt : null;
        if (isRefused || (left !== null && left <= 0) || most === null) return { overflow: error };
        isRefused = true;
        tokens = left === null ? null : Math.min(left, tokens ?? left);
        if (refusal.prompt !== null) this.#count.refused(refusal.prompt);
      }
    }
  }

  async #ask(asked: TurnAsked, tokens: number | null, signal: AbortSignal): Promise<Generation> {
    const { model, onEvent, suspend, templateKwargs } = this.#options;
    const { turn, messages, tools, sampling, inputIds, wantsPromptLogprobs = false } = asked;
    this.#silentSince = performance.now();
    // Key by key: thousands of these a second, and a copy by `...` is several times as dear.
    const generation = await model.generate({
      messages,
      tools,
      sampling,
      inputIds,
      wantsPromptLogprobs,
      templateKwargs,
      maxNewTokens: tokens,
      signal,
      suspend,
      onActivity: () => {
        this.#silentSince = null;
        this.trouble = null;
      },
      onTrouble: (reason) => {
        this.trouble = reason;
      },
      onDelta: onEvent && ((delta) => onEvent({ kind: 'delta', turn, delta })),
    });
    this.#silentSince = null;
    this.trouble = null;
    return generation;
  }
}

const least = (...numbers: (number | null | undefined)[]): number | null => {
  const given = numbers.filter((one) => one !== null && one !== undefined);
  return given.length === 0 ? null : Math.min(...given);
};
