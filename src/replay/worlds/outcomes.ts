import type { CallAction } from '../../analysis/actions/action.ts';
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
  /** Yields the results of an interrupted run again, and runs the rest. */
  resume?: boolean | undefined;
}

/** The outcomes of a rollout's calls. A run from the first call on is kept, so that it can be resumed. */
export async function* outcomesOf(
  options: WorldOptions,
  { from, repeat = 1, resume }: OutcomesAsked,
): AsyncGenerator<WorldOutcome | RepeatedOutcome> {
  if (repeat > 1) {
    const runs: WorldOutcome[][] = [];
    for (let i = 0; i < repeat; i++) {
      const outcomes: WorldOutcome[] = [];
      for await (const outcome of replayWorld({ ...options, from })) outcomes.push(outcome);
      runs.push(outcomes);
    }
    yield* repeatedOutcomes(runs);
    return;
  }
  if (from === undefined) return yield* firstOutcomes(options, resume === true);
  const done = logOf(options).read().slice(0, from);
  yield* replayWorld({ ...options, from, tainted: isTaintedBy(options, done) });
}

/** The outcomes from the first call on, which are kept. */
async function* firstOutcomes(options: WorldOptions, resume: boolean): AsyncGenerator<WorldOutcome> {
  const { to = Number.POSITIVE_INFINITY } = options;
  const log = logOf(options);
  const known = resume ? log.read() : [];
  const done = options.store.chain(layerIds(options).slice(0, known.length)) === null ? [] : known;
  yield* done.filter(({ call }) => call <= to);
  if (done.length === 0) log.clear();
  const next = options.plan.actions[done.length];
  if (done.length > 0 && (next === undefined || next.call > to)) return;
  const rest = done.length === 0 ? options : { ...options, from: done.length, tainted: isTaintedBy(options, done) };
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

type OnOutcome = (outcome: WorldOutcome) => void;

/** The state after some calls, and the first of them that gave another result than the recorded one. */
export interface StateAfter {
  chain: LayerRecord[];
  drift: WorldOutcome | null;
  /** It is another state than the recorded one. */
  isTainted: boolean;
}

/** Runs the calls before a turn; those that an earlier run has done are not run again. @throws Error if a state cannot be kept */
export const stateBefore = (options: WorldOptions, turn: number, onOutcome?: OnOutcome): Promise<StateAfter> =>
  stateAfter(options, callsBefore(options, turn), onOutcome);

/** The same for a number of calls. */
export async function stateAfter(
  options: WorldOptions,
  count: number,
  onOutcome: OnOutcome = () => {},
): Promise<StateAfter> {
  const last = options.plan.actions[count - 1];
  const done: WorldOutcome[] = [];
  if (last !== undefined)
    for await (const outcome of firstOutcomes({ ...options, to: last.call }, true)) {
      onOutcome(outcome);
      done.push(outcome);
    }
  options.signal?.throwIfAborted();
  return {
    chain: await wholeChain(options, count),
    drift: done.find(({ verdict }) => verdict === 'drift') ?? null,
    isTainted: isTaintedBy(options, done),
  };
}

/**
 * Runs one call in the state before it, after the calls whose outcomes are not known. @param at its place among the actions
 * @param edited runs instead of it @returns null if it was cancelled
 */
export async function runInState(
  options: WorldOptions,
  at: number,
  { edited, onOutcome }: { edited?: CallAction | undefined; onOutcome?: OnOutcome | undefined } = {},
): Promise<WorldOutcome | null> {
  const recorded = options.plan.actions[at];
  if (recorded === undefined) throw new Error(`there is no call ${at}`);
  const { isTainted: tainted } = await stateAfter(options, at, onOutcome);
  const actions = options.plan.actions.with(at, { ...recorded, action: edited ?? recorded.action });
  const run = { ...options, plan: { ...options.plan, actions }, from: at, to: recorded.call, tainted };
  for await (const outcome of replayWorld(run)) return outcome;
  return null;
}
