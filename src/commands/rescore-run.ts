import { existsSync } from 'node:fs';
import type { DumpRecord } from '../dump/dump-file.ts';
import { UsageError } from '../dump/paths.ts';
import { builtinRewards, rewardRouter } from '../engine/index.ts';
import {
  backendWish,
  type PythonReward,
  pythonReward,
  type ReplayBackend,
  ReplayTools,
  type Rescored,
  rescoreMany,
} from '../replay/index.ts';
import type { Printable } from '../rollout/json-print.ts';
import { printJson } from '../rollout/json-print.ts';
import { sanitiseLine } from '../text/sanitise.ts';
import { asUsage, choiceOf, consent, opened } from './consent.ts';
import { dumpOptions } from './dump-options.ts';
import { ANSWER_IS_NO, DONE, print, say, USAGE } from './output.ts';
import { filterOf } from './query-options.ts';
import type { RescoreFlags } from './rescore.ts';
import { selectRows } from './select-rows.ts';

/** Scores what was asked for and prints a line a rollout. @returns the exit status */
export async function rescore(args: readonly string[], flags: RescoreFlags): Promise<number> {
  const { reward, rewardUrl } = flags;
  const registry = builtinRewards();
  let python: PythonReward | null = null;
  let backend: ReplayBackend | null = null;
  const stop = new AbortController();
  const interrupt = () => stop.abort(new Error('interrupted'));
  process.once('SIGINT', interrupt).once('SIGTERM', interrupt);
  const tally = new Map<Rescored['status'], number>();
  try {
    if (reward?.endsWith('.py')) {
      if (!flags.exec) throw new UsageError(`--no-exec forbids running ${reward}`);
      if (!existsSync(reward)) throw new UsageError(`--reward ${reward}: no such file`);
      python = pythonReward({
        path: reward,
        functionName: flags.function,
        python: flags.python,
        timeout: flags.timeout,
      });
      registry.register(reward, python.fn);
      say(`${flags.function} of ${reward} runs in ${flags.python}, with your rights`);
    }
    if (reward === 'http' && !rewardUrl) throw new UsageError('--reward http needs --reward-url');
    if (reward === 'code' && flags.exec) backend = await openFor(flags);
    const rewards = rewardRouter({
      registry,
      fallback: reward,
      code: backend === null ? undefined : { run: backend.run },
      http: rewardUrl ? { url: rewardUrl } : undefined,
    });
    if (reward !== undefined) asUsage(() => registry.get(reward));
    // A function that is named goes before what the data source would say.
    const chosen = reward === undefined ? rewards : { for: () => ({ name: reward, fn: registry.get(reward) }) };
    const concurrency = flags.concurrency ?? backend?.concurrency;
    const results = rescoreMany(rowsOf(args, flags), chosen, {
      signal: stop.signal,
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
    python?.close();
    await backend?.close();
  }
  if (tally.size === 0) {
    say(`${args.join(' ')}: no rollout to score`);
    return ANSWER_IS_NO;
  }
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
  const backend = await opened(choice);
  say(`test cases run on ${backend.name} (${backend.why})`);
  return backend;
}

async function* rowsOf(args: readonly string[], flags: RescoreFlags): AsyncGenerator<DumpRecord> {
  for await (const { row } of selectRows(args, dumpOptions(flags), filterOf(flags.filter))) yield row;
}

function lineOf({ locator, recorded, score, status, reward, reason }: Rescored): string {
  const told = reason === null ? '' : `: ${reason}`;
  return sanitiseLine(
    `${locator}  recorded ${recorded ?? 'none'}, now ${score ?? 'none'}  ${status} (${reward ?? 'no function'})${told}`,
  );
}
