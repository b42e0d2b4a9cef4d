import type { Generation } from '../model/model.ts';
import type { Lengths } from './budget.ts';
import type { Limits } from './limits.ts';
import type { Rendering } from './renderer.ts';
import type { Transcript } from './transcript.ts';
import { guessTokens, type ModelWindow } from './window.ts';

/** A token count for the notes of a suspended rollout. */
export interface CountSnapshot {
  counted: { prompt: number; all: number } | null;
  since_counted: { exact: number; guessed: number };
}

/** The length of a rollout in tokens: from its own ids if it has them, else the server's figures plus an estimate for later text. */
export class TokenCount {
  readonly #isExact: boolean;
  /** Tokens of the first prompt and in total, as counted by the server; null until it reports them. */
  #counted: CountSnapshot['counted'];
  #since: CountSnapshot['since_counted'];

  constructor(isExact: boolean, snapshot?: CountSnapshot) {
    this.#isExact = isExact;
    this.#counted = snapshot?.counted ?? null;
    this.#since = snapshot?.since_counted ?? { exact: 0, guessed: 0 };
  }

  state(): CountSnapshot {
    return { counted: this.#counted, since_counted: this.#since };
  }

  lengths(transcript: Transcript, limits: Limits, { size: window }: ModelWindow): Lengths {
    if (this.#isExact) return { window, prompt: transcript.promptTokens, all: transcript.ids!.length, guessed: 0 };
    if (this.#counted) {
      const { prompt, all } = this.#counted;
      return { window, prompt, all: all + this.#since.exact, guessed: this.#since.guessed };
    }
    // Nothing was sampled yet: a tokenizer counts the prompt; without one it is estimated if there is a window to respect.
    const prompt = transcript.promptTokens;
    if (prompt !== null) return { window, prompt, all: prompt, guessed: 0 };
    const isBound = window !== null || limits.max_model_len !== null;
    return isBound
      ? { window, prompt: 0, all: 0, guessed: guessTokens(transcript.input) }
      : { window, prompt: null, all: null, guessed: 0 };
  }

  /** The server's figures for a turn. */
  sampled({ promptTokens, completionTokens }: Generation): void {
    if (promptTokens === null || completionTokens === null) return;
    this.#counted = { prompt: this.#counted?.prompt ?? promptTokens, all: promptTokens + completionTokens };
    this.#since = { exact: 0, guessed: 0 };
  }

  /** Corrects an estimate with the server's count. */
  refused(prompt: number): void {
    this.#counted = { prompt: this.#counted?.prompt ?? prompt, all: prompt };
    this.#since = { exact: 0, guessed: 0 };
  }

  given({ ids, pieces }: Rendering): void {
    if (ids) this.#since.exact += ids.length;
    else this.#since.guessed += pieces.reduce((sum, { text }) => sum + guessTokens(text), 0);
  }
}
