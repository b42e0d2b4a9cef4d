import type { DumpFile } from '../../core/dump/dump-file.ts';
import type { RecordDetails } from '../../core/dump/record-details.ts';
import { parseJson } from '../../core/json/parse.ts';
import { type Printable, printJson } from '../../core/json/print.ts';
import { itemAt } from '../../core/lists/at.ts';
import { CHECKS } from '../../core/rollout/checks.ts';
import { CHECK_COLUMNS, namesCheck } from '../../core/rollout/fact-row.ts';
import { FACTS, factValue } from '../../core/rollout/facts.ts';
import { COLUMNS, csvCells, findingCells } from './row-csv.ts';

/** Prints the rows of a file from what was kept of it, character for character as from its records. */
export class KeptRows {
  readonly #file: DumpFile;
  readonly #facts: readonly (string | FactText)[];

  constructor(file: DumpFile, csv: boolean) {
    this.#file = file;
    this.#facts = factTexts(file, csv ? csvFact : jsonFact);
  }

  /** The members of a line of `ls --json`, without the braces around them. */
  members(record: number, details: RecordDetails, group: string | null): string {
    const file = this.#file;
    const locator = printJson(file.locator(record));
    const bytes = file.index.length(record);
    if (details.format === null)
      return `"locator":${locator},"format":null,"error":${details.error},"bytes":${bytes},"findings":${details.findings}`;
    const step = details.step === 'null' ? file.step : details.step;
    const head = `"locator":${locator},"format":${details.format},"stream":${printJson(file.stream)},"step":${step},"sample":${record + 1},"score":${details.score}`;
    return `${head}${this.#factsOf(record)},"group":${group},"bytes":${bytes},"findings":${details.findings},"unobserved":${unobservedIn(file, record)},"extras":${details.extras}`;
  }

  /** A line of `ls --csv`. */
  csv(record: number, details: RecordDetails, group: string | null): string {
    const file = this.#file;
    const ends = [file.index.length(record), ...findingCells(parseJson(details.findings)), keptValue(details.error)];
    if (details.format === null)
      return `${csvCells([file.locator(record)])}${','.repeat(COLUMNS - ends.length)}${csvCells(ends)}\n`;
    const step = details.step === 'null' ? file.step : details.step;
    const head = [file.locator(record), file.stream, step, record + 1, keptValue(details.score)];
    return `${csvCells(head)}${this.#factsOf(record)},${csvCells([keptValue(group), ...ends])}\n`;
  }

  #factsOf(record: number): string {
    let facts = '';
    for (const fact of this.#facts) facts += typeof fact === 'string' ? fact : fact(record);
    return facts;
  }
}

const keptValue = (json: string | null): Printable => (json === null ? null : parseJson(json));

type FactText = (record: number) => string;
type FactPrinter = (name: string, value: number | string | null) => string;

/** Each fact as a member or a cell of a row; neighbours that are equal in all rows are one text. */
function factTexts(file: DumpFile, print: FactPrinter): (string | FactText)[] {
  const texts: (string | FactText)[] = [];
  for (const [at, fact] of FACTS.entries()) {
    const column = itemAt(file.index.columns.rows, at);
    const textOf = (value: number): string => print(fact.name, Number.isNaN(value) ? null : factValue(fact, value));
    if (column.same === undefined || column.length < file.count) {
      texts.push((record) => textOf(column.at(record)));
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

const jsonFact: FactPrinter = (name, value) => `,"${name}":${isKnownNumber(value) ? value : printJson(value)}`;
const csvFact: FactPrinter = (_, value) => `,${isKnownNumber(value) ? value : csvCells([value])}`;

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
