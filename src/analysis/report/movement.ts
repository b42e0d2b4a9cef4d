import type { Printable } from '../../core/json/print.ts';
import { plural } from '../../core/text/numbers.ts';
import { doubtsOf, doubtsText } from '../doubts.ts';
import type { FactRows } from '../facts/fact-rows.ts';
import type { Movement } from '../movement/movement.ts';
import { column, ownColumn, stepColumn } from './columns.ts';
import { locatorText, type Report } from './report.ts';

/** Every number with its correlations with the score, and its clearest jump. */
export function movementReport(facts: FactRows, found: readonly Movement[]): Report<Movement> {
  const doubts = doubtsText(doubtsOf(facts));
  const locators = (rows: readonly number[]): string[] => rows.map((row) => locatorText(facts.place(row)));
  return {
    title: `changes: ${plural(found.filter(({ isAlarm }) => isAlarm).length, 'alarm')}`,
    columns: [
      {
        key: 'alarm',
        title: '!',
        type: 'text',
        meaning: 'a change that chance does not explain and that is large enough to matter',
        identifies: true,
        width: 1,
        hidesIfSame: true,
        value: ({ isAlarm }) => (isAlarm ? '!' : ''),
      },
      {
        key: 'name',
        title: 'number',
        type: 'text',
        meaning: 'a number, a finding, a word or a phrase of the rollouts',
        identifies: true,
        grows: true,
        width: 24,
        value: ({ name }) => name,
      },
      column('change.step', 'step', 'step', 'the step in which it changed, or began to grow', ({ since }) => since),
      {
        key: 'until',
        title: 'until',
        type: 'step',
        meaning: 'the step that ended its growth; none for a jump',
        hidesIfSame: true,
        value: ({ isTrend, until }) => (isTrend ? until : null),
      },
      column('change.before', 'before', 'number', 'mean before that step', ({ change }) => change?.before ?? null),
      {
        key: 'change.after',
        title: 'after',
        type: 'number',
        meaning: 'mean from then on, or from the end of its growth',
        value: ({ change }) => change?.after ?? null,
      },
      {
        key: 'p.of_change',
        title: 'p',
        type: 'chance',
        meaning: 'p value of the jump, corrected for the numbers that were tried',
        value: ({ change, p }) => (change === null ? null : p),
      },
      {
        key: 'within',
        title: 'r group',
        type: 'number',
        meaning: 'rank correlation with the score among rollouts of one prompt',
        value: ({ within }) => within,
      },
      {
        key: 'within_p',
        title: 'p group',
        type: 'chance',
        meaning: 'p value of the correlation within groups',
        value: ({ within, withinP }) => (Number.isNaN(within) ? null : withinP),
      },
      {
        key: 'over_steps',
        title: 'r steps',
        type: 'number',
        meaning: 'rank correlation of its means by step with those of the score',
        value: ({ overSteps }) => overSteps,
      },
      ownColumn('trend', 'number', 'rank correlation of its means by step with the step'),
      {
        key: 'alike.first',
        title: 'changed with it',
        type: 'text',
        meaning: 'other numbers that changed at the same time',
        hidesIfSame: true,
        width: 20,
        value: ({ alike: [first, ...others] }) =>
          first === undefined ? '' : `${first}${others.length === 0 ? '' : ` and ${others.length} more`}`,
      },
      {
        key: 'after.first',
        title: 'example',
        type: 'rollout',
        meaning: 'a rollout after the change',
        value: ({ examples: { after } }) => (after[0] === undefined ? null : facts.place(after[0])),
      },
    ],
    rows: found,
    details: ({
      change,
      p,
      withinP,
      isAlarm,
      isTrend,
      since,
      until,
      alike,
      examples,
    }): { [key: string]: Printable } => ({
      within_p: withinP,
      change:
        change === null
          ? null
          : { step: change.step, before: known(change.before), after: known(change.after), jump: change.jump },
      since,
      until,
      grows: isTrend,
      p,
      alarm: isAlarm,
      alike: [...alike],
      before: locators(examples.before),
      after: locators(examples.after),
    }),
    leftOut: doubts === '' ? [] : [doubts],
    empty: 'no number varies',
  };
}

const known = (value: number): number | null => (Number.isNaN(value) ? null : value);

interface MovedRow {
  row: number;
  isAfter: boolean;
}

/** Rollouts from before and after a number's change. */
export function movedReport(facts: FactRows, name: string, movement: Movement | null): Report<MovedRow> {
  const { before = [], after = [] } = movement?.examples ?? {};
  const change = movement?.change ?? null;
  const [steps, scores, values] = [facts.numbers('step'), facts.numbers('score'), facts.numbers(name)];
  const side = (rows: readonly number[], isAfter: boolean): MovedRow[] => rows.map((row) => ({ row, isAfter }));
  return {
    title: `${name} around step ${change?.step ?? '–'}`,
    columns: [
      {
        key: 'side',
        title: 'side',
        type: 'text',
        meaning: 'before or after the change',
        identifies: true,
        width: 6,
        value: ({ isAfter }) => (isAfter ? 'after' : 'before'),
      },
      { ...stepColumn, value: ({ row }) => steps[row] ?? null },
      column('score', 'score', 'score', 'recorded score', ({ row }) => scores[row] ?? null),
      column('value', 'value', 'number', 'the number that changed', ({ row }) => values[row] ?? null),
      {
        key: 'locator',
        title: 'prompt',
        type: 'prompt',
        meaning: 'the prompt of the rollout',
        grows: true,
        value: ({ row }) => facts.place(row),
      },
    ],
    rows: [...side(before, false), ...side(after, true)],
    empty: 'no rollout shows it',
  };
}
