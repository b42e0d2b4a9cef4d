import { IN_RECORD } from '../../core/dump/cell-column.ts';
import { CHECKS } from '../../core/rollout/checks.ts';
import { FACTS, factValue } from '../../core/rollout/facts.ts';
import type { FactRows } from './fact-rows.ts';
import { GROUP_MEASURES } from './group-measures.ts';

export type FactCell = number | string | boolean | null;

/** A column of the table of facts, as a file or a database has it. */
export interface FactColumn {
  /** A word: the dots of a fact's name are underscores here. */
  name: string;
  type: 'DOUBLE' | 'INT32' | 'STRING' | 'BOOLEAN';
  /** null where it is unknown. */
  at(row: number): FactCell;
}

/** One row a rollout: its place, its scores, every fact, measure and finding, and the values of the record's other keys. */
export function factColumns(facts: FactRows, runOf: (path: string) => string): FactColumn[] {
  const { groups, prompts } = facts;
  return [
    { name: 'run', type: 'STRING', at: (row) => runOf(facts.place(row).file.path) },
    { name: 'locator', type: 'STRING', at: (row) => locatorIn(facts, row) },
    { name: 'stream', type: 'STRING', at: (row) => facts.place(row).file.stream },
    numbers(facts, 'step'),
    { name: 'score', type: 'DOUBLE', at: (row) => scoreIn(facts, row) },
    { name: 'group_id', type: 'INT32', at: (row) => numberOrNull(groups[row]) },
    { name: 'prompt_id', type: 'INT32', at: (row) => numberOrNull(prompts[row]) },
    ...GROUP_MEASURES.map((name) => numbers(facts, name)),
    ...FACTS.map((fact): FactColumn => {
      if (fact.words === undefined && fact.isSignature === undefined) return numbers(facts, fact.name);
      const column = facts.factNumbers(fact.name);
      return { name: wordOf(fact.name), type: 'STRING', at: (row) => wordAt(fact, column[row]) };
    }),
    ...CHECKS.map(
      (check): FactColumn => ({
        name: `finding_${check}`,
        type: 'BOOLEAN',
        at: (row) => facts.has(row, check) || (facts.isObserved(row, check) ? false : null),
      }),
    ),
    ...extraColumns(facts),
  ];
}

const wordOf = (name: string): string => name.replaceAll('.', '_');

function numbers(facts: FactRows, name: string): FactColumn {
  const column = facts.numbers(name);
  return {
    name: wordOf(name),
    type: 'DOUBLE',
    at: (row) => {
      const value = column[row];
      return value === undefined || Number.isNaN(value) ? null : value;
    },
  };
}

const wordAt = (fact: (typeof FACTS)[number], value: number | undefined): FactCell =>
  value === undefined || Number.isNaN(value) ? null : factValue(fact, value);

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
      return [
        {
          name: column,
          type: 'BOOLEAN',
          at: (row) => (cells[row] === true ? true : cells[row] === false ? false : null),
        },
      ];
    if (known.every((cell) => typeof cell === 'number' || typeof cell === 'boolean'))
      return [{ name: column, type: 'DOUBLE', at: (row) => numberIn(cells[row]) }];
    return [{ name: column, type: 'STRING', at: (row) => cellText(cells[row]) }];
  });
}

type TableCell = ReturnType<FactRows['cells']>[number];

const numberIn = (cell: TableCell): number | null =>
  typeof cell === 'number' ? cell : typeof cell === 'boolean' ? Number(cell) : null;

const cellText = (cell: TableCell): string | null =>
  cell === undefined || cell === null || typeof cell === 'symbol' || typeof cell === 'object' ? null : String(cell);
