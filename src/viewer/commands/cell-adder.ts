import type { NumberForm } from '../../core/rollout/facts.ts';
import { memoised } from '../../core/text/memoised.ts';
import { type ByteLines, hasDigits, hasSixDigits } from './byte-lines.ts';

/**
 * Writes the texts of a column's numbers. The digits of most are written in place: to look for what was printed before
 * takes longer. @param quote around signatures in their text
 */
export function cellAdder(
  form: NumberForm,
  textOf: (value: number) => string,
  quote = '',
): (out: ByteLines, value: number) => void {
  const pieceOf = memoised(textOf);
  if (form === 'number')
    return (out, value) => {
      if (hasDigits(value)) out.digits(value);
      else out.piece(pieceOf(value));
    };
  if (form === 'signature')
    return (out, value) => {
      if (!hasSixDigits(value)) {
        out.piece(pieceOf(value));
        return;
      }
      out.text(quote);
      out.sixDigits(value);
      out.text(quote);
    };
  return (out, value) => out.piece(pieceOf(value));
}
