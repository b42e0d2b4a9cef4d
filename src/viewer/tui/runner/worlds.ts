import type { CallAction, RecordedAction } from '../../../analysis/actions/action.ts';
import { actionOf } from '../../../analysis/actions/recorded-actions.ts';
import type { Place } from '../../../core/dump/dump.ts';
import type { DumpRecord } from '../../../core/dump/dump-file.ts';
import type { JsonValue } from '../../../core/json/value.ts';
import { plural } from '../../../core/text/numbers.ts';
import { sanitiseLine } from '../../../core/text/sanitise.ts';
import { errorMessage } from '../../../core/text/thrown.ts';
import { outcomesOf, runInState, stateAfter } from '../../../replay/worlds/outcomes.ts';
import { recordedImage } from '../../../replay/worlds/recorded-image.ts';
import { layerIds, type WorldOptions, type WorldOutcome, worldPlan } from '../../../replay/worlds/replay-world.ts';
import { settingsText, worldOptions } from '../../../replay/worlds/rollout-world.ts';
import { openImage } from '../../../sandbox/worlds/images.ts';
import { worldTerminal } from '../../../sandbox/worlds/launch.ts';
import { removeTree } from '../../../sandbox/worlds/layers.ts';
import { worldProblem } from '../../../sandbox/worlds/problem.ts';
import type { FoundWorld, WorldCall, WorldState, WorldWish } from '../state/replay.ts';
import { FIRST_DRIFT, type JobOf, type RunnerContext } from './context.ts';

export async function whereWorldRuns(runner: RunnerContext, job: JobOf<'world-where'>): Promise<void> {
  const { place, call, wish } = job;
  const found = await findWorld(runner, runner.row(place), call, wish);
  runner.options.report({ type: 'world-where', place, call, wish, found });
}

const NOT_FOUND: FoundWorld = { image: null, how: '', settings: '', before: null, asks: null, problem: null };

/** The world of a call. No image is unpacked or built for that. */
export async function findWorld(
  runner: RunnerContext,
  row: DumpRecord,
  call: number,
  wish: WorldWish | null,
): Promise<FoundWorld> {
  const named = imageOf(row, wish);
  if (named === null) return NOT_FOUND;
  const asks = [
    ...(named.name === 'host' ? ["it reads this machine's files"] : []),
    ...(wish === null ? ['the record alone names this image'] : []),
    ...(wish?.network === true ? ['the network is open'] : []),
  ];
  const found = { ...NOT_FOUND, image: named.name, how: named.how, asks: asks.length === 0 ? null : asks.join(', ') };
  try {
    const problem = await worldProblem();
    if (problem !== null) return { ...found, problem };
    // A folder is only looked at. Others are unpacked or built, which is part of what is asked about.
    const isAtHand = /^(?:host$|rootfs:)/.test(named.name) || runner.images.has(named.name);
    if (!isAtHand) return found;
    const options = await openWorldOf(runner, row, wish);
    const at = placeOf(options, call);
    const isKept = options.store.chain(layerIds(options).slice(0, at)) !== null;
    return { ...found, settings: settingsText(options), before: isKept ? 0 : at };
  } catch (error) {
    return { ...found, problem: errorMessage(error) };
  }
}

/** A person's choice, else the record's. */
const imageOf = ({ json }: DumpRecord, wish: WorldWish | null): { name: string; how: string } | null =>
  wish === null ? recordedImage(json) : { name: wish.image, how: 'as typed' };

const placeOf = ({ plan }: WorldOptions, call: number): number =>
  Math.max(
    0,
    plan.actions.findIndex((one) => one.call === call),
  );

/** Opens the image, once for all rollouts. @throws Error that says what is wrong with it */
export async function openWorldOf(
  runner: RunnerContext,
  row: DumpRecord,
  wish: WorldWish | null,
): Promise<WorldOptions> {
  const { json, rollout, locator } = row;
  const named = imageOf(row, wish);
  if (named === null || rollout === null) throw new Error(`${locator}: it names no image`);
  const { name } = named;
  let image = runner.images.get(name);
  if (image === undefined) {
    image = openImage(name, { network: wish?.network, say: (text) => runner.options.say(sanitiseLine(text), 'info') });
    runner.images.set(name, image);
    image.catch(() => runner.images.delete(name));
  }
  return worldOptions({ json }, rollout, await image, { ...wish, journal: runner.options.journal });
}

/** Runs a call, all calls of its rollout, or a shell, in its world. */
export async function startWorld(runner: RunnerContext, job: JobOf<'world-run'>): Promise<void> {
  const { place, call, edited, wish, run } = job;
  const row = runner.row(place);
  await runner.jobs.during(async (signal) => {
    const options = { ...(await openWorldOf(runner, row, wish)), signal };
    signal.throwIfAborted();
    const at = placeOf(options, call);
    if (run === 'before' || run === 'after') return openShell(runner, row, options, at + (run === 'after' ? 1 : 0));
    const shown = new Shown(runner, row.locator, options);
    try {
      if (run === 'all') await runAll(runner, place, options, shown);
      else await runOne(options, at, edited, shown);
    } finally {
      shown.end();
    }
  });
}

async function runOne(options: WorldOptions, at: number, edited: JsonValue | undefined, shown: Shown): Promise<void> {
  const recorded = options.plan.actions[at];
  if (recorded === undefined) return;
  const action = edited === undefined ? undefined : editedAction(recorded, edited);
  shown.next(0, at);
  const onOutcome = (outcome: WorldOutcome) => shown.done(outcome, null, at);
  shown.edited = edited === undefined ? null : editedText(edited);
  const outcome = await runInState(options, at, { edited: action, onOutcome });
  if (outcome !== null) shown.done(outcome, shown.edited, at);
}

async function runAll(runner: RunnerContext, place: Place, options: WorldOptions, shown: Shown): Promise<void> {
  const total = options.plan.actions.length;
  const tally: Record<string, number> = {};
  let done = 0;
  let isFirst = true;
  const progress = () => runner.progress({ what: 'replaying', done, total, tally, waiting: null });
  progress();
  shown.next(0, total - 1);
  for await (const outcome of outcomesOf(options, {})) {
    if (outcome.verdict === 'flaky') continue;
    shown.done({ ...outcome, verdict: outcome.verdict }, null, total - 1);
    done++;
    tally[outcome.verdict] = (tally[outcome.verdict] ?? 0) + 1;
    progress();
    if (outcome.verdict !== 'drift' || !isFirst) continue;
    isFirst = false;
    const { turn, resultTurn } = options.plan.actions[done - 1] ?? { turn: outcome.turn, resultTurn: null };
    runner.options.report({ type: 'replay-drift', place, turn: resultTurn ?? turn, words: FIRST_DRIFT });
  }
  if (options.signal?.aborted !== true && isFirst) runner.options.say(verdictsText(done, tally), 'info');
}

const verdictsText = (calls: number, tally: Readonly<Record<string, number>>): string =>
  [plural(calls, 'call'), ...Object.entries(tally).map(([verdict, count]) => `${count} ${verdict}`)].join(', ');

/** Runs whole rollouts in one image, one after another. */
export async function startWorldList(runner: RunnerContext, job: JobOf<'world-list'>): Promise<void> {
  const { rows, image, wish } = job;
  const tally: Record<string, number> = {};
  const total = rows.length;
  let [done, calls, others] = [0, 0, 0];
  const progress = () => runner.progress({ what: 'replaying', done, total, tally, waiting: null });
  await runner.jobs.during(async (signal) => {
    progress();
    for (let index = 0; index < total && !signal.aborted; index++) {
      const place = rows.at(index);
      const row = place === null ? null : runner.row(place);
      if (row === null || row.rollout === null || imageOf(row, wish)?.name !== image) others++;
      else {
        const options = { ...(await openWorldOf(runner, row, wish)), signal };
        const shown = new Shown(runner, row.locator, options);
        const last = options.plan.actions.length - 1;
        for await (const outcome of outcomesOf(options, {})) {
          if (outcome.verdict !== 'flaky') shown.done({ ...outcome, verdict: outcome.verdict }, null, last);
          calls++;
          tally[outcome.verdict] = (tally[outcome.verdict] ?? 0) + 1;
          progress();
        }
        shown.end();
      }
      done++;
      progress();
    }
    const left = others === 0 ? '' : `; ${plural(others, 'rollout')} left out: of another image, or unreadable`;
    runner.options.say(`${verdictsText(calls, tally)}${left}`, 'info');
  });
}

/** A rollout's calls as the screen shows them while they run. */
export class Shown {
  readonly #runner: RunnerContext;
  readonly #locator: string;
  readonly #options: WorldOptions;
  #underway: WorldCall | null = null;
  /** The text that replaces the last call's. */
  edited: string | null = null;

  constructor(runner: RunnerContext, locator: string, options: WorldOptions) {
    this.#runner = runner;
    this.#locator = locator;
    this.#options = options;
  }

  /** The call at that place has begun, if it is not behind the last one. */
  next(at: number, last: number): void {
    const { actions } = this.#options.plan;
    const action = at > last ? undefined : actions[at];
    this.#underway = action === undefined ? null : callOf(action);
    if (this.#underway === null) return;
    const edited = at === last && this.edited !== null;
    this.#change(this.#underway, { kind: 'running', since: Date.now(), edited });
  }

  done(outcome: WorldOutcome, edited: string | null, last: number): void {
    const { plan, image } = this.#options;
    const at = plan.actions.findIndex(({ call }) => call === outcome.call);
    const action = plan.actions[at];
    if (action === undefined) return;
    this.#change(callOf(action), { kind: 'done', image: image.name, outcome, edited });
    this.next(at + 1, last);
  }

  /** Nothing is under way any more. */
  end(): void {
    if (this.#underway !== null) this.#change(this.#underway, null);
    this.#underway = null;
  }

  #change(call: WorldCall, state: WorldState | null): void {
    if (this.#runner.isSeen(this.#locator)) this.#runner.change(this.#locator, { kind: 'world', call, state });
  }
}

const callOf = ({ call, turn, resultTurn }: RecordedAction): WorldCall => ({ call, turn, resultTurn });

/** A shell's command is edited as text; other calls by their arguments. */
function editedAction({ action, name }: RecordedAction, edited: JsonValue): CallAction {
  if (action.kind === 'shell') return { ...action, command: editedText(edited) };
  return actionOf({ name, arguments: edited, error: null });
}

const editedText = (edited: JsonValue): string => (typeof edited === 'string' ? edited : JSON.stringify(edited));

/** Hands the terminal to a shell in a copy of the state after some calls. */
async function openShell(
  runner: RunnerContext,
  { locator }: DumpRecord,
  options: WorldOptions,
  count: number,
): Promise<void> {
  const shown = new Shown(runner, locator, options);
  if (options.store.chain(layerIds(options).slice(0, count)) === null) shown.next(0, count - 1);
  const { chain, drift } = await stateAfter(options, count, (outcome) => shown.done(outcome, null, count - 1)).finally(
    () => shown.end(),
  );
  const state = count === 0 ? 'before the first call' : `after call ${count}`;
  const other = drift === null ? '' : `, though call ${drift.call + 1} gave another result than the recorded one`;
  const live = options.store.live();
  try {
    await runner.options.lend(async ({ output }) => {
      output.write(`A shell in a copy of the state ${state}${other}. Nothing of it stays; exit or ^d goes back.\n`);
      const { excess } = await worldTerminal(worldPlan(options, live, chain));
      if (excess !== null) runner.options.say(`the shell was ended: it took ${excess}`, 'error');
    });
  } finally {
    removeTree(live);
  }
}
