import { numberInAt } from '../../core/lists/at.ts';
import type { Span } from '../../core/rollout/rollout.ts';
import type { RenderedPiece, Rendering } from './renderer.ts';

/** A run of tokens that are all sampled or all given. */
export interface Segment {
  trained: boolean;
  pieces: RenderedPiece[];
  ids: number[] | null;
  logprobs: number[] | null;
  /** The version of the weights that sampled it, as reported by the server. */
  weights?: string | null;
}

/** A transcript as plain data, for a later run to resume. */
export interface TranscriptSnapshot {
  prompt: Rendering;
  promptLogprobs?: (number | null)[];
  response: Segment[];
}

/**
 * The text of a rollout and its loss mask, built during the rollout: sampled text is trained (including the end-of-turn token),
 * every other character and token is masked. Prompt and response are separate, as in a dump's `input` and `output`.
 */
export class Transcript {
  readonly #prompt: Rendering;
  #response: Segment[] = [];
  #promptLogprobs: (number | null)[] | null = null;
  /** Prompt and response, grown with each segment; null once a segment came without tokens. */
  #ids: number[] | null;
  /** How many of them belong to the prompt. */
  readonly #promptLength: number;

  constructor(prompt: Rendering) {
    this.#prompt = prompt;
    this.#promptLength = prompt.ids?.length ?? 0;
    this.#ids = prompt.ids === null ? null : [...prompt.ids];
  }

  static restore({ prompt, response, promptLogprobs }: TranscriptSnapshot): Transcript {
    const transcript = new Transcript(prompt);
    transcript.#promptLogprobs = promptLogprobs ?? null;
    for (const segment of response) transcript.#add(segment);
    return transcript;
  }

  state(): TranscriptSnapshot {
    const judged = this.#promptLogprobs;
    return { prompt: this.#prompt, response: this.#response, ...(judged ? { promptLogprobs: judged } : {}) };
  }

  /** Sets the log probabilities of the prompt's tokens. @returns whether there is one for each */
  judgePrompt(logprobs: (number | null)[] | null): boolean {
    if (logprobs === null || logprobs.length !== this.#prompt.ids?.length) return false;
    this.#promptLogprobs = logprobs;
    return true;
  }

  /** Null if none were requested. */
  get promptLogprobs(): (number | null)[] | null {
    return this.#promptLogprobs;
  }

  addSampled(
    turn: number,
    text: string,
    ids: number[] | null,
    logprobs: number[] | null,
    weights?: string | null,
  ): void {
    const pieces: RenderedPiece[] = text === '' ? [] : [{ turn, kind: 'text', text }];
    this.#add({ trained: true, pieces, ids, logprobs, ...(weights ? { weights } : {}) });
  }

  addGiven({ pieces, ids }: Rendering): void {
    this.#add({ trained: false, pieces, ids, logprobs: ids?.map(() => 0) ?? null });
  }

  #add(segment: Segment): void {
    this.#response.push(segment);
    if (this.#ids === null) return;
    if (segment.ids === null) this.#ids = null;
    else append(this.#ids, segment.ids);
  }

  /** Replaces the last given segment with another rendering. */
  replaceGiven(rendering: Rendering): void {
    const last = this.#response.pop();
    if (this.#ids !== null && last?.ids) this.#ids.length -= last.ids.length;
    this.addGiven(rendering);
  }

  get input(): string {
    return this.#prompt.pieces.map((piece) => piece.text).join('');
  }

  get output(): string {
    let text = '';
    for (const { pieces } of this.#response) for (const piece of pieces) text += piece.text;
    return text;
  }

  get lastId(): number | null {
    return this.#response.at(-1)?.ids?.at(-1) ?? null;
  }

  /** Null once a segment came without tokens. */
  get promptIds(): number[] | null {
    return this.#ids === null ? null : this.#prompt.ids;
  }

  get responseIds(): number[] | null {
    return this.#ids?.slice(this.#promptLength) ?? null;
  }

  /** 1 = sampled, one per response token. */
  get responseMask(): number[] | null {
    if (this.#ids === null) return null;
    const mask: number[] = [];
    for (const { ids, trained } of this.#response) {
      const one = trained ? 1 : 0;
      for (let left = ids?.length ?? 0; left > 0; left--) mask.push(one);
    }
    return mask;
  }

  /** 0 for tokens that were not sampled; null if a sampled one has none. */
  get responseLogprobs(): number[] | null {
    const all: number[] = [];
    for (const { logprobs } of this.#response) {
      if (logprobs === null) return null;
      append(all, logprobs);
    }
    return all;
  }

  /** Everything so far, for the engine. Read-only. */
  get ids(): readonly number[] | null {
    return this.#ids;
  }

  get promptTokens(): number | null {
    return this.#prompt.ids?.length ?? null;
  }

  /** Tokens of the response so far; null if they are not known individually. */
  get responseTokens(): number | null {
    return this.#ids === null ? null : this.#ids.length - this.#promptLength;
  }

  /** Runs of sampled tokens by weight version, as offsets into the response ids; empty if no server reported a version. */
  get weightSpans(): { start: number; end: number; version: string }[] {
    const spans: { start: number; end: number; version: string }[] = [];
    let at = 0;
    for (const { ids, weights } of this.#response) {
      if (ids === null) return [];
      if (weights) spans.push({ start: at, end: at + ids.length, version: weights });
      at += ids.length;
    }
    return spans;
  }

  /** Cover `input` and `output` exactly; a marker is never trained. */
  get spans(): Span[] {
    return [
      ...spansOf('input', [{ trained: false, pieces: this.#prompt.pieces }]),
      ...spansOf('output', this.#response),
    ];
  }

  /**
   * Cuts the response to `limit` tokens, like verl's truncate_output_ids; `decode` gives the text of a cut segment.
   * Without ids nothing is cut: the server that counts tokens has enforced its limit.
   */
  truncate(limit: number, decode: (ids: number[]) => string): void {
    if (this.#ids === null || (this.responseTokens ?? 0) <= limit) return;
    let left = limit;
    const kept: Segment[] = [];
    for (const segment of this.#response) {
      if (left <= 0) break;
      const { length } = segment.ids ?? [];
      kept.push(length <= left ? segment : cutSegment(segment, left, decode));
      left -= length;
    }
    this.#response = kept;
    this.#ids.length = this.#promptLength + limit;
  }
}

/** An iterator would create an object per number. */
function append(to: number[], numbers: readonly number[]): void {
  for (let at = 0; at < numbers.length; at++) to.push(numberInAt(numbers, at));
}

function cutSegment(segment: Segment, count: number, decode: (ids: number[]) => string): Segment {
  const ids = (segment.ids ?? []).slice(0, count);
  let length = decode(ids).length;
  const pieces: RenderedPiece[] = [];
  for (const piece of segment.pieces) {
    if (length <= 0) break;
    pieces.push({ ...piece, text: piece.text.slice(0, length) });
    length -= piece.text.length;
  }
  return { ...segment, ids, logprobs: segment.logprobs?.slice(0, count) ?? null, pieces };
}

function spansOf(field: string, segments: readonly Pick<Segment, 'trained' | 'pieces'>[]): Span[] {
  const spans: Span[] = [];
  let at = 0;
  for (const { trained, pieces } of segments) {
    for (const { turn, kind, text } of pieces) {
      if (text === '') continue;
      const before = spans.at(-1);
      const isTrained = trained && kind === 'text';
      // A turn that was broken off and resumed is one run of text.
      if (isTrained && before?.turn === turn && before.trained) before.end += text.length;
      else spans.push({ field, start: at, end: at + text.length, turn, kind, trained: isTrained });
      at += text.length;
    }
  }
  return spans;
}
