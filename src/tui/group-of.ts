import type { Place } from '../dump/dump.ts';
import { groupText } from '../present/group-text.ts';
import { groupAdvantages } from '../rollout/advantage.ts';
import type { GroupIndex } from './group-index.ts';

/** What a record's group says, and the record's place in it; '' and null where it has none, or none is known yet. */
export function groupOf(groups: GroupIndex, { file, record }: Place): { group: string; advantage: number | null } {
  const members = groups.groups(file)?.membersOf(record) ?? [];
  if (members.length < 2) return { group: '', advantage: null };
  const scores = members.map((member) => file.score(member));
  const finite = scores.filter((score): score is number => typeof score === 'number');
  const at = members.indexOf(record);
  const advantage = finite.length === scores.length ? (groupAdvantages(finite)[at] ?? null) : null;
  return { group: groupText(scores, at + 1), advantage };
}
