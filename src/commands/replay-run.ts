import type { Printable } from '../json/print.ts';
import { printJson } from '../json/print.ts';
import { diffLines, outcomeLine, reportedLine } from '../present/replay-text.ts';
import {
  backendWish,
  diffOf,
  type PlannedCall,
  planCalls,
  type ReplayBackend,
  type ReplayBackendChoice,
  type ReplayOutcome,
  ReplayTools,
  RULE_NAMES,
  replayMany,
  reportedOf,
  rulesWithout,
  skippedOutcome,
  whereOf,
} from '../replay/index.ts';
import { asUsage, choiceOf, consent, openedOrUsage } from './consent.ts';
import { dumpOptions } from './dump-options.ts';
import { journalOf } from './journal-of.ts';
import { ANSWER_IS_NO, DONE, print, say, USAGE } from './output.ts';
import { openTools, ownCodeOf } from './own-run.ts';
import { filterOf } from './query-options.ts';
import type { ReplayFlags } from './replay-flags.ts';
import { pathOfArgument, selectRows } from './select-rows.ts';
import { StatusLine } from './status-line.ts';

/** Runs what was asked for and prints an outcome a call. @returns the exit status */
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
    python: flags.sandboxPython,
  };
  const journal = await journalOf(pathOfArgument(args[0]!), flags.journal);
  const stop = new AbortController();
  const interrupt = () => stop.abort(new Error('interrupted'));
  const line = new StatusLine();
  const tally = new Map<string, number>();
  const stale = new Map<string, number>();
  let backend: ReplayBackend | null = null;
  process.once('SIGINT', interrupt).once('SIGTERM', interrupt);
  try {
    // Before planning: a class may be what says how its tool is called.
    if (flags.exec) await openTools(tools, flags.yes === true, stop.signal);
    const planned = plannedRollouts(args, flags, tools);
    const { first, rest } = await untilRunnable(planned);
    const show = async (outcome: ReplayOutcome, plan: PlannedCall) => {
      const reported = reportedOf(journal, plan);
      tally.set(outcome.status, (tally.get(outcome.status) ?? 0) + 1);
      line.clear();
      await print(flags.json ? `${printJson(jsonOf(outcome, reported))}\n` : textOf(outcome, reported));
      line.show(tallyText(tally));
    };
    if (!flags.exec) {
      const where = wishText(choice);
      for await (const plans of rest)
        for (const plan of plans)
          await show(
            skippedOutcome(plan, plan.skip ?? `not run (--no-exec): it would run on ${whereOf(plan, where)}`),
            plan,
          );
      return tally.size === 0 ? nothing(args, flags.call) : DONE;
    }
    if (first !== null) {
      consent(choice, flags, first);
      backend = await openedOrUsage(choice);
      tools.use(backend.run);
      say(`code runs on ${backend.name} (${backend.why}); results are kept in ${journal.directory ?? 'memory'}`);
      if (journal.problem !== null) say(journal.problem);
      backend.onWait = (wait) => line.note(wait === null ? null : `${wait.reason}, waiting …`);
    }
    const options = { tools, backend: backend ?? NOWHERE, repeat: flags.repeat, rules, signal: stop.signal };
    const results = replayMany({
      ...options,
      rollouts: rest,
      concurrency: flags.concurrency,
      journal,
      resume: flags.resume ?? false,
    });
    for await (const { outcome, plan, stale: parts } of results) {
      for (const part of parts) stale.set(part, (stale.get(part) ?? 0) + 1);
      await show(outcome, plan);
    }
  } finally {
    line.clear();
    process.off('SIGINT', interrupt).off('SIGTERM', interrupt);
    await backend?.close();
    tools.close();
    journal.close();
  }
  if (journal.problem?.startsWith('not all')) say(journal.problem);
  if (stop.signal.aborted) {
    say(`interrupted after ${tallyText(tally) || 'nothing'}; --resume goes on`);
    return ANSWER_IS_NO;
  }
  if (tally.size === 0) return nothing(args, flags.call);
  for (const [part, count] of stale) say(`run again, since it is another ${part}: ${count}`);
  for (const problem of tools.problems) say(problem);
  if (!flags.json) say(tallyText(tally));
  if (tally.size === 1 && tally.has('error')) return USAGE;
  return tally.has('drift') ? ANSWER_IS_NO : DONE;
}

async function* plannedRollouts(
  args: readonly string[],
  flags: ReplayFlags,
  tools: ReplayTools,
): AsyncGenerator<readonly PlannedCall[]> {
  for await (const { row, turn } of selectRows(args, await dumpOptions(flags), filterOf(flags.filter))) {
    if (row.rollout === null) {
      say(`${row.locator}: ${row.error}`);
      continue;
    }
    const call = flags.call ?? null;
    yield planCalls(row, { tools, session: flags.session ?? false, call, turn });
  }
}

/** Looks for the first call that would run, so that nothing is opened and no consent asked where nothing runs. */
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
  const what = call === undefined ? 'no tool call to replay' : `no tool call ${call} to replay; they count from 0`;
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

function textOf(outcome: ReplayOutcome, reports: Reports): string {
  const diff = outcome.status === 'drift' ? diffOf(outcome) : null;
  const lines = diff === null ? [] : diffLines(diff).map((text) => `    ${text}`);
  return `${[outcomeLine(outcome), ...reports.map(reportedLine), ...lines].join('\n')}\n`;
}

function tallyText(tally: ReadonlyMap<string, number>): string {
  const total = [...tally.values()].reduce((sum, count) => sum + count, 0);
  const parts = [...tally].map(([status, count]) => `${count} ${status}`);
  return total === 0 ? '' : `${total} ${total === 1 ? 'call' : 'calls'}: ${parts.join(', ')}`;
}
