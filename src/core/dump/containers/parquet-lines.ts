import type { AsyncRowGroup, DecodedArray, SchemaTree } from 'hyparquet/src/types.js';
import { JsonBytes } from '../../json/json-bytes.ts';
import { printJson } from '../../json/print.ts';
import { jsonOf } from './foreign-values.ts';
import type { CopyLine } from './lines-in.ts';

/** Bytes of the lines that are passed on at once. */
const BLOCK = 1 << 20;

/** Cells that are UTF-8 stay bytes: they become JSON without a string between. */
export const asBytes = { stringFromBytes: (bytes: Uint8Array): unknown => bytes };

/** A column whose cells are texts, and nothing around them. */
export function isTextColumn({ children, element }: SchemaTree): boolean {
  const { type, repetition_type: repetition, converted_type: old, logical_type: newer } = element;
  if (children.length > 0 || repetition === 'REPEATED' || type !== 'BYTE_ARRAY') return false;
  return (old === undefined || old === 'UTF8') && (newer === undefined || newer.type === 'STRING');
}

/** The cells of a column, by rows that follow one another. */
export class Cells {
  /** Its name in JSON, and the colon. */
  readonly name: string;
  readonly #isText: boolean;
  readonly #pages: readonly DecodedArray[];
  #page = 0;
  /** The row of the first cell of its page. */
  #from: number;

  constructor(name: string, isText: boolean, pages: readonly DecodedArray[], from: number) {
    this.name = `${printJson(name)}:`;
    this.#isText = isText;
    this.#pages = pages;
    this.#from = from;
  }

  /** Whether it has a cell for the row, or for a later one. */
  reaches(row: number): boolean {
    for (let page = this.#pages[this.#page]; page !== undefined; page = this.#pages[++this.#page]) {
      if (row < this.#from + page.length) return true;
      this.#from += page.length;
    }
    return false;
  }

  add(row: number, json: JsonBytes): void {
    const cell: unknown = this.reaches(row) ? this.#pages[this.#page]?.[row - this.#from] : null;
    if (this.#isText && cell instanceof Uint8Array) json.addText(cell);
    else json.add(typeof cell === 'number' && Number.isFinite(cell) ? String(cell) : printJson(jsonOf(cell)));
  }
}

/**
 * The columns of decoded rows, in the order of their names. @param texts those whose cells are texts in bytes
 */
export async function rowCells(
  texts: AsyncRowGroup,
  others: AsyncRowGroup,
  names: readonly string[],
): Promise<Cells[]> {
  const found = new Map<string, Cells>();
  for (const group of [texts, others])
    for (const { pathInSchema, data } of group.asyncColumns) {
      const { data: pages, skipped } = await data;
      const [name = ''] = pathInSchema;
      found.set(name, new Cells(name, group === texts, pages, skipped));
    }
  // As in an object, names that are numbers come first.
  const order = Object.keys(Object.fromEntries(names.map((name) => [name, true])));
  return order.flatMap((name) => found.get(name) ?? []);
}

/**
 * Rows as lines of JSON, each as `printJson` prints what `jsonOf` makes of it, without an object of the values. They end where no column
 * has more cells.
 */
export function* linesOfCells(
  columns: readonly Cells[],
  from: number,
  to: number,
): Generator<CopyLine & { lines: number }> {
  const json = new JsonBytes(BLOCK);
  let lines = 0;
  for (let row = from; row < to && columns.some((column) => column.reaches(row)); row++) {
    let sign = lines++ === 0 ? '{' : '\n{';
    for (const column of columns) {
      json.add(sign + column.name);
      column.add(row, json);
      sign = ',';
    }
    json.add('}');
    if (json.length < BLOCK) continue;
    yield { text: json.take(), lines };
    lines = 0;
  }
  if (lines > 0) yield { text: json.take(), lines };
}
