import type { Dump } from '../../dump/dump.ts';
import type { DumpFile } from '../../dump/dump-file.ts';
import type { JsonValue } from '../../json/value.ts';
import { CHECKS, type Check } from '../../rollout/checks.ts';
import { addExtraNames } from '../../rollout/extra-names.ts';
import { FACTS, Facts, factRow } from '../../rollout/facts.ts';
import { groupKeyOf } from '../../rollout/group-key.ts';
import { fieldNamed } from '../query/fields.ts';
import type { Query } from '../query/query.ts';
import { Subject } from '../query/subject.ts';
import { type GroupMeasure, groupMeasures, isGroupMeasure } from './group-measures.ts';
import { type GroupedRow, numberGroups } from './group-numbers.ts';

/** The facts of many rollouts by column; row i is the same rollout in each. Bad records are rows too. */
export interface FactRows {
  readonly length: number;
  /** A number for each row, NaN where it is not known: any number field, fact, numeric extra, `adv`, `rank` … of the filter language. */
  numbers(name: string): Float64Array;
  /** The word or text of each row (status, ended, stream, uid, an extra that is text), null where it has none. */
  words(name: string): readonly (string | null)[];
  /** The number of each row's group, from 0, -1 where it has none: a prompt within a step of a file. */
  readonly groups: Int32Array;
  /** The number of each row's prompt, the same in all steps of its stream; -1 where the row has no group. */
  readonly prompts: Int32Array;
  has(row: number, check: Check): boolean;
  /** The check had what it looks at; of a bad record only `bad_record` had. */
  isObserved(row: number, check: Check): boolean;
  /** Where the row's record lies. */
  place(row: number): { file: DumpFile; record: number };
  /** Names of numeric columns that some row has: score, step, facts and extras. */
  readonly numberNames: readonly string[];
}

interface Row {
  file: DumpFile;
  record: number;
  facts: Facts;
  score: number | null;
  values: ReadonlyMap<string, number | string>;
}

/** All rollouts of a dump that the filter lets through. What a group tells is of the whole group, whatever the filter leaves of it. */
export async function readFactRows(
  dump: Dump,
  filter: Query | null,
  progress: (done: number, total: number) => void = () => {},
): Promise<FactRows> {
  const rows: Row[] = [];
  const grouped: GroupedRow[] = [];
  const accepted: number[] = [];
  const units = new Map<string, number>();
  for (const file of dump.files) await file.buildIndex(() => true);
  const total = dump.files.reduce((sum, file) => sum + file.count, 0);
  for (const [at, file] of dump.files.entries()) {
    for (let record = 0; record < file.count; record++) {
      const row = file.read(record);
      if (filter?.accepts(Subject.read(row)) ?? true) accepted.push(rows.length);
      const { rollout } = row;
      const unit = `${at} ${rollout?.step ?? file.stepOf(record)}`;
      if (!units.has(unit)) units.set(unit, units.size);
      const key = rollout === null ? null : groupKeyOf(rollout);
      grouped.push({
        stream: file.stream,
        unit: units.get(unit)!,
        key: key?.key ?? null,
        isOfPrompt: key?.from === 'prompt',
        prompt: key?.prompt ?? '',
      });
      rows.push({
        file,
        record,
        facts: new Facts(factRow(rollout, row.findings)),
        score: rollout?.score ?? null,
        values: valuesOf(Subject.read(row)),
      });
      progress(rows.length, total);
    }
  }
  return new ReadRows(rows, grouped, Uint32Array.from(accepted));
}

/** Words of which a row has at most one each; extras come beside them. */
const NAMED = ['status', 'uid', 'request_id', 'gts'];

function valuesOf(subject: Subject): Map<string, number | string> {
  const values = new Map<string, number | string>();
  const names = new Set<string>(NAMED);
  addExtraNames(subject.fields?.extras ?? {}, names);
  for (const name of names) {
    const value = plain(subject.value(NAMED.includes(name) ? fieldNamed(name) : { type: 'extra', path: name }));
    if (value !== null) values.set(name, value);
  }
  return values;
}

function plain(value: JsonValue | undefined): number | string | null {
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (typeof value === 'bigint') return Number(value);
  return typeof value === 'number' || typeof value === 'string' ? value : null;
}

class ReadRows implements FactRows {
  readonly #rows: readonly Row[];
  readonly #accepted: Uint32Array;
  readonly groups: Int32Array;
  readonly prompts: Int32Array;
  readonly #allGroups: Int32Array;
  #measures: Record<GroupMeasure, Float64Array> | null = null;

  constructor(rows: readonly Row[], grouped: readonly GroupedRow[], accepted: Uint32Array) {
    this.#rows = rows;
    this.#accepted = accepted;
    const { groups, prompts } = numberGroups(grouped);
    this.#allGroups = groups;
    this.groups = Int32Array.from(accepted, (at) => groups[at]!);
    this.prompts = Int32Array.from(accepted, (at) => prompts[at]!);
  }

  get length(): number {
    return this.#accepted.length;
  }

  #row(row: number): Row {
    return this.#rows[this.#accepted[row]!]!;
  }

  numbers(name: string): Float64Array {
    if (isGroupMeasure(name)) {
      this.#measures ??= groupMeasures(
        this.#allGroups,
        Float64Array.from(this.#rows, ({ score }) => score ?? Number.NaN),
      );
      const column = this.#measures[name];
      return Float64Array.from(this.#accepted, (at) => column[at]!);
    }
    return Float64Array.from(this.#accepted, (at) => {
      const value = cellOf(this.#rows[at]!, name);
      return typeof value === 'number' ? value : Number.NaN;
    });
  }

  words(name: string): (string | null)[] {
    return Array.from(this.#accepted, (at) => {
      const value = cellOf(this.#rows[at]!, name);
      return typeof value === 'string' ? value : null;
    });
  }

  has(row: number, check: Check): boolean {
    return this.#row(row).facts.has(check);
  }

  isObserved(row: number, check: Check): boolean {
    return this.#row(row).facts.isObserved(check);
  }

  place(row: number): { file: DumpFile; record: number } {
    const { file, record } = this.#row(row);
    return { file, record };
  }

  get numberNames(): string[] {
    const names = new Set<string>(['score', 'step', ...FACTS.filter(({ words }) => !words).map(({ name }) => name)]);
    for (const at of this.#accepted)
      for (const [name, value] of this.#rows[at]!.values)
        if (typeof value === 'number' && !NAMED.includes(name)) names.add(name);
    return [...names].filter((name) => this.numbers(name).some((value) => !Number.isNaN(value)));
  }
}

function cellOf(row: Row, name: string): number | string | null {
  const field = fieldNamed(name);
  if (field.type === 'fact') return row.facts.value(name);
  if (field.type === 'extra') return row.values.get(field.path) ?? null;
  if (field.type === 'number') {
    if (name === 'score') return row.score;
    if (name === 'step') return row.file.stepOf(row.record);
    if (name === 'sample') return row.record + 1;
    if (name === 'bytes') return row.file.index.length(row.record);
    return CHECKS.filter((check) => row.facts.has(check)).length;
  }
  if (name === 'stream') return row.file.stream;
  const known = row.values.get(name);
  if (known !== undefined) return known;
  return plain(Subject.of(row).value(field));
}
