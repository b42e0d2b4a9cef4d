import type { RecordedAction } from '../../analysis/actions/action.ts';
import { type LayerRecord, removeTree } from '../../sandbox/worlds/layers.ts';
import { compareTexts } from './compare.ts';
import { openWorld, type WorldOptions } from './replay-world.ts';

/** A command in the state after a call; before the first call, `call` is -1. */
export interface Probe {
  call: number;
  exit: number | null;
  output: string;
}

/** The call between two neighbouring states in which a command gives different answers. */
export interface Culprit {
  action: RecordedAction;
  layer: LayerRecord;
  before: Probe;
  after: Probe;
  change: 'pass' | 'fail' | 'change';
}

/** Runs a command in the state after a call: a copy that is thrown away. @param at the number of calls before */
async function probeState(
  options: WorldOptions,
  chain: readonly LayerRecord[],
  at: number,
  command: string,
): Promise<Probe> {
  const { plan, store } = options;
  options.signal?.throwIfAborted();
  const live = store.live();
  const world = openWorld(options, live, chain.slice(0, at));
  const stop = () => void world.stop();
  options.signal?.addEventListener('abort', stop, { once: true });
  try {
    await world.open();
    const { timeLimit, workdir } = plan;
    const run = await world.run(command, { timeLimit, merged: true, dir: workdir.path });
    const call = at === 0 ? -1 : (plan.actions[at - 1]?.call ?? -1);
    return { call, exit: run.exit, output: run.stdout.toString('utf8') };
  } finally {
    options.signal?.removeEventListener('abort', stop);
    await world.close();
    removeTree(live);
  }
}

/**
 * Finds by halving where a command passes, fails or changes. @param chain the layers of all calls
 * @returns null if the first state and the last one give the same answer
 */
export async function bisect(
  options: WorldOptions,
  chain: readonly LayerRecord[],
  command: string,
  onProbe: (probe: Probe) => void,
): Promise<Culprit | null> {
  // A clean shell each time: what matters is files.
  const clean: WorldOptions = { ...options, plan: { ...options.plan, shell: 'stateless' } };
  const probe = async (at: number): Promise<Probe> => {
    const one = await probeState(clean, chain, at, command);
    onProbe(one);
    return one;
  };
  let [low, high] = [0, chain.length];
  let [before, after] = [await probe(low), await probe(high)];
  const isLike = differsBy(before, after, command);
  if (isLike === null) return null;
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    const one = await probe(middle);
    if (isLike(one, before)) [low, before] = [middle, one];
    else [high, after] = [middle, one];
  }
  const [action, layer] = [options.plan.actions[high - 1], chain[high - 1]];
  if (action === undefined || layer === undefined) return null;
  const change = (before.exit === 0) === (after.exit === 0) ? 'change' : after.exit === 0 ? 'pass' : 'fail';
  return { action, layer, before, after, change };
}

/** The test that distinguishes two answers: by success, else by exit status, else by text. null if they are the same. */
function differsBy(a: Probe, b: Probe, command: string): ((x: Probe, y: Probe) => boolean) | null {
  if ((a.exit === 0) !== (b.exit === 0)) return (x, y) => (x.exit === 0) === (y.exit === 0);
  if (a.exit !== b.exit) return (x, y) => x.exit === y.exit;
  const isText = (x: Probe, y: Probe) =>
    compareTexts(x.output, y.output, { command, now: Date.now() }).verdict !== 'drift';
  return isText(a, b) ? null : isText;
}
