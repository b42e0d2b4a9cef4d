import type { DumpFile } from '../../core/dump/dump-file.ts';
import type { RecordDetails } from '../../core/dump/record-details.ts';
import { parseJson } from '../../core/json/parse.ts';
import { type Printable, printJson } from '../../core/json/print.ts';
import { itemAt } from '../../core/lists/at.ts';
import { CHECKS } from '../../core/rollout/checks.ts';
import { CHECK_COLUMNS, namesCheck } from '../../core/rollout/fact-row.ts';
import { FACTS, factValue } from '../../core/rollout/facts.ts';
import { memoised } from '../../core/text/memoised.ts';
import { shownPath } from '../../core/text/shown-path.ts';
import { COLUMNS, csvCells, findingCells } from './row-csv.ts';

/** Prints the rows of a file from what was kept of it, character for character as from its records. */
export class KeptRows {
  readonly #file: DumpFile;
  readonly #facts: readonly (string | FactText)[];
  /** The start of a line up to the locator's place. */
  readonly #start: string;
  readonly #stream: string;

  constructor(file: DumpFile, csv: boolean) {
    this.#file = file;
    this.#facts = factTexts(file, csv ? csvFact : jsonFact);
    this.#start = csv ? plainStart(file) : `{"locator":${printJson(shownPath(file.path)).slice(0, -1)}`;
    this.#stream = csv ? csvCells([file.stream]) : printJson(file.stream);
  }

  /** A line of `ls --json`. @param labels as JSON */
  json(record: number, details: RecordDetails, group: string | null, labels: string): string {
    const file = this.#file;
    const place = file.placeOf(record);
    const start = this.#start + (PLAIN_PLACE.test(place) ? place : printJson(place).slice(1, -1));
    const bytes = file.index.length(record);
    if (details.format === null)
      return `${start}","format":null,"error":${details.error},"bytes":${bytes},"findings":${details.findings},"labels":${labels}}\n`;
    const step = details.step === 'null' ? file.step : details.step;
    const head = `${start}","format":${details.format},"stream":${this.#stream},"step":${step},"sample":${record + 1},"score":${details.score}`;
    return `${head}${this.#factsOf(record)},"group":${group},"bytes":${bytes},"findings":${details.findings},"unobserved":${unobservedIn(file, record)},"extras":${details.extras},"labels":${labels}}\n`;
  }

  /** A line of `ls --csv`. */
  csv(record: number, details: RecordDetails, group: string | null): string {
    const file = this.#file;
    const place = file.placeOf(record);
    const locator =
      this.#start !== '' && PLAIN_PLACE.test(place) ? this.#start + place : csvCells([file.locator(record)]);
    const ends = `${file.index.length(record)},${findingTexts(details.findings)},${csvValue(details.error)}\n`;
    if (details.format === null) return `${locator}${','.repeat(COLUMNS - ENDS)}${ends}`;
    const step = details.step === 'null' ? csvCells([file.step]) : csvValue(details.step);
    return `${locator},${this.#stream},${step},${record + 1},${csvValue(details.score)}${this.#factsOf(record)},${csvValue(group)},${ends}`;
  }

  #factsOf(record: number): string {
    let facts = '';
    for (const fact of this.#facts) facts += typeof fact === 'string' ? fact : fact(record);
    return facts;
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

type FactText = (record: number) => string;
type FactPrinter = (name: string, value: number | string | null) => string;

/** Each fact as a member or a cell of a row; neighbours that are equal in all rows are one text. */
function factTexts(file: DumpFile, print: FactPrinter): (string | FactText)[] {
  const texts: (string | FactText)[] = [];
  for (const [at, fact] of FACTS.entries()) {
    const column = itemAt(file.index.columns.rows, at);
    const textOf = (value: number): string => print(fact.name, Number.isNaN(value) ? null : factValue(fact, value));
    if (column.same === undefined || column.length < file.count) {
      const textOnce = memoised(textOf);
      texts.push((record) => textOnce(column.at(record)));
      continue;
    }
    const text = textOf(column.same);
    if (typeof texts.at(-1) === 'string') texts[texts.length - 1] += text;
    else texts.push(text);
  }
  return texts;
}

/** Most facts are numbers, and printing those is the time of a row. */
const isKnownNumber = (value: number | string | null): value is number =>
  typeof value === 'number' && Number.isFinite(value);
const isWord = (value: number | string | null): value is string => typeof value === 'string' && /^\w+$/.test(value);

const jsonFact: FactPrinter = (name, value) =>
  `,"${name}":${isKnownNumber(value) ? value : isWord(value) ? `"${value}"` : printJson(value)}`;
const csvFact: FactPrinter = (_, value) => `,${isKnownNumber(value) || isWord(value) ? value : csvCells([value])}`;

/** The printed lists, by their bits: rollouts of one run have few. */
const printed = new Map<number, string>();

function unobservedIn(file: DumpFile, record: number): string {
  const { rows } = file.index.columns;
  const found = itemAt(rows, CHECK_COLUMNS.found).at(record);
  const observed = itemAt(rows, CHECK_COLUMNS.observed).at(record);
  let text = printed.get(observed);
  if (text === undefined) {
    text = printJson(CHECKS.filter((check) => !namesCheck(found, observed, check)));
    printed.set(observed, text);
  }
  return text;
}
