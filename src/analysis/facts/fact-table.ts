import type { Dump } from '../../core/dump/dump.ts';
import type { DumpFile } from '../../core/dump/dump-file.ts';
import { float64At, itemAt, lastItem, numberInAt } from '../../core/lists/at.ts';
import { factAt } from '../../core/rollout/facts.ts';
import { type GroupMeasure, groupMeasure, isGroupMeasure } from './group-measures.ts';
import { type GroupNumbers, numberGroups } from './group-numbers.ts';
import { copiesIn, sharedOpenings } from './likeness.ts';
import { type Members, membersByNumber } from './members.ts';

/** All rollouts of a dump in one set of columns, file after file. Group values are computed on demand. */
export class FactTable {
  readonly files: readonly DumpFile[];
  /** The first row of each file, and the end of the last. */
  readonly starts: readonly number[];
  readonly length: number;
  readonly #at: ReadonlyMap<DumpFile, number>;
  #numbers: GroupNumbers | null = null;
  #members: Members | null = null;
  readonly #measures = new Map<GroupMeasure, Float64Array>();
  #scores: Float64Array | null = null;
  #units: Uint32Array | null = null;

  constructor(files: readonly DumpFile[]) {
    this.files = files;
    const starts = [0];
    for (const file of files) starts.push(lastItem(starts) + file.count);
    this.starts = starts;
    this.length = lastItem(starts);
    this.#at = new Map(files.map((file, at) => [file, numberInAt(starts, at)]));
  }

  rowOf(file: DumpFile, record: number): number {
    return (this.#at.get(file) ?? 0) + record;
  }

  /** Calls with each file and its first row. */
  eachFile(visit: (file: DumpFile, start: number, count: number) => void): void {
    for (const [at, file] of this.files.entries())
      visit(file, numberInAt(this.starts, at), numberInAt(this.starts, at + 1) - numberInAt(this.starts, at));
  }

  get scores(): Float64Array {
    if (this.#scores !== null) return this.#scores;
    const scores = new Float64Array(this.length).fill(Number.NaN);
    this.eachFile((file, start, count) => {
      for (let record = 0; record < count; record++) scores[start + record] = file.index.score(record) ?? Number.NaN;
    });
    this.#scores = scores;
    return scores;
  }

  /** The step within its file of each row, numbered over all files. */
  get units(): Uint32Array {
    if (this.#units !== null) return this.#units;
    const units = new Uint32Array(this.length);
    let made = 0;
    this.eachFile((file, start, count) => {
      const numbers = new Map<number | null, number>();
      let last: number | null = null;
      let unit = -1;
      for (let record = 0; record < count; record++) {
        const step = file.stepOf(record);
        if (unit === -1 || step !== last) {
          unit = numbers.get(step) ?? made++;
          numbers.set(step, unit);
          last = step;
        }
        units[start + record] = unit;
      }
    });
    this.#units = units;
    return units;
  }

  get numbers(): GroupNumbers {
    if (this.#numbers !== null) return this.#numbers;
    const keys = new Float64Array(this.length);
    const prompts = new Float64Array(this.length);
    const uids = new Float64Array(this.length);
    const streams = new Uint32Array(this.length);
    const known = new Map<string, number>();
    this.eachFile((file, start, count) => {
      const { columns } = file.index;
      columns.groups.copyTo(keys, start, count);
      columns.prompts.copyTo(prompts, start, count);
      columns.uids.copyTo(uids, start, count);
      if (!known.has(file.stream)) known.set(file.stream, known.size);
      streams.fill(known.get(file.stream)!, start, start + count);
    });
    this.#numbers = numberGroups({ keys, prompts, uids, units: this.units, streams });
    return this.#numbers;
  }

  measure(name: GroupMeasure): Float64Array {
    let measure = this.#measures.get(name);
    if (measure === undefined) {
      measure = this.#measured(name);
      this.#measures.set(name, measure);
    }
    return measure;
  }

  #measured(name: GroupMeasure): Float64Array {
    if (name === 'opening_share') return sharedOpenings(this.units, this.fact('opening'));
    this.#members ??= membersByNumber(this.numbers.groups);
    return name === 'copies'
      ? copiesIn(this.#members, this.fact('gist'))
      : groupMeasure(name, this.#members, this.scores);
  }

  /** The values of a fact; NaN for records not yet examined. */
  fact(name: string): Float64Array {
    const column = new Float64Array(this.length).fill(Number.NaN);
    const at = factAt(name);
    this.eachFile((file, start, count) => {
      itemAt(file.index.columns.rows, at).copyTo(column, start, count);
    });
    return column;
  }
}

/** The table of a dump as it is now, cached until a record is added or examined. */
const tables = new WeakMap<Dump, { key: string; table: FactTable }>();

export function factTableOf(dump: Dump): FactTable {
  const files = [...dump.files];
  const key = files.map((file) => `${file.generation} ${file.count} ${file.index.looked}`).join();
  const known = tables.get(dump);
  if (known?.key === key && known.table.files.every((file, at) => file === files[at])) return known.table;
  const table = new FactTable(files);
  tables.set(dump, { key, table });
  return table;
}

/** Stores the group values of all rollouts on the files when a filter or a sort order needs them. */
export function layMeasures(dump: Dump): void {
  const table = factTableOf(dump);
  for (const file of table.files) {
    const start = table.rowOf(file, 0);
    const { count } = file;
    file.measures = (record, name) =>
      record < count && isGroupMeasure(name) ? float64At(table.measure(name), start + record) : Number.NaN;
  }
}
