import { ThreadClient } from '../../core/async/thread-client.ts';
import type { ChatTokenizer } from '../model/chat-tokenizer.ts';
import type { Difference, DifferenceRequest } from './text-difference.ts';

/** disable: never; strict: report every difference; ignore_strippable: except those in white space only. */
export type TokenizationCheck = 'disable' | 'strict' | 'ignore_strippable';

/** Characters of context shown with a difference. */
const CONTEXT = 10;
const SHOWN = 20;

/** Qwen3's template writes an empty thought into a turn without one. */
const EMPTY_THOUGHT = /<think>\s*<\/think>\s*/g;

/** Compares off the main thread: a rollout that differs everywhere must not block the others. */
const differ = new ThreadClient<DifferenceRequest, Difference[]>('difference-worker');

/**
 * verl's sanity check (`verl/workers/rollout/schemas.py`): the conversation rendered from scratch against the decoded accumulated ids, compared
 * as text. Null when they agree; else a warning with every difference in context and the token where it begins.
 */
export async function tokenizationWarning(
  rendered: string,
  ids: readonly number[],
  tokenizer: ChatTokenizer,
  mode: TokenizationCheck,
): Promise<string | null> {
  // The template writes a line end after the last turn, which was never sampled.
  const left = rendered.trimEnd();
  const right = tokenizer.decode(ids, false).trimEnd();
  if (left === right || left.replace(EMPTY_THOUGHT, '') === right.replace(EMPTY_THOUGHT, '')) return null;
  const found = await differ.ask({ left, right });
  const head = `Inconsistent training and inference tokenization detected (${mode})`;
  if (found === null) return `${head}: the differences could not be looked for`;
  const isShown = ({ removed, added }: Difference) =>
    (mode === 'strict' || removed.trim() !== added.trim()) && (removed + added).replace(EMPTY_THOUGHT, '') !== '';
  const shown = found.filter(isShown);
  if (shown.length === 0) return null;
  const tokens = new TokenPlaces(ids, tokenizer);
  const lines = shown.slice(0, SHOWN).map(({ leftAt, rightAt, removed, added }) => {
    const chunk = (text: string, start: number, length: number) =>
      JSON.stringify(text.slice(Math.max(0, start - CONTEXT), start + length + CONTEXT));
    const place = `idx ${leftAt}:${leftAt + removed.length} -> ${rightAt}:${rightAt + added.length}`;
    return `${place} | ${chunk(left, leftAt, removed.length)} | ${chunk(right, rightAt, added.length)} | ${tokens.at(rightAt)}`;
  });
  const more = shown.length - SHOWN;
  return [head, 'Found differences:', ...lines, ...(more > 0 ? [`… and ${more} more`] : [])].join('\n');
}

/** Maps characters of the decoded text to tokens. A token that holds part of a character shifts this by at most one. */
class TokenPlaces {
  readonly #ids: readonly number[];
  readonly #tokenizer: ChatTokenizer;

  constructor(ids: readonly number[], tokenizer: ChatTokenizer) {
    this.#ids = ids;
    this.#tokenizer = tokenizer;
  }

  at(offset: number): string {
    let end = 0;
    for (const [index, id] of this.#ids.entries()) {
      const text = this.#tokenizer.decode([id], false);
      end += text.length;
      if (end > offset) return `token ${index} = ${id} ${JSON.stringify(text)}`;
    }
    return 'behind the last token';
  }
}
