import type { Check } from '../../core/rollout/checks.ts';
import type { SignalCheck } from '../signal/signal-audit.ts';
import type { DateLiteral } from './dates.ts';
import { type Field, fieldName } from './fields.ts';

export type Comparison = '==' | '!=' | '<' | '<=' | '>' | '>=';
export type Literal = number | string | boolean | null | DateLiteral;

/** A filter as a tree. */
export type Expression =
  | { op: 'and' | 'or'; left: Expression; right: Expression }
  | { op: 'not'; of: Expression }
  | { op: 'compare'; field: Field; by: Comparison; value: Literal }
  | { op: 'match'; field: Field; source: string; ignoresCase: boolean }
  | { op: 'finding'; check: Check }
  /** A finding of the rollout's whole step. */
  | { op: 'signal'; check: SignalCheck };

/** The expression as equivalent text, with no more brackets than necessary. */
export function printExpression(expression: Expression): string {
  switch (expression.op) {
    case 'and':
    case 'or': {
      const sign = expression.op === 'and' ? '&&' : '||';
      const side = (part: Expression, isRight: boolean) =>
        bracketed(part, (expression.op === 'and' && part.op === 'or') || (isRight && part.op === expression.op));
      return `${side(expression.left, false)} ${sign} ${side(expression.right, true)}`;
    }
    case 'not':
      // `!~` is how people write it, and parses to the same expression.
      if (expression.of.op === 'match') return printMatch(expression.of, '!~');
      return `!${bracketed(expression.of, !['not', 'finding', 'signal'].includes(expression.of.op))}`;
    case 'compare':
      return `${fieldName(expression.field)} ${expression.by} ${printLiteral(expression.value)}`;
    case 'match':
      return printMatch(expression, '~');
    case 'finding':
    case 'signal':
      return `finding:${expression.check}`;
  }
}

const bracketed = (expression: Expression, isNeeded: boolean): string =>
  isNeeded ? `(${printExpression(expression)})` : printExpression(expression);

const printMatch = (match: Extract<Expression, { op: 'match' }>, sign: string): string =>
  `${fieldName(match.field)} ${sign} /${match.source.replaceAll('/', '\\/')}/${match.ignoresCase ? 'i' : ''}`;

function printLiteral(value: Literal): string {
  if (typeof value === 'object' && value !== null) return value.text;
  if (typeof value === 'number') return Object.is(value, -0) ? '-0' : String(value);
  return typeof value === 'string'
    ? `"${value.replace(/["\\]/g, '\\$&').replaceAll('\n', '\\n').replaceAll('\t', '\\t')}"`
    : String(value);
}
