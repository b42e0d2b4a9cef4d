import { type Condition, parseCondition } from '../../analysis/condition.ts';
import { compileQuery, type Query } from '../../analysis/query/query.ts';
import { QueryError } from '../../analysis/query/query-error.ts';
import { parseSort, type SortOrder } from '../../analysis/query/sort.ts';
import { UsageError } from '../../core/dump/paths.ts';
import { cellWidth } from '../../core/text/graphemes.ts';
import { sanitiseLine } from '../../core/text/sanitise.ts';

/** The value of `--filter`, or of another flag that takes a filter. @throws UsageError that points at the character */
export const filterOf = (text: string | undefined, option = '--filter'): Query | null =>
  text === undefined || text.trim() === '' ? null : pointed(option, text, compileQuery);

/** `--sort KEY[:desc]`. @throws UsageError that points at the character */
export const sortOf = (text: string | undefined, option = '--sort'): SortOrder | null =>
  text === undefined ? null : pointed(option, text, parseSort);

/** Each `--notify EXPR`. @throws UsageError that points at the character */
export const conditionsOf = (texts: readonly string[] = []): Condition[] =>
  texts.map((text) => pointed('--notify', text, parseCondition));

function pointed<T>(option: string, text: string, read: (text: string) => T): T {
  try {
    return read(text);
  } catch (error) {
    if (!(error instanceof QueryError)) throw error;
    const before = cellWidth(sanitiseLine(text.slice(0, error.at)));
    throw new UsageError(`${option}: ${error.message}`, [sanitiseLine(text), `${' '.repeat(before)}^`]);
  }
}
