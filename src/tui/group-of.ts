import type { Place } from '../dump/dump.ts';
import { groupParts } from '../present/group-text.ts';
import { groupAdvantages } from '../rollout/advantage.ts';
import type { GroupIndex } from './group-index.ts';

/** What a record's group says, in parts, and the record's advantage in it; nothing where it has none, or none is known yet. */
export function groupOf(groups: GroupIndex, { file, record }: Place): { parts: string[]; advantage: number | null } {
  const members = groups.groups(file)?.membersOf(record) ?? [];
  if (members.length < 2) return { parts: [], advantage: null };
  const scores = members.map((member) => file.score(member));
  const finite = scores.filter((score): score is number => typeof score === 'number');
  const at = members.indexOf(record);
  const advantage = finite.length === scores.length ? (groupAdvantages(finite)[at] ?? null) : null;
  return { parts: groupParts(scores, at + 1), advantage };
}
