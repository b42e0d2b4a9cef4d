import type { Hit, Matcher } from '../../../analysis/text-search.ts';
import type { Block } from '../../present/transcript/block.ts';

/** No more are counted: a pattern that matches everywhere finds nothing in particular. */
export const MAX_HITS = 20_000;
/** Searched at once: RE2 takes some ms for this much. A longer text is split at a line end if possible. */
const SLICE = 32_768;

/** The blocks of a record, made on demand. */
export interface SearchedBlocks {
  /** Accessed in order: undefined past the last one, null for one that is not made yet. */
  at(index: number): Block | null | undefined;
  /** The next one has not arrived yet. */
  readonly isWaiting?: boolean;
  /** The approximate length of their text in UTF-16 units. */
  readonly length: number;
}

const NONE: SearchedBlocks = { at: () => undefined, length: 0 };

/** A resumable search through the blocks of a record, from top to bottom, so that the screen stays responsive. */
export class Scan {
  readonly hits: Hit[] = [];
  #blocks: SearchedBlocks;
  readonly #matcher: Matcher;
  #block = 0;
  #isAtEnd = false;
  #at = 0;
  #looked = 0;

  constructor(blocks: SearchedBlocks, matcher: Matcher) {
    this.#blocks = blocks;
    this.#matcher = matcher;
  }

  get isDone(): boolean {
    return this.#isAtEnd || this.isFull;
  }

  /** It continues once more of the record has arrived. */
  get isWaiting(): boolean {
    return this.#blocks.isWaiting === true;
  }

  /** There are more hits than are counted. */
  get isFull(): boolean {
    return this.hits.length >= MAX_HITS;
  }

  /** The share searched, from 0 to 1. */
  get share(): number {
    return this.isDone ? 1 : Math.min(1, this.#looked / Math.max(1, this.#blocks.length));
  }

  /** Continues until `isOver` returns true. At its end only the hits are kept. */
  run(isOver: () => boolean): void {
    this.#goOn(isOver);
    if (this.isDone) this.#blocks = NONE;
  }

  #goOn(isOver: () => boolean): void {
    while (!this.isDone) {
      const block = this.#blocks.at(this.#block);
      if (block === undefined) {
        this.#isAtEnd = true;
        return;
      }
      if (block === null) {
        if (this.isWaiting || isOver()) return;
        continue;
      }
      const { id, text } = block;
      const from = this.#at;
      const to = sliceEnd(text, from);
      const slice = from === 0 && to === text.length ? text : text.slice(from, to + this.#matcher.overlap);
      this.#matcher.find(slice, (start, end) => {
        // A hit that begins in the overlap is found again with the next slice.
        if (start < to - from) this.hits.push({ block: id, start: from + start, end: from + end });
        return !this.isFull;
      });
      this.#looked += to - from;
      this.#at = to;
      if (to === text.length) {
        this.#block++;
        this.#at = 0;
      }
      if (isOver()) return;
    }
  }
}

function sliceEnd(text: string, from: number): number {
  if (text.length - from <= SLICE) return text.length;
  const end = from + SLICE;
  // Search only the slice: without a newline, lastIndexOf would scan back to the start of the text.
  const newline = text.slice(from, end).lastIndexOf('\n');
  if (newline >= 0) return from + newline + 1;
  // Not between the halves of a surrogate pair.
  return (text.charCodeAt(end) & 0xfc00) === 0xdc00 ? end - 1 : end;
}
