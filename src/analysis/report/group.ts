import { plural } from '../../core/text/numbers.ts';
import { meanText } from '../../core/text/quantities.ts';
import { advantagesOf, OF_A_DUMP, type StepScores } from '../advantages/of-dump.ts';
import { groupStats } from '../prompts/group-stats.ts';
import { column } from './columns.ts';
import type { Report } from './report.ts';

/** A rollout of the group. */
export interface GroupMember {
  record: number;
  /** null: it has none; undefined: not known yet. */
  score: number | null | undefined;
  /** Its row in the step; undefined if it has no score, or is left out. */
  row: number | undefined;
  /** Left out of every number. */
  isOut: boolean;
}

/** The rollouts of one prompt with their advantage by every estimator. */
export function groupReport(name: string, members: readonly GroupMember[], step: StepScores): Report<GroupMember> {
  const counted = members.filter(({ isOut }) => !isOut);
  const scored = counted.flatMap(({ row }) => (row === undefined ? [] : [row]));
  const found = OF_A_DUMP.map(({ name: estimator, ...rest }) => ({
    estimator,
    values: advantagesOf({ name: estimator, ...rest }, step, scored),
  }));
  const reasons = new Map<string, string[]>();
  for (const { estimator, values } of found)
    if (typeof values === 'string') reasons.set(values, [...(reasons.get(values) ?? []), estimator]);
  const { mean, spread, signal } = groupStats(counted.map(({ score }) => score ?? Number.NaN));
  return {
    title: `the group of ${name}`,
    columns: [
      {
        ...{ key: 'sample', title: 'sample', type: 'count', width: 8, identifies: true },
        meaning: 'number of the rollout in its file, from 1',
        value: ({ record }) => record + 1,
      },
      column('score', 'score', 'score', 'its score', ({ score }) => score ?? null, { width: 8 }),
      ...found.flatMap(({ estimator, values }) => {
        if (typeof values === 'string') return [];
        const byRow = new Map(scored.map((row, i) => [row, values[i] ?? null]));
        return {
          ...{ key: estimator, title: estimator, type: 'advantage' as const, width: Math.max(8, estimator.length + 1) },
          meaning: `its advantage by ${estimator}, recomputed from the scores`,
          value: ({ row }: GroupMember) => (row === undefined ? null : (byRow.get(row) ?? null)),
        };
      }),
    ],
    rows: members,
    notes: [
      [
        `${plural(counted.length, 'rollout')}${counted.length === members.length ? '' : ` of ${members.length}`}`,
        ...(mean === null ? [] : [`mean ${meanText(mean)}`]),
        ...(spread === null ? [] : [`spread ${meanText(spread)}`]),
        SIGNAL_TEXT[signal],
      ].join(' · '),
      ...[...reasons].map(([reason, names]) => `${reason}: ${names.join(', ')}`),
    ],
    empty: 'no rollouts',
  };
}

const SIGNAL_TEXT = {
  yes: 'scores differ',
  outlier: 'one outlier carries all of it',
  none: 'no signal: all score alike',
  unknown: 'too few scores',
} as const;
