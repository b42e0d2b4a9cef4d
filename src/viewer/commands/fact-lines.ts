import { haveOneKey } from '../../analysis/export/files/cell-codes.ts';
import type { FactCell, FactColumn, KeyedCells } from '../../analysis/facts/facts-table.ts';
import type { ByteLines } from './byte-lines.ts';
import { cellAdder } from './cell-adder.ts';
import { csvCells, csvText } from './row-csv.ts';

type RowPrinter = (row: number, out: ByteLines) => void;
/** Some cells of a line: a text, or what prints them and the text that follows them in each line. */
type Part = string | ((after: string) => RowPrinter);

/** Prints the lines of a table as CSV: cells that recur once, and neighbours that depend on one number as one text. */
export function factLines(columns: readonly FactColumn[], rows: number): RowPrinter {
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
    add(
      haveOneKey(keys, 0, rows)
        ? textOf(keys[0] ?? Number.NaN)
        : (after) => {
            const addCell = cellAdder(others.length === 0 ? first.form : 'other', textOf, { after });
            return (row, out) => addCell(out, keys[row] ?? Number.NaN);
          },
    );
    alike = [];
  };
  for (const column of columns) {
    if ('at' in column || alike[0]?.keys !== column.keys) end();
    if ('at' in column) add((after) => textPrinter(column.at, after));
    else alike.push(column);
  }
  end();
  return linePrinter([...parts, '\n']);
}

const textPrinter = (at: (row: number) => FactCell, after: string): RowPrinter => {
  const bytes = Buffer.from(after);
  return (row, out) => {
    out.text(csvText(at(row)));
    out.piece(bytes);
  };
};

function linePrinter(parts: readonly Part[]): RowPrinter {
  const printers: RowPrinter[] = [];
  let after = '';
  for (const part of parts.toReversed())
    if (typeof part === 'string') after = part + after;
    else {
      printers.unshift(part(after));
      after = '';
    }
  const start = Buffer.from(after);
  return (row, out) => {
    out.piece(start);
    for (const print of printers) print(row, out);
  };
}
