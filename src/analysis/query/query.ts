import { RE2JS } from 're2js';
import type { JsonValue } from '../../rollout/json.ts';
import type { Comparison, Expression, Literal } from './expression.ts';
import { type Cost, fieldCost } from './fields.ts';
import { parseQuery } from './parse.ts';
import { type Subject, textOf } from './subject.ts';

/** A filter that is ready to be asked. */
export interface Query {
  text: string;
  cost: Cost;
  /** Never throws. */
  accepts(subject: Subject): boolean;
}

/** What an expression asks of whatever it is about: a record, or a step. */
export type Asked = Pick<Subject, 'value' | 'facts'>;

/** @throws QueryError at the character that is wrong */
export function compileQuery(text: string): Query {
  const expression = parseQuery(text);
  return { text, cost: costOf(expression), accepts: evaluator(expression) };
}

/**
 * `!=` and `!~` are the opposite of `==` and `~`, so what is not there is unequal to everything but null. NaN is neither less
 * nor greater than any number, and `== NaN` finds it.
 */
export function evaluator(expression: Expression): (subject: Asked) => boolean {
  switch (expression.op) {
    case 'and': {
      const [left, right] = [evaluator(expression.left), evaluator(expression.right)];
      return (subject) => left(subject) && right(subject);
    }
    case 'or': {
      const [left, right] = [evaluator(expression.left), evaluator(expression.right)];
      return (subject) => left(subject) || right(subject);
    }
    case 'not': {
      const of = evaluator(expression.of);
      return (subject) => !of(subject);
    }
    case 'finding':
      return (subject) => subject.facts.findings.includes(expression.check);
    case 'compare':
      return (subject) => compare(subject.value(expression.field), expression.by, expression.value);
    case 'match': {
      const finds = finder(expression.source, expression.ignoresCase);
      return (subject) => {
        const value = subject.value(expression.field);
        return value !== undefined && value !== null && finds(textOf(value));
      };
    }
  }
}

function compare(value: JsonValue | undefined, by: Comparison, wanted: Literal): boolean {
  if (by === '==') return isEqual(value ?? null, wanted);
  if (by === '!=') return !isEqual(value ?? null, wanted);
  // A big integer keeps its digits as a bigint, and compares with numbers exactly.
  if ((typeof value !== 'number' && typeof value !== 'bigint') || typeof wanted !== 'number') return false;
  return by === '<' ? value < wanted : by === '<=' ? value <= wanted : by === '>' ? value > wanted : value >= wanted;
}

function isEqual(value: JsonValue, wanted: Literal): boolean {
  if (typeof value === 'number' && typeof wanted === 'number')
    return value === wanted || (Number.isNaN(value) && Number.isNaN(wanted));
  // biome-ignore lint/suspicious/noDoubleEquals: a bigint equals the number of the same value
  if (typeof value === 'bigint' && typeof wanted === 'number') return value == (wanted as unknown as bigint);
  return value === wanted;
}

/** Text without a sign of its own is searched for as it stands, which is much faster than any pattern. */
const LITERAL = /^(?:[\w\s"'<>=:;,%@#&!~`-]|\\[^\w])*$/;

function finder(source: string, ignoresCase: boolean): (text: string) => boolean {
  if (!ignoresCase && LITERAL.test(source)) {
    const literal = source.replace(/\\(.)/g, '$1');
    return (text) => text.includes(literal);
  }
  const pattern = RE2JS.compile(source, ignoresCase ? RE2JS.CASE_INSENSITIVE : 0);
  return (text) => pattern.matcher(text).find();
}

function costOf(expression: Expression): Cost {
  switch (expression.op) {
    case 'and':
    case 'or': {
      const costs = [costOf(expression.left), costOf(expression.right)];
      return costs.includes('record') ? 'record' : costs.includes('facts') ? 'facts' : 'quick';
    }
    case 'not':
      return costOf(expression.of);
    case 'finding':
      return 'facts';
    default:
      return fieldCost(expression.field);
  }
}
