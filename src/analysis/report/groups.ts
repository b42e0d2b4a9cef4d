import type { Printable } from '../../core/json/print.ts';
import { formatCount, formatPercent, plural, sparkline } from '../../core/text/numbers.ts';
import { advantagesOf, OF_A_DUMP } from '../advantages/of-dump.ts';
import type { FactRows } from '../facts/fact-rows.ts';
import { membersByNumber } from '../facts/members.ts';
import {
  deadShare,
  type GroupRow,
  groupPassChance,
  type StepSignal,
  signalBySteps,
  ungrouped,
} from '../prompts/group-table.ts';
import { column, ownColumn, stepColumn, streamColumn } from './columns.ts';
import { locatorText, plainValue, type Report } from './report.ts';

export const NO_GROUPS =
  'no groups: nothing says which rollouts share a prompt, for example if all prompts of a file are equal';

/** A row for each prompt of each step. */
export function groupsReport(facts: FactRows, table: readonly GroupRow[], k: number): Report<GroupRow> {
  return {
    title: `groups of ${plural(facts.length, 'rollout')}`,
    columns: [
      streamColumn,
      stepColumn,
      {
        key: 'first',
        title: 'prompt',
        type: 'prompt',
        meaning: 'the prompt, by the first rollout that has it',
        identifies: true,
        grows: true,
        value: ({ rows: [first = 0] }) => facts.place(first),
      },
      ownColumn('n', 'count', 'rollouts of the prompt in the step'),
      ownColumn('mean', 'mean', 'mean score'),
      ownColumn('spread', 'mean', 'standard deviation of the scores'),
      {
        key: 'pass_at_k',
        title: `pass@${k}`,
        type: 'mean',
        meaning: `the chance that one of ${k} answers passes`,
        value: (row) => groupPassChance(row, k),
      },
      ownColumn(
        'signal',
        'text',
        'yes: scores differ; outlier: one score differs from all others; none: all scores are equal',
        { width: 7 },
      ),
      ownColumn('best', 'score', 'best score'),
      ownColumn('worst', 'score', 'worst score'),
      ownColumn('scored', 'count', 'rollouts that have a score'),
      {
        key: 'blameless',
        title: 'infra zeros',
        type: 'count',
        meaning: 'rollouts with the worst score that infrastructure failed, not the model',
        value: ({ blameless }) => blameless,
      },
    ],
    rows: table,
    details: detailsOf(facts, table, k),
    notes: signalNotes(table),
    leftOut: ungroupedNote(facts),
    empty: NO_GROUPS,
  };
}

/** How many groups carry no learning signal, and how that changed from step to step. */
function signalNotes(table: readonly GroupRow[]): string[] {
  const steps = signalBySteps(table);
  const sum = (of: (step: StepSignal) => number): number => steps.reduce((all, step) => all + of(step), 0);
  const all = {
    groups: sum(({ groups }) => groups),
    none: sum(({ none }) => none),
    unknown: sum(({ unknown }) => unknown),
  };
  const share = deadShare(all);
  if (share === null) return table.length === 0 ? [] : ['no group has two scores'];
  const known = all.groups - all.unknown;
  const trend = steps.map((step) => deadShare(step) ?? Number.NaN);
  const [first, last] = [trend.find(Number.isFinite), trend.findLast(Number.isFinite)];
  const course =
    first === undefined || last === undefined || steps.length < 2
      ? ''
      : `; by step ${sparkline(trend, 40)} (first ${formatPercent(first)}, last ${formatPercent(last)})`;
  const [outliers, world] = [sum(({ outlier }) => outlier), sum(({ blameless }) => blameless)];
  return [
    `${formatCount(all.none)} of ${plural(known, 'group')} without signal (${formatPercent(share)})${course}`,
    `${formatCount(outliers)} with a single outlier; ${formatCount(world)} with zeros caused by infrastructure`,
  ];
}

/** Says how many rollouts are in no group; empty if none. */
export function ungroupedNote(facts: FactRows): string[] {
  const alone = ungrouped(facts);
  return alone === 0 ? [] : [`${plural(alone, 'rollout')} in no group: nothing says which others share their prompt`];
}

interface MemberAdvantages {
  locator: string;
  score: Printable;
  /** null if the data do not allow it. */
  values: ReadonlyMap<string, number | null>;
}

/**
 * The advantage of each rollout by every estimator that the dump's data allow, computed when the first row needs them.
 */
function detailsOf(facts: FactRows, table: readonly GroupRow[], k: number) {
  let known: ReadonlyMap<number, MemberAdvantages> | null = null;
  return ({ rows }: GroupRow): { [key: string]: Printable } => {
    known ??= advantagesByRow(facts, table);
    const members = Array.from(rows, (row) => known?.get(row)).filter((one) => one !== undefined);
    return {
      k,
      members: members.map(({ locator, score, values }) => ({
        locator,
        score,
        advantages: Object.fromEntries(values),
      })),
    };
  };
}

function advantagesByRow(facts: FactRows, table: readonly GroupRow[]): Map<number, MemberAdvantages> {
  const scores = facts.numbers('score');
  const lengths = facts.numbers('trained');
  const units = new Map<string, number>();
  const unitOf = Int32Array.from(table, ({ stream, step }) => {
    const key = `${stream}\0${step}`;
    const unit = units.get(key) ?? units.size;
    units.set(key, unit);
    return unit;
  });
  const found = new Map<number, MemberAdvantages>();
  const steps = membersByNumber(unitOf);
  for (let unit = 0; unit < steps.length; unit++) {
    const groups = Array.from(steps.of(unit)).flatMap((at) => table[at] ?? []);
    const rows = groups.flatMap((group) => [...group.rows]);
    const at = new Map(rows.map((row, i) => [row, i]));
    const step = {
      scores: rows.map((row) => scores[row] ?? Number.NaN),
      groups: groups.flatMap((group, i) => Array.from(group.rows, () => i)),
      lengths: rows.map((row) => lengths[row] ?? Number.NaN),
    };
    const values = rows.map(() => new Map<string, number | null>());
    for (const estimator of OF_A_DUMP)
      for (const part of estimator.isOfBatch ? [rows] : groups.map((group) => [...group.rows])) {
        const places = part.flatMap((row) => at.get(row) ?? []);
        const advantages = advantagesOf(estimator, step, places);
        for (const [i, place] of places.entries())
          values[place]?.set(estimator.name, typeof advantages === 'string' ? null : (advantages[i] ?? null));
      }
    for (const [i, row] of rows.entries())
      found.set(row, {
        locator: locatorText(facts.place(row)),
        score: plainValue(scores[row] ?? null),
        values: values[i] ?? new Map(),
      });
  }
  return found;
}

/** A row for each step: the groups that carry no learning signal. */
export function stepSignalsReport(facts: FactRows, table: readonly GroupRow[]): Report<StepSignal> {
  return {
    title: 'groups by step',
    columns: [
      streamColumn,
      stepColumn,
      ownColumn('groups', 'count', 'prompts of the step'),
      ownColumn('rollouts', 'count', 'rollouts in these groups'),
      column('without_signal', 'no signal', 'count', 'groups whose scores are all equal', ({ none }) => none),
      {
        key: 'share_without_signal',
        title: 'share',
        type: 'share',
        meaning: 'groups without signal among those with two scores or more',
        value: deadShare,
      },
      ownColumn('unknown', 'count', 'groups with fewer than two scores'),
      ownColumn('outlier', 'count', 'groups in which one score differs from all others'),
      {
        key: 'blameless',
        title: 'infra zeros',
        type: 'count',
        meaning: 'groups with a worst score that infrastructure caused',
        value: ({ blameless }) => blameless,
      },
    ],
    rows: signalBySteps(table),
    notes: signalNotes(table),
    leftOut: ungroupedNote(facts),
    empty: NO_GROUPS,
  };
}
