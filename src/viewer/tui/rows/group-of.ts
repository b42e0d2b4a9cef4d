import type { Place } from '../../../core/dump/dump.ts';
import { shownAdvantages } from '../../../core/rollout/advantage.ts';
import { groupParts } from '../../present/group-text.ts';
import type { GroupLookup } from './data.ts';

export interface GroupOf {
  /** Texts about the group; none if the record has no group, or none is known yet. */
  parts: readonly string[];
  /** How the group is known, or the reason for its absence, in words. */
  from: string;
  /** The record's advantage in its group. */
  advantage: number | null;
}

/** The group of a record, as far as it is known. */
export function groupOf(groups: GroupLookup, { file, record }: Place): GroupOf {
  const known = groups.groups(file);
  const none = (reason: string): GroupOf => ({ parts: [], from: reason, advantage: null });
  if (known === null) return none('not known yet');
  const members = known.membersOf(record);
  if (members.length < 2) return none(known.reasonOf(record) ?? 'no other rollout of this step has this prompt');
  const scores = members.map((member) => file.score(member));
  const at = members.indexOf(record);
  const advantage = shownAdvantages(scores)[at] ?? null;
  const from = known.fromOf(record) === 'uid' ? 'by uid' : 'by prompt and ground truth';
  return { parts: groupParts(scores, at + 1, known.usual), from, advantage };
}
