import { printJson } from '../json/print.ts';
import { itemAt } from '../lists/at.ts';
import { formatCount } from '../text/numbers.ts';
import { sanitiseLine } from '../text/sanitise.ts';
import type { Context, Rollout, Turn } from './rollout.ts';

/** A message history and its place in the tree of a rollout's histories. */
export interface ContextNode {
  /** Its index in `Rollout.contexts`. */
  index: number;
  context: Context;
  /** The history that it branches from; null if none is known. */
  parent: number | null;
  depth: number;
  /** The numbers of its own turns. */
  turns: number[];
  /** Trained characters and all characters of its turns; null if nothing is known of the mask. */
  trained: number | null;
  chars: number;
}

const MAIN: Context = { kind: 'main', name: null, after: null };

const WORDS: Record<Context['kind'], string> = {
  main: 'main history',
  subagent: 'subagent',
  compaction: 'history after a compaction',
  branch: 'branch',
  rejected: 'rejected attempt',
};

/** `branch, leaves after t2`. */
export function contextTitle({ kind, name, after }: Context): string {
  const named = name === null || name === '' ? '' : ` ${sanitiseLine(name)}`;
  return `${WORDS[kind]}${named}${after === null ? '' : `, after t${formatCount(after)}`}`;
}

/**
 * The histories of a rollout in tree order, each after its parent. A parent that loops or does not exist is ignored.
 */
export function contextTree(rollout: Rollout): ContextNode[] {
  const contexts = rollout.contexts ?? [MAIN];
  const turns: number[][] = contexts.map(() => []);
  for (const turn of rollout.turns) turns[turn.context ?? 0]?.push(turn.index);
  const parents = contexts.map(({ after }, index) => {
    const parent = after === null ? null : (rollout.turns[after]?.context ?? (after < rollout.turns.length ? 0 : null));
    return parent === index || index === 0 ? null : parent;
  });
  const children = new Map<number | null, number[]>();
  for (const [index, parent] of parents.entries()) {
    const siblings = children.get(parent);
    if (siblings === undefined) children.set(parent, [index]);
    else siblings.push(index);
  }
  const nodes: ContextNode[] = [];
  const seen = new Set<number>();
  const masks = masksByTurn(rollout);
  // Iterative: a rollout may have thousands of histories, each branching from the previous one.
  const walk = (root: number) => {
    const waiting: [index: number, depth: number][] = [[root, 0]];
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const [index, depth] = next;
      if (seen.has(index)) continue;
      seen.add(index);
      const own = itemAt(turns, index);
      const known = own.flatMap((turn) => masks.get(turn) ?? []);
      nodes.push({
        index,
        context: itemAt(contexts, index),
        parent: itemAt(parents, index),
        depth,
        turns: own,
        trained: known.length === 0 ? null : known.reduce((sum, { trained }) => sum + trained, 0),
        chars: own.reduce((sum, turn) => sum + itemAt(rollout.turns, turn).text.length, 0),
      });
      for (const child of (children.get(index) ?? []).toReversed()) waiting.push([child, depth + 1]);
    }
  };
  for (const root of children.get(null) ?? []) walk(root);
  // The remaining ones form cycles.
  for (const index of contexts.keys()) walk(index);
  return nodes;
}

/** Trained characters of each turn with a known mask. */
function masksByTurn({ spans }: Rollout): Map<number, { trained: number }> {
  const masks = new Map<number, { trained: number }>();
  for (const { turn, kind, trained, start, end } of spans) {
    if (kind !== 'text' || trained === null) continue;
    const mask = masks.get(turn) ?? { trained: 0 };
    if (trained) mask.trained += end - start;
    masks.set(turn, mask);
  }
  return masks;
}

const ownTurns = new WeakMap<readonly Turn[], Turn[][]>();

/** The turns of each history in order; sorted once, because a rollout may have thousands of histories. */
function turnsByContext({ turns }: Rollout): Turn[][] {
  const known = ownTurns.get(turns);
  if (known !== undefined) return known;
  const own: Turn[][] = [];
  for (const turn of turns) {
    const index = turn.context ?? 0;
    own[index] ??= [];
    own[index].push(turn);
  }
  ownTurns.set(turns, own);
  return own;
}

/**
 * The turns that the model saw when it made this one, in order, ending with the turn itself: those of its history,
 * preceded by those of the histories that it continues. The beginning of a compacted history is listed in that history.
 */
export function historyAt(rollout: Rollout, turn: number): Turn[] {
  const contexts = rollout.contexts ?? [MAIN];
  const own = turnsByContext(rollout);
  const pieces: Turn[][] = [];
  const seen = new Set<number>();
  for (let at: number | null = turn; at !== null; ) {
    const index: number = rollout.turns[at]?.context ?? 0;
    if (seen.has(index)) break;
    seen.add(index);
    const last: number = at;
    pieces.push((own[index] ?? []).filter((one) => one.index <= last));
    const context: Context | undefined = contexts[index];
    at = context === undefined || startsOver(context) ? null : context.after;
  }
  const seenTurns = pieces.reverse().flat();
  const retold = new Set(seenTurns.map(({ retells }) => retells));
  return seenTurns.filter(({ index }) => !retold.has(index));
}

/** A subagent and a compacted history begin with their own turns. */
const startsOver = ({ kind }: Context): boolean => kind === 'subagent' || kind === 'compaction';

/** The histories before and after a compaction; null if it is not a compaction, or if its predecessor is unknown. */
export function compactionOf(rollout: Rollout, index: number): { before: Turn[]; after: Turn[] } | null {
  const context = rollout.contexts?.[index];
  if (context?.kind !== 'compaction') return null;
  const after = turnsByContext(rollout)[index] ?? [];
  const [first] = after;
  const last = context.after ?? (first === undefined ? null : first.index - 1);
  return last === null || rollout.turns[last] === undefined ? null : { before: historyAt(rollout, last), after };
}

/** The turns that a compacted history shares with the previous one, by text; null if the previous one is unknown. */
export function keptBy(rollout: Rollout, index: number): { kept: number[]; dropped: number[]; added: number[] } | null {
  const change = compactionOf(rollout, index);
  if (change === null) return null;
  // Turns without text are equal only if their calls are; a turn with neither equals no other.
  const keyOf = ({ role, text, toolCalls, index: own }: Turn) =>
    text.trim() === '' && toolCalls.length === 0
      ? `${own}`
      : `${role}\0${text.trim()}\0${printJson(toolCalls.map(({ name, arguments: args }) => [name, args]))}`;
  // A text that occurs twice is kept twice.
  const left = new Map<string, number[]>();
  for (const turn of change.after) left.set(keyOf(turn), [...(left.get(keyOf(turn)) ?? []), turn.index]);
  const kept: number[] = [];
  const dropped: number[] = [];
  for (const turn of change.before) (left.get(keyOf(turn))?.shift() === undefined ? dropped : kept).push(turn.index);
  return { kept, dropped, added: [...left.values()].flat().sort((a, b) => a - b) };
}
