import type { FactColumn, KeyedCells } from '../../analysis/facts/facts-table.ts';
import { memoised } from '../../core/text/memoised.ts';
import type { ByteLines } from './byte-lines.ts';
import { csvCells } from './row-csv.ts';

/** Some cells of a line, each with the comma before it. */
type Part = string | ((row: number) => string | Uint8Array);

/** Prints the lines of a table as CSV: cells that recur once, and neighbours that depend on one number as one text. */
export function factLines(columns: readonly FactColumn[], rows: number): (row: number, out: ByteLines) => void {
  const parts: Part[] = [];
  let alike: KeyedCells[] = [];
  const end = (): void => {
    const [first] = alike;
    if (first === undefined) return;
    const own = alike;
    const { keys } = first;
    const isStart = parts.length === 0;
    const textOf = (key: number): string => {
      let text = '';
      for (const { cellOf } of own) {
        const cell = cellOf(key);
        text += typeof cell === 'number' && Number.isFinite(cell) ? `,${cell}` : `,${csvCells([cell])}`;
      }
      return isStart ? text.slice(1) : text;
    };
    const pieceOf = memoised(textOf);
    parts.push(isSame(keys, rows) ? textOf(keys[0] ?? Number.NaN) : (row) => pieceOf(keys[row] ?? Number.NaN));
    alike = [];
  };
  for (const column of columns) {
    if ('at' in column) {
      end();
      const comma = parts.length === 0 ? '' : ',';
      parts.push((row) => comma + csvCells([column.at(row)]));
      continue;
    }
    if (alike[0]?.keys !== column.keys) end();
    alike.push(column);
  }
  end();
  const joined = joinedParts([...parts, '\n']);
  return (row, out) => {
    for (const part of joined) out.piece(typeof part === 'function' ? part(row) : part);
  };
}

/** Neighbours that are the same in all rows as one piece. */
function joinedParts(parts: readonly Part[]): (Uint8Array | Exclude<Part, string>)[] {
  const joined: (Uint8Array | Exclude<Part, string>)[] = [];
  let same = '';
  for (const part of parts) {
    if (typeof part === 'string') same += part;
    else {
      if (same !== '') joined.push(Buffer.from(same));
      joined.push(part);
      same = '';
    }
  }
  if (same !== '') joined.push(Buffer.from(same));
  return joined;
}

function isSame(keys: KeyedCells['keys'], rows: number): boolean {
  const first = keys[0];
  for (let row = 1; row < rows; row++) if (!Object.is(keys[row], first)) return false;
  return rows > 0;
}
