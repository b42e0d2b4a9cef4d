import type { LayerRecord } from '../../sandbox/worlds/layers.ts';
import { OutcomeLog } from './outcome-log.ts';
import { type RepeatedOutcome, repeatedOutcomes } from './repeated.ts';
import { layerIds, replayWorld, type WorldOptions, type WorldOutcome } from './replay-world.ts';
import { callsBefore, wholeChain } from './rollout-world.ts';

export interface OutcomesAsked {
  /** The first call to run, from the layers before it. */
  from?: number | undefined;
  /** Runs of the rollout, in a world of its own each time. */
  repeat?: number | undefined;
  /** What an interrupted run found is given again, and the rest is run. */
  resume?: boolean | undefined;
}

/** The outcomes of a rollout's calls. A run from the first call on is kept, so that it can be resumed. */
export async function* outcomesOf(
  options: WorldOptions,
  { from, repeat = 1, resume }: OutcomesAsked,
): AsyncGenerator<WorldOutcome | RepeatedOutcome> {
  const run = { ...options, from };
  if (repeat > 1) {
    const runs: WorldOutcome[][] = [];
    for (let i = 0; i < repeat; i++) {
      const outcomes: WorldOutcome[] = [];
      for await (const outcome of replayWorld(run)) outcomes.push(outcome);
      runs.push(outcomes);
    }
    yield* repeatedOutcomes(runs);
    return;
  }
  const layers = layerIds(options);
  const log = new OutcomeLog(options.store, layers, options.plan);
  const known = resume === true && from === undefined ? log.read() : [];
  const done = options.store.chain(layers.slice(0, known.length)) === null ? [] : known;
  yield* done;
  if (from === undefined && done.length === 0) log.clear();
  const tainted = done.some((one) => one.tainted) || done.at(-1)?.verdict === 'drift';
  const next = options.plan.actions[done.length];
  if (done.length > 0 && (next === undefined || next.call > (options.to ?? Number.POSITIVE_INFINITY))) return;
  for await (const outcome of replayWorld(done.length === 0 ? run : { ...run, from: done.length, tainted })) {
    if (from === undefined) log.add(outcome);
    yield outcome;
  }
}

/** The state before a turn, and the first call before it that gave another result than the recorded one. */
export interface StateBefore {
  chain: LayerRecord[];
  drift: WorldOutcome | null;
}

/** Runs the calls before a turn; those that an earlier run has done are not run again. @throws Error if a state cannot be kept */
export async function stateBefore(
  options: WorldOptions,
  turn: number,
  onOutcome: (outcome: WorldOutcome | RepeatedOutcome) => void = () => {},
): Promise<StateBefore> {
  const count = callsBefore(options, turn);
  const last = options.plan.actions[count - 1];
  let drift: WorldOutcome | null = null;
  if (last !== undefined)
    for await (const outcome of outcomesOf({ ...options, to: last.call }, { resume: true })) {
      if (outcome.call > last.call) break;
      onOutcome(outcome);
      if (outcome.verdict === 'drift') drift ??= { ...outcome, verdict: 'drift' };
    }
  options.signal?.throwIfAborted();
  return { chain: await wholeChain(options, count), drift };
}
