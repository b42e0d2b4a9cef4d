import type { LayerRecord } from '../../sandbox/worlds/layers.ts';
import { OutcomeLog } from './outcome-log.ts';
import { type RepeatedOutcome, repeatedOutcomes } from './repeated.ts';
import { layerIds, replayWorld, taintsLater, type WorldOptions, type WorldOutcome } from './replay-world.ts';
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
  const { to = Number.POSITIVE_INFINITY } = options;
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
  const log = logOf(options);
  if (from !== undefined)
    return yield* replayWorld({ ...run, tainted: isTaintedBy(options, log.read().slice(0, from)) });
  const known = resume === true ? log.read() : [];
  const done = options.store.chain(layerIds(options).slice(0, known.length)) === null ? [] : known;
  yield* done.filter(({ call }) => call <= to);
  if (done.length === 0) log.clear();
  const next = options.plan.actions[done.length];
  if (done.length > 0 && (next === undefined || next.call > to)) return;
  const rest = done.length === 0 ? run : { ...run, from: done.length, tainted: isTaintedBy(options, done) };
  for await (const outcome of replayWorld(rest)) {
    log.add(outcome);
    yield outcome;
  }
}

const logOf = (options: WorldOptions): OutcomeLog => new OutcomeLog(options.store, layerIds(options), options.plan);

/** Whether the first calls left another state than the recorded ones did, as far as an earlier run found out. */
const isTaintedBy = ({ plan }: WorldOptions, done: readonly WorldOutcome[]): boolean =>
  done.some((one, i) => {
    const action = plan.actions[i];
    return one.tainted || (action !== undefined && taintsLater(one, action));
  });

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
      onOutcome(outcome);
      if (outcome.verdict === 'drift') drift ??= { ...outcome, verdict: 'drift' };
    }
  options.signal?.throwIfAborted();
  return { chain: await wholeChain(options, count), drift };
}
