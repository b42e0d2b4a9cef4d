import { itemAt } from '../../../core/lists/at.ts';
import { type Action, JUMPS } from '../state/action.ts';
import type { Jump, JumpList } from '../state/jumps.ts';
import { samePlace } from '../state/rows.ts';
import type { State } from '../state/state.ts';

const MAX = 100;

export const whereIs = ({ list, transcript }: State): Jump | null =>
  list.cursor === null ? null : { place: list.cursor, turn: transcript.turn, top: transcript.top };

/** Whether two jumps are to one turn of one record. */
const isSameJump = (a: Jump, b: Jump): boolean => samePlace(a.place, b.place) && a.turn === b.turn;
const isSameView = (a: Jump, b: Jump): boolean =>
  isSameJump(a, b) && a.top?.block === b.top?.block && a.top?.offset === b.top?.offset;

/** The list with a place moved to its end, without duplicates. */
function added(list: readonly Jump[], jump: Jump): Jump[] {
  return [...list.filter((other) => !isSameJump(other, jump)), jump].slice(-MAX);
}

/** The state after an action; if it was a jump, with the place before it remembered. */
export function withJump(before: State, action: Action, after: State): State {
  const kind = action.type in JUMPS ? JUMPS[action.type as keyof typeof JUMPS] : null;
  // Every key at a prompt may move the screen, so the jump starts where the prompt was opened.
  const from = action.type === 'prompt-submit' ? (before.prompt?.from ?? null) : whereIs(before);
  const to = whereIs(after);
  if (kind === null || from === null || to === null || isSameView(from, to)) return after;
  if (kind === 'record' && samePlace(from.place, to.place)) return after;
  const list = added(after.jumps.list, from);
  return { ...after, jumps: { list, at: list.length } };
}

/** As in vim: going back from the newest end records the current place, so that > returns to it. */
export function jumpTo(
  { list: before, at: from }: JumpList,
  here: Jump,
  by: number,
  isThere: (jump: Jump) => boolean,
): { jumps: JumpList; to: Jump } | null {
  const isNewest = from >= before.length;
  const list = isNewest && by < 0 ? added(before, here) : before;
  const start = isNewest ? list.length - (by < 0 ? 1 : 0) : from;
  const direction = by < 0 ? -1 : 1;
  let steps = Math.abs(by);
  let found = -1;
  // A place that is gone, or filtered out, is skipped.
  for (let at = start + direction; steps > 0 && at >= 0 && at < list.length; at += direction) {
    if (!isThere(itemAt(list, at))) continue;
    found = at;
    steps--;
  }
  return found < 0 ? null : { jumps: { list, at: found }, to: itemAt(list, found) };
}
