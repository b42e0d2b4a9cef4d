import { lazily } from './lazily.ts';

/**
 * Text from a model or a tool is hostile: it may hold escape sequences that move the cursor, retitle the window or
 * write the clipboard, and characters that reorder or hide their neighbours. Here each of them becomes a visible sign.
 * Data passes exactly one of these functions on its way to a terminal, piped or not; newline and tab remain, as layout.
 */

const PLAIN = /^[\t\n\x20-\x7e]*$/;
/**
 * Letters and signs of the most common scripts, all of them safe. This test takes 1 ms for a million characters,
 * the search for unsafe ones twenty.
 */
const USUAL =
  /^[\t\n\x20-\x7e\xa0-\xac\xae-\u034e\u0370-\u052f\u2010-\u2027\u2030-\u205e\u2070-\u2fff\u3000-\u3163\u3165-\u9fff\uac00-\ud7a3\uff01-\uff9f\uffa1-\uffef\ufffc\ufffd]*$/;
const PLAIN_LINE = /^[\x20-\x7e]*$/;

/**
 * C0 without \t and \n, DEL, C1, line and paragraph separators, interlinear annotation, lone surrogates, noncharacters,
 * and every default-ignorable code point (bidi controls, BOM, zero-width space, soft hyphen, tags, fillers). Of those the
 * joiners and emoji variation selectors are text where they follow a letter or a sign that they can join.
 */
const unsafe = lazily(
  () =>
    /[\0-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufff9-\ufffb\p{Cs}\p{NChar}]|(?<=^|[\0-\x7f\p{DI}])(?:\u200c|\u200d)|(?<=^|[\0-\x22\x24-\x29\x2b-\x2f\x3a-\x7f\p{DI}])\p{VS}|(?!\u200c|\u200d|[\ufe00-\ufe0f])\p{DI}/gu,
);

function sign(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  // The Unicode "control pictures" are the names that people know from editors: ␛, ␍, ␀.
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  if (code === 0x7f) return '\u2421';
  return `<U+${code.toString(16).toUpperCase().padStart(4, '0')}>`;
}

/** The text with every character that a terminal would obey, reorder or hide shown as a sign such as ␛ or <U+202E>. */
export function sanitise(text: string): string {
  return PLAIN.test(text) || USUAL.test(text) ? text : text.replace(unsafe(), sign);
}

/** Like `sanitise`, for single-line text: newline and tab become signs too (␊, ␉). */
export function sanitiseLine(text: string): string {
  return PLAIN_LINE.test(text) ? text : sanitise(text).replace(/[\t\n]/g, sign);
}

/** UTF-16 units between two pauses: up to 10 ms of characters that join. */
const SLICE = 65_536;

/** Like `sanitise`, with pauses for long text. */
export function* sanitising(text: string): Generator<void, string> {
  if (text.length <= SLICE) return sanitise(text);
  const parts: string[] = [];
  let isSame = true;
  for (let at = 0; at < text.length; ) {
    const end = sliceEnd(text, at + SLICE);
    const part = text.slice(at, end);
    const safe = sanitise(part);
    isSame &&= safe === part;
    parts.push(safe);
    at = end;
    yield;
  }
  // A copy of 45 MB less.
  return isSame ? text : parts.join('');
}

/**
 * A position from which text reads as if it began there: not within a pair of surrogates, nor before a joiner or a
 * selector, which is text only behind a character that it can join.
 */
function sliceEnd(text: string, from: number): number {
  let end = from;
  while (end < text.length && (isLow(text, end) || (isJoiner(text, end) && !isJoiner(text, stepBack(text, end)))))
    end++;
  return Math.min(end, text.length);
}

const isLow = (text: string, at: number): boolean => (text.charCodeAt(at) & 0xfc00) === 0xdc00;
const stepBack = (text: string, at: number): number => (isLow(text, at - 1) ? at - 2 : at - 1);
const JOINERS: readonly (readonly [from: number, to: number])[] = [
  [0x180b, 0x180f],
  [0x200c, 0x200d],
  [0xfe00, 0xfe0f],
  // The high surrogate of the other selectors.
  [0xdb40, 0xdb40],
];
const isJoiner = (text: string, at: number): boolean => {
  const unit = text.charCodeAt(at);
  return JOINERS.some(([from, to]) => unit >= from && unit <= to);
};
