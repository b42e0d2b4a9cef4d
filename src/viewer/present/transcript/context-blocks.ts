import { contextTitle } from '../../../core/rollout/contexts.ts';
import type { Context, Rollout } from '../../../core/rollout/rollout.ts';
import { plural } from '../../../core/text/numbers.ts';
import { sanitise, sanitiseLine } from '../../../core/text/sanitise.ts';
import { amountText } from '../amount.ts';
import type { Block } from './block.ts';
import { ALL_OPEN, type Folds } from './turn-blocks.ts';

/** Turns of histories other than the main one are an outline until the reader opens them. */
export function withOutlines({ turns }: Rollout, folds: Folds): Folds {
  if (folds === ALL_OPEN) return folds;
  const side = turns.filter((turn) => (turn.context ?? 0) > 0);
  return side.length === 0 ? folds : new Map([...side.map(({ index }) => [`t${index}`, true] as const), ...folds]);
}

/** The line before the first turn of another history; null within one, and in the main one. */
export function contextHeading({ turns, contexts }: Rollout, index: number): Block | null {
  const place = turns[index]?.context ?? 0;
  const context = contexts?.[place];
  if (place === 0 || context === undefined || (turns[index - 1]?.context ?? 0) === place) return null;
  return { ...LINE, id: `c${place}`, text: `── ${contextTitle(context)}` };
}

/** Trajectories with their own record: one folded line each, below the turn that they branch from. */
export class OwnTrajectories {
  readonly #after = new Map<number | null, [place: number, context: Context][]>();

  constructor({ contexts = [] }: Rollout) {
    for (const [place, context] of contexts.entries()) {
      if (place === 0 || context.own === undefined) continue;
      const known = this.#after.get(context.after);
      if (known === undefined) this.#after.set(context.after, [[place, context]]);
      else known.push([place, context]);
    }
  }

  hasBehind(turn: number | null): boolean {
    return this.#after.has(turn);
  }

  /** Those that branch from a turn; null = those with no known turn. */
  blocks(after: number | null, folds: Folds): Block[] {
    return (this.#after.get(after) ?? []).flatMap(([place, context]) => ownBlocks(place, context, folds));
  }
}

function ownBlocks(place: number, context: Context, folds: Folds): Block[] {
  const { own } = context;
  if (own === undefined) return [];
  const id = `c${place}`;
  const isClosed = folds.get(id) ?? true;
  const title = `${contextTitle({ ...context, after: null })}, ${plural(own.turns.length, 'turn')}`;
  const head: Block = { ...LINE, id, text: `${isClosed ? '▸' : '▾'} ${title}`, fold: isClosed ? 'closed' : 'open' };
  if (isClosed) return [head];
  return [
    head,
    ...own.turns.flatMap((turn): Block[] => [
      {
        ...LINE,
        id: `${id}.t${turn.index}`,
        text: `${sanitiseLine(turn.role)}, ${amountText(turn.text)}`,
        indent: 2,
      },
      { ...LINE, id: `${id}.t${turn.index}.text`, text: sanitise(turn.text), style: 'plain', indent: 4 },
    ]),
  ];
}

const LINE: Omit<Block, 'id' | 'text'> = { turn: null, style: 'quiet', trained: false, indent: 0 };
