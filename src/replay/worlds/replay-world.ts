import type { RecordedAction } from '../../analysis/actions/action.ts';
import { apart, seenResult } from '../../analysis/actions/seen-result.ts';
import type { WorldLimits } from '../../sandbox/worlds/guard.ts';
import type { WorldImage } from '../../sandbox/worlds/image.ts';
import type { WorldPlan } from '../../sandbox/worlds/launch.ts';
import { type LayerRecord, type LayerStore, LayerWriter, layerId, removeTree } from '../../sandbox/worlds/layers.ts';
import type { ChangedPath } from '../../sandbox/worlds/tree.ts';
import { LiveWorld, type WorldRun } from '../../sandbox/worlds/world.ts';
import { compareAnswers } from './answers.ts';
import { asksForChance, compareTexts, type WorldComparison, type WorldRule, type WorldVerdict } from './compare.ts';
import { DoubtfulDrift, WINDOW_READS } from './doubtful-drift.ts';
import { FileTools, WINDOW_TOOLS } from './file-tools.ts';
import type { RolloutPlan } from './world-plan.ts';

/** A call that was run in its world. Keys are those of `replay --image --json`. */
export interface WorldOutcome {
  call: number;
  turn: number;
  name: string;
  verdict: WorldVerdict;
  rules: WorldRule[];
  /** An earlier call of this rollout drifted, so this one started from a state other than the recorded one. */
  tainted: boolean;
  exit: number | null;
  recorded_exit: number | null;
  reason: string | null;
  recorded: string | null;
  result: string | null;
  seconds: number;
  /** The paths that this call changed. */
  changed: ChangedPath[];
  processes: string[];
}

export interface WorldOptions {
  image: WorldImage;
  store: LayerStore;
  plan: RolloutPlan;
  network: boolean;
  limits?: WorldLimits | undefined;
  /** The first call to run; the state before it comes from layers. */
  from?: number | undefined;
  /** The state before it comes from another one than the recorded. */
  tainted?: boolean | undefined;
  /** The last call to run. */
  to?: number | undefined;
  stopAtDrift?: boolean | undefined;
  signal?: AbortSignal | undefined;
}

/** The names of the layers of a rollout's calls. */
export function layerIds({ image, plan, network }: Pick<WorldOptions, 'image' | 'plan' | 'network'>): string[] {
  const { workdir, env, shell, timeLimit, actions } = plan;
  let id = layerId(image.key, { version: 1, workdir: workdir.path, env, shell, timeLimit, network });
  return actions.map(({ action }) => {
    id = layerId(id, action);
    return id;
  });
}

/** Runs a rollout's calls in a separate world, one after another, and keeps a layer for each. */
export async function* replayWorld(options: WorldOptions): AsyncGenerator<WorldOutcome> {
  const { image, store, plan, network, from = 0, signal } = options;
  let tainted = options.tainted === true;
  const ids = layerIds(options);
  const before = from === 0 ? [] : store.chain(ids.slice(0, from));
  if (before === null)
    throw new Error(`the state before call ${from} is not kept any more; run it without --from once`);
  const live = store.live();
  const world = openWorld(options, live, before);
  const writer = new LayerWriter(store, image.root, live, before);
  const stop = () => void world.stop();
  const isStopped = () => signal?.aborted === true;
  signal?.addEventListener('abort', stop, { once: true });
  try {
    await world.open();
    const tools = new FileTools(world, before.findLast(({ tools }) => tools !== null)?.tools ?? null);
    const raced = new Set<string>();
    let beside: string[] = [];
    const doubts = new DoubtfulDrift(plan.actions);
    for (const one of plan.actions.slice(0, from)) doubts.pass(one);
    let lostBefore: readonly string[] = [];
    const { actions } = plan;
    for (const [i, recorded] of actions.entries()) {
      if (i < from) continue;
      if (isStopped() || recorded.call > (options.to ?? Number.POSITIVE_INFINITY)) return;
      let outcome: WorldRunOutcome;
      let isCaptured: boolean;
      try {
        outcome = await runAction(recorded, world, tools, plan, network);
        isCaptured = await world.capture();
      } catch (error) {
        // A call that was interrupted has no outcome, and its state is not kept.
        if (isStopped()) return;
        throw error;
      }
      if (isStopped()) return;
      const id = ids[i] ?? '';
      const goOn = world.pause();
      const processes = world.processes();
      let record: LayerRecord;
      try {
        const state = {
          ...{ captured: world.captured ?? null, dir: world.dir, processes },
          ...{ tools: tools.changedState(), lost: [...world.lost] },
        };
        record = writer.freeze(id, ids[i - 1] ?? null, state, (path) => world.namesIn(path));
      } finally {
        goOn();
      }
      if (beside.length + processes.length > 0) for (const { path } of record.changed) raced.add(path);
      beside = processes;
      const command = worldCommand(recorded);
      outcome = { ...outcome, ...doubts.judge(recorded, outcome) };
      if (!isCaptured) doubts.lose(recorded);
      const race = outcome.verdict === 'drift' ? [...raced].find((path) => command.includes(path)) : undefined;
      const lost = record.lost.filter((one) => !lostBefore.includes(one));
      lostBefore = record.lost;
      const reasons = [
        outcome.reason,
        race === undefined ? null : `${race} ${RACED}`,
        lost.length === 0 ? null : `not kept in the layer: ${lost.slice(0, 3).join('; ')}`,
      ].filter((one) => one !== null);
      const reason = reasons.length === 0 ? null : reasons.join('; ');
      const whole = { ...outcome, tainted, changed: record.changed, processes, reason };
      yield whole;
      if (taintsLater(whole, recorded)) {
        tainted = true;
        if (options.stopAtDrift === true) return;
      }
    }
  } finally {
    signal?.removeEventListener('abort', stop);
    await world.close();
    removeTree(live);
    store.sweep();
  }
}

const RACED = 'was written by a process beside the calls: its content depends on the time';

const worldCommand = ({ action }: RecordedAction): string => (action.kind === 'shell' ? action.command : '');

/** Whether calls after this one begin in another state than the recorded ones: chance and time change a result alone. */
export const taintsLater = ({ verdict, reason }: WorldOutcome, recorded: RecordedAction): boolean =>
  verdict === 'drift' && reason?.includes(RACED) !== true && !asksForChance(worldCommand(recorded));

/** A world on top of the layers of earlier calls, not yet opened. */
export function openWorld(
  { image, store, plan, network, limits }: WorldOptions,
  folder: string,
  before: readonly LayerRecord[],
): LiveWorld {
  return new LiveWorld(worldPlan({ image, store, plan, network, limits }, folder, before));
}

/** The same for another kind of shell. */
export function worldPlan(
  { image, store, plan, network, limits }: WorldOptions,
  folder: string,
  before: readonly LayerRecord[],
): WorldPlan {
  const last = before.at(-1);
  return {
    lowers: [...store.lowersOf(before, folder), image.root],
    folder,
    hostname: plan.hostname ?? image.hostname ?? 'rollout',
    env: plan.env,
    workdir: plan.shell === 'cwd' ? (last?.dir ?? plan.workdir.path) : plan.workdir.path,
    shell: plan.shell,
    network,
    hidden: image.hidden,
    captured: last?.captured ?? undefined,
    limits,
  };
}

type WorldRunOutcome = Omit<WorldOutcome, 'tainted' | 'changed' | 'processes'>;

async function runAction(
  recorded: RecordedAction,
  world: LiveWorld,
  tools: FileTools,
  plan: RolloutPlan,
  network: boolean,
): Promise<WorldRunOutcome> {
  const { action, result, call, turn, name } = recorded;
  const head = {
    call,
    turn,
    name,
    rules: [],
    exit: null,
    recorded_exit: plan.exits.get(call) ?? null,
    recorded: result,
    result: null,
    seconds: 0,
  };
  if (action.kind === 'none') return { ...head, verdict: 'skipped', reason: action.reason };
  if (action.kind === 'shell') {
    if (action.isInput)
      return { ...head, verdict: 'skipped', reason: 'input to a program that ran then: not replayable' };
    return runShell(recorded, world, plan, network);
  }
  if (action.kind === 'window' && !WINDOW_TOOLS.has(action.verb)) {
    const reads = WINDOW_READS.test(action.verb);
    return {
      ...head,
      verdict: reads ? 'skipped' : 'infra',
      reason: `${action.verb} of SWE-agent is not run here${reads ? ': it changes nothing' : ', and what it writes is missing'}`,
    };
  }
  const began = performance.now();
  const answer = await tools.run(action, plan.workdir.path, result);
  const seconds = (performance.now() - began) / 1000;
  const done: Omit<WorldRunOutcome, 'verdict' | 'reason'> = {
    ...head,
    exit: answer.ok ? 0 : 1,
    result: answer.text,
    seconds,
  };
  if (result === null) return { ...done, verdict: 'unknown', reason: 'its result was not recorded' };
  const seen = action.kind === 'patch' ? seenResult(result).output : result;
  return judgedRun(done, compareAnswers(seen, answer, { command: name, now: Date.now() }));
}

function judgedRun(
  done: Omit<WorldRunOutcome, 'verdict' | 'reason'>,
  { verdict, rules }: WorldComparison,
  reason: string | null = null,
): WorldRunOutcome {
  return {
    ...done,
    verdict,
    rules,
    reason: reason ?? (rules.length === 0 ? null : `normalised by ${rules.join(', ')}`),
  };
}

/** The line in which our tools say why a command ended. */
export const endNote = ({ excess, timedOut, ended }: WorldRun, timeLimit: number): string =>
  excess !== null
    ? `[the command was ended: it took ${excess}]\n`
    : timedOut
      ? `[Command timed out after ${timeLimit} s]\n`
      : ended
        ? '[the command ended its own shell]\n'
        : '';
const OWN_END = /\n?\[the command (?:ended its own shell|was ended: it took [^\n]*)\]\n?$/;

async function runShell(
  recorded: RecordedAction,
  world: LiveWorld,
  plan: RolloutPlan,
  network: boolean,
): Promise<WorldRunOutcome> {
  const { action, result, call, turn, name } = recorded;
  if (action.kind !== 'shell') throw new Error('no command');
  const dir = plan.shell === 'stateless' && action.workdir !== null ? action.workdir : undefined;
  const run = await world.run(action.command, {
    timeLimit: action.timeout ?? plan.timeLimit,
    merged: plan.merged,
    dir,
  });
  const seen = result === null ? null : seenResult(result);
  const recordedExit = plan.exits.get(call) ?? seen?.exit ?? null;
  const text = worldRunText(run, result ?? '', plan);
  const done: Omit<WorldRunOutcome, 'verdict' | 'reason'> = {
    call,
    turn,
    name,
    rules: [],
    exit: run.exit,
    recorded_exit: recordedExit,
    recorded: result,
    result: text,
    seconds: run.seconds,
  };
  if (seen === null) return { ...done, verdict: 'unknown', reason: 'its result was not recorded' };
  const context = { command: action.command, now: Date.now() };
  if (run.excess !== null) return { ...done, verdict: 'infra', reason: `it took ${run.excess}` };
  const lack = lackOf(seen.output, text, network);
  if (run.timedOut) return timedOut(done, seen.output, text, recordedExit, context, plan);
  const compared = compareTexts(run.ended ? seen.output.replace(OWN_END, '') : seen.output, text, context);
  // The exit status is part of the result. Claude Code reports it only for a command that failed.
  const wanted = recordedExit ?? (name === 'Bash' ? 0 : null);
  const isExit = wanted === null || run.exit === null || wanted === run.exit;
  if (compared.verdict !== 'drift' && isExit)
    return judgedRun(done, compared, run.ended ? 'the command ended its own shell' : null);
  if (lack !== null) return { ...done, verdict: 'infra', reason: lack };
  return { ...done, verdict: 'drift', reason: isExit ? null : `exit status ${run.exit}, recorded ${wanted}` };
}

/** A recorded time-out is repeated; any other is this machine's fault. */
function timedOut(
  done: Omit<WorldRunOutcome, 'verdict' | 'reason'>,
  recorded: string,
  text: string,
  recordedExit: number | null,
  context: { command: string; now: number },
  plan: RolloutPlan,
): WorldRunOutcome {
  const wasLate =
    recordedExit === -1 ||
    recordedExit === 124 ||
    recordedExit === 137 ||
    /timed? ?out|no new output after|time limit/i.test(recorded);
  const limit = `it ran longer than ${plan.timeLimit} s`;
  if (!wasLate) return { ...done, verdict: 'infra', reason: limit };
  const isLike = compareTexts(
    recorded.replace(/\n?\[?[^\n]*(?:timed? ?out|no new output)[\s\S]*$/i, ''),
    text,
    context,
  );
  return isLike.verdict === 'drift'
    ? { ...done, verdict: 'infra', reason: limit }
    : { ...done, ...isLike, reason: 'both ran longer than their limit' };
}

/** The output as the agent writes it: both streams as one text, or separately if the record separates them. */
function worldRunText(run: WorldRun, recorded: string, plan: RolloutPlan): string {
  const [out, err] = [run.stdout.toString('utf8'), run.stderr.toString('utf8')];
  if (plan.merged) return out;
  if (recorded.trimStart().startsWith('{')) return err === '' ? out : apart(out, err);
  return [out.replace(/\n+$/, ''), err.replace(/\n+$/, '')].filter((part) => part !== '').join('\n');
}

const NETWORK =
  /Could not resolve host|Temporary failure in name resolution|Temporary failure resolving|Network is unreachable|Name or service not known|No address associated|Connection refused|unable to access '|Failed to establish a new connection|getaddrinfo/;

const NO_FORK = /fork: (?:retry: )?Resource temporarily unavailable|can't start new thread|Cannot fork/;

/** A requirement that the image or the machine lacks, though the recorded run had it; null if none. */
function lackOf(recorded: string, fresh: string, network: boolean): string | null {
  const missing = /^(?:\S+: )?(?:(?:eval: |-c: )?line \d+: )?([\w./+-]+): (?:command )?not found$/m.exec(fresh)?.[1];
  if (missing !== undefined && !recorded.includes(`${missing}: command not found`))
    return `the image has no ${missing}`;
  const module =
    /No module named (pip|ensurepip|setuptools|wheel|venv|virtualenv|build|twine|pytest|mypy|flake8|pylint|black|ruff|isort|tox|nox|coverage|poetry|uv|hatch|pre_commit)\b/.exec(
      fresh,
    )?.[1];
  if (module !== undefined && !recorded.includes(`No module named ${module}`))
    return `the image has no Python module ${module}`;
  if (NO_FORK.test(fresh) && !NO_FORK.test(recorded)) return 'it took more processes than a world may have';
  if (/No space left on device/.test(fresh) && !/No space left on device/.test(recorded)) return 'the disk is full';
  if (NETWORK.test(fresh) && !NETWORK.test(recorded))
    return network ? 'what it asks for cannot be reached' : 'it needs the network, which is closed; --network opens it';
  return null;
}
