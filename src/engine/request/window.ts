/** A model server's words about its window: its size, and how long the prompt was that it refused. */
export interface WindowRefusal {
  window: number | null;
  prompt: number | null;
}

const number = (text: string | undefined): number | null =>
  text === undefined ? null : Number(text.replaceAll(/[,_]/g, ''));

/**
 * Reads the numbers in the sentence with which a server refuses what is longer than its window. The words are those of vLLM, SGLang,
 * OpenAI, llama.cpp and TGI; a number that is not named is null.
 */
export function readRefusal(text: string, asked: number | null): WindowRefusal {
  const found = (...patterns: RegExp[]): number | null => {
    for (const pattern of patterns) {
      const [, digits] = pattern.exec(text) ?? [];
      if (digits !== undefined) return number(digits);
    }
    return null;
  };
  const window = found(
    /(?:maximum )?context (?:length|size|window)(?: of)?(?: is| \()?\s*\D{0,20}?([\d,]+)/i,
    /"n_ctx"\s*:\s*(\d+)/,
    /max_model_len\D{0,20}([\d,]+)/i,
  );
  const prompt = found(
    /([\d,]+)\s*(?:tokens? )?(?:in the (?:messages|prompt|input)|from the input)/i,
    /([\d,]+)\s*input tokens/i,
    /prompt contains(?: at least)? ([\d,]+)/i,
    /"n_prompt_tokens"\s*:\s*(\d+)/,
    /input (?:length|is)\D{0,20}([\d,]+)/i,
  );
  if (prompt !== null) return { window, prompt };
  // "you requested 4500 tokens" counts both.
  const total = found(/requested(?: a total of)?\s*([\d,]+)\s*tokens/i);
  const rest = total === null || asked === null ? null : total - asked;
  return { window, prompt: rest !== null && rest > 0 ? rest : null };
}

/** The window of one model server, as far as it is known; what one rollout learns serves all. */
export class ModelWindow {
  /** Tokens; null while no one has said. */
  size: number | null;

  constructor(size: number | null = null) {
    this.size = size;
  }

  /** The least that was heard holds. */
  learn(size: number | null): void {
    if (size !== null && size > 0) this.size = Math.min(size, this.size ?? Number.POSITIVE_INFINITY);
  }
}

/**
 * How many tokens a text that was not counted may have. Text of the usual kind has three to four bytes a token; where the guess is too
 * low, the server says so and the turn is asked for once more.
 */
export const guessTokens = (text: string): number => Math.ceil(Buffer.byteLength(text) / 3);
