import { eastAsianWidth } from 'get-east-asian-width';
import { numberInAt } from '../lists/at.ts';

/**
 * The rules of string-width 8 without its pattern of all emoji sequences (`\p{RGI_Emoji}`). Node 20 takes 0.1 s to
 * compile that, as long as everything else before the first frame. The properties of the single characters identify the
 * same sequences. test/core/text compares the two.
 */

const VISIBLE =
  /[^\p{Default_Ignorable_Code_Point}\p{Control}\p{Format}\p{Nonspacing_Mark}\p{Enclosing_Mark}\p{Surrogate}]/u;
const SPACING = /[\p{Spacing_Mark}\uff00-\uffef]/u;
const EMOJI =
  /^(?:(?:(?![\d#*])\p{Emoji}\ufe0f|\p{Emoji_Modifier_Base}\p{Emoji_Modifier}|\p{RI}{2})|[\d#*]\ufe0f?\u20e3$)/u;
const PICTOGRAPH = /\p{Extended_Pictographic}/gu;

/** Width in cells of a single character. */
export const codePointWidth = (code: number): number =>
  VISIBLE.test(String.fromCodePoint(code)) ? eastAsianWidth(code) : 0;

/** Width in cells of characters that a reader sees as one. */
export function clusterWidth(cluster: string): number {
  const start = cluster.search(VISIBLE);
  if (start < 0) return 0;
  if (isEmoji(cluster)) return 2;
  const codes = [...cluster.slice(start)].map((character) => character.codePointAt(0) ?? 0);
  if (isJamo(numberInAt(codes, 0))) return jamoWidth(codes);
  const [base, ...others] = codes;
  return others
    .filter((code) => SPACING.test(String.fromCodePoint(code)))
    .reduce((sum, code) => sum + eastAsianWidth(code), eastAsianWidth(base!));
}

/** Sequences longer than any emoji are not examined. */
const isEmoji = (cluster: string): boolean =>
  cluster.length <= 50 &&
  (EMOJI.test(cluster) || (cluster.includes('\u200d') && (cluster.match(PICTOGRAPH)?.length ?? 0) >= 2));

const isLeading = (code: number): boolean => (code >= 0x1100 && code <= 0x115f) || (code >= 0xa960 && code <= 0xa97c);
const isVowel = (code: number): boolean => (code >= 0x1160 && code <= 0x11a7) || (code >= 0xd7b0 && code <= 0xd7c6);
const isTrailing = (code: number): boolean => (code >= 0x11a8 && code <= 0x11ff) || (code >= 0xd7cb && code <= 0xd7fb);
const isJamo = (code: number): boolean => isLeading(code) || isVowel(code) || isTrailing(code);

/** A leading consonant, a vowel and a final consonant are drawn as one syllable; others side by side. */
function jamoWidth(codes: readonly number[]): number {
  const visible = codes.filter((code) => VISIBLE.test(String.fromCodePoint(code)));
  let width = 0;
  for (let at = 0; at < visible.length; at++) {
    width += eastAsianWidth(numberInAt(visible, at));
    if (!isLeading(numberInAt(visible, at)) || !isVowel(visible[at + 1] ?? 0)) continue;
    at += isTrailing(visible[at + 2] ?? 0) ? 2 : 1;
  }
  return width;
}
