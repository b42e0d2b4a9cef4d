import { groupReport } from '../../../analysis/report/group.ts';
import type { Data } from '../rows/data.ts';
import type { Page } from '../rows/page.ts';
import { placeName } from '../rows/place-name.ts';
import type { PageSort, SubjectOf } from '../state/page.ts';
import { reportPage } from './report-page.ts';

/** The rollouts of one prompt with their advantages. The toggle key leaves a member out, or takes it back. */
export function groupPage({ place, left }: SubjectOf<'group'>, sort: PageSort | null, data: Data): Page {
  const { file } = place;
  const groups = data.groups.groups(file);
  const found = groups?.membersOf(place.record) ?? [];
  const members = found.length === 0 ? [place.record] : found;
  const step = file.stepOf(place.record);
  const scored = Array.from({ length: file.count }, (_, record) => record).filter(
    (record) => !left.includes(record) && file.stepOf(record) === step && file.score(record) !== undefined,
  );
  const rows = new Map(scored.map((record, row) => [record, row]));
  const report = groupReport(
    placeName(place),
    members.map((record) => ({
      record,
      score: file.score(record),
      row: rows.get(record),
      isOut: left.includes(record),
    })),
    {
      scores: scored.map((record) => file.score(record) ?? Number.NaN),
      groups: scored.map((record) => groups?.keyOf(record) ?? record),
      lengths: scored.map((record) => {
        const length = file.facts(record)?.value('trained');
        return typeof length === 'number' ? length : Number.NaN;
      }),
    },
  );
  return reportPage(report, {
    sort,
    note: groups === null ? 'looking for the group …' : (groups.reasonOf(place.record) ?? 'recomputed from the scores'),
    drawn: { sample: ({ record, isOut }) => `${isOut ? 'off ' : ''}${record + 1}` },
    open: ({ record }) => ({ type: 'page-read', place: { file, record }, turn: null }),
    toggle: ({ record, isOut }) => ({
      type: 'page-change',
      subject: {
        kind: 'group',
        place,
        left: isOut ? left.filter((other) => other !== record) : [...left, record],
      },
    }),
  });
}
