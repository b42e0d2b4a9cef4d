import type { Span } from '../../rollout/rollout.ts';
import type { Piece, Rendering } from './renderer.ts';

/** A run of tokens that are all sampled or all given. */
interface Segment {
  trained: boolean;
  pieces: Piece[];
  ids: number[] | null;
  logprobs: number[] | null;
}

/**
 * The text of a rollout and its loss mask, laid while the rollout is made: what was sampled is trained (the end-of-turn token too),
 * every other character and token is masked. Prompt and response are apart, as in a dump's `input` and `output`.
 */
export class Transcript {
  readonly #prompt: Rendering;
  #response: Segment[] = [];

  constructor(prompt: Rendering) {
    this.#prompt = prompt;
  }

  addSampled(turn: number, text: string, ids: number[] | null, logprobs: number[] | null): void {
    const pieces: Piece[] = text === '' ? [] : [{ turn, kind: 'text', text }];
    this.#response.push({ trained: true, pieces, ids, logprobs });
  }

  addGiven({ pieces, ids }: Rendering): void {
    this.#response.push({ trained: false, pieces, ids, logprobs: ids?.map(() => 0) ?? null });
  }

  /** Puts another rendering in the place of the last given segment. */
  replaceGiven(rendering: Rendering): void {
    this.#response.pop();
    this.addGiven(rendering);
  }

  get input(): string {
    return this.#prompt.pieces.map((piece) => piece.text).join('');
  }

  get output(): string {
    return this.#response.flatMap((segment) => segment.pieces.map((piece) => piece.text)).join('');
  }

  get lastId(): number | null {
    return this.#response.at(-1)?.ids?.at(-1) ?? null;
  }

  /** Null as soon as one segment was not given as tokens. */
  get promptIds(): number[] | null {
    return this.responseIds === null ? null : this.#prompt.ids;
  }

  get responseIds(): number[] | null {
    return joined(this.#response.map((segment) => segment.ids));
  }

  /** 1 = sampled, one a response token. */
  get responseMask(): number[] | null {
    return joined(this.#response.map(({ ids, trained }) => ids?.map(() => (trained ? 1 : 0)) ?? null));
  }

  /** 0 for tokens that were not sampled. */
  get responseLogprobs(): number[] | null {
    return joined(this.#response.map((segment) => segment.logprobs));
  }

  /** Everything so far, for the engine. */
  get ids(): number[] | null {
    const response = this.responseIds;
    return this.#prompt.ids === null || response === null ? null : [...this.#prompt.ids, ...response];
  }

  get promptTokens(): number | null {
    return this.#prompt.ids?.length ?? null;
  }

  /** Cover `input` and `output` exactly; a marker is never trained. */
  get spans(): Span[] {
    return [
      ...spansOf('input', [{ trained: false, pieces: this.#prompt.pieces }]),
      ...spansOf('output', this.#response),
    ];
  }

  /**
   * Cuts the response to `limit` tokens, as verl's truncate_output_ids; `decode` gives the text of a cut segment.
   * Without ids nothing is cut: the server that counts tokens has kept its limit.
   */
  truncate(limit: number, decode: (ids: number[]) => string): void {
    let left = limit;
    const kept: Segment[] = [];
    for (const segment of this.#response) {
      if (segment.ids === null) return;
      if (left <= 0) break;
      kept.push(segment.ids.length <= left ? segment : cut(segment, left, decode));
      left -= segment.ids.length;
    }
    this.#response = kept;
  }
}

function cut(segment: Segment, count: number, decode: (ids: number[]) => string): Segment {
  const ids = segment.ids!.slice(0, count);
  let length = decode(ids).length;
  const pieces: Piece[] = [];
  for (const piece of segment.pieces) {
    if (length <= 0) break;
    pieces.push({ ...piece, text: piece.text.slice(0, length) });
    length -= piece.text.length;
  }
  return { ...segment, ids, logprobs: segment.logprobs?.slice(0, count) ?? null, pieces };
}

const joined = (lists: (number[] | null)[]): number[] | null =>
  lists.includes(null) ? null : (lists as number[][]).flat();

function spansOf(field: string, segments: readonly Pick<Segment, 'trained' | 'pieces'>[]): Span[] {
  const spans: Span[] = [];
  let at = 0;
  for (const { trained, pieces } of segments) {
    for (const { turn, kind, text } of pieces) {
      if (text === '') continue;
      spans.push({ field, start: at, end: at + text.length, turn, kind, trained: trained && kind === 'text' });
      at += text.length;
    }
  }
  return spans;
}
