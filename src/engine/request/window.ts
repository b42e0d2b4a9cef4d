/** A model server's message about its window: the size, and the length of the prompt it refused. */
export interface WindowRefusal {
  window: number | null;
  prompt: number | null;
}

const parsedNumber = (text: string | undefined): number | null =>
  text === undefined ? null : Number(text.replaceAll(/[,_]/g, ''));

/**
 * Reads the numbers in a server's refusal of a request longer than its window. Covers the wording of vLLM, SGLang,
 * OpenAI, llama.cpp and TGI; a number that is missing is null.
 */
export function readRefusal(text: string, asked: number | null): WindowRefusal {
  const found = (...patterns: RegExp[]): number | null => {
    for (const pattern of patterns) {
      const [, digits] = pattern.exec(text) ?? [];
      if (digits !== undefined) return parsedNumber(digits);
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

/** The window of one model server, as far as known; all rollouts share what one learns. */
export class ModelWindow {
  /** Tokens; null until reported. */
  size: number | null;

  constructor(size: number | null = null) {
    this.size = size;
  }

  /** The smallest reported size wins. */
  learn(size: number | null): void {
    if (size !== null && size > 0) this.size = Math.min(size, this.size ?? Number.POSITIVE_INFINITY);
  }
}

/**
 * An upper estimate of the tokens in an uncounted text. Usual text has three to four bytes per token; if the estimate is too
 * low, the server reports it and the turn is requested once more.
 */
export const guessTokens = (text: string): number => Math.ceil(Buffer.byteLength(text) / 3);
