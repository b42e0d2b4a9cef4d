import type { DumpFile } from '../../core/dump/dump-file.ts';
import type { NumberColumn } from '../../core/dump/number-column.ts';
import type { RecordDetails } from '../../core/dump/record-details.ts';
import { parseJson } from '../../core/json/parse.ts';
import { type Printable, printJson } from '../../core/json/print.ts';
import { float64At, itemAt, uint32At } from '../../core/lists/at.ts';
import { CHECKS } from '../../core/rollout/checks.ts';
import { CHECK_COLUMNS, namesCheck } from '../../core/rollout/fact-row.ts';
import { FACTS, factValue } from '../../core/rollout/facts.ts';
import { memoised } from '../../core/text/memoised.ts';
import { shownPath } from '../../core/text/shown-path.ts';
import type { ByteLines } from './byte-lines.ts';
import { COLUMNS, csvCells, findingCells } from './row-csv.ts';

/** Prints the rows of a file from what was kept of it, character for character as from its records. */
export class KeptRows {
  readonly #file: DumpFile;
  readonly #facts: readonly FactPiece[];
  /** The number of each fact in the row that was printed last, and where its piece starts there. */
  readonly #values: Float64Array;
  readonly #starts: Uint32Array;
  /** The group of the row before, and its cell: neighbours are mostly of one group. */
  #group: string | null = null;
  #groupText = '';
  /** The value of `out.taken` when the row before was printed. */
  #taken = -1;
  /** The start of a line up to the locator's place. */
  readonly #start: string;
  readonly #stream: string;

  constructor(file: DumpFile, csv: boolean) {
    this.#file = file;
    this.#facts = factPieces(file, csv ? CSV_FACTS : JSON_FACTS);
    this.#values = new Float64Array(this.#facts.length);
    this.#starts = new Uint32Array(this.#facts.length + 1);
    this.#start = csv ? plainStart(file) : `{"locator":${printJson(shownPath(file.path)).slice(0, -1)}`;
    this.#stream = csv ? csvCells([file.stream]) : printJson(file.stream);
  }

  /** A line of `ls --json`. @param labels as JSON */
  json(out: ByteLines, record: number, details: RecordDetails, group: string | null, labels: string): void {
    const file = this.#file;
    const place = file.placeOf(record);
    const start = this.#start + (PLAIN_PLACE.test(place) ? place : printJson(place).slice(1, -1));
    const bytes = file.index.length(record);
    if (details.format === null) {
      out.text(
        `${start}","format":null,"error":${details.error},"bytes":${bytes},"findings":${details.findings},"labels":${labels}}\n`,
      );
      return;
    }
    const step = details.step === 'null' ? file.step : details.step;
    out.text(
      `${start}","format":${details.format},"stream":${this.#stream},"step":${step},"sample":${record + 1},"score":${details.score}`,
    );
    this.#addFacts(out, record);
    out.text(`,"group":${group},"bytes":${bytes},"findings":${details.findings},"unobserved":`);
    out.piece(unobservedIn(file, record));
    out.text(`,"extras":${details.extras},"labels":${labels}}\n`);
  }

  /** A line of `ls --csv`. */
  csv(out: ByteLines, record: number, details: RecordDetails, group: string | null): void {
    const file = this.#file;
    const place = file.placeOf(record);
    const locator =
      this.#start !== '' && PLAIN_PLACE.test(place) ? this.#start + place : csvCells([file.locator(record)]);
    const ends = `${file.index.length(record)},${findingTexts(details.findings)},${csvValue(details.error)}\n`;
    if (details.format === null) {
      out.text(`${locator}${','.repeat(COLUMNS - ENDS)}${ends}`);
      return;
    }
    const step = details.step === 'null' ? csvCells([file.step]) : csvValue(details.step);
    out.text(`${locator},${this.#stream},${step},${record + 1},${csvValue(details.score)}`);
    this.#addFacts(out, record);
    if (group !== this.#group) [this.#group, this.#groupText] = [group, csvValue(group)];
    out.text(`,${this.#groupText},${ends}`);
  }

  /** Copies the facts that the row before has, too: most facts of neighbours are equal. */
  #addFacts(out: ByteLines, record: number): void {
    const [facts, values, starts] = [this.#facts, this.#values, this.#starts];
    const isBefore = out.taken === this.#taken;
    this.#taken = out.taken;
    let position = out.length;
    let before = uint32At(starts, 0);
    let same = -1;
    for (let i = 0; i < facts.length; i++) {
      const { column, print } = itemAt(facts, i);
      const value = column === null ? 0 : column.at(record);
      const end = uint32At(starts, i + 1);
      const known = float64At(values, i);
      starts[i] = position;
      if (isBefore && (value === known || (Number.isNaN(value) && Number.isNaN(known)))) {
        if (same < 0) same = before;
        position += end - before;
      } else {
        if (same >= 0) out.again(same, before);
        same = -1;
        values[i] = value;
        out.piece(print(value));
        position = out.length;
      }
      before = end;
    }
    if (same >= 0) out.again(same, before);
    starts[facts.length] = position;
  }
}

/** A place that looks the same in JSON and CSV. */
const PLAIN_PLACE = /^:[\d.:]+$/;

/** The start of a locator in CSV; empty if its cell is not simply its text. */
function plainStart(file: DumpFile): string {
  const start = shownPath(file.path);
  return csvCells([`${start}:1`]) === `${start}:1` && !/^[+-]?[.\d]*$/.test(start) ? start : '';
}

/** The cells of CSV after a row's bytes, with those. */
const ENDS = 4;

/** A piece of JSON as a cell. */
const csvValue = (json: string | null): string =>
  json === null || json === 'null' ? '' : PLAIN_NUMBER.test(json) ? json : csvCells([parseJson(json) as Printable]);

/** A number as it is printed in JSON and in CSV. */
const PLAIN_NUMBER = /^-?\d+(?:\.\d+)?$/;

/** The two cells of the findings. Most rollouts have none, and the others are mostly alike. */
const findingTexts = (json: string): string => (json === '[]' ? ',' : csvCells(findingCells(parseJson(json))));

type FactPrinter = (name: string, value: number | string | null) => string;

/** Bytes of a line that depend on the number of a column, or on none. */
interface FactPiece {
  column: NumberColumn | null;
  print(value: number): Uint8Array | string;
}

/** Each fact as a member or a cell of a row; neighbours that are equal in all rows are one piece. */
function factPieces(file: DumpFile, printers: readonly FactPiece['print'][]): FactPiece[] {
  const pieces: FactPiece[] = [];
  let same = '';
  const endSame = (): void => {
    const bytes = Buffer.from(same);
    if (bytes.length > 0) pieces.push({ column: null, print: () => bytes });
    same = '';
  };
  for (const [at, print] of printers.entries()) {
    const column = itemAt(file.index.columns.rows, at);
    if (column.same !== undefined && column.length >= file.count) same += Buffer.from(print(column.same)).toString();
    else {
      endSame();
      pieces.push({ column, print });
    }
  }
  endSame();
  return pieces;
}

/** Printers that all files share: a number is printed alike in each. */
const factPrinters = (print: FactPrinter): FactPiece['print'][] =>
  FACTS.map((fact) => memoised((value) => print(fact.name, Number.isNaN(value) ? null : factValue(fact, value))));

/** Most facts are numbers, and printing those is the time of a row. */
const isKnownNumber = (value: number | string | null): value is number =>
  typeof value === 'number' && Number.isFinite(value);
const isWord = (value: number | string | null): value is string => typeof value === 'string' && /^\w+$/.test(value);

const jsonFact: FactPrinter = (name, value) =>
  `,"${name}":${isKnownNumber(value) ? value : isWord(value) ? `"${value}"` : printJson(value)}`;
const csvFact: FactPrinter = (_, value) => `,${isKnownNumber(value) || isWord(value) ? value : csvCells([value])}`;

const JSON_FACTS = factPrinters(jsonFact);
const CSV_FACTS = factPrinters(csvFact);

/** The printed lists, by their bits: rollouts of one run have few. */
const printed = new Map<number, Uint8Array>();

function unobservedIn(file: DumpFile, record: number): Uint8Array {
  const { rows } = file.index.columns;
  const found = itemAt(rows, CHECK_COLUMNS.found).at(record);
  const observed = itemAt(rows, CHECK_COLUMNS.observed).at(record);
  let text = printed.get(observed);
  if (text === undefined) {
    text = Buffer.from(printJson(CHECKS.filter((check) => !namesCheck(found, observed, check))));
    printed.set(observed, text);
  }
  return text;
}
