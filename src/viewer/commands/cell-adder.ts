import type { NumberForm } from '../../core/rollout/facts.ts';
import { memoised } from '../../core/text/memoised.ts';
import { type ByteLines, hasDigits, hasSixDigits } from './byte-lines.ts';

/**
 * Writes the texts of a column's numbers. The digits of most are written in place: to look for what was printed before
 * takes longer. @param quote around signatures in their text @param after what follows each cell
 */
export function cellAdder(
  form: NumberForm,
  textOf: (value: number) => string,
  { quote = '', after = '' } = {},
): (out: ByteLines, value: number) => void {
  const pieceOf = memoised((value) => textOf(value) + after);
  const end = Buffer.from(after);
  const isShort = end.length === 1;
  if (form === 'number')
    return (out, value) => {
      if (!hasDigits(value)) out.piece(pieceOf(value));
      else if (isShort) out.digits(value, end[0]);
      else {
        out.digits(value);
        out.piece(end);
      }
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
      out.piece(end);
    };
  return (out, value) => out.piece(pieceOf(value));
}
