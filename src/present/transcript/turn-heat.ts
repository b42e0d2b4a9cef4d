import type { Rollout } from '../../rollout/rollout.ts';
import { SURPRISING } from '../../rollout/token-table.ts';

/** Higher bars are less likely tokens: read without colour. */
const BARS = ['·', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/** Cells of a turn's strip. */
const WIDTH = 16;

/** How sure the model was of a turn. */
export interface TurnHeat {
  /** The least likely token of each part of the turn; higher bars are less likely, so that no colour is needed. */
  strip: string;
  /** Tokens with a chance of less than 5 %. */
  surprising: number;
}

/** The heat of each turn that was sampled, where log probabilities were recorded and as many runs of tokens were sampled as turns. */
export function heatByTurn(rollout: Rollout): ReadonlyMap<number, TurnHeat> {
  const { tokens, turns, contexts } = rollout;
  const heats = new Map<number, TurnHeat>();
  if (tokens?.logprobs == null || (contexts?.length ?? 1) > 1) return heats;
  const runs: (number | null)[][] = [];
  for (const [at, bit] of tokens.mask.entries()) {
    if (bit === 0) continue;
    if (at === 0 || tokens.mask[at - 1] === 0) runs.push([]);
    runs.at(-1)!.push(tokens.logprobs[at] ?? null);
  }
  const sampled = turns.filter(
    ({ trained, role }) => trained === true && (role === 'assistant' || role === 'function_call'),
  );
  if (runs.length !== sampled.length) return heats;
  for (const [i, turn] of sampled.entries()) {
    const known = runs[i]!.filter((value) => value !== null);
    if (known.length > 0) heats.set(turn.index, heatOf(known));
  }
  return heats;
}

function heatOf(logprobs: readonly number[]): TurnHeat {
  const cells = Math.min(WIDTH, logprobs.length);
  let strip = '';
  for (let cell = 0; cell < cells; cell++) {
    const from = Math.floor((cell * logprobs.length) / cells);
    const to = Math.floor(((cell + 1) * logprobs.length) / cells);
    let least = 0;
    for (let at = from; at < to; at++) least = Math.min(least, logprobs[at]!);
    strip += chanceBar(least);
  }
  return { strip, surprising: logprobs.filter((value) => value < SURPRISING).length };
}

/** The bar of a log probability. */
export const chanceBar = (logprob: number): string =>
  BARS[Math.max(0, Math.min(BARS.length - 1, Math.round(-logprob)))]!;
