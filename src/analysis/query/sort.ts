import { printJson } from '../../core/json/print.ts';
import type { JsonValue } from '../../core/json/value.ts';
import { type Field, fieldNamed, nearField } from './fields.ts';
import { QueryError } from './query-error.ts';
import type { Subject } from './subject.ts';

/** The order of the list. */
export interface SortOrder {
  /** `score`, `reward.extra` … */
  key: string;
  field: Field;
  descending: boolean;
}

/** `score`, `score:desc`, `reward.extra:asc`. @throws QueryError */
export function parseSort(text: string): SortOrder {
  const [, name = '', direction] = /^\s*(.*?)\s*(?::\s*(\w*)\s*)?$/s.exec(text)!;
  if (!/^[\p{L}_][\p{L}\p{N}_.-]*$/u.test(name))
    throw new QueryError('expected a name, such as score or score:desc', 0);
  if (direction !== undefined && direction !== 'asc' && direction !== 'desc')
    throw new QueryError('expected asc or desc after the colon', text.lastIndexOf(':') + 1);
  const field = fieldNamed(name);
  if (field.type === 'again' || field.type === 'label') throw new QueryError('rows are filtered by it, not sorted', 0);
  const meant = field.type === 'extra' && !name.startsWith('extras.') ? nearField(name) : null;
  if (meant !== null)
    throw new QueryError(`did you mean ${meant}? If the records have a key of this name, write extras.${name}`, 0);
  return { key: name, field, descending: direction === 'desc' };
}

export type SortValue = number | string | null;

export const sortValue = (order: SortOrder, subject: Subject): SortValue => sortable(subject.value(order.field));

export function sortable(value: JsonValue | undefined): SortValue {
  if (value === undefined || value === null) return null;
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (typeof value === 'number' || typeof value === 'string') return value;
  return typeof value === 'bigint' ? Number(value) : printJson(value);
}

/**
 * Numbers compare as numbers and sort before texts; NaN sorts after them, and missing values last in either direction.
 */
export function compareValues(a: SortValue, b: SortValue, descending: boolean): number {
  if (a === b) return 0;
  const rank = rankOf(a) - rankOf(b);
  if (rank !== 0) return rank;
  if (a === null || b === null) return 0;
  const order = a < b ? -1 : a > b ? 1 : 0;
  return descending ? -order : order;
}

const rankOf = (value: SortValue): number =>
  value === null ? 3 : typeof value === 'string' ? 1 : Number.isNaN(value) ? 2 : 0;
