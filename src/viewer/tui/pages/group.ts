import { advantagesOf, OF_A_DUMP } from '../../../analysis/advantages/of-dump.ts';
import { groupStats } from '../../../analysis/prompts/group-stats.ts';
import { numberInAt } from '../../../core/lists/at.ts';
import { plural } from '../../../core/text/numbers.ts';
import { meanText, scoreText } from '../../../core/text/quantities.ts';
import { sanitiseLine } from '../../../core/text/sanitise.ts';
import { formatAdvantage } from '../../present/numbers.ts';
import type { Data } from '../rows/data.ts';
import type { Page } from '../rows/page.ts';
import { placeName } from '../rows/place-name.ts';
import type { PageSort, PageSubject } from '../state/page.ts';
import { byColumn } from './by-column.ts';

type GroupSubject = Extract<PageSubject, { kind: 'group' }>;

/** The rollouts of one prompt with their advantage by every estimator; excluded ones count in none. */
export function groupPage({ place, left }: GroupSubject, sort: PageSort | null, data: Data): Page {
  const { file } = place;
  const groups = data.groups.groups(file);
  const members = groups?.membersOf(place.record) ?? [];
  const shown = members.length === 0 ? [place.record] : members;
  const step = file.stepOf(place.record);
  const isIn = (record: number): boolean => !left.includes(record);
  const others = Array.from({ length: file.count }, (_, record) => record).filter(
    (record) => isIn(record) && file.stepOf(record) === step && file.score(record) !== undefined,
  );
  const rows = new Map(others.map((record, row) => [record, row]));
  const lengthOf = (record: number): number => {
    const length = file.facts(record)?.value('trained');
    return typeof length === 'number' ? length : Number.NaN;
  };
  const batch = {
    scores: others.map((record) => file.score(record) ?? Number.NaN),
    groups: others.map((record) => groups?.keyOf(record) ?? record),
    lengths: others.map(lengthOf),
  };
  const counted = shown.filter(isIn);
  const found = OF_A_DUMP.map((estimator) => ({
    name: estimator.name,
    values: advantagesOf(
      estimator,
      batch,
      counted.flatMap((record) => rows.get(record) ?? []),
    ),
  }));
  const known = found.filter(({ values }) => typeof values !== 'string');
  const valueIn = (record: number, column: number): number | null => {
    if (column === 0) return record + 1;
    if (column === 1) return file.score(record) ?? null;
    const values = known[column - 2]?.values;
    return typeof values === 'string' || values === undefined ? null : (values[counted.indexOf(record)] ?? null);
  };
  const ordered = sort === null ? shown : byColumn(shown, (record) => valueIn(record, sort.column), sort.descending);
  const stats = groupStats(counted.map((record) => file.score(record) ?? Number.NaN));
  const reasons = new Map<string, string[]>();
  for (const { name, values } of found)
    if (typeof values === 'string') reasons.set(values, [...(reasons.get(values) ?? []), name]);
  return {
    title: sanitiseLine(`the group of ${placeName(place)}`),
    note: groups === null ? 'looking for the group …' : (groups.reasonOf(place.record) ?? 'recomputed from the scores'),
    head: [
      [
        `${plural(counted.length, 'rollout')}${left.length === 0 ? '' : ` of ${shown.length}`}`,
        ...(stats.mean === null ? [] : [`mean ${meanText(stats.mean)}`]),
        ...(stats.spread === null ? [] : [`spread ${meanText(stats.spread)}`]),
        SIGNAL_TEXT[stats.signal],
      ].join(' · '),
      ...[...reasons].map(([reason, names]) => `${reason}: ${names.join(', ')}`),
    ],
    columns: [
      { title: 'sample', width: 8, isFixed: true },
      { title: 'score', width: 8 },
      ...known.map(({ name }) => ({ title: name, width: Math.max(8, name.length + 1) })),
    ],
    length: ordered.length,
    empty: 'no rollouts',
    sort,
    row: (index) => {
      const record = numberInAt(ordered, index);
      const isOut = !isIn(record);
      return {
        cells: [
          `${isOut ? 'off ' : ''}${record + 1}`,
          scoreText(file.score(record)),
          ...known.map((_, i) => {
            const value = valueIn(record, i + 2);
            return value === null ? '–' : formatAdvantage(value);
          }),
        ],
        open: () => ({ type: 'page-read', place: { file, record }, turn: null }),
        toggle: {
          type: 'page-change',
          subject: {
            kind: 'group',
            place,
            left: isOut ? left.filter((other) => other !== record) : [...left, record],
          },
        },
      };
    },
  };
}

const SIGNAL_TEXT = {
  yes: 'scores differ',
  outlier: 'one outlier carries all of it',
  none: 'no signal: all score alike',
  unknown: 'too few scores',
} as const;
