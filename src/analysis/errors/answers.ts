import { printJson } from '../../core/json/print.ts';
import type { JsonValue } from '../../core/json/value.ts';

/** A tool that gave one text to calls with different arguments. */
export interface OneAnswer<Where> {
  text: string;
  /** Answered calls that got the text. */
  count: number;
  first: Where;
}

/** Fewer different calls may have the same answer by chance. */
const LEAST_CALLS = 10;
const SHARE = 0.95;
/** With more texts than this no text has such a share, unless nearly all others came later. */
const MOST_TEXTS = 64;

interface Answer<Where> extends OneAnswer<Where> {
  asked: Set<string>;
}

/** The results of one tool that are neither empty nor failures. */
export class Answers<Where> {
  readonly #byText = new Map<string, Answer<Where>>();
  #answered = 0;

  add(text: string, args: JsonValue, where: Where): void {
    this.#answered++;
    const known = this.#byText.get(text);
    if (known === undefined && this.#byText.size >= MOST_TEXTS) return;
    const answer = known ?? { text, count: 0, first: where, asked: new Set<string>() };
    this.#byText.set(text, answer);
    answer.count++;
    if (answer.asked.size < LEAST_CALLS) answer.asked.add(printJson(args));
  }

  /** The text that the tool gave to whatever it was asked; null if its answers differ, or too few calls were made. */
  one(): OneAnswer<Where> | null {
    for (const answer of this.#byText.values())
      if (answer.asked.size >= LEAST_CALLS && answer.count >= SHARE * this.#answered) return answer;
    return null;
  }

  /** How often, and where first, it gave the text. */
  of(text: string): OneAnswer<Where> | null {
    return this.#byText.get(text) ?? null;
  }
}
