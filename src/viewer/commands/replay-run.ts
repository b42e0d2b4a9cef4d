import type { QueuePlace } from '../../cluster/place.ts';
import { UsageError } from '../../core/dump/paths.ts';
import type { Printable } from '../../core/json/print.ts';
import { printJson } from '../../core/json/print.ts';
import { itemAt } from '../../core/lists/at.ts';
import { errorMessage } from '../../core/text/thrown.ts';
import {
  backendWish,
  CallSession,
  DriftTable,
  diffOf,
  keptIn,
  type PlannedCall,
  planCalls,
  type ReplayBackend,
  type ReplayBackendChoice,
  type ReplayOutcome,
  ReplayTools,
  RULE_NAMES,
  replayMany,
  reportedOf,
  requirementsPython,
  rulesWithout,
  skippedOutcome,
  standingOutcome,
  whereOf,
} from '../../replay/index.ts';
import type { Journal } from '../../replay/journal/journal.ts';
import { diffLines, outcomeLine, reportedLine } from '../present/replay-text.ts';
import { promptAt } from '../tui/runner/python-prompt.ts';
import { asUsage, choiceOf, consent, openedOrUsage } from './consent.ts';
import { dumpOptions } from './dump-options.ts';
import { interruption } from './interruption.ts';
import { journalOf } from './journal-of.ts';
import { ANSWER_IS_NO, DONE, print, say, USAGE } from './output.ts';
import { openTools, ownCodeOf } from './own-run.ts';
import { printDrift } from './print-drift.ts';
import { filterOf } from './query-options.ts';
import { leaveQueue, openQueue } from './queue-flags.ts';
import { journalRun } from './queue-run.ts';
import { compareEnvironments } from './replay-compare.ts';
import type { ReplayFlags } from './replay-flags.ts';
import { pathOfArgument, selectRows } from './select-rows.ts';
import { StatusLine } from './status-line.ts';
import { endWork } from './work-line.ts';

/** Runs the requested calls and prints an outcome per call. @returns the exit status */
export async function replay(args: readonly string[], flags: ReplayFlags): Promise<number> {
  const tools = asUsage(
    () =>
      new ReplayTools({
        tools: flags.tools,
        mapped: flags.tool,
        timeout: flags.timeout,
        own: ownCodeOf(flags),
      }),
  );
  const rules = asUsage(() => rulesWithout(flags.exact === true ? RULE_NAMES : (flags.exact ?? [])));
  const choice: ReplayBackendChoice = {
    ...choiceOf(flags, tools),
    concurrency: flags.concurrency,
    python: flags.sandboxPython?.[0],
  };
  const [, secondPython, ...others] = flags.sandboxPython ?? [];
  if (others.length > 0) throw new UsageError('--sandbox-python: give it twice at most');
  if (flags.queue !== undefined) checkQueued(flags);
  const journal = await journalOf(pathOfArgument(itemAt(args, 0)), flags.journal);
  endWork();
  const line = new StatusLine();
  const tally = new Map<string, number>();
  const stale = new Map<string, number>();
  const table = new DriftTable();
  let backend: ReplayBackend | null = null;
  let queue: Awaited<ReturnType<typeof sandboxAt>> | null = null;
  let isOver = false;
  let second: ReplayBackend | null = null;
  // Opened last: an exception before the try would leave the connection, and with it the process, open.
  const shared = await openQueue(flags, say);
  const stop = interruption();
  try {
    // Before planning, because a class may define how its tool is called.
    if (flags.exec) await openTools(tools, flags.yes === true, stop.signal);
    const planned = plannedRollouts(args, flags, tools, journal);
    const { first, rest } = await untilRunnable(planned);
    const show = async (outcome: ReplayOutcome, plan: PlannedCall) => {
      const reported = reportedOf(journal, plan);
      tally.set(outcome.status, (tally.get(outcome.status) ?? 0) + 1);
      table.add(outcome, plan.step);
      line.clear();
      if (!flags.table)
        await print(flags.json ? `${printJson(jsonOf(outcome, reported))}\n` : replayText(outcome, reported));
      line.show(tallyText(tally));
    };
    if (!flags.exec) {
      const where = wishText(choice);
      for await (const plans of rest)
        for (const plan of plans)
          await show(
            (flags.table ? standingOutcome(journal, plan) : null) ??
              skippedOutcome(plan, plan.skip ?? `not run (--no-exec): it would run on ${whereOf(plan, where)}`),
            plan,
          );
      if (flags.table) await printDrift(table, flags.json === true);
      return tally.size === 0 ? nothing(args, flags.call) : DONE;
    }
    if (first !== null) {
      if (shared === null) {
        consent(choice, flags, first);
        if (flags.sandboxRequirements !== undefined) choice.python = await madePython(flags, stop.signal);
        backend = await openedOrUsage(choice);
      } else {
        queue = await sandboxAt(shared, args, { choice, flags, journal, signal: stop.signal });
        backend = queue.backend;
      }
      tools.use(backend.run);
      say(`code runs on ${backend.name} (${backend.why}); results are kept in ${journal.directory ?? 'memory'}`);
      if (journal.problem !== null) say(journal.problem);
      backend.onWait = (wait) => line.note(wait === null ? null : `${wait.reason}, waiting …`);
    }
    if (backend !== null && flags.prompt) {
      const session = asUsage(() => new CallSession(first as PlannedCall, backend as ReplayBackend));
      await promptAt(session, { input: process.stdin, output: process.stdout }, stop.signal);
      return DONE;
    }
    if (backend !== null && secondPython !== undefined) {
      second = await openedOrUsage({ ...choice, python: secondPython });
      const { calls, different } = await compareEnvironments({
        rollouts: rest,
        tools,
        backends: [backend, second],
        repeat: flags.repeat,
        rules,
        concurrency: flags.concurrency,
        signal: stop.signal,
        json: flags.json === true,
      });
      return calls === 0 ? nothing(args, flags.call) : different > 0 ? ANSWER_IS_NO : DONE;
    }
    const options = { tools, backend: backend ?? NOWHERE, repeat: flags.repeat, rules, signal: stop.signal };
    const results = replayMany({
      ...options,
      rollouts: rest,
      concurrency: flags.concurrency,
      isQueued: queue !== null,
      journal,
      resume: flags.resume || queue?.isResumed === true,
    });
    for await (const { outcome, plan, stale: parts } of results) {
      for (const part of parts) stale.set(part, (stale.get(part) ?? 0) + 1);
      await show(outcome, plan);
    }
    isOver = !stop.signal.aborted;
  } catch (error) {
    // Interrupted while waiting for a worker.
    if (!stop.signal.aborted) throw error;
  } finally {
    await queue?.close(isOver);
    if (shared !== null) await leaveQueue(shared);
    line.clear();
    stop.end();
    if (queue === null) await backend?.close();
    await second?.close();
    tools.close();
    journal.close();
  }
  if (journal.problem?.startsWith('not all')) say(journal.problem);
  if (stop.signal.aborted) {
    say(`interrupted after ${tallyText(tally) || 'nothing'}; --resume continues`);
    return ANSWER_IS_NO;
  }
  if (tally.size === 0) return nothing(args, flags.call);
  if (flags.table) await printDrift(table, flags.json === true);
  for (const [part, count] of stale) say(`run again, since it is another ${part}: ${count}`);
  for (const problem of tools.problems) say(problem);
  if (!flags.json) say(tallyText(tally));
  if (tally.size === 1 && tally.has('error')) return USAGE;
  return tally.has('drift') ? ANSWER_IS_NO : DONE;
}

/** @throws UsageError for flags that belong to each worker, or do not work with a queue */
function checkQueued(flags: ReplayFlags): void {
  const forWorkers = 'does not go with --queue here: give it to each worker';
  if (flags.sandbox !== 'auto') throw new UsageError(`--sandbox ${forWorkers}`);
  if (flags.sandboxPython) throw new UsageError(`--sandbox-python ${forWorkers}`);
  if (flags.sandboxRequirements)
    throw new UsageError('--sandbox-requirements does not go with --queue: each worker has its own interpreter');
  if (flags.prompt) throw new UsageError('--prompt does not go with --queue: a prompt runs in this process');
}

interface SandboxWanted {
  choice: ReplayBackendChoice;
  flags: ReplayFlags;
  journal: Journal;
  signal: AbortSignal;
}

/** The sandboxes of workers. A continued run picks up what they finished after it was killed. */
async function sandboxAt(
  shared: QueuePlace,
  args: readonly string[],
  { choice, flags, journal, signal }: SandboxWanted,
) {
  const { queuedSandbox } = await import('../../cluster/executions.ts');
  const { run, resumedFrom, forget } = await journalRun(journal, 'replay', args);
  const { toolsUrl = null } = choice;
  const { concurrency, share } = flags;
  const options = { run, what: args.join(' '), toolsUrl, concurrency, share, say, signal };
  const backend = await queuedSandbox(shared, options);
  return {
    backend,
    isResumed: resumedFrom !== null,
    async close(isOver: boolean) {
      await backend.finish(isOver);
      if (isOver) await forget();
    },
  };
}

/** The interpreter of an environment built from the requirements file. @throws UsageError */
async function madePython(flags: ReplayFlags, signal: AbortSignal): Promise<string> {
  const onStart = (folder: string) => say(`an environment is made in ${folder}, with pip and your rights …`);
  try {
    return await requirementsPython(flags.sandboxRequirements!, {
      ...(flags.sandboxPython?.[0] === undefined ? {} : { python: flags.sandboxPython[0] }),
      signal,
      onStart,
    });
  } catch (error) {
    throw new UsageError(errorMessage(error));
  }
}

async function* plannedRollouts(
  args: readonly string[],
  flags: ReplayFlags,
  tools: ReplayTools,
  journal: Journal,
): AsyncGenerator<readonly PlannedCall[]> {
  const rows = selectRows(args, await dumpOptions(flags), filterOf(flags.filter), keptIn([journal]));
  for await (const { row, turn } of rows) {
    if (row.rollout === null) {
      say(`${row.locator}: ${row.error}`);
      continue;
    }
    const call = flags.call ?? null;
    yield planCalls(row, { tools, session: flags.session ?? false, call, turn });
  }
}

/** Finds the first call that would run, so that if nothing runs, nothing is opened and no consent is requested. */
async function untilRunnable(rollouts: AsyncGenerator<readonly PlannedCall[]>) {
  const seen: (readonly PlannedCall[])[] = [];
  let first: PlannedCall | null = null;
  for (;;) {
    const next = await rollouts.next();
    if (next.done) break;
    seen.push(next.value);
    first = next.value.find(({ skip }) => skip === null) ?? null;
    if (first !== null) break;
  }
  async function* rest() {
    yield* seen;
    yield* rollouts;
  }
  return { first, rest: rest() };
}

const NOWHERE: ReplayBackend = {
  name: 'nowhere',
  url: null,
  confined: true,
  weak: false,
  why: '',
  concurrency: 1,
  run: () => Promise.reject(new Error('no sandbox is open')),
  runJupyter: () => Promise.reject(new Error('no sandbox is open')),
  interpreter: null,
  packages: null,
  environment: async () => null,
  onWait: null,
  close: async () => {},
};

function wishText(choice: ReplayBackendChoice): string {
  const wish = asUsage(() => backendWish(choice));
  return wish.kind === 'remote' ? wish.url : wish.name === 'auto' ? 'the sandbox of this machine' : wish.name;
}

function nothing(args: readonly string[], call: number | undefined): number {
  const what =
    call === undefined ? 'no tool call to replay' : `no tool call ${call} to replay; calls are counted from 0`;
  say(`${args.join(' ')}: ${what}`);
  return ANSWER_IS_NO;
}

type Reports = ReturnType<typeof reportedOf>;

const jsonOf = (outcome: ReplayOutcome, reports: Reports) => {
  const reported = reports.map(({ by, outcome: { status, verdict, backend } }) => ({ by, status, verdict, backend }));
  return { ...outcome, reward: outcome.result?.reward ?? null, diff: diffOf(outcome), reported } as unknown as {
    [key: string]: Printable;
  };
};

function replayText(outcome: ReplayOutcome, reports: Reports): string {
  const diff = outcome.status === 'drift' ? diffOf(outcome) : null;
  const lines = diff === null ? [] : diffLines(diff).map((text) => `    ${text}`);
  return `${[outcomeLine(outcome), ...reports.map(reportedLine), ...lines].join('\n')}\n`;
}

function tallyText(tally: ReadonlyMap<string, number>): string {
  const total = [...tally.values()].reduce((sum, count) => sum + count, 0);
  const parts = [...tally].map(([status, count]) => `${count} ${status}`);
  return total === 0 ? '' : `${total} ${total === 1 ? 'call' : 'calls'}: ${parts.join(', ')}`;
}
