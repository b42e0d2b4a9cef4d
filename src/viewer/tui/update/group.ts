import type { Place } from '../../../core/dump/dump.ts';
import type { DumpFile } from '../../../core/dump/dump-file.ts';
import { numberInAt } from '../../../core/lists/at.ts';
import type { Data } from '../rows/data.ts';
import type { Action } from '../state/action.ts';
import { samePlace } from '../state/rows.ts';
import type { State } from '../state/state.ts';
import { putCursor, visit } from './cursor.ts';
import { keepCursor } from './list-choice.ts';
import { type Result, type SomeHandlers, saying } from './result.ts';

/** Why a rollout has no group, in words; '' if it has one, or that is not known yet. */
function noGroup(data: Data, { file, record }: Place): string {
  const groups = data.groups.groups(file);
  if (groups === null) return '';
  const reason = groups.reasonOf(record);
  if (reason !== null) return `no groups: ${reason}`;
  return groups.membersOf(record).length < 2 ? 'no other rollout of this step has this prompt' : '';
}

/** Brings the groups of a file for an action that needs them. Those of a file that is not read to its end cannot be had. */
export function bringGroups(state: State, file: DumpFile, action: Action): Result {
  if (file.state === 'waiting' || file.state === 'indexing')
    return saying(state, 'this file is still being read: its groups are not known yet');
  if (file.state !== 'ready') return saying(state, 'this file cannot be read now, so its groups are not known');
  return {
    state: saying(state, 'reading the groups of this step …'),
    effects: [{ type: 'load', want: { kind: 'groups', file }, action }],
  };
}

/** Returns from a group to the list. */
export const leaveGroup = (state: State, data: Data): State =>
  keepCursor({ ...state, list: { ...state.list, group: null } }, data);

export const groupHandlers = {
  group: (state, _action, data) => {
    const { cursor, group } = state.list;
    if (group !== null) return leaveGroup(state, data);
    if (cursor === null) return saying(state, 'no rollout here');
    const reason = noGroup(data, cursor);
    if (reason !== '') return saying(state, reason);
    const isShown = data.geometry(state).listWidth > 0;
    return { ...state, focus: isShown ? state.focus : 'list', list: { ...state.list, group: cursor } };
  },

  'group-member': (state, action, data): Result => {
    const { by } = action;
    const { cursor } = state.list;
    if (cursor === null) return saying(state, 'no rollout here');
    const { file, record } = cursor;
    const groups = data.groups.groups(file);
    if (groups === null) return bringGroups(state, file, action);
    const reason = noGroup(data, cursor);
    if (reason !== '') return saying(state, reason);
    const members = groups.membersOf(record);
    const rows = data.rows(state);
    const wanted = members.indexOf(record) + by;
    const at = Math.max(0, Math.min(members.length - 1, wanted));
    const place = { file, record: numberInAt(members, at) };
    const text = `${at + 1} of ${members.length} of its group`;
    if (samePlace(place, cursor)) return saying(state, `${text}: the ${by > 0 ? 'last' : 'first'}`);
    const index = rows.indexOf(place);
    if (index >= 0) return saying(putCursor(state, data, index), text);
    // The group stays open if the filter shows none of it.
    return saying(visit(state, data, place), `${text}; the filter leaves it out of the list`);
  },
} satisfies SomeHandlers;
