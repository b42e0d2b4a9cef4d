import { IN_RECORD } from '../../core/dump/cell-column.ts';
import type { DumpFile } from '../../core/dump/dump-file.ts';
import { itemAt } from '../../core/lists/at.ts';
import { CHECKS } from '../../core/rollout/checks.ts';
import { FACTS, factValue, formOf, type NumberForm } from '../../core/rollout/facts.ts';
import type { FactRows } from './fact-rows.ts';
import { GROUP_MEASURES } from './group-measures.ts';

export type FactCell = number | string | boolean | null;

/** Cells that repeat: a number for each row, and the cell of a number. Equal numbers have equal cells; null where it is unknown. */
export interface KeyedCells {
  keys: Float64Array | Int32Array | Uint32Array;
  cellOf(key: number): FactCell;
  /** Kinds of the keys whose cells are known. */
  form: NumberForm;
}

/** A column of the table of facts, as a file or a database has it. */
export type FactColumn = {
  /** A word: the dots of a fact's name are underscores here. */
  name: string;
  type: 'DOUBLE' | 'INT32' | 'STRING' | 'BOOLEAN';
} & (KeyedCells | { at(row: number): FactCell });

/** One row a rollout: its place, its scores, every fact, measure and finding, and the values of the record's other keys. */
export function factColumns(facts: FactRows, runOf: (path: string) => string): FactColumn[] {
  const { groups, prompts } = facts;
  const { of, files } = rowFiles(facts);
  const ofFile = (cellOf: (file: DumpFile) => string): KeyedCells => ({
    keys: of,
    cellOf: (at) => cellOf(itemAt(files, at)),
    form: 'other',
  });
  return [
    { name: 'run', type: 'STRING', ...ofFile(({ path }) => runOf(path)) },
    { name: 'locator', type: 'STRING', at: (row) => locatorIn(facts, row) },
    { name: 'stream', type: 'STRING', ...ofFile(({ stream }) => stream) },
    numbers(facts, 'step'),
    scores(facts),
    { name: 'group_id', type: 'INT32', keys: groups, ...COUNTS },
    { name: 'prompt_id', type: 'INT32', keys: prompts, ...COUNTS },
    ...GROUP_MEASURES.map((name) => numbers(facts, name)),
    ...FACTS.map((fact): FactColumn => {
      const form = formOf(fact);
      if (form === 'number') return numbers(facts, fact.name);
      const cellOf = (value: number): FactCell => (Number.isNaN(value) ? null : factValue(fact, value));
      return { name: wordOf(fact.name), type: 'STRING', keys: facts.factNumbers(fact.name), cellOf, form };
    }),
    ...findingColumns(facts),
    ...extraColumns(facts),
  ];
}

const wordOf = (name: string): string => name.replaceAll('.', '_');

/** The number of each row's file. */
function rowFiles(facts: FactRows): { of: Int32Array; files: DumpFile[] } {
  const of = new Int32Array(facts.length);
  const known = new Map<DumpFile, number>();
  for (let row = 0; row < of.length; row++) {
    const { file } = facts.place(row);
    let at = known.get(file);
    if (at === undefined) {
      at = known.size;
      known.set(file, at);
    }
    of[row] = at;
  }
  return { of, files: [...known.keys()] };
}

const numbers = (facts: FactRows, name: string): FactColumn => ({
  name: wordOf(name),
  type: 'DOUBLE',
  keys: facts.numbers(name),
  ...NUMBERS,
});

const NUMBERS = {
  cellOf: (value: number): number | null => (Number.isNaN(value) ? null : value),
  form: 'number',
} as const;

/** -1 is no group. */
const COUNTS = { cellOf: (value: number): number | null => (value < 0 ? null : value), form: 'number' } as const;

/** A recorded NaN is one; a rollout without a score has none. */
function scores(facts: FactRows): FactColumn {
  const at = (row: number): number | null => {
    const { file, record } = facts.place(row);
    return file.score(record) ?? null;
  };
  const keys = facts.numbers('score');
  const hasNaN = keys.some((score, row) => Number.isNaN(score) && at(row) !== null);
  return { name: 'score', type: 'DOUBLE', ...(hasNaN ? { at } : { keys, ...NUMBERS }) };
}

/** Few sets of findings occur in a dump, so each check is asked once a set; those that answer alike share their cells. */
function findingColumns(facts: FactRows): FactColumn[] {
  const { of, first } = facts.findingSets();
  const known = new Map<string, KeyedCells['cellOf']>();
  return CHECKS.map((check) => {
    const bySet = first.map((row) => facts.has(row, check) || (facts.isObserved(row, check) ? false : null));
    const answers = bySet.join();
    const cellOf = known.get(answers) ?? ((set: number): FactCell => bySet[set] ?? null);
    known.set(answers, cellOf);
    return { name: `finding_${check}`, type: 'BOOLEAN', keys: of, cellOf, form: 'other' };
  });
}

function locatorIn(facts: FactRows, row: number): string {
  const { file, record } = facts.place(row);
  return file.locator(record);
}

/** The other keys of the records, as far as they are kept: numbers, or words of a small set. */
function extraColumns(facts: FactRows): FactColumn[] {
  const columnOf = columnNames(facts.cellNames);
  return facts.cellNames.flatMap((name): FactColumn[] => {
    const cells = facts.cells(name);
    const known = cells.filter((cell) => cell !== undefined && cell !== null && cell !== IN_RECORD);
    const column = columnOf.get(name);
    if (known.length === 0 || column === undefined) return [];
    if (known.every((cell) => typeof cell === 'boolean'))
      return [
        { name: column, type: 'BOOLEAN', ...keyedBy(cells, (cell) => (typeof cell === 'boolean' ? cell : null)) },
      ];
    if (known.every((cell) => typeof cell === 'number' || typeof cell === 'boolean')) {
      const at = (row: number) => numberIn(cells[row]);
      if (known.some((cell) => Number.isNaN(cell))) return [{ name: column, type: 'DOUBLE', at }];
      const keys = Float64Array.from(cells, (cell) => numberIn(cell) ?? Number.NaN);
      return [{ name: column, type: 'DOUBLE', keys, ...NUMBERS }];
    }
    return [{ name: column, type: 'STRING', ...keyedBy(cells, cellText) }];
  });
}

/**
 * The columns of the records' keys. `run.id` and `run_id` give the same word, and a database has no case: what is not
 * unlike those before ends in a number. Keys of the record itself come first.
 */
function columnNames(keys: readonly string[]): ReadonlyMap<string, string> {
  const columns = new Map<string, string>();
  const taken = new Set<string>();
  for (const isNested of [false, true])
    for (const key of keys) {
      if (key.includes('.') !== isNested) continue;
      const word = `extras_${wordOf(key)}`;
      let column = word;
      for (let next = 2; taken.has(column.toLowerCase()); next++) column = `${word}_${next}`;
      taken.add(column.toLowerCase());
      columns.set(key, column);
    }
  return columns;
}

type TableCell = ReturnType<FactRows['cells']>[number];

/** Numbers the cells that differ. */
function keyedBy(cells: readonly TableCell[], cellOf: (cell: TableCell) => FactCell): KeyedCells {
  const known = new Map<FactCell, number>();
  const keys = Int32Array.from(cells, (one) => {
    const cell = cellOf(one);
    const key = known.get(cell) ?? known.size;
    known.set(cell, key);
    return key;
  });
  const all = [...known.keys()];
  return { keys, cellOf: (key) => all[key] ?? null, form: 'other' };
}

const numberIn = (cell: TableCell): number | null =>
  typeof cell === 'number' ? cell : typeof cell === 'boolean' ? Number(cell) : null;

const cellText = (cell: TableCell): string | null =>
  cell === undefined || cell === null || typeof cell === 'symbol' || typeof cell === 'object' ? null : String(cell);
