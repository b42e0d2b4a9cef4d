import { Command, InvalidArgumentError, Option } from 'commander';
import { UsageError } from '../dump/paths.ts';
import { Journal } from '../journal/journal.ts';
import { diffLines, outcomeLine } from '../present/replay-text.ts';
import {
  type BackendChoice,
  backendWish,
  openBackend,
  type PlannedCall,
  planCalls,
  type ReplayBackend,
  type ReplayOutcome,
  ReplayTools,
  RULE_NAMES,
  replayMany,
  rulesWithout,
  skippedOutcome,
  whereOf,
} from '../replay/index.ts';
import type { Printable } from '../rollout/json-print.ts';
import { printJson } from '../rollout/json-print.ts';
import { dumpOptions, validationOption } from './dump-options.ts';
import { countOf } from './ls.ts';
import { ANSWER_IS_NO, DONE, print, run, say, USAGE } from './output.ts';
import { pathOf, selectRows } from './select-rows.ts';
import { StatusLine } from './status-line.ts';

export interface SandboxFlags {
  sandbox: string;
  tools?: string;
  tool: Record<string, string>;
  yes?: boolean;
}

interface ReplayFlags extends SandboxFlags {
  call?: number;
  repeat: number;
  session?: boolean;
  concurrency?: number;
  resume?: boolean;
  exec: boolean;
  journal?: string;
  exact?: string[] | true;
  json?: boolean;
  validation?: string[];
}

export const replayCommand = (): Command =>
  withSandbox(new Command('replay'))
    .description('run recorded tool calls again, and tell what changed')
    .argument('<rollouts...>', 'FILE:LINE, FILE:LINE#tN for the calls of one turn, or directories and files for all')
    .option('--call <n>', 'only this call of each rollout, counted from 0', countOf)
    .option('--repeat <k>', 'run each call so often: tells a flaky call from a drifted one', positive, 1)
    .option('--session', 'the calls of a tool share one notebook, as those of a tool with `stateful: true` do')
    .option('--concurrency <n>', 'calls at the same time (default: the cores here, 2 against a URL)', positive)
    .option('--resume', 'leave out what the journal has an answer for')
    .option('--no-exec', 'run nothing: tell what would run, and where')
    .option('--journal <dir>', 'where results are kept (default: .rollout-viewer beside the dump)')
    .option('--exact [rules...]', `compare these exactly, or everything: ${RULE_NAMES.join(', ')}`)
    .option('--json', 'one JSON object a call')
    .addOption(validationOption())
    .action((args: string[], flags: ReplayFlags) => run(() => replay(args, flags)));

/** The flags that say which tools there are and where code runs. */
export const withSandbox = (command: Command): Command =>
  command
    .option('--sandbox <where>', 'auto, bubblewrap, pyodide, unconfined, or the URL of a SandboxFusion server', 'auto')
    .option('--tools <yaml>', "verl's tool file")
    .addOption(
      new Option('--tool <name=language>', 'the code of this tool runs as this language; repeatable')
        .argParser(mapping)
        .default({}, 'none'),
    )
    .option('--yes', 'allow what needs consent: running on a server, or unconfined');

function mapping(text: string, before: Record<string, string>): Record<string, string> {
  const [, name, language] = /^([^=]+)=(.+)$/.exec(text) ?? [];
  if (name === undefined || language === undefined)
    throw new InvalidArgumentError('expected NAME=LANGUAGE, such as run_sh=bash.');
  return { ...before, [name]: language };
}

export function positive(text: string): number {
  const number = countOf(text);
  if (number === 0) throw new InvalidArgumentError('expected a whole number from 1.');
  return number;
}

async function replay(args: readonly string[], flags: ReplayFlags): Promise<number> {
  const tools = asUsage(() => new ReplayTools({ tools: flags.tools, mapped: flags.tool }));
  const rules = asUsage(() => rulesWithout(flags.exact === true ? RULE_NAMES : (flags.exact ?? [])));
  const choice: BackendChoice = { ...choiceOf(flags, tools), concurrency: flags.concurrency };
  const journal = Journal.of(pathOf(args[0]!), { journal: flags.journal });
  const stop = new AbortController();
  const interrupt = () => stop.abort(new Error('interrupted'));
  const line = new StatusLine();
  const tally = new Map<string, number>();
  let backend: ReplayBackend | null = null;
  process.once('SIGINT', interrupt).once('SIGTERM', interrupt);
  try {
    const planned = plannedRollouts(args, flags, tools);
    const { first, rest } = await untilRunnable(planned);
    const show = async (outcome: ReplayOutcome) => {
      tally.set(outcome.status, (tally.get(outcome.status) ?? 0) + 1);
      line.clear();
      await print(flags.json ? `${printJson(jsonOf(outcome))}\n` : textOf(outcome));
      line.show(tallyText(tally));
    };
    if (!flags.exec) {
      const where = wishText(choice);
      for await (const plans of rest)
        for (const plan of plans)
          await show(skippedOutcome(plan, plan.skip ?? `not run (--no-exec): it would run on ${whereOf(plan, where)}`));
      return tally.size === 0 ? nothing(args) : DONE;
    }
    if (first !== null) {
      consent(choice, flags, first);
      if (journal.place.notice !== null) say(journal.place.notice);
      backend = await opened(choice);
      tools.use(backend.run);
      say(`code runs on ${backend.name} (${backend.why}); results are kept in ${journal.directory ?? 'memory'}`);
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
    for await (const { outcome } of results) await show(outcome);
  } finally {
    line.clear();
    process.off('SIGINT', interrupt).off('SIGTERM', interrupt);
    await backend?.close();
    journal.close();
  }
  if (journal.problem !== null) say(`not all results were kept: ${journal.problem}`);
  if (stop.signal.aborted) {
    say(`interrupted after ${tallyText(tally) || 'nothing'}; --resume goes on`);
    return ANSWER_IS_NO;
  }
  if (tally.size === 0) return nothing(args);
  if (!flags.json) say(tallyText(tally));
  if (tally.size === 1 && tally.has('error')) return USAGE;
  return tally.has('drift') ? ANSWER_IS_NO : DONE;
}

async function* plannedRollouts(
  args: readonly string[],
  flags: ReplayFlags,
  tools: ReplayTools,
): AsyncGenerator<readonly PlannedCall[]> {
  for await (const { row, turn } of selectRows(args, dumpOptions(flags))) {
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
  onWait: null,
  close: async () => {},
};

export const choiceOf = ({ sandbox }: SandboxFlags, tools: ReplayTools): BackendChoice => ({
  sandbox,
  toolsUrl: tools.sandboxUrl,
});

/** What runs and where is allowed by the person who starts it, never by a default. @throws UsageError */
export function consent(choice: BackendChoice, { yes }: SandboxFlags, first: PlannedCall | null): void {
  const wish = asUsage(() => backendWish(choice));
  const own = first?.tool?.url ?? null;
  if (yes) return;
  if (wish.kind === 'remote')
    throw new UsageError(`recorded code would run on ${wish.url} (${wish.why}): give --yes to allow it`);
  if (own !== null) throw new UsageError(`calls of ${first?.name} would go to ${own}: give --yes to allow it`);
  if (wish.name === 'unconfined')
    throw new UsageError('recorded code would run unconfined, with all your rights: give --yes to allow it');
}

function wishText(choice: BackendChoice): string {
  const wish = asUsage(() => backendWish(choice));
  return wish.kind === 'remote' ? wish.url : wish.name === 'auto' ? 'the sandbox of this machine' : wish.name;
}

export async function opened(choice: BackendChoice): Promise<ReplayBackend> {
  try {
    return await openBackend(choice);
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

/** What the user got wrong is told in one line. */
export function asUsage<T>(body: () => T): T {
  try {
    return body();
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

function nothing(args: readonly string[]): number {
  say(`${args.join(' ')}: no tool call to replay`);
  return ANSWER_IS_NO;
}

const jsonOf = (outcome: ReplayOutcome) => outcome as unknown as { [key: string]: Printable };

function textOf(outcome: ReplayOutcome): string {
  const lines =
    outcome.status === 'drift' && outcome.diff !== null ? diffLines(outcome.diff).map((text) => `    ${text}`) : [];
  return `${[outcomeLine(outcome), ...lines].join('\n')}\n`;
}

function tallyText(tally: ReadonlyMap<string, number>): string {
  const total = [...tally.values()].reduce((sum, count) => sum + count, 0);
  const parts = [...tally].map(([status, count]) => `${count} ${status}`);
  return total === 0 ? '' : `${total} ${total === 1 ? 'call' : 'calls'}: ${parts.join(', ')}`;
}
