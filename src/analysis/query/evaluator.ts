import { RE2JS } from 're2js';
import { printJson } from '../../core/json/print.ts';
import type { JsonValue } from '../../core/json/value.ts';
import { type DateLiteral, momentOf } from './dates.ts';
import type { Comparison, Expression, Literal } from './expression.ts';
import { type Cost, fieldCost } from './fields.ts';

/** ASK: the values at hand do not decide it. */
export const NO = 0;
export const YES = 1;
export const ASK = 2;
export type FilterVerdict = typeof NO | typeof YES | typeof ASK;

/** A part of a filter that is no `and`, `or` or `not`. */
export type FilterTerm = Exclude<Expression, { op: 'and' | 'or' | 'not' }>;
export type ValueTerm = Exclude<FilterTerm, { op: 'finding' | 'signal' }>;

/**
 * Whether an expression holds, whatever its values are taken from: records, columns, means of a step.
 * @param judge whether one of its terms holds; it must never throw
 */
export function evaluator<T>(
  expression: Expression,
  judge: (term: FilterTerm) => (of: T) => FilterVerdict,
): (of: T) => FilterVerdict {
  switch (expression.op) {
    case 'not': {
      const verdict = evaluator(expression.of, judge);
      return (of) => negated(verdict(of));
    }
    case 'and':
    case 'or': {
      const { left, right } = expression;
      // Neither side has an effect, so the cheaper one is evaluated first: it may spare the other.
      const isSwapped = COSTS.indexOf(costOf(right)) < COSTS.indexOf(costOf(left));
      const first = evaluator(isSwapped ? right : left, judge);
      const second = evaluator(isSwapped ? left : right, judge);
      const decisive = expression.op === 'and' ? NO : YES;
      return (of) => {
        const verdict = first(of);
        if (verdict === decisive) return verdict;
        const other = second(of);
        return verdict === ASK && other !== decisive ? ASK : other;
      };
    }
    default:
      return judge(expression);
  }
}

const negated = (verdict: FilterVerdict): FilterVerdict => (verdict === ASK ? ASK : verdict === YES ? NO : YES);

const COSTS: readonly Cost[] = ['quick', 'facts', 'record'];

/** The cost of its most expensive field. */
export function costOf(expression: Expression): Cost {
  switch (expression.op) {
    case 'and':
    case 'or': {
      const costs = [costOf(expression.left), costOf(expression.right)];
      return costs.includes('record') ? 'record' : costs.includes('facts') ? 'facts' : 'quick';
    }
    case 'not':
      return costOf(expression.of);
    case 'finding':
    case 'signal':
      return 'facts';
    default:
      return fieldCost(expression.field);
  }
}

/**
 * Whether a term holds for the value of its field (undefined if missing). `!=` and `!~` are the negations of `==`
 * and `~`, so a missing value is unequal to everything but null. NaN is neither less nor greater than any number, and
 * `== NaN` finds it.
 */
export function termTest(term: ValueTerm): (value: JsonValue | undefined) => boolean {
  if (term.op === 'compare') return (value) => compare(value, term.by, term.value);
  const finds = finder(term.source, term.ignoresCase);
  return (value) => value !== undefined && value !== null && finds(textOf(value));
}

/** A value as text to match: strings as they are, everything else as JSON. */
export const textOf = (value: JsonValue): string => (typeof value === 'string' ? value : printJson(value));

export function compare(value: JsonValue | undefined, by: Comparison, wanted: Literal): boolean {
  if (typeof wanted === 'object' && wanted !== null) return compareDates(momentOf(value), by, wanted);
  if (by === '==') return isEqualValue(value ?? null, wanted);
  if (by === '!=') return !isEqualValue(value ?? null, wanted);
  // A big integer keeps its digits as a bigint, which compares with numbers exactly.
  if ((typeof value !== 'number' && typeof value !== 'bigint') || typeof wanted !== 'number') return false;
  return by === '<' ? value < wanted : by === '<=' ? value <= wanted : by === '>' ? value > wanted : value >= wanted;
}

/** A day covers all its moments: later than it means from the next day on. */
function compareDates(moment: number, by: Comparison, { date, lasts }: DateLiteral): boolean {
  const isWithin = moment >= date && moment < date + Math.max(1, lasts);
  if (by === '==' || by === '!=') return isWithin === (by === '==');
  if (by === '<') return moment < date;
  if (by === '>=') return moment >= date;
  return by === '<=' ? moment < date || isWithin : moment > date && !isWithin;
}

function isEqualValue(value: JsonValue, wanted: Exclude<Literal, DateLiteral>): boolean {
  if (typeof value === 'number' && typeof wanted === 'number')
    return value === wanted || (Number.isNaN(value) && Number.isNaN(wanted));
  // biome-ignore lint/suspicious/noDoubleEquals: a bigint equals the number of the same value
  if (typeof value === 'bigint' && typeof wanted === 'number') return value == (wanted as unknown as bigint);
  return value === wanted;
}

/** Plain text is searched for literally, which is much faster than a pattern; so are several alternatives. */
const LITERAL = /^(?:[\w\s"'<>=:;,%@#&!~`-]|\\[^\w|])+$/;

function literalsOf(source: string): string[] | null {
  const parts = source.split('|');
  return parts.every((part) => LITERAL.test(part)) ? parts.map((part) => part.replace(/\\(.)/g, '$1')) : null;
}

/** Non-ASCII letters whose case folding to ASCII differs between JavaScript and RE2: ſ and İ. */
const FOLDS_OTHERWISE = /[\u017f\u0130]/;
const ASCII = /^[\0-\x7f]*$/;

function finder(source: string, ignoresCase: boolean): (text: string) => boolean {
  const literals = literalsOf(source);
  if (literals !== null && !ignoresCase) return (text) => literals.some((literal) => text.includes(literal));
  const pattern = RE2JS.compile(source, ignoresCase ? RE2JS.CASE_INSENSITIVE : 0);
  const matches = (text: string) => pattern.matcher(text).find();
  if (literals === null || !ASCII.test(source)) return matches;
  const lower = literals.map((literal) => literal.toLowerCase());
  return (text) => {
    if (FOLDS_OTHERWISE.test(text)) return matches(text);
    const folded = text.toLowerCase();
    return lower.some((literal) => folded.includes(literal));
  };
}

/** Characters that JSON writes unescaped, for its own fields: a line without them cannot match. */
const WRITTEN_AS_THEY_ARE = /^[\x20-\x21\x23-\x2e\x30-\x5b\x5d-\x7e]{2,}$/;

/** The term can hold only for a line with some of these characters; null if it may hold for any line. */
export function neededWords(term: ValueTerm): string[] | null {
  if (term.op !== 'match' || term.ignoresCase) return null;
  const { field, source } = term;
  // Only prompt and response are matched as they appear in the line; every other text is derived from it.
  const isVerbatim = field.type === 'text' && (field.name === 'input' || field.name === 'output');
  const literals = isVerbatim ? literalsOf(source) : null;
  return literals?.every((literal) => WRITTEN_AS_THEY_ARE.test(literal)) ? literals : null;
}
