import { createHash } from 'node:crypto';
import { IN_RECORD } from '../../core/dump/cell-column.ts';
import type { Dump } from '../../core/dump/dump.ts';
import type { DumpFile } from '../../core/dump/dump-file.ts';
import { isOwnCell } from '../../core/dump/record-facts.ts';
import type { JsonValue } from '../../core/json/value.ts';
import { float64At, itemAt, numberInAt, uint32At } from '../../core/lists/at.ts';
import { placesWhile } from '../../core/lists/places.ts';
import type { Check } from '../../core/rollout/checks.ts';
import { CHECK_COLUMNS, namesCheck } from '../../core/rollout/fact-row.ts';
import { FACTS, factAt, isQuantity } from '../../core/rollout/facts.ts';
import { type Field, fieldNamed } from '../query/fields.ts';
import type { KeptLookup } from '../query/kept.ts';
import { knownValue } from '../query/on-columns.ts';
import type { Query } from '../query/query.ts';
import { Subject } from '../query/subject.ts';
import { laySignals } from '../signal/lay-signals.ts';
import { type FactTable, factTableOf, layMeasures } from './fact-table.ts';
import { type FindingSets, findingSetsOf } from './finding-sets.ts';
import { isGroupMeasure } from './group-measures.ts';
import { acceptedBlocks } from './passing.ts';

/** The facts of many rollouts by column; row i is the same rollout in each column. Bad records are rows too. */
export interface FactRows {
  readonly length: number;
  /**
   * A number for each row, NaN if unknown: any number field, fact, numeric extra, `adv`, `rank` … of the filter
   * language.
   */
  numbers(name: string): Float64Array;
  /** The word or text of each row (status, ended, stream, uid, a text extra), null if it has none. */
  words(name: string): readonly (string | null)[];
  /** Reads a field of one row after another, quickly while they are of one file. */
  reader(name: string): (row: number) => JsonValue | undefined;
  /** How many rows from the first on are those of other rows, with all rows of their groups, and the same numbers of groups and prompts. */
  sharedWith(other: FactRows): number;
  /** The number of each row's group, from 0, or -1 if it has none. A group is a prompt within a step of a file. */
  readonly groups: Int32Array;
  /** The number of each row's prompt, the same in all steps of its stream; -1 if the row has no group. */
  readonly prompts: Int32Array;
  has(row: number, check: Check): boolean;
  /** Whether the check had its input; for a bad record only `bad_record` had. */
  isObserved(row: number, check: Check): boolean;
  /** Rows with the same findings and the same checks observed have the same number, and `first` one of them. */
  findingSets(): FindingSets;
  /** The place of the row's record. */
  place(row: number): { file: DumpFile; record: number };
  /** A fact as the number that it is kept as: the place of a word among its words. */
  factNumbers(name: string): Float64Array;
  /** The names of the records' other keys whose values are kept. */
  readonly cellNames: readonly string[];
  /** The values under such a key, without reading a record. */
  cells(name: string): readonly (JsonValue | undefined | typeof IN_RECORD)[];
  /** The answer to a question to these rows, kept from one session to the next as long as they are the same. */
  remember<Answer>(question: string, answer: () => Promise<Answer>): Promise<Answer>;
  /** Names of numeric columns that some row has: score, step, facts and extras. */
  readonly numberNames: readonly string[];
}

/**
 * All rollouts of a dump that pass the filter. Group values cover the whole group, however much of it the filter keeps.
 */
export async function readFactRows(
  dump: Dump,
  filter: Query | null,
  progress: (done: number, total: number) => void = () => {},
  kept?: KeptLookup,
): Promise<FactRows> {
  await dump.lookAtAll(() => {
    const { done, total } = dump.progress();
    progress(done, total);
  });
  if (filter?.asksSignals === true) await laySignals(dump);
  return factRowsOf(dump, filter, kept);
}

/** Computes a filter's terms on whole groups and steps, for records that are read one at a time. */
export async function layWhole(dump: Dump, filter: Query | null): Promise<void> {
  if (filter?.asksGroups === true) await readFactRows(dump, null);
  if (filter?.asksSignals === true) await laySignals(dump);
}

/** The rows of a dump, as far as its records were examined. The others have no facts yet. */
function factRowsOf(dump: Dump, filter: Query | null, kept?: KeptLookup): FactRows {
  layMeasures(dump);
  const table = factTableOf(dump);
  if (filter === null) return new TableRows(dump, table, null);
  const accepted = new Uint32Array(table.length);
  let length = 0;
  const acceptedIn = acceptedBlocks(filter, kept);
  table.eachFile((file, start, count) => {
    for (const record of acceptedIn(file, 0, count)) accepted[length++] = start + record;
  });
  return new TableRows(dump, table, accepted.slice(0, length));
}

class TableRows implements FactRows {
  readonly #dump: Dump;
  readonly #table: FactTable;
  /** Rows of the table; null for all. */
  readonly #accepted: Uint32Array | null;
  readonly #numbers = new Map<string, Float64Array>();
  #bits: { found: Float64Array; observed: Float64Array } | null = null;
  #sets: FindingSets | null = null;
  #groups: Int32Array | null = null;
  #prompts: Int32Array | null = null;
  /** The file of the last place, and its rows. */
  #file = 0;
  #fileStart = 0;
  #fileEnd = 0;

  constructor(dump: Dump, table: FactTable, accepted: Uint32Array | null) {
    this.#dump = dump;
    this.#table = table;
    this.#accepted = accepted;
  }

  get length(): number {
    return this.#accepted?.length ?? this.#table.length;
  }

  get groups(): Int32Array {
    this.#groups ??= this.#picked(this.#table.numbers.groups, (length) => new Int32Array(length));
    return this.#groups;
  }

  get prompts(): Int32Array {
    this.#prompts ??= this.#picked(this.#table.numbers.prompts, (length) => new Int32Array(length));
    return this.#prompts;
  }

  numbers(name: string): Float64Array {
    let numbers = this.#numbers.get(name);
    if (numbers === undefined) {
      numbers = this.#picked(this.#wholeColumn(name), (length) => new Float64Array(length));
      this.#numbers.set(name, numbers);
    }
    return numbers;
  }

  words(name: string): readonly (string | null)[] {
    const fact = FACTS[factAt(name)]?.words;
    // Numbers of a few words, without a question for each row.
    if (fact !== undefined && this.#table.files.every(({ index, count }) => index.looked === count))
      return Array.from(this.#rowColumn(factAt(name)), (word) => fact[word] ?? null);
    const read = this.reader(name);
    return Array.from({ length: this.length }, (_, row) => {
      const value = read(row);
      return typeof value === 'string' ? value : null;
    });
  }

  reader(name: string): (row: number) => JsonValue | undefined {
    const field = fieldNamed(name);
    let [start, end] = [0, 0];
    let valueAt: (record: number) => JsonValue | undefined = () => undefined;
    return (row) => {
      const at = this.#accepted?.[row] ?? row;
      if (at < start || at >= end) {
        const { starts, files } = this.#table;
        const file = this.#table.fileAt(at);
        [start, end] = [numberInAt(starts, file), numberInAt(starts, file + 1)];
        valueAt = fieldValue(itemAt(files, file), field);
      }
      return valueAt(at - start);
    };
  }

  sharedWith(other: FactRows): number {
    if (!(other instanceof TableRows) || other.#dump !== this.#dump) return 0;
    const rows = this.#table.sharedWith(other.#table);
    const [own, theirs] = [this.#accepted, other.#accepted];
    if (own === null || theirs === null) return own === theirs ? rows : 0;
    const [count, known] = [countBelow(own, rows), countBelow(theirs, rows)];
    for (let i = 0; i < count; i++) if (own[i] !== theirs[i]) return 0;
    return count === known ? count : 0;
  }

  has(row: number, check: Check): boolean {
    const { found } = this.#checks();
    return namesCheck(float64At(found, row), float64At(found, row), check);
  }

  isObserved(row: number, check: Check): boolean {
    const { found, observed } = this.#checks();
    return namesCheck(float64At(found, row), float64At(observed, row), check);
  }

  findingSets(): FindingSets {
    const { found, observed } = this.#checks();
    this.#sets ??= findingSetsOf(found, observed);
    return this.#sets;
  }

  place(row: number): { file: DumpFile; record: number } {
    const at = this.#accepted?.[row] ?? row;
    const { starts, files } = this.#table;
    // Neighbours are mostly of one file.
    if (at < this.#fileStart || at >= this.#fileEnd) {
      this.#file = this.#table.fileAt(at);
      [this.#fileStart, this.#fileEnd] = [numberInAt(starts, this.#file), numberInAt(starts, this.#file + 1)];
    }
    return { file: itemAt(files, this.#file), record: at - this.#fileStart };
  }

  factNumbers(name: string): Float64Array {
    return this.#rowColumn(factAt(name));
  }

  get cellNames(): string[] {
    const names = new Set<string>();
    for (const { index } of this.#table.files)
      for (const name of index.columns.cells.keys()) if (!isOwnCell(name)) names.add(name);
    return [...names].sort();
  }

  cells(name: string): (JsonValue | undefined | typeof IN_RECORD)[] {
    const whole: (JsonValue | undefined | typeof IN_RECORD)[] = new Array(this.#table.length);
    this.#table.eachFile((file, start, count) => {
      const column = file.index.columns.cells.get(name);
      for (let record = 0; record < count; record++) whole[start + record] = column?.at(record);
    });
    return this.#accepted === null ? whole : Array.from(this.#accepted, (row) => whole[row]);
  }

  remember<Answer>(question: string, answer: () => Promise<Answer>): Promise<Answer> {
    const rows = this.#accepted === null ? 'all' : createHash('sha256').update(this.#accepted).digest('hex');
    return this.#dump.remember(`${question} ${rows}`, answer);
  }

  get numberNames(): string[] {
    const names = new Set([
      'score',
      'step',
      ...FACTS.filter(isQuantity).map(({ name }) => name),
      'copies',
      'opening_share',
    ]);
    for (const { index } of this.#table.files)
      for (const name of index.columns.cells.keys()) if (!isOwnCell(name)) names.add(nameOfCell(name));
    return [...names].filter((name) => !this.#isEmptyFact(name) && this.numbers(name).some(isKnown));
  }

  /** No row of any file has the fact, which takes no column to see. */
  #isEmptyFact(name: string): boolean {
    const at = factAt(name);
    return at >= 0 && this.#table.files.every(({ index }) => Number.isNaN(itemAt(index.columns.rows, at).same));
  }

  /** For each row, the findings and the checks that had their input, as bits. */
  #checks(): { found: Float64Array; observed: Float64Array } {
    this.#bits ??= {
      found: this.#rowColumn(CHECK_COLUMNS.found),
      observed: this.#rowColumn(CHECK_COLUMNS.observed),
    };
    return this.#bits;
  }

  #rowColumn(at: number): Float64Array {
    return this.#picked(this.#table.rowNumbers(at), (length) => new Float64Array(length));
  }

  #picked<T extends Int32Array | Float64Array>(column: T, make: (length: number) => T): T {
    if (this.#accepted === null) return column;
    const picked = make(this.#accepted.length);
    for (let row = 0; row < picked.length; row++) picked[row] = numberInAt(column, uint32At(this.#accepted, row));
    return picked;
  }

  /** A value for every row of the table. */
  #wholeColumn(name: string): Float64Array {
    const table = this.#table;
    if (isGroupMeasure(name)) return table.measure(name);
    if (name === 'score') return table.scores;
    const field = fieldNamed(name);
    const at = field.type === 'fact' ? factAt(field.name) : -1;
    if (at >= 0 && itemAt(FACTS, at).words === undefined) return table.rowNumbers(at);
    const column = new Float64Array(table.length).fill(Number.NaN);
    // A text is not a number, and reading every record to make sure would take too long.
    if (field.type === 'text' || at >= 0) return column;
    table.eachFile((file, start, count) => {
      const { columns } = file.index;
      const cells = field.type === 'extra' ? columns.cells.get(field.path) : undefined;
      const valueAt = fieldValue(file, field);
      for (let record = 0; record < count; record++)
        column[start + record] =
          cells !== undefined && columns.isLooked(record) ? cells.numberAt(record) : numberIn(valueAt(record));
    });
    return column;
  }
}

/** How many of the ascending rows are below a row. */
const countBelow = (rows: Uint32Array, row: number): number =>
  placesWhile(rows.length, (at) => uint32At(rows, at) < row);

/** The value from the columns, or else from the record. */
function fieldValue(file: DumpFile, field: Field): (record: number) => JsonValue | undefined {
  const read = knownValue(file, field);
  return (record) => {
    const value = read(record);
    return value === IN_RECORD ? Subject.of({ file, record }).value(field) : value;
  };
}

const isKnown = (value: number): boolean => !Number.isNaN(value);

function numberIn(value: JsonValue | undefined): number {
  if (typeof value === 'number') return value;
  if (typeof value === 'boolean') return value ? 1 : 0;
  return typeof value === 'bigint' ? Number(value) : Number.NaN;
}

/** A cell whose name means something else in the language is requested as an extra. */
const nameOfCell = (name: string): string => (fieldNamed(name).type === 'extra' ? name : `extras.${name}`);
