import { diffArrays, diffLines, diffWordsWithSpace } from 'diff';
import { itemAt } from '../../core/lists/at.ts';
import type { Rollout } from '../../core/rollout/rollout.ts';

/** A piece of a turn: text that both say, or that only one of them says. */
interface SaidPiece {
  isOwn: boolean;
  text: string;
}

export interface ComparedTurn {
  turn: number;
  role: string;
  pieces: readonly SaidPiece[];
}

/** Turns shown side by side; null if that side has none there. */
export interface TurnPair {
  a: ComparedTurn | null;
  b: ComparedTurn | null;
  isSame: boolean;
}

/** So many turns in a row that both have, or only one. */
interface TurnChange {
  removed: boolean;
  added: boolean;
  count: number;
}

/** Longer turns are compared as a whole. */
const MOST_COMPARED = 20_000;
/**
 * More differences take longer to find than a key press may wait. Texts that differ this much are shown as different.
 */
const MOST_EDITS = 600;

export const compareTurns = (first: Pick<Rollout, 'turns'>, second: Pick<Rollout, 'turns'>): TurnPair[] => [
  ...comparingTurns(first, second),
];

/**
 * Compares two rollouts by turn, turns of one role by word, and tool results by line. Equal turns are matched; those between them are paired
 * in order.
 */
export function* comparingTurns(first: Pick<Rollout, 'turns'>, second: Pick<Rollout, 'turns'>): Generator<TurnPair> {
  let shared = 0;
  for (const a of first.turns) {
    const b = second.turns[shared];
    if (b === undefined || !areSame(a, b)) break;
    yield equal(a, b);
    shared++;
  }
  const [restA, restB] = [first.turns.slice(shared), second.turns.slice(shared)];
  const changes: readonly TurnChange[] = diffArrays(restA, restB, {
    maxEditLength: MOST_EDITS,
    comparator: areSame,
  }) ?? [
    { removed: true, added: false, count: restA.length },
    { removed: false, added: true, count: restB.length },
  ];
  let [atA, atB] = [shared, shared];
  for (let i = 0; i < changes.length; i++) {
    const { removed, added, count } = itemAt(changes, i);
    if (!removed && !added) {
      for (let k = 0; k < count; k++) yield equal(itemAt(first.turns, atA++), itemAt(second.turns, atB++));
      continue;
    }
    const next = changes[i + 1];
    const isPaired = removed && next?.added === true;
    const ends = [atA + (removed ? count : 0), atB + (removed ? (isPaired ? next.count : 0) : count)] as const;
    while (atA < ends[0] || atB < ends[1]) {
      const a = atA < ends[0] ? itemAt(first.turns, atA) : null;
      const b = atB < ends[1] ? itemAt(second.turns, atB) : null;
      // Turns of different roles are never paired: the longer remainder goes first.
      const isTogether = a !== null && b !== null && a.role === b.role;
      const takesA = a !== null && (isTogether || b === null || ends[0] - atA >= ends[1] - atB);
      yield isTogether
        ? compared(a, b)
        : takesA
          ? { a: alone(a), b: null, isSame: false }
          : { a: null, b: alone(b!), isSame: false };
      if (isTogether || takesA) atA++;
      if (isTogether || !takesA) atB++;
    }
    if (isPaired) i++;
  }
}

type SaidTurn = Rollout['turns'][number];

const areSame = (a: SaidTurn, b: SaidTurn): boolean => a.role === b.role && a.text === b.text;

const wholePiece = ({ index, role, text }: SaidTurn, isOwn: boolean): ComparedTurn => ({
  turn: index,
  role,
  pieces: text === '' ? [] : [{ isOwn, text }],
});
const alone = (turn: SaidTurn): ComparedTurn => wholePiece(turn, true);
const equal = (a: SaidTurn, b: SaidTurn): TurnPair => ({
  a: wholePiece(a, false),
  b: wholePiece(b, false),
  isSame: true,
});

function compared(a: SaidTurn, b: SaidTurn): TurnPair {
  const isLong = a.text.length > MOST_COMPARED || b.text.length > MOST_COMPARED;
  // Results are data: a changed number says nothing about the words around it.
  const most = { maxEditLength: MOST_EDITS };
  const words = isLong
    ? undefined
    : a.role === 'tool'
      ? diffLines(a.text, b.text, most)
      : diffWordsWithSpace(a.text, b.text, most);
  if (words === undefined) return { a: alone(a), b: alone(b), isSame: false };
  const side = (turn: SaidTurn, isLeft: boolean): ComparedTurn => ({
    turn: turn.index,
    role: turn.role,
    pieces: joinedPieces(
      words
        .filter(({ added, removed }) => (isLeft ? !added : !removed))
        .map(({ added, removed, value }) => ({ isOwn: added || removed, text: value })),
    ),
  });
  return { a: side(a, true), b: side(b, false), isSame: false };
}

/** Words of one side with only a blank between them form one piece. */
function joinedPieces(pieces: readonly SaidPiece[]): SaidPiece[] {
  const out: SaidPiece[] = [];
  for (const [i, { isOwn, text }] of pieces.entries()) {
    const isGap = !isOwn && text.trim() === '' && pieces[i - 1]?.isOwn === true && pieces[i + 1]?.isOwn === true;
    const last = out.at(-1);
    if (last?.isOwn === (isOwn || isGap)) out[out.length - 1] = { isOwn: last.isOwn, text: last.text + text };
    else out.push({ isOwn: isOwn || isGap, text });
  }
  return out;
}
