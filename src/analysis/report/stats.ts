import type { Printable } from '../../core/json/print.ts';
import { FACTS, isQuantity } from '../../core/rollout/facts.ts';
import { plural } from '../../core/text/numbers.ts';
import { meanText } from '../../core/text/quantities.ts';
import { type Bucket, bucketsOf, type NumberSpread, numberSpread } from '../charts/buckets.ts';
import { histogramOf, unknownFilter } from '../charts/histogram.ts';
import { curveOf } from '../charts/numbers-of.ts';
import { doubtsOf, doubtsText } from '../doubts.ts';
import type { FactRows } from '../facts/fact-rows.ts';
import { type ValidationFigure, validationOf } from '../prompts/validation.ts';
import type { SortValue } from '../query/sort.ts';
import type { Rest } from '../rest.ts';
import { clockOfRows } from '../step-clock.ts';
import { type SummaryRow, summarise } from '../summary.ts';
import { column, ownColumn, streamColumn } from './columns.ts';
import { ungroupedNote } from './groups.ts';
import { locatorText, type Report, type ReportColumn } from './report.ts';

/** Reasons to doubt a mean. */
const doubtsNote = (facts: FactRows): string[] => {
  const text = doubtsText(doubtsOf(facts));
  return text === '' ? [] : [text];
};

interface Keyed {
  stream: string;
  value: SortValue;
}

/** The grouping key of rollouts: a step, or another name. */
const keyColumn = (key: string): ReportColumn<Keyed> => ({
  key,
  title: key,
  type: key === 'step' ? 'step' : 'text',
  meaning: key === 'step' ? 'training step' : `value of ${key}`,
  identifies: true,
  value: ({ value }) => (typeof value === 'bigint' ? String(value) : value),
});

interface SummaryOf extends Keyed {
  sum: SummaryRow;
  members: readonly number[];
}

/** Rollouts summarised by step, or by another key. Training and validation are never averaged together. */
export function summaryReport(facts: FactRows, key: string, descending = false): Report<SummaryOf> {
  const rows = bucketsOf(facts, key, descending).map(
    ({ stream, value, members }): SummaryOf => ({ stream, value, members, sum: summarise(facts, members) }),
  );
  const names = FACTS.filter(isQuantity).filter(({ name }) => rows.some(({ sum }) => sum.facts.get(name) != null));
  const checks = [...new Set(rows.flatMap(({ sum }) => [...sum.findings.keys()]))];
  return {
    title: `${plural(facts.length, 'rollout')} by ${key}`,
    columns: [
      streamColumn,
      keyColumn(key),
      { key: 'rollouts', title: 'rollouts', type: 'count', meaning: 'rollouts', value: ({ sum }) => sum.rollouts },
      {
        key: 'bad_records',
        title: 'bad',
        type: 'count',
        meaning: 'records that are not rollouts; no other column counts them',
        value: ({ sum }) => sum.bad,
      },
      column('scored', 'scored', 'count', 'rollouts with a finite score', ({ sum }) => sum.scored),
      { key: 'score_mean', title: 'score', type: 'mean', meaning: 'mean score', value: ({ sum }) => sum.mean },
      column('score_deviation', 'deviation', 'mean', 'standard deviation of the score', ({ sum }) => sum.deviation),
      ...names.map(
        ({ name, help }): ReportColumn<SummaryOf> => ({
          key: `facts.${name}`,
          title: name,
          type: 'number',
          meaning: `mean of ${name}: ${help}`,
          value: ({ sum }) => sum.facts.get(name) ?? null,
        }),
      ),
      ...checks.map(
        (check): ReportColumn<SummaryOf> => ({
          key: `findings.${check}`,
          // Column names must be unique: `repetition` is both a fact and a finding.
          title: names.some(({ name }) => name === check) ? `finding:${check}` : check,
          type: 'tally',
          meaning: `rollouts with the finding ${check}, among those in which it could be seen`,
          value: ({ sum }) => ({ count: sum.findings.get(check) ?? 0, of: sum.observed.get(check) ?? 0 }),
        }),
      ),
      ...checks.map(
        (check): ReportColumn<SummaryOf> => ({
          key: `observed.${check}`,
          title: `${check}_observed`,
          type: 'count',
          meaning: `rollouts in which ${check} could be seen`,
          hidesFromPeople: true,
          value: ({ sum }) => sum.observed.get(check) ?? 0,
        }),
      ),
    ],
    rows,
    details: ({ sum, members }) => ({
      facts: Object.fromEntries(sum.facts),
      findings: Object.fromEntries(sum.findings),
      observed: Object.fromEntries(sum.observed),
      clock: clockJson(facts, members),
    }),
    empty: 'no rollouts',
  };
}

/** When the rollouts were made, and what delayed the last of them. */
function clockJson(facts: FactRows, members: readonly number[]): Printable {
  const clock = clockOfRows(facts, members);
  if (clock === null) return null;
  const { first, seconds, tail, straggler } = clock;
  const { kind, took, record } = straggler;
  const locator = locatorText(facts.place(record));
  return { first, seconds, tail: { ...tail }, straggler: { locator, kind, seconds: took } };
}

interface SpreadOf extends Keyed {
  number: string;
  spread: NumberSpread;
}

const SPREAD: readonly [keyof NumberSpread, string][] = [
  ['count', 'rollouts with a finite value'],
  ['mean', 'mean'],
  ['deviation', 'standard deviation'],
  ['least', 'smallest value'],
  ['median', 'median'],
  ['most', 'largest value'],
  ['unknown', 'rollouts without a finite value'],
];

const numberColumn: ReportColumn<{ number: string }> = ownColumn('number', 'text', 'name of the number', {
  identifies: true,
  hidesIfSame: true,
});

/** How numbers are distributed in each step, or for each value of another key. */
export function spreadReport(
  facts: FactRows,
  names: readonly string[],
  key: string,
  buckets: readonly Bucket[] = bucketsOf(facts, key),
): Report<SpreadOf> {
  const rows = names.flatMap((number) =>
    buckets.map(({ stream, value, members }): SpreadOf => {
      const spread = numberSpread(facts.numbers(number), members);
      return { number, stream, value, spread };
    }),
  );
  return {
    title: `${names.join(', ')} by ${key}`,
    columns: [
      numberColumn,
      streamColumn,
      keyColumn(key),
      ...SPREAD.map(
        ([name, meaning]): ReportColumn<SpreadOf> => ({
          key: name,
          title: name,
          type: name === 'count' || name === 'unknown' ? 'count' : 'number',
          meaning,
          value: ({ spread }) => spread[name],
        }),
      ),
    ],
    rows: rows.some(({ spread }) => spread.count > 0) ? rows : [],
    notes: doubtsNote(facts),
    empty: `no rollout has a number ${names.join(' or ')}`,
  };
}

interface BarOf {
  number: string;
  /** null: rollouts without a value. */
  from: number | null;
  to: number | null;
  count: number;
  share: number;
  /** The share of the largest bar. */
  bar: number;
  filter: string;
}

/** How often a number has each value; the last bar counts the rollouts without one. */
export function histogramReport(facts: FactRows, names: readonly string[]): Report<BarOf> {
  const rows = names.flatMap((number) => barsOf(facts, number));
  return {
    title: `values of ${names.join(', ')}`,
    columns: [
      numberColumn,
      ownColumn('from', 'number', 'lower end of the bar', { identifies: true }),
      ownColumn('to', 'number', 'upper end of the bar, not within it', { identifies: true }),
      ownColumn('count', 'count', 'rollouts in the bar'),
      ownColumn('share', 'share', 'share of all rollouts'),
      { key: 'bar', title: '', type: 'bar', meaning: 'count, drawn', grows: true, value: ({ bar }) => bar },
      ownColumn('filter', 'text', 'a filter for these rollouts', { width: 30 }),
    ],
    rows,
    empty: `no rollout has a number ${names.join(' or ')}`,
  };
}

function barsOf(facts: FactRows, number: string): BarOf[] {
  const { bars, unknown } = histogramOf(number, facts.numbers(number));
  if (bars.length === 0) return [];
  const most = bars.reduce((top, { count }) => Math.max(top, count), 1);
  const row = (from: number | null, to: number | null, count: number, filter: string): BarOf => ({
    number,
    from,
    to,
    count,
    share: count / Math.max(1, facts.length),
    bar: Math.min(1, count / most),
    filter,
  });
  const rows = bars.map(({ from, to, count, filter }) => row(from, to, count, filter));
  return unknown === 0 ? rows : [...rows, row(null, null, unknown, unknownFilter(number, bars))];
}

interface CurveOf {
  number: string;
  known: number;
  means: readonly number[];
}

/** Every number that varies, with its means by step. */
export async function curvesReport(facts: FactRows, rest: Rest = () => undefined): Promise<Report<CurveOf>> {
  const rows: CurveOf[] = [];
  const constant: string[] = [];
  const names = facts.numberNames.filter((name) => name !== 'step');
  for (const [done, number] of names.entries()) {
    const { points, known } = curveOf(facts, number);
    const means = points.map(({ y }) => y);
    const [first] = means;
    if (first !== undefined && means.length > 1 && means.every((mean) => mean === first))
      constant.push(`${number} ${Number.isInteger(first) ? first : meanText(first)}`);
    else rows.push({ number, known, means });
    await rest(done, names.length);
  }
  const column = (key: string, meaning: string, value: (means: readonly number[]) => number | undefined) => ({
    key,
    title: key,
    type: 'number' as const,
    meaning,
    value: ({ means }: CurveOf) => value(means) ?? null,
  });
  const least = (means: readonly number[]) => (means.length === 0 ? undefined : means.reduce((a, b) => Math.min(a, b)));
  const most = (means: readonly number[]) => (means.length === 0 ? undefined : means.reduce((a, b) => Math.max(a, b)));
  return {
    title: `numbers of ${plural(facts.length, 'rollout')} by step`,
    columns: [
      { ...numberColumn, width: 14, grows: true },
      ownColumn('known', 'count', 'rollouts with a value'),
      column('first', 'mean of the first step', ([first]) => first),
      { key: 'by_step', title: 'by step', type: 'curve', meaning: 'mean of each step', value: ({ means }) => means },
      column('last', 'mean of the last step', (means) => means.at(-1)),
      column('least', 'smallest mean of a step', least),
      column('most', 'largest mean of a step', most),
    ],
    rows,
    notes: doubtsNote(facts),
    leftOut: constant.length === 0 ? [] : [`the same in every step: ${constant.join(', ')}`],
    empty: 'no rollout has a number that varies',
  };
}

interface ValidationOf extends Keyed, Omit<ValidationFigure, 'value'> {
  number: string;
  figure: number;
}

/** A prompt's figures as verl's validation computes them, averaged over the prompts of a data source. */
export function validationReport(
  facts: FactRows,
  names: readonly string[],
  key: string,
  buckets: readonly Bucket[],
): Report<ValidationOf> {
  const leftOut: string[] = [];
  const rows = names.flatMap((number) => {
    let unknown = 0;
    const found = buckets.flatMap(({ stream, value: at, members }) => {
      const validation = validationOf(facts, number, members);
      unknown += validation.unknown;
      return validation.figures.map(
        ({ value, ...figure }): ValidationOf => ({ ...figure, figure: value, number, stream, value: at }),
      );
    });
    if (unknown > 0) leftOut.push(`${plural(unknown, 'prompt')} left out: a rollout has no ${number}`);
    return found;
  });
  return {
    title: `${names.join(', ')} of validation by ${key}`,
    columns: [
      numberColumn,
      streamColumn,
      keyColumn(key),
      column('data_source', 'data_source', 'text', 'data source of the prompts', ({ source }) => source),
      ownColumn('metric', 'text', "verl's name of the figure"),
      { key: 'value', title: 'value', type: 'number', meaning: 'mean over the prompts', value: ({ figure }) => figure },
      ownColumn('prompts', 'count', 'prompts in the mean'),
    ],
    rows,
    leftOut: [...leftOut, ...ungroupedNote(facts)],
    empty: 'no prompt has a figure',
  };
}
