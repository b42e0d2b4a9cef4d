import type { JsonValue } from '../../core/json/value.ts';
import { againValues } from './again.ts';
import { contextValues } from './context.ts';
import { costOf, evaluator, type FilterTerm, type FilterVerdict, NO, neededWords, termTest, YES } from './evaluator.ts';
import type { Expression } from './expression.ts';
import type { Cost, Field } from './fields.ts';
import { labelValues } from './label.ts';
import { parseQuery } from './parse.ts';
import type { Subject } from './subject.ts';

/** A compiled filter. */
export interface Query {
  text: string;
  expression: Expression;
  cost: Cost;
  /** Those that it uses. */
  fields: readonly Field[];
  /** It uses data kept beside the dump: rerun calls, labels. */
  asksKept: boolean;
  /** It uses values of the whole group. */
  asksGroups: boolean;
  /** It uses findings of whole steps. */
  asksSignals: boolean;
  /** It uses which rollouts this user has read. */
  asksRead: boolean;
  /** Never throws. */
  accepts(subject: Askable): boolean;
}

/** The parts of a record that a filter asks for. */
type Askable = Pick<Subject, 'value' | 'has' | 'mayHold'> &
  Partial<Pick<Subject, 'hasSignal' | 'again' | 'labels' | 'record'>>;

/** @throws QueryError at the character that is wrong */
export function compileQuery(text: string): Query {
  const expression = parseQuery(text);
  const verdict = evaluator(expression, judgeRecord);
  const terms = termsIn(expression);
  const fields = terms.flatMap((term) => ('field' in term ? [term.field] : []));
  return {
    text,
    expression,
    cost: costOf(expression),
    fields,
    asksKept: fields.some(({ type }) => type === 'again' || type === 'label'),
    asksGroups: fields.some(({ type }) => type === 'group'),
    asksSignals: terms.some(({ op }) => op === 'signal'),
    asksRead: fields.some(({ type }) => type === 'read'),
    accepts: (subject) => verdict(subject) === YES,
  };
}

function judgeRecord(term: FilterTerm): (subject: Askable) => FilterVerdict {
  const holds = recordTest(term);
  return (subject) => (holds(subject) ? YES : NO);
}

function recordTest(term: FilterTerm): (subject: Askable) => boolean {
  if (term.op === 'finding') return (subject) => subject.has(term.check);
  if (term.op === 'signal') return (subject) => subject.hasSignal?.(term.check) === true;
  const { field } = term;
  const holds = termTest(term);
  if (!hasMany(field)) {
    const words = neededWords(term);
    return (subject) => (words?.some((word) => subject.mayHold(word)) ?? true) && holds(subject.value(field));
  }
  // Whether anything is kept at all: `again == null`.
  if (
    term.op === 'compare' &&
    term.value === null &&
    (field.type === 'label' || (field.type === 'again' && field.part === null))
  )
    return (subject) =>
      manyValues(subject, field).every((values) => values.every((one) => one === null)) === (term.by === '==');
  const isForAll = term.op === 'compare' && term.by === '!=';
  return (subject) =>
    manyValues(subject, field).some((values) => (isForAll ? values.every(holds) : values.some(holds)));
}

type FieldOfMany = Extract<Field, { type: 'again' | 'label' | 'context' }>;

/** It asks each rerun call, rater or history, and holds if it holds for one. */
const hasMany = (field: Field): field is FieldOfMany =>
  field.type === 'again' || field.type === 'label' || field.type === 'context';

/** `!=` must hold for all values of a list: those of one rerun call, of one rater, of all histories. */
function manyValues({ again = [], labels = [], record }: Askable, field: FieldOfMany): JsonValue[][] {
  if (field.type === 'context') return [contextValues(record?.rollout ?? null, field.name)];
  return field.type === 'again'
    ? again.map((call) => againValues(call, field.part))
    : labels.map((word) => labelValues(word, field.name)).filter((values) => values.length > 0);
}

function termsIn(expression: Expression): FilterTerm[] {
  switch (expression.op) {
    case 'and':
    case 'or':
      return [...termsIn(expression.left), ...termsIn(expression.right)];
    case 'not':
      return termsIn(expression.of);
    default:
      return [expression];
  }
}
