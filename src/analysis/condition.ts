import { compare, evaluator, NO, termTest, YES } from './query/evaluator.ts';
import type { Comparison, Expression } from './query/expression.ts';
import { fieldName } from './query/fields.ts';
import { parseQuery } from './query/parse.ts';
import { QueryError } from './query/query-error.ts';
import { tokensOf } from './query/tokens.ts';
import type { StepStats } from './step-stats.ts';

const QUANTITIES = {
  score: ({ mean }: StepStats) => mean,
  tool_error_rate: ({ toolErrors, observed }: StepStats) => (observed === 0 ? null : toolErrors / observed),
  truncation_rate: ({ truncated, looked }: StepStats) => (looked === 0 ? null : truncated / looked),
} as const;

type Quantity = keyof typeof QUANTITIES;

const isQuantity = (name: string): name is Quantity => Object.hasOwn(QUANTITIES, name);

/** A condition on a complete step: `score < 0.1`, `tool_error_rate > 0.2 && score < 0.5`. */
export interface Condition {
  text: string;
  /** null while it does not hold, else the reason: `score 0.03 < 0.1`. */
  judge(stats: StepStats): string | null;
}

/** A filter's grammar over the means of a step; shares are 0 … 1. @throws QueryError at the character that is wrong */
export function parseCondition(text: string): Condition {
  const names = new Set<Quantity>();
  for (const token of tokensOf(text)) {
    if (token.kind === 'name' && isQuantity(token.value)) names.add(token.value);
    else if (token.kind === 'name')
      throw new QueryError(`of a step are known ${Object.keys(QUANTITIES).join(', ')}`, token.at);
    else if (token.kind === 'string' || token.kind === 'pattern')
      throw new QueryError('a mean is compared with a number', token.at);
  }
  const expression = parseQuery(text);
  const verdict = evaluator<(name: string) => number | undefined>(expression, (term) => {
    if (term.op === 'finding' || term.op === 'signal') return () => NO;
    const holds = termTest(term);
    return (mean) => (holds(mean(fieldName(term.field))) ? YES : NO);
  });
  return {
    text,
    judge(stats) {
      const value = (name: string) => (isQuantity(name) ? (QUANTITIES[name](stats) ?? undefined) : undefined);
      if (![...names].some((name) => value(name) !== undefined)) return null;
      if (verdict(value) === NO) return null;
      return reason(expression, names, value, text);
    },
  };
}

function reason(
  expression: Expression,
  names: ReadonlySet<Quantity>,
  value: (name: string) => number | undefined,
  text: string,
): string {
  if (expression.op === 'compare' && typeof expression.value === 'number') {
    const name = fieldName(expression.field);
    return `${name} ${conditionText(value(name)!, expression.by, expression.value)} ${expression.by} ${expression.value}`;
  }
  const values = [...names].map(
    (name) => `${name} ${value(name) === undefined ? '–' : conditionText(value(name)!, null, 0)}`,
  );
  return `${values.join(', ')}: ${text.trim()}`;
}

/** Two decimals, or as many as it takes for the statement to be true: 0.0996 is below 0.1, and 0.10 is not. */
function conditionText(value: number, by: Comparison | null, limit: number): string {
  const short = value.toFixed(2);
  if (by === null || compare(Number(short), by, limit)) return short;
  for (let digits = 2; digits < 17; digits++) {
    const longer = Number(value.toPrecision(digits));
    if (compare(longer, by, limit)) return String(longer);
  }
  return String(value);
}
