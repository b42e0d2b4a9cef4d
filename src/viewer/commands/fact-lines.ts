import type { FactColumn, KeyedCells } from '../../analysis/facts/facts-table.ts';
import { memoised } from '../../core/text/memoised.ts';
import { csvCells } from './row-csv.ts';

/** Some cells of a line, each with the comma before it. */
type Part = string | ((row: number) => string);

/** Prints the lines of a table as CSV: cells that recur once, and neighbours that depend on one number as one text. */
export function factLines(columns: readonly FactColumn[], rows: number): (row: number) => string {
  const parts: Part[] = [];
  let alike: (KeyedCells & { cellOf(key: number): unknown })[] = [];
  const end = (): void => {
    const [first] = alike;
    if (first === undefined) return;
    const own = alike;
    const textOf = memoised((key) => own.map(({ cellOf }) => `,${csvCells([cellOf(key)])}`).join(''));
    const { keys } = first;
    parts.push(isSame(keys, rows) ? textOf(keys[0] ?? Number.NaN) : (row) => textOf(keys[row] ?? Number.NaN));
    alike = [];
  };
  for (const column of columns) {
    if ('at' in column) {
      end();
      parts.push((row) => `,${csvCells([column.at(row)])}`);
      continue;
    }
    if (alike[0]?.keys !== column.keys) end();
    alike.push(column);
  }
  end();
  const joined = parts.reduce<Part[]>((all, part) => {
    const last = all.at(-1);
    if (typeof last === 'string' && typeof part === 'string') all[all.length - 1] = last + part;
    else all.push(part);
    return all;
  }, []);
  return (row) => {
    let line = '';
    for (const part of joined) line += typeof part === 'string' ? part : part(row);
    return `${line.slice(1)}\n`;
  };
}

function isSame(keys: KeyedCells['keys'], rows: number): boolean {
  const first = keys[0];
  for (let row = 1; row < rows; row++) if (!Object.is(keys[row], first)) return false;
  return rows > 0;
}
