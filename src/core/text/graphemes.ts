import { uint8At } from '../lists/at.ts';
import * as width from './cluster-width.ts';

/**
 * Text split into characters as a reader sees them, each with its width in cells. On Node 20 Intl.Segmenter is
 * super-linear (10 kB 30 ms, 100 kB 2.5 s), so it never gets more than CHUNK characters, and only text whose code
 * points can join goes there at all.
 */
const CHUNK = 200;
/** A chunk whose characters may join takes as long as so many others: about 0.5 ms for 1,000 characters. */
const JOINED_WEIGHT = 16;

/** Characters that may join with a neighbour: marks, joiners and format characters, flags, skin tones, Hangul jamo. */
const JOINING = /[\p{M}\p{Cf}\p{RI}\p{EMod}\u1100-\u11ff\ua960-\ua97f\ud7b0-\ud7ff]/u;
const ASCII = /^[\x20-\x7e]*$/;

let segmenter: Intl.Segmenter | undefined;

/** Node takes 10 ms to make one, a fifth of what is left of a start, and most text needs none. */
const segmentsOf = (chunk: string): Intl.Segments => {
  segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' });
  return segmenter.segment(chunk);
};

/** Widths of single code points below U+30000, 255 = not computed yet. */
const known = new Uint8Array(0x30000).fill(255);

function codePointWidth(code: number): number {
  if (code >= known.length) return width.codePointWidth(code);
  let cells = uint8At(known, code);
  if (cells === 255) {
    cells = width.codePointWidth(code);
    known[code] = cells;
  }
  return cells;
}

const clusterWidths = new Map<string, number>();

function clusterWidth(cluster: string): number {
  const code = cluster.codePointAt(0) ?? 0;
  if (cluster.length === (code > 0xffff ? 2 : 1)) return codePointWidth(code);
  let cells = clusterWidths.get(cluster);
  if (cells === undefined) {
    cells = width.clusterWidth(cluster.length > CHUNK ? cluster.slice(0, CHUNK) : cluster);
    if (clusterWidths.size > 4096) clusterWidths.clear();
    if (cluster.length <= 16) clusterWidths.set(cluster, cells);
  }
  return cells;
}

const isLowSurrogate = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff;

/** The end of a chunk from `start` that splits no cluster if avoidable, and never a surrogate pair. */
function chunkEnd(text: string, start: number, end: number): number {
  if (end - start <= CHUNK) return end;
  for (let cut = start + CHUNK; cut > start + CHUNK / 2; cut--) {
    if (isLowSurrogate(text.charCodeAt(cut)) || isLowSurrogate(text.charCodeAt(cut - 1))) continue;
    if (!JOINING.test(text.slice(cut - 1, cut + 1))) return cut;
  }
  const cut = start + CHUNK;
  return isLowSurrogate(text.charCodeAt(cut)) ? cut - 1 : cut;
}

/** Graphemes of text.slice(start, end), in order: `ends` are offsets into `text`, `widths` in cells. */
export interface Graphemes {
  ends: number[];
  widths: number[];
}

export function graphemes(text: string, start = 0, end = text.length): Graphemes {
  const ends: number[] = [];
  const widths: number[] = [];
  eachGrapheme(text, start, end, (to, width) => {
    ends.push(to);
    widths.push(width);
  });
  return { ends, widths };
}

/**
 * Calls `each` with the end and the width of each grapheme in order. No list: that of a 50 MB text takes 300 MB.
 * @param most UTF-16 units after which it may stop; those that may join count more
 * @returns the offset at which to continue; `end` at the end
 */
export function eachGrapheme(
  text: string,
  start: number,
  end: number,
  each: (end: number, width: number) => void,
  most = Number.POSITIVE_INFINITY,
): number {
  let from = start;
  let spent = 0;
  while (from < end && spent < most) {
    const to = chunkEnd(text, from, end);
    const chunk = text.slice(from, to);
    const isJoined = JOINING.test(chunk);
    spent += isJoined ? chunk.length * JOINED_WEIGHT : chunk.length;
    if (isJoined) {
      for (const { segment, index } of segmentsOf(chunk)) {
        each(from + index + segment.length, clusterWidth(segment));
      }
    } else {
      for (let at = from; at < to; ) {
        const code = text.codePointAt(at) ?? 0;
        at += code > 0xffff ? 2 : 1;
        each(at, code >= 0x20 && code < 0x7f ? 1 : codePointWidth(code));
      }
    }
    from = to;
  }
  return from;
}

/** Width of a text in terminal cells; it must hold no tab, newline or control character (see sanitise.ts). */
export function cellWidth(text: string): number {
  if (ASCII.test(text)) return text.length;
  let sum = 0;
  for (const width of graphemes(text).widths) sum += width;
  return sum;
}
