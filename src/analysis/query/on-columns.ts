import { IN_RECORD } from '../../core/dump/cell-column.ts';
import type { JsonValue } from '../../core/json/value.ts';
import { float64At, itemAt } from '../../core/lists/at.ts';
import { Facts } from '../../core/rollout/fact-row.ts';
import { FACTS, factAt, factValue } from '../../core/rollout/facts.ts';
import { ASK, evaluator, type FilterTerm, type FilterVerdict, NO, termTest, YES } from './evaluator.ts';
import type { Expression } from './expression.ts';
import type { Field } from './fields.ts';

/** The facts of examined records, by column. */
export interface KnownColumns {
  isLooked(record: number): boolean;
  /** In the order of a row of facts. */
  rows: readonly { at(record: number): number }[];
  status(record: number): string | null | typeof IN_RECORD;
  cell(record: number, path: string): JsonValue | undefined | typeof IN_RECORD;
}

/** No record was examined. */
export const NO_COLUMNS: KnownColumns = {
  isLooked: () => false,
  rows: [],
  status: () => IN_RECORD,
  cell: () => IN_RECORD,
};

/** Knowledge of a file's records that needs no read. */
export interface IndexedFile {
  stream: string;
  index: { length(record: number): number; columns: KnownColumns };
  stepOf(record: number): number | null;
  /** undefined if the line's end did not show it. */
  score(record: number): number | null | undefined;
  /** A measure of each record's group by name, NaN if unknown; null if the groups were not computed yet. */
  measures: ((name: string) => Float64Array) | null;
  /** The findings of its step that a record is part of; null if the steps were not examined yet. */
  signals: ReadonlyMap<number, readonly string[]> | null;
  /** Whether this user has read it; null if nothing keeps that. */
  isRead(record: number): boolean | null;
}

/** The value of a field for a record of one file; IN_RECORD if only the record has it, or it is not known yet. */
export type FieldReader = (record: number) => JsonValue | undefined | typeof IN_RECORD;

/** It reads the file's columns as they are when it is called, until the file has others. */
export function knownValue(file: IndexedFile, field: Field): FieldReader {
  const { columns } = file.index;
  switch (field.type) {
    case 'number':
      if (field.name === 'sample') return (record) => record + 1;
      if (field.name === 'bytes') return (record) => file.index.length(record);
      if (field.name === 'step') return (record) => file.stepOf(record) ?? undefined;
      if (field.name === 'findings')
        return (record) => (columns.isLooked(record) ? Facts.countFound(columns.rows, record) : IN_RECORD);
      return (record) => {
        const score = file.score(record);
        return score === undefined ? IN_RECORD : (score ?? undefined);
      };
    case 'fact': {
      const at = factAt(field.name);
      const fact = itemAt(FACTS, at);
      return (record) => {
        if (!columns.isLooked(record)) return IN_RECORD;
        const value = itemAt(columns.rows, at).at(record);
        return Number.isNaN(value) ? undefined : factValue(fact, value);
      };
    }
    case 'text':
      if (field.name === 'stream') return () => file.stream;
      if (field.name !== 'status') return () => IN_RECORD;
      return (record) => (columns.isLooked(record) ? (columns.status(record) ?? undefined) : IN_RECORD);
    case 'extra':
      return (record) => (columns.isLooked(record) ? columns.cell(record, field.path) : IN_RECORD);
    case 'read':
      return (record) => file.isRead(record) ?? undefined;
    case 'group': {
      let laid: IndexedFile['measures'] = null;
      let measure: Float64Array = new Float64Array(0);
      return (record) => {
        if (file.measures === null) return IN_RECORD;
        if (file.measures !== laid) {
          laid = file.measures;
          measure = laid(field.name);
        }
        const value = float64At(measure, record);
        return Number.isNaN(value) ? undefined : value;
      };
    }
    default:
      return () => IN_RECORD;
  }
}

/** Whether an expression holds for a record of a file, as far as its columns show. */
export function verdictOn(expression: Expression, file: IndexedFile): (record: number) => FilterVerdict {
  return evaluator(expression, (term) => judgeColumns(term, file));
}

function judgeColumns(term: FilterTerm, file: IndexedFile): (record: number) => FilterVerdict {
  if (term.op === 'finding') {
    const { columns } = file.index;
    const found = Facts.finder(term.check);
    return (record) => (!columns.isLooked(record) ? ASK : found(columns.rows, record) ? YES : NO);
  }
  if (term.op === 'signal')
    return (record) =>
      file.signals === null ? ASK : file.signals.get(record)?.includes(term.check) === true ? YES : NO;
  const read = knownValue(file, term.field);
  const holds = termTest(term);
  return (record) => {
    const value = read(record);
    return value === IN_RECORD ? ASK : holds(value) ? YES : NO;
  };
}
