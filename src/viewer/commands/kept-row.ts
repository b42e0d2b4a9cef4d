import type { DumpFile } from '../../core/dump/dump-file.ts';
import type { NumberColumn } from '../../core/dump/number-column.ts';
import type { RecordDetails } from '../../core/dump/record-details.ts';
import { parseJson } from '../../core/json/parse.ts';
import { type Printable, printJson } from '../../core/json/print.ts';
import { itemAt } from '../../core/lists/at.ts';
import { CHECKS } from '../../core/rollout/checks.ts';
import { CHECK_COLUMNS, namesCheck } from '../../core/rollout/fact-row.ts';
import { FACTS, type Fact, factValue, formOf } from '../../core/rollout/facts.ts';
import { shownPath } from '../../core/text/shown-path.ts';
import type { ByteLines } from './byte-lines.ts';
import { cellAdder } from './cell-adder.ts';
import { COLUMNS, csvCells, findingCells } from './row-csv.ts';

/** Prints the rows of a file from what was kept of it, character for character as from its records. */
export class KeptRows {
  readonly #file: DumpFile;
  readonly #isCsv: boolean;
  readonly #facts: readonly FactPiece[];
  /** All after the facts that is the same in each row. */
  readonly #afterFacts: Uint8Array;
  /** The start of a line up to the locator's place; null if its cell is not simply its text. */
  readonly #start: Uint8Array | null;
  /** Parts of the row before, and their print: neighbours are mostly alike. */
  #format: string | null = null;
  #step: string | null = null;
  #stepBytes: Uint8Array = Buffer.alloc(0);
  #group: string | null = null;
  #groupText = ',';

  constructor(file: DumpFile, csv: boolean) {
    this.#file = file;
    this.#isCsv = csv;
    const { pieces, after } = factPieces(file, csv ? CSV_FACTS : JSON_FACTS);
    this.#facts = pieces;
    this.#afterFacts = Buffer.from(`${after}${csv ? ',' : ',"group":'}`);
    this.#start = csv ? plainStart(file) : Buffer.from(`{"locator":${printJson(shownPath(file.path)).slice(0, -1)}`);
  }

  /** A line of `ls --json`. @param labels as JSON */
  json(out: ByteLines, record: number, details: RecordDetails, group: string | null, labels: string): void {
    const file = this.#file;
    const place = file.placeOf(record);
    if (this.#start !== null) out.piece(this.#start);
    out.text(PLAIN_PLACE.test(place) ? place : printJson(place).slice(1, -1));
    const bytes = file.index.length(record);
    if (details.format === null) {
      out.text(
        `","format":null,"error":${details.error},"bytes":${bytes},"findings":${details.findings},"labels":${labels}}\n`,
      );
      return;
    }
    this.#addStep(out, details);
    out.digits(record + 1);
    out.piece(JSON_KEYS.score);
    out.text(details.score);
    this.#addFacts(out, record);
    out.text(group ?? 'null');
    out.piece(JSON_KEYS.bytes);
    out.digits(bytes);
    out.piece(JSON_KEYS.findings);
    out.text(details.findings);
    out.piece(JSON_KEYS.unobserved);
    out.piece(unobservedIn(file, record));
    out.piece(JSON_KEYS.extras);
    out.text(details.extras);
    out.piece(JSON_KEYS.labels);
    out.text(labels);
    out.piece(END_OF_OBJECT);
  }

  /** A line of `ls --csv`. */
  csv(out: ByteLines, record: number, details: RecordDetails, group: string | null): void {
    const file = this.#file;
    const place = file.placeOf(record);
    if (this.#start !== null && PLAIN_PLACE.test(place)) {
      out.piece(this.#start);
      out.text(place);
    } else out.text(csvCells([file.locator(record)]));
    if (details.format === null) out.text(','.repeat(COLUMNS - ENDS));
    else {
      this.#addStep(out, details);
      out.digits(record + 1);
      out.piece(COMMA);
      out.text(csvValue(details.score));
      this.#addFacts(out, record);
      if (group !== this.#group) [this.#group, this.#groupText] = [group, `${csvValue(group)},`];
      out.text(this.#groupText);
    }
    out.digits(file.index.length(record));
    out.piece(COMMA);
    out.text(findingTexts(details.findings));
    out.piece(COMMA);
    out.text(csvValue(details.error));
    out.piece(END_OF_LINE);
  }

  /** The text between a record's place and its number. */
  #addStep(out: ByteLines, { format, step }: RecordDetails): void {
    if (format !== this.#format || step !== this.#step) {
      [this.#format, this.#step] = [format, step];
      const { stream, step: ofFile } = this.#file;
      const text = this.#isCsv
        ? `,${csvCells([stream])},${step === 'null' ? csvCells([ofFile]) : csvValue(step)},`
        : `","format":${format},"stream":${printJson(stream)},"step":${step === 'null' ? ofFile : step},"sample":`;
      this.#stepBytes = Buffer.from(text);
    }
    out.piece(this.#stepBytes);
  }

  #addFacts(out: ByteLines, record: number): void {
    for (const { before, column, add } of this.#facts) {
      out.piece(before);
      add(out, column.at(record));
    }
    out.piece(this.#afterFacts);
  }
}

const [COMMA, END_OF_LINE, END_OF_OBJECT] = [Buffer.from(','), Buffer.from('\n'), Buffer.from('}\n')];
const jsonKey = (name: string): Uint8Array => Buffer.from(`,"${name}":`);
const JSON_KEYS = {
  score: jsonKey('score'),
  bytes: jsonKey('bytes'),
  findings: jsonKey('findings'),
  unobserved: jsonKey('unobserved'),
  extras: jsonKey('extras'),
  labels: jsonKey('labels'),
};

/** A place that looks the same in JSON and CSV. */
const PLAIN_PLACE = /^:[\d.:]+$/;

/** The start of a locator in CSV. */
function plainStart(file: DumpFile): Uint8Array | null {
  const start = shownPath(file.path);
  return csvCells([`${start}:1`]) === `${start}:1` && !/^[+-]?[.\d]*$/.test(start) ? Buffer.from(start) : null;
}

/** The last cells of CSV: a row's bytes, and those after them. */
const ENDS = 4;

/** A piece of JSON as a cell. */
const csvValue = (json: string | null): string =>
  json === null || json === 'null' ? '' : PLAIN_NUMBER.test(json) ? json : csvCells([parseJson(json) as Printable]);

/** A number as it is printed in JSON and in CSV. */
const PLAIN_NUMBER = /^-?\d+(?:\.\d+)?$/;

/** The two cells of the findings. Most rollouts have none, and the others are mostly alike. */
const findingTexts = (json: string): string => (json === '[]' ? ',' : csvCells(findingCells(parseJson(json))));

/** How the numbers of a fact are printed: the same in all files. */
interface FactPrinter {
  /** All before the value. */
  before: string;
  textOf(value: number): string;
  /** Writes the same. */
  add(out: ByteLines, value: number): void;
}

/** A fact that differs from row to row, and what lies between it and the one before. */
interface FactPiece {
  before: Uint8Array;
  column: NumberColumn;
  add: FactPrinter['add'];
}

/** The facts of a file's rows; those that are equal in all rows are part of what lies between the others. */
function factPieces(file: DumpFile, printers: readonly FactPrinter[]): { pieces: FactPiece[]; after: string } {
  const pieces: FactPiece[] = [];
  let same = '';
  for (const [at, { before, textOf, add }] of printers.entries()) {
    const column = itemAt(file.index.columns.rows, at);
    same += before;
    if (column.same !== undefined && column.length >= file.count) same += textOf(column.same);
    else {
      pieces.push({ before: Buffer.from(same), column, add });
      same = '';
    }
  }
  return { pieces, after: same };
}

/** Most facts are numbers, and printing those is the time of a row. */
const isKnownNumber = (value: number | string | null): value is number =>
  typeof value === 'number' && Number.isFinite(value);
const isWord = (value: number | string | null): value is string => typeof value === 'string' && /^\w+$/.test(value);

/** @param quote around words */
function factPrinter(fact: Fact, before: string, quote: string, print: (value: Printable) => string): FactPrinter {
  const textOf = (number: number): string => {
    const value = Number.isNaN(number) ? null : factValue(fact, number);
    return isKnownNumber(value) ? `${value}` : isWord(value) ? quote + value + quote : print(value);
  };
  return { before, textOf, add: cellAdder(formOf(fact), textOf, { quote }) };
}

const JSON_FACTS = FACTS.map((fact) => factPrinter(fact, `,"${fact.name}":`, '"', printJson));
const CSV_FACTS = FACTS.map((fact) => factPrinter(fact, ',', '', (value) => csvCells([value])));

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
