import { finished } from '../../core/async/finished.ts';
import type { Dump } from '../../core/dump/dump.ts';
import type { DumpFile } from '../../core/dump/dump-file.ts';
import { itemAt, lastItem, numberInAt, uint32At } from '../../core/lists/at.ts';
import { factAt } from '../../core/rollout/facts.ts';
import { type GroupMeasure, groupMeasure, isGroupMeasure } from './group-measures.ts';
import { type GroupColumns, GroupNumbering, type GroupNumbers } from './group-numbers.ts';
import { copiesIn, sharedOpenings } from './likeness.ts';
import { type Members, membersByNumber } from './members.ts';

/** The state of a file when a table was made of it. */
interface CoveredFile {
  generation: number;
  version: string;
  count: number;
  looked: number;
}

const NO_ROWS = new Float64Array(0);

/** All rollouts of a dump in one set of columns, file after file. Group values are computed on demand. */
export class FactTable {
  readonly files: readonly DumpFile[];
  /** The first row of each file, and the end of the last. */
  readonly starts: readonly number[];
  readonly length: number;
  readonly #at: ReadonlyMap<DumpFile, number>;
  readonly #states: readonly CoveredFile[];
  /** An earlier table hands its numbering on. */
  #numbering: GroupNumbering | null = null;
  #numbers: GroupNumbers | null = null;
  #members: Members | null = null;
  readonly #measures = new Map<GroupMeasure, Float64Array>();
  /** A list for each number that all rows have somewhere. */
  readonly #constants = new Map<number | '-0', Float64Array>();
  #scores: Float64Array | null = null;
  #units: Uint32Array | null = null;
  /** The first row of each unit. */
  readonly #unitStarts: number[] = [];

  /** @param before an earlier table of the dump: what it knows of rows that both have is taken over */
  constructor(files: readonly DumpFile[], before: FactTable | null = null) {
    this.files = files;
    const starts = [0];
    for (const file of files) starts.push(lastItem(starts) + file.count);
    this.starts = starts;
    this.length = lastItem(starts);
    this.#at = new Map(files.map((file, at) => [file, numberInAt(starts, at)]));
    this.#states = files.map(coveredFile);
    if (before !== null) this.#growFrom(before);
  }

  rowOf(file: DumpFile, record: number): number {
    return (this.#at.get(file) ?? 0) + record;
  }

  /** The index of the file that has a row. */
  fileAt(row: number): number {
    let low = 0;
    let high = this.files.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (numberInAt(this.starts, middle) <= row) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** Calls with each file that has a row from `from` on, with the first such record, its row and how many follow. */
  eachFile(visit: (file: DumpFile, row: number, count: number, record: number) => void, from = 0): void {
    for (const [at, file] of this.files.entries()) {
      const end = numberInAt(this.starts, at + 1);
      if (end < from) continue;
      const start = numberInAt(this.starts, at);
      const row = Math.max(start, from);
      visit(file, row, end - row, row - start);
    }
  }

  /** Whether no file has changed since the table was made. */
  isOf(files: readonly DumpFile[]): boolean {
    return files.length === this.files.length && this.#firstChange(files, files.map(coveredFile)) === this.length;
  }

  /** How many rows from the first on are those of another table of the dump, with all rows of their groups and with the same numbers. */
  sharedWith(other: FactTable): number {
    const [own, theirs] = [this.numbers.lasting, other.numbers.lasting];
    const isSame = own.size === theirs.size && [...own].every((stream) => theirs.has(stream));
    return isSame ? this.#sharedUnits(other) : 0;
  }

  get scores(): Float64Array {
    this.#scores ??= this.#readScores(0, NO_ROWS);
    return this.#scores;
  }

  /** @param known the scores of the rows before `from` */
  #readScores(from: number, known: Float64Array): Float64Array {
    const scores = new Float64Array(this.length).fill(Number.NaN, from);
    scores.set(known.subarray(0, from));
    this.eachFile((file, row, count, record) => {
      const { index } = file;
      if (index.looked === index.count) index.columns.scores.copyTo(scores, row, count, record);
      else for (let i = 0; i < count; i++) scores[row + i] = index.score(record + i) ?? Number.NaN;
    }, from);
    return scores;
  }

  /** The step within its file of each row, numbered over all files in order of appearance. */
  get units(): Uint32Array {
    this.#units ??= this.#readUnits(0, null);
    return this.#units;
  }

  /** @param before has the units of the rows before `from` */
  #readUnits(from: number, before: FactTable | null): Uint32Array {
    const units = new Uint32Array(this.length);
    const starts = this.#unitStarts;
    if (before !== null) {
      units.set(before.units.subarray(0, from));
      for (const start of before.#unitStarts) if (start < from) starts.push(start);
    }
    this.eachFile((file, row, count, record) => {
      const numbers = new Map<number | null, number>();
      for (let unit = starts.length - 1; unit >= 0 && numberInAt(starts, unit) >= row - record; unit--)
        numbers.set(file.stepOf(numberInAt(starts, unit) - row + record), unit);
      let last: number | null = null;
      let unit = -1;
      for (let i = 0; i < count; i++) {
        const step = file.stepOf(record + i);
        if (unit === -1 || step !== last) {
          const known = numbers.get(step);
          unit = known ?? starts.push(row + i) - 1;
          if (known === undefined) numbers.set(step, unit);
          last = step;
        }
        units[row + i] = unit;
      }
    }, from);
    return units;
  }

  get numbers(): GroupNumbers {
    return this.#numbers ?? finished(this.#numberRows());
  }

  *#numberRows(): Generator<void, GroupNumbers> {
    const { units } = this;
    yield;
    const columns = this.#groupColumns(0, units);
    yield;
    const numbering = new GroupNumbering();
    const numbers = yield* numbering.addAll(columns);
    [this.#numbering, this.#numbers] = [numbering, numbers];
    return numbers;
  }

  #groupColumns(from: number, units = this.units): GroupColumns {
    const length = this.length - from;
    const [keys, prompts, uids] = [new Float64Array(length), new Float64Array(length), new Float64Array(length)];
    const streams = new Uint32Array(length);
    const known = new Map<string, number>();
    for (const { stream } of this.files) if (!known.has(stream)) known.set(stream, known.size);
    this.eachFile((file, row, count, record) => {
      const { columns } = file.index;
      const at = row - from;
      columns.groups.copyTo(keys, at, count, record);
      columns.prompts.copyTo(prompts, at, count, record);
      columns.uids.copyTo(uids, at, count, record);
      streams.fill(known.get(file.stream) ?? 0, at, at + count);
    }, from);
    return { keys, prompts, uids, units: units.subarray(from), streams };
  }

  measure(name: GroupMeasure): Float64Array {
    return this.#measures.get(name) ?? finished(this.measuring(name));
  }

  /** The same with pauses. */
  *measuring(name: GroupMeasure): Generator<void, Float64Array> {
    const { groups } = this.#numbers ?? (yield* this.#numberRows());
    this.#members ??= membersByNumber(groups);
    yield;
    void this.scores;
    yield;
    const measure = this.#measures.get(name) ?? this.#measured(name, this.#members, 0, NO_ROWS);
    this.#measures.set(name, measure);
    return measure;
  }

  /** @param members the groups of the rows from `from` on @param known the measures of those before */
  #measured(name: GroupMeasure, members: Members, from: number, known: Float64Array): Float64Array {
    const measure = new Float64Array(this.length).fill(Number.NaN, from);
    measure.set(known.subarray(0, from));
    if (name === 'copies') return copiesIn(members, this.rowNumbers(factAt('gist')), measure);
    if (name !== 'opening_share') return groupMeasure(name, members, this.scores, measure);
    measure.set(sharedOpenings(this.units.subarray(from), this.rowNumbers(factAt('opening')).subarray(from)), from);
    return measure;
  }

  /** The numbers at a place in the rows of facts; NaN for records not yet examined. Columns of one number share a list. */
  rowNumbers(at: number): Float64Array {
    const [first] = this.files.filter(({ count }) => count > 0);
    const same = first === undefined ? undefined : itemAt(first.index.columns.rows, at).same;
    if (same !== undefined && this.files.every((file) => hasOnly(file, at, same))) {
      const key = Object.is(same, -0) ? '-0' : same;
      const known = this.#constants.get(key) ?? new Float64Array(this.length).fill(same);
      this.#constants.set(key, known);
      return known;
    }
    const column = new Float64Array(this.length);
    this.eachFile((file, start, count) => itemAt(file.index.columns.rows, at).copyTo(column, start, count));
    return column;
  }

  /** Takes over what an earlier table has found out. All of it depends on no row of a later unit. */
  #growFrom(before: FactTable): void {
    if (before.#units === null) return;
    this.#units = this.#readUnits(this.#sharedRows(before), before);
    const from = this.#sharedUnits(before);
    if (from === 0) return;
    if (before.#scores !== null) this.#scores = this.#readScores(from, before.#scores);
    const numbering = before.#numbering;
    before.#numbering = null;
    if (before.#numbers === null || numbering === null) return;
    if (!numbering.forgetFrom(this.#unitStarts.filter((start) => start < from).length)) return;
    const numbers = finished(numbering.add(this.#groupColumns(from)));
    if (numbers === null) return;
    this.#numbering = numbering;
    const [groups, prompts] = [new Int32Array(this.length), new Int32Array(this.length)];
    groups.set(before.#numbers.groups.subarray(0, from));
    groups.set(numbers.groups, from);
    prompts.set(before.#numbers.prompts.subarray(0, from));
    prompts.set(numbers.prompts, from);
    this.#numbers = { ...numbers, groups, prompts };
    const members = membersByNumber(groups, from);
    for (const [name, known] of before.#measures) this.#measures.set(name, this.#measured(name, members, from, known));
  }

  #sharedRows(before: FactTable): number {
    return before.#firstChange(this.files, this.#states);
  }

  /** The first row that may differ in files as they are now. */
  #firstChange(files: readonly DumpFile[], states: readonly CoveredFile[]): number {
    for (const [at, file] of this.files.entries()) {
      const start = numberInAt(this.starts, at);
      const [known, now] = [itemAt(this.#states, at), states[at]];
      if (files[at] !== file || now?.generation !== known.generation) return start;
      if (now.version === known.version && now.looked === known.looked) continue;
      // The last line may have been incomplete. Records that were not examined yet may be anywhere.
      const isKnown = known.looked === known.count && now.looked >= known.count - 1;
      return isKnown ? start + Math.max(0, Math.min(known.count, now.count) - 1) : start;
    }
    return this.length;
  }

  /** The rows before the first unit that has a row that differs. */
  #sharedUnits(before: FactTable): number {
    let from = this.#sharedRows(before);
    for (let known = -1; known !== from; ) {
      known = from;
      from = before.#startOfUnits(this.#startOfUnits(from));
    }
    return from;
  }

  /** The first row of all units that have a row from `from` on. */
  #startOfUnits(from: number): number {
    const { units } = this;
    let start = from;
    for (let row = this.length - 1; row >= start; row--)
      start = Math.min(start, numberInAt(this.#unitStarts, uint32At(units, row)));
    return start;
  }
}

/** Whether all records of a file have the same number at a place in their rows of facts. */
function hasOnly({ index, count }: DumpFile, at: number, number: number): boolean {
  const { same, length } = itemAt(index.columns.rows, at);
  return count === 0 || (Object.is(same, number) && (length >= count || Number.isNaN(number)));
}

const coveredFile = ({ generation, version, count, index }: DumpFile): CoveredFile => ({
  generation,
  version,
  count,
  looked: index.looked,
});

/** The table of a dump as it is now, cached until a record is added or examined. */
const tables = new WeakMap<Dump, FactTable>();

export function factTableOf(dump: Dump): FactTable {
  const known = tables.get(dump);
  const files = [...dump.files];
  if (known?.isOf(files)) return known;
  const table = new FactTable(files, known);
  tables.set(dump, table);
  return table;
}

/** Stores the group values of all rollouts on the files when a filter or a sort order needs them. */
export function layMeasures(dump: Dump): void {
  const table = factTableOf(dump);
  for (const file of table.files) {
    const start = table.rowOf(file, 0);
    const { count } = file;
    file.measures = (name) => (isGroupMeasure(name) ? table.measure(name).subarray(start, start + count) : NO_ROWS);
  }
}
