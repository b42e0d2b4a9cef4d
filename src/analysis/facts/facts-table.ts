import { IN_RECORD } from '../../core/dump/cell-column.ts';
import { float64At, itemAt, uint32At } from '../../core/lists/at.ts';
import { CHECKS } from '../../core/rollout/checks.ts';
import { FACTS, factValue } from '../../core/rollout/facts.ts';
import type { FactRows } from './fact-rows.ts';
import { GROUP_MEASURES } from './group-measures.ts';

type FactCell = number | string | boolean | null;

/** A column of the table of facts, as a file or a database has it. */
export interface FactColumn {
  /** A word: the dots of a fact's name are underscores here. */
  name: string;
  type: 'DOUBLE' | 'INT32' | 'STRING' | 'BOOLEAN';
  /** The cells of the rows from `from` up to `to`; null where it is unknown. */
  cells(from: number, to: number): FactCell[] | Float64Array;
}

/** One row a rollout: its place, its scores, every fact, measure and finding, and the values of the record's other keys. */
export function factColumns(facts: FactRows, runOf: (path: string) => string): FactColumn[] {
  const { groups, prompts } = facts;
  return [
    ofEach('run', 'STRING', (row) => runOf(facts.place(row).file.path)),
    ofEach('locator', 'STRING', (row) => locatorIn(facts, row)),
    ofEach('stream', 'STRING', (row) => facts.place(row).file.stream),
    numbers(facts, 'step'),
    ofEach('score', 'DOUBLE', (row) => scoreIn(facts, row)),
    ofEach('group_id', 'INT32', (row) => numberOrNull(groups[row])),
    ofEach('prompt_id', 'INT32', (row) => numberOrNull(prompts[row])),
    ...GROUP_MEASURES.map((name) => numbers(facts, name)),
    ...FACTS.map((fact): FactColumn => {
      if (fact.words === undefined && fact.isSignature === undefined) return numbers(facts, fact.name);
      const column = facts.factNumbers(fact.name);
      const words = new Map<number, FactCell>([[Number.NaN, null]]);
      return ofEach(wordOf(fact.name), 'STRING', (row) => {
        const value = column[row] ?? Number.NaN;
        let word = words.get(value);
        if (word === undefined) {
          word = factValue(fact, value);
          words.set(value, word);
        }
        return word;
      });
    }),
    ...findingColumns(facts),
    ...extraColumns(facts),
  ];
}

const wordOf = (name: string): string => name.replaceAll('.', '_');

const ofEach = (name: string, type: FactColumn['type'], at: (row: number) => FactCell): FactColumn => ({
  name,
  type,
  cells: (from, to) => {
    const cells = new Array<FactCell>(to - from);
    for (let row = from; row < to; row++) cells[row - from] = at(row);
    return cells;
  },
});

function numbers(facts: FactRows, name: string): FactColumn {
  const column = facts.numbers(name);
  return {
    name: wordOf(name),
    type: 'DOUBLE',
    cells: (from, to) => {
      const values = column.subarray(from, to);
      let known = 0;
      while (known < values.length && !Number.isNaN(values[known])) known++;
      if (known === values.length) return values;
      const cells = new Array<FactCell>(values.length);
      for (let at = 0; at < values.length; at++) {
        const value = float64At(values, at);
        cells[at] = Number.isNaN(value) ? null : value;
      }
      return cells;
    },
  };
}

/**
 * Few sets of findings occur in a dump, so each check is asked once a set. Most checks answer alike in all of them, so
 * their columns are laid once and share their cells.
 */
function findingColumns(facts: FactRows): FactColumn[] {
  const { of, first } = facts.findingSets();
  const known = new Map<string, FactColumn['cells']>();
  return CHECKS.map((check) => {
    const bySet = first.map((row) => facts.has(row, check) || (facts.isObserved(row, check) ? false : null));
    const answers = bySet.join();
    let cells = known.get(answers);
    if (cells === undefined) {
      cells = laidOnce((from, to) => {
        const cells = new Array<FactCell>(to - from);
        for (let row = from; row < to; row++) cells[row - from] = itemAt(bySet, uint32At(of, row));
        return cells;
      });
      known.set(answers, cells);
    }
    return { name: `finding_${check}`, type: 'BOOLEAN', cells };
  });
}

/** Columns are read a range at a time, all of a range before the next. */
function laidOnce(lay: FactColumn['cells']): FactColumn['cells'] {
  let last: { from: number; to: number; cells: FactCell[] | Float64Array } | null = null;
  return (from, to) => {
    if (last?.from !== from || last.to !== to) last = { from, to, cells: lay(from, to) };
    return last.cells;
  };
}

function locatorIn(facts: FactRows, row: number): string {
  const { file, record } = facts.place(row);
  return file.locator(record);
}

/** A recorded NaN is one; a rollout without a score has none. */
function scoreIn(facts: FactRows, row: number): number | null {
  const { file, record } = facts.place(row);
  return file.score(record) ?? null;
}

/** -1 is no group. */
const numberOrNull = (value: number | undefined): number | null => (value === undefined || value < 0 ? null : value);

/** The other keys of the records, as far as they are kept: numbers, or words of a small set. */
function extraColumns(facts: FactRows): FactColumn[] {
  return facts.cellNames.flatMap((name): FactColumn[] => {
    const cells = facts.cells(name);
    const known = cells.filter((cell) => cell !== undefined && cell !== null && cell !== IN_RECORD);
    const column = `extras_${wordOf(name)}`;
    if (known.length === 0) return [];
    if (known.every((cell) => typeof cell === 'boolean'))
      return [ofEach(column, 'BOOLEAN', (row) => (cells[row] === true ? true : cells[row] === false ? false : null))];
    if (known.every((cell) => typeof cell === 'number' || typeof cell === 'boolean'))
      return [ofEach(column, 'DOUBLE', (row) => numberIn(cells[row]))];
    return [ofEach(column, 'STRING', (row) => cellText(cells[row]))];
  });
}

type TableCell = ReturnType<FactRows['cells']>[number];

const numberIn = (cell: TableCell): number | null =>
  typeof cell === 'number' ? cell : typeof cell === 'boolean' ? Number(cell) : null;

const cellText = (cell: TableCell): string | null =>
  cell === undefined || cell === null || typeof cell === 'symbol' || typeof cell === 'object' ? null : String(cell);
