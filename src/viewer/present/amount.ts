import { finished } from '../../core/async/finished.ts';
import { plural } from '../../core/text/numbers.ts';
import { TEXT_SLICE } from '../../core/text/slices.ts';

/** Scripts written without spaces between words, as UTF-16 units: Thai, Lao, Burmese, Khmer, kana, Han, and Han beyond U+FFFF. */
const UNSPACED: readonly (readonly [from: number, to: number])[] = [
  [0x0e00, 0x0eff],
  [0x1000, 0x109f],
  [0x1780, 0x17ff],
  [0x3040, 0x30ff],
  [0x3400, 0x9fff],
  [0xd840, 0xd88f],
];

const isUnspaced = (unit: number): boolean =>
  unit >= 0x0e00 && UNSPACED.some(([from, to]) => unit >= from && unit <= to);

/**
 * The length of a text as a reader would put it: '212 words', or '1,024 characters' if more than a quarter of it is in a script without
 * spaces. One pass, without a list of the words: a turn may hold 50 MB.
 */
export const amountText = (text: string): string => finished(amountOf(text));

/** The same with pauses. */
export function* amountOf(text: string): Generator<void, string> {
  let words = 0;
  let characters = 0;
  let unspaced = 0;
  let isInside = false;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    const isBlank = unit <= 0x20 || unit === 0xa0 || unit === 0x3000;
    if (!isBlank) {
      if (!isInside) words++;
      // The second half of a surrogate pair is not a separate character.
      if ((unit & 0xfc00) !== 0xdc00) characters++;
      if (isUnspaced(unit)) unspaced++;
    }
    isInside = !isBlank;
    if ((i + 1) % TEXT_SLICE === 0) yield;
  }
  return unspaced * 4 > characters ? plural(characters, 'character') : plural(words, 'word');
}
