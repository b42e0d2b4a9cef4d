import type { DumpRecord } from '../dump/dump-file.ts';
import { UsageError } from '../dump/paths.ts';
import type { Journal } from '../journal/journal.ts';
import type { Printable } from '../json/print.ts';
import { printJson } from '../json/print.ts';
import {
  againIn,
  backendWish,
  type OpenRewards,
  openRewards,
  type ReplayBackend,
  ReplayTools,
  type Rescored,
  rescoreMany,
  rewardProblem,
  rewardRuns,
} from '../replay/index.ts';
import { sanitiseLine } from '../text/sanitise.ts';
import { asUsage, choiceOf, consent, openedOrUsage } from './consent.ts';
import { dumpOptions } from './dump-options.ts';
import { journalOf } from './journal-of.ts';
import { ANSWER_IS_NO, DONE, print, say, USAGE } from './output.ts';
import { filterOf } from './query-options.ts';
import type { RescoreFlags } from './rescore-flags.ts';
import { rewardChoiceOf } from './reward-flags.ts';
import { pathOfArgument, selectRows } from './select-rows.ts';

/** Scores what was asked for and prints a line a rollout. @returns the exit status */
export async function rescore(args: readonly string[], flags: RescoreFlags): Promise<number> {
  const { reward } = flags;
  const choice = { ...rewardChoiceOf(flags), timeout: flags.timeout };
  const journal = await journalOf(pathOfArgument(args[0]!), flags.journal);
  let rewards: OpenRewards | null = null;
  let backend: ReplayBackend | null = null;
  const stop = new AbortController();
  const interrupt = () => stop.abort(new Error('interrupted'));
  process.once('SIGINT', interrupt).once('SIGTERM', interrupt);
  const tally = new Map<Rescored['status'], number>();
  try {
    const runs = rewardRuns(choice);
    if (runs !== null && !flags.exec) throw new UsageError(`--no-exec forbids running ${runs.what} on ${runs.where}`);
    const problem = rewardProblem(choice);
    if (problem !== null) throw new UsageError(`--reward: ${problem}`);
    if (runs !== null && reward !== 'code') say(`${runs.what} runs on ${runs.where}`);
    const open = async (): Promise<ReplayBackend> => {
      if (!flags.exec) throw new Error('--no-exec forbids running the test cases of a code task');
      backend = await openFor(flags);
      return backend;
    };
    // A sandbox is opened with the first rollout whose data source asks for one.
    let opening: Promise<ReplayBackend> | null = reward === 'code' ? open() : null;
    await opening;
    rewards = openRewards(choice, async (request, call) => {
      opening ??= open();
      return (await opening).run(request, call);
    });
    await rewards.start(stop.signal).catch((error: Error) => {
      throw new UsageError(`--reward: ${error.message}`);
    });
    const concurrency = flags.concurrency;
    const results = rescoreMany(rowsOf(args, flags, journal), rewards.router, {
      signal: stop.signal,
      journal,
      ...(concurrency ? { concurrency } : {}),
    });
    for await (const scored of results) {
      tally.set(scored.status, (tally.get(scored.status) ?? 0) + 1);
      await print(
        flags.json ? `${printJson(scored as unknown as { [key: string]: Printable })}\n` : `${lineOf(scored)}\n`,
      );
    }
  } finally {
    process.off('SIGINT', interrupt).off('SIGTERM', interrupt);
    rewards?.close();
    journal.close();
    await (backend as ReplayBackend | null)?.close();
  }
  if (tally.size === 0) {
    say(`${args.join(' ')}: no rollout to score`);
    return ANSWER_IS_NO;
  }
  if (journal.problem !== null) say(journal.problem);
  if (!flags.json) say([...tally].map(([status, count]) => `${count} ${status}`).join(', '));
  if (tally.size === 1 && tally.has('error')) return USAGE;
  return tally.has('drift') || stop.signal.aborted ? ANSWER_IS_NO : DONE;
}

async function openFor(flags: RescoreFlags): Promise<ReplayBackend> {
  const choice = choiceOf(
    flags,
    asUsage(() => new ReplayTools({ tools: flags.tools })),
  );
  consent(choice, flags, null);
  asUsage(() => backendWish(choice));
  const backend = await openedOrUsage(choice);
  say(`test cases run on ${backend.name} (${backend.why})`);
  return backend;
}

async function* rowsOf(args: readonly string[], flags: RescoreFlags, journal: Journal): AsyncGenerator<DumpRecord> {
  const rows = selectRows(args, await dumpOptions(flags), filterOf(flags.filter), againIn([journal]));
  for await (const { row } of rows) yield row;
}

function lineOf({ locator, recorded, score, status, reward, reason, pred }: Rescored): string {
  const read = pred === null ? '' : `, read ${typeof pred === 'string' ? JSON.stringify(pred) : printJson(pred)}`;
  const told = `${read}${reason === null ? '' : `: ${reason}`}`;
  return sanitiseLine(
    `${locator}  recorded ${recorded ?? 'none'}, now ${score ?? 'none'}  ${status} (${reward ?? 'no function'})${told}`,
  );
}
