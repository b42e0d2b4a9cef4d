import type { ReplayBackend } from './backend.ts';
import { judgeRun, type RunJudgement } from './judge.ts';
import { RULES, type Rule } from './normalise.ts';
import type { Attempt, OutcomeCount, ReplayOutcome } from './outcome.ts';
import type { PlannedCall } from './plan.ts';
import { Notebooks, type RunResult, runCall } from './run-call.ts';
import type { ReplayTools } from './tools.ts';

/** Where a call stands. `since` and `until` are ms since the epoch. */
export type CallState =
  | { kind: 'queued' }
  | { kind: 'running'; attempt: number; of: number; since: number }
  | { kind: 'done'; outcome: ReplayOutcome }
  | { kind: 'cancelled' };

export interface ReplayOptions {
  tools: ReplayTools;
  backend: ReplayBackend;
  /** Runs of each call, one behind the other; more than one tells a flaky call from a drifted one. */
  repeat?: number;
  rules?: readonly Rule[];
  signal?: AbortSignal | undefined;
  onState?: ((state: CallState) => void) | undefined;
  /** Shared by calls that are replayed together. */
  notebooks?: Notebooks;
}

/** Runs a call and judges it. Rejects only with the reason of an aborted signal; whatever else happens is an outcome. */
export async function replayCall(plan: PlannedCall, options: ReplayOptions): Promise<ReplayOutcome> {
  const { tools, backend, repeat = 1, rules = RULES, onState, notebooks = new Notebooks() } = options;
  const signal = options.signal ?? new AbortController().signal;
  const done = (outcome: ReplayOutcome) => {
    onState?.({ kind: 'done', outcome });
    return outcome;
  };
  if (plan.skip !== null) return done(skippedOutcome(plan, plan.skip));
  const runs: { run: RunResult; judgement: RunJudgement | null; at: string }[] = [];
  for (let attempt = 0; attempt < Math.max(1, repeat); attempt++) {
    signal.throwIfAborted();
    onState?.({ kind: 'running', attempt, of: repeat, since: Date.now() });
    const at = new Date().toISOString();
    const run = await runCall(plan, attempt, { tools, backend, signal, notebooks });
    const judgement = answered(run) ? judgeRun(plan, run, { rules, backend }) : null;
    runs.push({ run, judgement, at });
    // What this machine lacks it lacks the next time too.
    if (judgement?.lack != null) break;
  }
  return done(outcomeOf(plan, runs, backend));
}

/** A sandbox that could not run the program says so in an answer; that is no answer of the program's. */
const answered = ({ error }: RunResult): boolean => error === null;

type Run = { run: RunResult; judgement: RunJudgement | null; at: string };

function outcomeOf(plan: PlannedCall, runs: readonly Run[], backend: ReplayBackend): ReplayOutcome {
  const attempts = runs.map(attemptOf);
  const judged = runs.flatMap(({ run, judgement }) => (judgement === null ? [] : [{ run, judgement }]));
  const base = { ...outcomeHead(plan), backend: ranWhere(plan, backend), attempts };
  const failures = runs.length - judged.length;
  const first = judged[0];
  if (first === undefined) {
    return { ...base, status: 'error', reason: attempts.at(-1)?.error ?? 'no answer' };
  }
  const lacking = judged.find(({ judgement }) => judgement.lack !== null && judgement.verdict !== 'same');
  const broken = judged.find(({ run, judgement }) => judgement.lack === null && run.execution?.stopped === 'not run');
  if (lacking)
    return {
      ...base,
      status: 'skipped',
      reason: `environment (${lacking.judgement.lack})`,
      result: lacking.judgement.result,
    };
  if (broken)
    return { ...base, status: 'error', reason: broken.run.execution?.message || 'the sandbox did not run it' };
  const groups = groupRuns(judged.map(({ judgement }) => judgement));
  const main = groups[0]!.judgement;
  const outcomes = groups.map(
    ({ judgement, count }): OutcomeCount => ({ result: judgement.result, count, verdict: judgement.verdict }),
  );
  const said = [
    main.reason,
    plan.created === null ? null : `with ${plan.created.from}`,
    failures > 0 ? `${failures} of ${runs.length} runs gave no answer` : null,
  ];
  const shared = {
    ...base,
    outcomes,
    time: timeOf(judged.map(({ run }) => run)),
    result: main.result,
    compared: main.compared,
  };
  const told = (reasons: (string | null)[]) => reasons.filter((one) => one !== null).join('; ') || null;
  const flaky =
    groups.length > 1
      ? `${groups.length} outcomes in ${judged.length} runs: ${groups.map(({ count }) => `${count} ×`).join(', ')}`
      : null;
  if (main.verdict === null) return { ...shared, status: 'unknown', reason: told([...said, flaky]) };
  if (flaky !== null) {
    const other = groups.find(({ judgement }) => judgement.key !== 'as recorded')!.judgement;
    return {
      ...shared,
      status: 'drift',
      verdict: 'flaky',
      compared: other.compared,
      reason: told([flaky, ...said.slice(1)]),
    };
  }
  const isSame = main.verdict === 'same' || main.verdict === 'normalised';
  return {
    ...shared,
    status: isSame ? 'same' : 'drift',
    verdict: main.verdict,
    reason: told(said),
  };
}

/** The commonest first; of equally common ones the earlier. */
function groupRuns(judgements: readonly RunJudgement[]): { judgement: RunJudgement; count: number }[] {
  const groups = new Map<string, { judgement: RunJudgement; count: number }>();
  for (const judgement of judgements) {
    const group = groups.get(judgement.key);
    if (group === undefined) groups.set(judgement.key, { judgement, count: 1 });
    else group.count++;
  }
  return [...groups.values()].sort((a, b) => b.count - a.count);
}

function attemptOf({ run, judgement, at }: Run): Attempt {
  const { execution, duration, error } = run;
  return {
    result: judgement?.result ?? '',
    stdout: execution?.stdout ?? null,
    stderr: execution?.stderr ?? null,
    exit_status: execution?.exitStatus ?? null,
    duration,
    run_time: execution?.seconds ?? null,
    verdict: judgement?.verdict ?? null,
    error,
    at,
  };
}

function timeOf(runs: readonly RunResult[]): ReplayOutcome['time'] {
  const seconds = runs.map(({ execution, duration }) => execution?.seconds ?? duration).sort((a, b) => a - b);
  const middle = seconds.length >> 1;
  const median = seconds.length % 2 === 1 ? seconds[middle]! : (seconds[middle - 1]! + seconds[middle]!) / 2;
  return { min: seconds[0]!, median, max: seconds.at(-1)! };
}

const ranWhere = ({ tool }: PlannedCall, backend: ReplayBackend): string =>
  tool?.url ?? tool?.own?.runs ?? (tool?.language === null ? 'built in' : backend.name);

const outcomeHead = (plan: PlannedCall): ReplayOutcome => ({
  locator: plan.locator,
  turn: plan.turn,
  call: plan.call,
  name: plan.name,
  backend: null,
  status: 'skipped',
  verdict: null,
  compared: 'none',
  reason: null,
  recorded: plan.recorded,
  result: null,
  attempts: [],
  outcomes: [],
  time: null,
  edited: plan.edited,
  predecessors: plan.predecessors?.map(({ call }) => call) ?? [],
  ...(plan.edited ? { arguments: plan.arguments } : {}),
});

/** What a call comes to that is not run. */
export const skippedOutcome = (plan: PlannedCall, reason: string): ReplayOutcome => ({ ...outcomeHead(plan), reason });
