import { availableParallelism, loadavg } from 'node:os';
import type { ReplayBackend } from './backend.ts';
import { clockUse, mayWaver } from './compare/clock.ts';
import { ALL_RULES, type Rules } from './compare/rules.ts';
import { matchTexts } from './compare/texts.ts';
import { PROGRAMS, type Program } from './forms.ts';
import { judgeRun, type RunJudgement } from './judge.ts';
import { modulesOf, tellsFailure } from './lacks.ts';
import type { Attempt, OutcomeCount, ReplayOutcome, RunEnvironment, Verdict } from './outcome.ts';
import type { PlannedCall } from './plan.ts';
import { Notebooks, type RunResult, type RunWay, runCall } from './run-call.ts';
import type { ReplayTools } from './tools.ts';

/** The progress of a call. `since` and `until` are ms since the epoch. */
export type CallState =
  | { kind: 'queued' }
  | { kind: 'running'; attempt: number; of: number; since: number }
  | { kind: 'done'; outcome: ReplayOutcome }
  | { kind: 'cancelled' };

export interface ReplayOptions {
  tools: ReplayTools;
  backend: ReplayBackend;
  /** Runs of each call, in sequence; more than one distinguishes a flaky call from a drifted one. */
  repeat?: number;
  rules?: Rules;
  signal?: AbortSignal | undefined;
  onState?: ((state: CallState) => void) | undefined;
  /** Shared by calls that are replayed together. */
  notebooks?: Notebooks;
}

interface Run {
  run: RunResult;
  at: string;
}

/** Runs a call and judges it. Rejects only with the reason of an aborted signal; anything else becomes an outcome. */
export async function replayCall(plan: PlannedCall, options: ReplayOptions): Promise<ReplayOutcome> {
  const { onState } = options;
  const outcome = plan.skip !== null ? skippedOutcome(plan, plan.skip) : await new Replay(plan, options).outcome();
  onState?.({ kind: 'done', outcome });
  return outcome;
}

/** Extra seconds for a program that a loaded host delayed. */
const PATIENCE = { times: 4, most: 120 };
/** A match by luck is rarely one three times. */
const RUNS_OF_LUCK = 3;
/** The share of its time limit that a program spends on a processor if nothing holds it up. */
const BUSY_SHARE = 0.85;

class Replay {
  readonly #options: ReplayOptions;
  readonly #signal: AbortSignal;
  readonly #rules: Rules;
  readonly #notebooks: Notebooks;
  /** Includes the calls that run before it, once the record proves that they share state. */
  #plan: PlannedCall;
  #way: RunWay;
  #notes: string[] = [];
  readonly #runs: Run[] = [];

  constructor(plan: PlannedCall, options: ReplayOptions) {
    this.#plan = plan;
    this.#options = options;
    this.#signal = options.signal ?? new AbortController().signal;
    this.#rules = options.rules ?? ALL_RULES;
    this.#notebooks = options.notebooks ?? new Notebooks();
    this.#way = { program: plan.tool?.program ?? null };
  }

  async outcome(): Promise<ReplayOutcome> {
    const { repeat = 1 } = this.#options;
    let first = await this.#run();
    let judged = this.#judge(first);
    const own = this.#plan.code?.timeout ?? Number.POSITIVE_INFINITY;
    if (judged?.verdict === 'infra' && this.#isKeptWaiting(first.run)) {
      const timeout = Math.min(PATIENCE.most, own * PATIENCE.times);
      if (timeout > own) {
        const late = first;
        this.#way = { ...this.#way, timeout };
        this.#runs.pop();
        first = await this.#run();
        // More processor time than the limit is too much on any host.
        if ((first.run.execution?.processor ?? 0) > own) {
          this.#runs.splice(0, this.#runs.length, late);
          first = late;
        } else this.#notes.push(`with ${timeout} s, since the host is loaded`);
        judged = this.#judge(first);
      }
    }
    if (isOpen(judged)) judged = (await this.#otherWay(first)) ?? judged;
    if (isOpen(judged) && (await this.#absentModule()) !== null) {
      const lack = `${await this.#absentModule()} is not in ${this.#options.backend.name}; --sandbox-python names an interpreter that has it`;
      return this.#skipped(judged as RunJudgement, lack);
    }
    // This machine would lack it the next time too.
    const isOver = judged?.lack != null && judged.verdict !== 'same' && judged.verdict !== 'normalised';
    // A second run distinguishes a program's own randomness from a different result.
    const { code } = this.#plan;
    const usual =
      code === null ? 1 : isOpen(judged) ? 2 : judged?.match != null && mayWaver(code.code) ? RUNS_OF_LUCK : 1;
    const wanted = isOver ? 1 : Math.max(repeat, usual);
    while (this.#runs.length < wanted) await this.#run();
    return this.#outcomeOf(await this.#environment());
  }

  async #run(): Promise<Run> {
    this.#signal.throwIfAborted();
    const attempt = this.#runs.length;
    const { tools, backend, repeat = 1, onState } = this.#options;
    onState?.({ kind: 'running', attempt, of: Math.max(repeat, attempt + 1), since: Date.now() });
    const at = new Date().toISOString();
    const context = { tools, backend, signal: this.#signal, notebooks: this.#notebooks };
    const run = { run: await runCall(this.#plan, attempt, context, this.#way), at };
    this.#runs.push(run);
    return run;
  }

  #judge({ run }: Run, again: RunResult | null = null): RunJudgement | null {
    if (run.error !== null) return null;
    return judgeRun(this.#plan, run, { rules: this.#rules, backend: this.#options.backend, again });
  }

  /** It hit its time limit while others had the processor. A program that used the limit as processor time is itself slow. */
  #isKeptWaiting({ execution }: RunResult): boolean {
    const { code } = this.#plan;
    if (code === null || execution?.stopped !== 'time limit' || this.#options.backend.url !== null) return false;
    if (execution.processor !== null && execution.processor > code.timeout * BUSY_SHARE) return false;
    return (loadavg()[0] ?? 0) > availableParallelism() * 0.75;
  }

  /** Another way for the tool to run code, if it reproduces the record: a session, or a program that is changed first. */
  async #otherWay(first: Run): Promise<RunJudgement | null> {
    const { code, recorded, tool, predecessors, earlier } = this.#plan;
    if (code === null || code.language !== 'python' || predecessors !== null) return null;
    const kept = { plan: this.#plan, way: this.#way };
    const attempt = async (plan: PlannedCall, way: RunWay, note: string): Promise<RunJudgement | null> => {
      this.#plan = plan;
      this.#way = way;
      this.#runs.pop();
      const judged = this.#judge(await this.#run());
      // Code that fails to parse one way fails in the others too, so it is no evidence of how the tool runs code.
      if (judged?.match != null && !judged.match.rules.includes('python-wording')) {
        this.#notes.push(note);
        return judged;
      }
      this.#plan = kept.plan;
      this.#way = kept.way;
      return null;
    };
    const made = madeEarlier(first.run, earlier);
    if (made !== null && (this.#plan.edited || !tellsFailure(recorded?.text ?? ''))) {
      const calls = earlier.map((one) => one.call).join(', ');
      const plan = { ...this.#plan, predecessors: earlier };
      const judged = await attempt(plan, {}, `in a session with call ${calls}, which makes ${made}`);
      if (judged !== null) return judged;
      this.#notes.push(`call ${calls} makes ${made}: --session runs them together`);
    }
    if (tool?.form == null && recorded !== null && !this.#plan.edited)
      for (const program of programsFor(code.code)) {
        const judged = await attempt(kept.plan, { ...kept.way, program }, `the tool: ${program.about}`);
        if (judged !== null) return judged;
      }
    this.#runs.splice(0, this.#runs.length, first);
    return null;
  }

  /** A module that the code imports in a way that does not fail if it is missing. */
  async #absentModule(): Promise<string | null> {
    const { code } = this.#plan;
    if (code === null || code.language !== 'python' || !/\btry\b|find_spec|import_module/.test(code.code)) return null;
    const packages = (await this.#environment())?.packages ?? {};
    return modulesOf(code.code).find((name) => packages[name] === 'missing') ?? null;
  }

  #environment(): Promise<RunEnvironment | null> {
    const { code } = this.#plan;
    if (code === null || code.language !== 'python') return Promise.resolve(null);
    return this.#options.backend.environment(modulesOf(code.code), this.#signal);
  }

  #skipped(judged: RunJudgement, lack: string): ReplayOutcome {
    const { result } = judged;
    return {
      ...this.#head(null),
      attempts: this.#runs.map((run) => attemptOf(run, judged)),
      result,
      reason: `environment (${lack})`,
    };
  }

  #head(environment: RunEnvironment | null): ReplayOutcome {
    return { ...outcomeHead(this.#plan), backend: ranWhere(this.#plan, this.#options.backend), environment };
  }

  #outcomeOf(environment: RunEnvironment | null): ReplayOutcome {
    const runs = this.#runs;
    const judgements = runs.map((run, i) => this.#judge(run, (runs[i + 1] ?? runs[0] ?? run).run));
    const attempts = runs.map((run, i) => attemptOf(run, judgements[i] ?? null));
    const base = { ...this.#head(environment), attempts };
    const judged = runs.flatMap(({ run }, i) => {
      const one = judgements[i];
      return one ? [{ ...one, run }] : [];
    });
    const [first] = judged;
    if (first === undefined) return { ...base, status: 'error', reason: attempts.at(-1)?.error ?? 'no answer' };
    const broken = judged.find(
      ({ run, match, lack }) => match === null && lack === null && run.execution?.stopped === 'not run',
    );
    if (broken)
      return { ...base, status: 'error', reason: broken.run.execution?.message || 'the sandbox did not run it' };
    const groups = this.#groups(judged);
    const main = groups[0]?.judgement ?? first;
    const failures = runs.length - judged.length;
    const joined = (reasons: readonly (string | null)[]) => reasons.filter((one) => one !== null).join('; ') || null;
    const shared = {
      ...base,
      outcomes: groups.map(
        ({ judgement, count }): OutcomeCount => ({ result: judgement.result.text, count, verdict: judgement.verdict }),
      ),
      time: timeOf(judged.map(({ run }) => run)),
      result: main.result,
      compared: main.compared,
    };
    const { created } = this.#plan;
    const others = [
      ...this.#notes,
      created === null ? null : `with ${created.from}`,
      failures > 0 ? `${failures} of ${runs.length} runs gave no answer` : null,
    ];
    if (main.verdict === 'infra')
      return { ...shared, status: 'error', verdict: 'infra', reason: joined([main.reason, ...others]) };
    if (main.lack !== null && main.match === null)
      return { ...shared, status: 'skipped', compared: 'none', reason: `environment (${main.lack.says})` };
    if (main.verdict === null) return { ...shared, status: 'unknown', reason: joined([main.reason, ...others]) };
    if (groups.length > 1) {
      const flaky = `${groups.length} outcomes in ${judged.length} runs: ${groups.map(({ count }) => `${count} ×`).join(', ')}`;
      return { ...shared, status: 'drift', verdict: 'flaky', reason: joined([flaky, ...others]) };
    }
    const isSame = main.verdict === 'same' || main.verdict === 'normalised';
    return {
      ...shared,
      status: isSame ? 'same' : 'drift',
      verdict: main.verdict,
      reason: joined([main.reason, ...others]),
    };
  }

  /** Runs with the same result, the most common first; ties keep the earlier one first. */
  #groups<T extends RunJudgement & { run: RunResult }>(judged: readonly T[]): { judgement: T; count: number }[] {
    const groups: { judgement: T; count: number }[] = [];
    for (const one of judged) {
      const group = groups.find(({ judgement }) => this.#isOne(judgement, one));
      if (group === undefined) groups.push({ judgement: one, count: 1 });
      else group.count++;
    }
    return groups.sort((a, b) => b.count - a.count);
  }

  #isOne(a: RunJudgement & { run: RunResult }, b: RunJudgement & { run: RunResult }): boolean {
    if ((a.match === null) !== (b.match === null)) return false;
    if (a.match !== null) return true;
    if (a.run.execution?.stopped !== b.run.execution?.stopped) return false;
    if (a.result.reward !== b.result.reward) return false;
    const code = this.#plan.code?.code ?? null;
    const { execution, duration } = b.run;
    const facts = {
      code,
      clock: clockUse(code),
      seconds: execution?.seconds ?? duration,
      now: Date.now() / 1000,
      again: null,
    };
    return matchTexts(a.result.text, b.result.text, { rules: this.#rules, facts }) !== null;
  }
}

/** The run differs, and not for any reason on our side. */
const isOpen = (judged: RunJudgement | null): boolean =>
  judged !== null && judged.lack === null && OPEN.has(judged.verdict);
const OPEN: ReadonlySet<Verdict | null> = new Set(['different', 'now_fails', 'now_succeeds']);

/** The name or file that an earlier call created and this one did not find. */
function madeEarlier({ execution }: RunResult, earlier: readonly PlannedCall[]): string | null {
  const said = `${execution?.stderr ?? ''}\n${execution?.stdout ?? ''}`;
  const name =
    /NameError: name '(\w+)' is not defined/.exec(said)?.[1] ??
    /No such file or directory: '([^'\n]+)'/.exec(said)?.[1] ??
    /No module named '([\w.]+)'/.exec(said)?.[1];
  if (name === undefined) return null;
  const word = name.slice(name.lastIndexOf('/') + 1);
  return earlier.some(({ code }) => code?.code.includes(word)) ? name : null;
}

const programsFor = (code: string): Program[] => PROGRAMS.filter((program) => program.of(code) !== null);

function attemptOf({ run, at }: Run, judgement: RunJudgement | null): Attempt {
  const { execution, duration, error } = run;
  return {
    result: judgement?.result.text ?? '',
    reward: judgement?.result.reward ?? null,
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
  const [upper = 0, lower = upper] = [seconds[middle], seconds[middle - 1]];
  const median = seconds.length % 2 === 1 ? upper : (lower + upper) / 2;
  return { min: seconds[0] ?? 0, median, max: seconds.at(-1) ?? 0 };
}

const ranWhere = ({ tool }: PlannedCall, backend: ReplayBackend): string =>
  tool?.url ?? tool?.own?.runs ?? (tool?.language === null ? 'built in' : backend.name);

const outcomeHead = (plan: PlannedCall): ReplayOutcome => ({
  locator: plan.locator,
  turn: plan.turn,
  call: plan.call,
  name: plan.name,
  backend: null,
  environment: null,
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

/** The outcome of a call that is not run. */
export const skippedOutcome = (plan: PlannedCall, reason: string): ReplayOutcome => ({ ...outcomeHead(plan), reason });
