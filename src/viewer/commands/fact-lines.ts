import { haveOneKey } from '../../analysis/export/files/column-chunk.ts';
import type { FactColumn, KeyedCells } from '../../analysis/facts/facts-table.ts';
import type { ByteLines } from './byte-lines.ts';
import { cellAdder } from './cell-adder.ts';
import { csvCells } from './row-csv.ts';

/** Some cells of a line. */
type Part = string | ((row: number, out: ByteLines) => void);

/** Prints the lines of a table as CSV: cells that recur once, and neighbours that depend on one number as one text. */
export function factLines(columns: readonly FactColumn[], rows: number): (row: number, out: ByteLines) => void {
  const parts: Part[] = [];
  const add = (part: Part): void => {
    if (parts.length > 0) parts.push(',');
    parts.push(part);
  };
  let alike: KeyedCells[] = [];
  const end = (): void => {
    const [first, ...others] = alike;
    if (first === undefined) return;
    const own = alike;
    const { keys } = first;
    const textOf = (key: number): string => csvCells(own.map(({ cellOf }) => cellOf(key)));
    const addCell = cellAdder(others.length === 0 ? first.form : 'other', textOf);
    add(
      haveOneKey(keys, 0, rows) ? textOf(keys[0] ?? Number.NaN) : (row, out) => addCell(out, keys[row] ?? Number.NaN),
    );
    alike = [];
  };
  for (const column of columns) {
    if ('at' in column || alike[0]?.keys !== column.keys) end();
    if ('at' in column) add((row, out) => out.text(csvCells([column.at(row)])));
    else alike.push(column);
  }
  end();
  const joined = joinedParts([...parts, '\n']);
  return (row, out) => {
    for (const part of joined) {
      if (typeof part === 'function') part(row, out);
      else out.piece(part);
    }
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
