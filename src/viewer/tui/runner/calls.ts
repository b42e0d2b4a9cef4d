import { itemAt } from '../../../core/lists/at.ts';
import {
  type CallState,
  editCall,
  howOf,
  isDrift,
  keepOutcome,
  type PlannedCall,
  planCalls,
  type ReplayOutcome,
  replayCall,
  replayMany,
  type Status,
  standingWord,
} from '../../../replay/index.ts';
import type { RolloutChange } from '../state/replay.ts';
import { FIRST_DRIFT, type JobOf, type RunnerContext } from './context.ts';
import { plannedCalls } from './planned.ts';

export async function startCall(runner: RunnerContext, job: JobOf<'run'>): Promise<void> {
  const { args, repeat } = job;
  const recorded = (await plannedCalls(runner, job))?.plans.find(({ call }) => call === job.call);
  if (recorded === undefined) return;
  const plan = args === undefined ? recorded : editCall(recorded, args);
  await runner.jobs.during(async (all) => {
    const onState = (state: CallState) => runner.change(plan.locator, callState(plan, state));
    const signal = runner.jobs.begun(plan);
    onState({ kind: 'queued' });
    shareSession(runner, plan, 'before');
    try {
      const options = { tools: runner.tools, backend: await runner.backend(), repeat, rules: runner.rules, signal };
      all.throwIfAborted();
      const outcome = await replayCall(plan, { ...options, onState });
      keepOutcome(runner.journal, plan, howOf(plan, options), outcome);
      judgedCall(runner, plan, outcome);
    } catch (error) {
      if (!signal.aborted) throw error;
      onState({ kind: 'cancelled' });
      if (!all.aborted) runner.options.say('cancelled', 'info');
    } finally {
      runner.jobs.ended(plan);
      shareSession(runner, plan, 'after');
    }
  });
  tellProblem(runner);
}

/** Runs all calls of a rollout in order; the screen goes to the first that differs. */
export async function runAll(runner: RunnerContext, { place, repeat, session }: JobOf<'all'>): Promise<void> {
  const planned = await plannedCalls(runner, { place, session });
  if (planned === null) return;
  const { row, plans } = planned;
  const tally = new Tally();
  let isFirst = true;
  await runner.jobs.during(async (signal) => {
    const backend = await runner.backend();
    const onState = (plan: PlannedCall, state: CallState) => {
      runner.change(plan.locator, callState(plan, state));
      if (isOver(state)) runner.jobs.ended(plan);
      // Calls that ended because everything was cancelled are not counted.
      if (state.kind === 'cancelled' && !signal.aborted) tally.add('cancelled');
    };
    // Sequential, so that visible changes happen in reading order.
    const run = { ...runOf(runner), backend, repeat, signal };
    for await (const { plan, outcome } of replayMany({ ...run, concurrency: 1, onState, rollouts: [plans] })) {
      tally.add(outcome.status);
      judgedCall(runner, plan, outcome);
      if (!isDrift(outcome) || !isFirst) continue;
      isFirst = false;
      const calls = row.rollout?.turns.flatMap(({ toolCalls }) => toolCalls) ?? [];
      const answer = calls.find(({ index }) => index === plan.call)?.resultTurn;
      runner.options.report({ type: 'replay-drift', place, turn: answer ?? plan.turn, words: FIRST_DRIFT });
    }
    if (isFirst && !signal.aborted) runner.options.say(tally.text, 'info');
  });
  tellProblem(runner);
}

/** Runs all calls of the list's rollouts, in the background. */
export async function runList(runner: RunnerContext, { rows, repeat, session, resume }: JobOf<'list'>): Promise<void> {
  const tally = new Tally();
  const total = rows.length;
  const left = new Map<string, number>();
  let done = 0;
  const progress = () => runner.progress({ what: 'replaying', done, total, tally: tally.counts, waiting: null });
  async function* rollouts(): AsyncGenerator<readonly PlannedCall[]> {
    for (let index = 0; index < total; index++) {
      const place = rows.at(index);
      const plans = place === null ? [] : planCalls(runner.row(place), { tools: runner.tools, session });
      if (plans.length === 0) done++;
      else {
        left.set(itemAt(plans, 0).locator, plans.length);
        yield plans;
      }
      // Yield now and then, so that rollouts without calls do not block keys.
      if (index % 20 === 19) await new Promise((resolve) => setImmediate(resolve));
    }
  }
  let isCut = false;
  await runner.jobs.during(async (signal) => {
    const backend = await runner.backend();
    progress();
    const onState = (plan: PlannedCall, state: CallState) => {
      // For the others only the resulting word is kept; the rest is in the journal.
      if (runner.isSeen(plan.locator)) runner.change(plan.locator, callState(plan, state));
      // Outcomes are yielded in order, so a slow call delays them; what the user sees of the others must not wait for it.
      if (!isOver(state)) return;
      runner.jobs.ended(plan);
      if (state.kind === 'done') tally.add(state.outcome.status);
      else if (!signal.aborted) tally.add('cancelled');
      const rest = (left.get(plan.locator) ?? 1) - 1;
      left.set(plan.locator, rest);
      if (rest === 0) {
        left.delete(plan.locator);
        done++;
      }
      progress();
    };
    const run = { ...runOf(runner), backend, repeat, signal };
    const onOutcome = (plan: PlannedCall, outcome: ReplayOutcome) => judgedCall(runner, plan, outcome);
    for await (const _ of replayMany({ ...run, resume, onState, onOutcome, rollouts: rollouts() }));
    isCut = signal.aborted;
  });
  runner.options.say(isCut ? `cancelled after ${tally.text}; ! f continues` : tally.text, 'info');
  tellProblem(runner);
}

const callState = ({ call, edited }: PlannedCall, state: CallState): RolloutChange => ({
  kind: 'call',
  call,
  edited,
  state,
});

/** Marks calls that run first in another call's session. */
function shareSession(runner: RunnerContext, { locator, turn, predecessors }: PlannedCall, kind: 'before' | 'after') {
  const calls = (predecessors ?? []).map(({ call }) => call);
  if (calls.length > 0) runner.change(locator, { kind, turn, calls });
}

const runOf = (runner: RunnerContext) => ({
  tools: runner.tools,
  rules: runner.rules,
  journal: runner.journal,
  signalOf: signalOf(runner),
});

/** A call in a shared session cannot be cancelled without the others. */
const signalOf =
  ({ jobs }: RunnerContext) =>
  (plan: PlannedCall): AbortSignal | undefined =>
    plan.predecessors === null ? jobs.begun(plan) : undefined;

const isOver = ({ kind }: CallState): boolean => kind === 'done' || kind === 'cancelled';

function judgedCall(runner: RunnerContext, { locator, record, edited }: PlannedCall, outcome: ReplayOutcome): void {
  if (edited) return;
  runner.setWord(locator, outcome.attempts.length === 0 ? outcome.status : standingWord(runner.journal, record));
}

function tellProblem({ journal, options }: RunnerContext): void {
  if (journal.problem !== null) options.say(journal.problem, 'error');
}

type Word = Status | 'cancelled';
const STATUSES: readonly Word[] = ['same', 'drift', 'error', 'skipped', 'unknown', 'cancelled'];

/** `24 calls: 20 same, 3 drift, 1 skipped`. */
class Tally {
  readonly counts: Record<string, number> = {};
  #calls = 0;

  add(status: Word): void {
    this.counts[status] = (this.counts[status] ?? 0) + 1;
    this.#calls++;
  }

  get text(): string {
    const parts = STATUSES.filter((status) => this.counts[status]).map((status) => `${this.counts[status]} ${status}`);
    const calls = `${this.#calls} ${this.#calls === 1 ? 'call' : 'calls'}`;
    return parts.length === 0 ? calls : `${calls}: ${parts.join(', ')}`;
  }
}
