import type { QueuePlace } from '../../cluster/place.ts';
import type { DumpRecord } from '../../core/dump/dump-file.ts';
import { UsageError } from '../../core/dump/paths.ts';
import { parseJson } from '../../core/json/parse.ts';
import { printJson } from '../../core/json/print.ts';
import { itemAt } from '../../core/lists/at.ts';
import { plural } from '../../core/text/numbers.ts';
import { sanitiseLine } from '../../core/text/sanitise.ts';
import { type OverlongBuffer, overlongBuffer } from '../../engine/rewards/index.ts';
import {
  backendWish,
  keptIn,
  type OpenRewards,
  openRewards,
  type ReplayBackend,
  ReplayTools,
  type Rescored,
  rescoreMany,
  rescoreTask,
  rewardProblem,
  rewardRuns,
} from '../../replay/index.ts';
import type { Journal } from '../../replay/journal/journal.ts';
import type { ScoreTask } from '../../replay/rescore.ts';
import { type RewardChoice, rewardOf } from '../../replay/reward-choice.ts';
import type { Run } from '../../sandbox/check-correctness.ts';
import { scoredTally, scoreStatusWord } from '../present/score-status.ts';
import { asUsage, choiceOf, consent, openedOrUsage } from './consent.ts';
import { dumpOptions } from './dump-options.ts';
import { interruption } from './interruption.ts';
import { journalOf } from './journal-of.ts';
import { ANSWER_IS_NO, DONE, print, say, USAGE } from './output.ts';
import { filterOf } from './query-options.ts';
import { leaveQueue, openQueue } from './queue-flags.ts';
import { journalRun } from './queue-run.ts';
import type { RescoreFlags } from './rescore-flags.ts';
import { rewardChoiceOf } from './reward-flags.ts';
import { pathOfArgument, selectRows } from './select-rows.ts';

/** Scores the requested rollouts and prints a line per rollout. @returns the exit status */
export async function rescore(args: readonly string[], flags: RescoreFlags): Promise<number> {
  const { reward } = flags;
  const choice = { ...rewardChoiceOf(flags), timeout: flags.timeout };
  const journal = await journalOf(pathOfArgument(itemAt(args, 0)), flags.journal);
  let rewards: OpenRewards | null = null;
  let others: OpenRewards | null = null;
  let backend: ReplayBackend | null = null;
  const shared = await openQueue(flags, say);
  let queue: Awaited<ReturnType<typeof scoresAt>> | null = null;
  let isOver = false;
  const stop = interruption();
  const tally = new Map<Rescored['status'], number>();
  const sums = new ScoreSums();
  try {
    const second = flags.against === undefined ? null : { ...choice, ...rewardOf(flags.against) };
    allow('--reward', choice, flags);
    if (second !== null) allow('--against', second, flags);
    if (shared === null) {
      const open = async (): Promise<ReplayBackend> => {
        if (!flags.exec) throw new Error('--no-exec forbids running the test cases of a code task');
        backend = await openFor(flags);
        return backend;
      };
      // A sandbox is opened with the first rollout whose data source needs one.
      let opening: Promise<ReplayBackend> | null = reward === 'code' || second?.reward === 'code' ? open() : null;
      await opening;
      const runCases: Run = async (request, call) => {
        opening ??= open();
        return (await opening).run(request, call);
      };
      rewards = await openedRewards('--reward', choice, runCases, stop.signal);
      others = second === null ? null : await openedRewards('--against', second, runCases, stop.signal);
    } else queue = await scoresAt(shared, args, { choice, second, flags, journal, signal: stop.signal });
    const how = { repeat: flags.repeat, against: others?.router };
    const here = (task: ScoreTask) => rescoreTask(task, rewards!.router, stop.signal, how);
    const concurrency = flags.concurrency ?? (queue === null ? undefined : AT_QUEUE);
    const results = rescoreMany(chosenRows(args, flags, journal), queue?.score ?? here, {
      signal: stop.signal,
      journal,
      overlong: overlongOf(flags),
      resumedFrom: queue?.resumedFrom ?? null,
      ...(concurrency ? { concurrency } : {}),
    });
    for await (const scored of results) {
      tally.set(scored.status, (tally.get(scored.status) ?? 0) + 1);
      sums.add(scored);
      await print(flags.json ? `${printJson(scored)}\n` : `${scoreLine(scored)}\n`);
    }
    isOver = !stop.signal.aborted;
  } catch (error) {
    // Interrupted while waiting for a worker or a reward.
    if (!stop.signal.aborted) throw error;
  } finally {
    stop.end();
    await queue?.close(isOver);
    if (shared !== null) await leaveQueue(shared);
    rewards?.close();
    others?.close();
    journal.close();
    await (backend as ReplayBackend | null)?.close();
  }
  const tallied = scoredTally(tally);
  if (stop.signal.aborted) {
    say(`interrupted after ${tallied || 'nothing'}`);
    return ANSWER_IS_NO;
  }
  if (tally.size === 0) {
    say(`${args.join(' ')}: no rollout to score`);
    return ANSWER_IS_NO;
  }
  if (journal.problem !== null) say(journal.problem);
  for (const text of sums.notes()) say(text);
  if (!flags.json) say(tallied);
  if (tally.size === 1 && tally.has('error')) return USAGE;
  return tally.has('drift') ? ANSWER_IS_NO : DONE;
}

/** Rollouts at workers at once, by default. */
const AT_QUEUE = 2048;

interface ScoresWanted {
  choice: RewardChoice;
  second: RewardChoice | null;
  flags: RescoreFlags;
  journal: Journal;
  signal: AbortSignal;
}

/** The workers that score. A continued run picks up what they finished after it was killed. @throws UsageError */
async function scoresAt(
  shared: QueuePlace,
  args: readonly string[],
  { choice, second, flags, journal, signal }: ScoresWanted,
) {
  const { queuedScores } = await import('../../cluster/scores.ts');
  const { toolsUrl = null } = choiceOf(
    flags,
    asUsage(() => new ReplayTools({ tools: flags.tools })),
  );
  if (!flags.exec) throw new UsageError('--no-exec does not go with --queue: what runs on workers is theirs to say');
  const options = { choice, against: second, repeat: flags.repeat, toolsUrl, share: flags.share, say, signal };
  const state = await journalRun(journal, 'rescore', args);
  const queue = await queuedScores(shared, { ...options, run: state.run, what: args.join(' ') }).catch(
    (error: Error) => {
      throw new UsageError(`--queue: ${error.message}`);
    },
  );
  return {
    score: queue.score,
    resumedFrom: state.resumedFrom,
    async close(isOver: boolean) {
      await queue.close(isOver);
      if (isOver) await state.forget();
    },
  };
}

/** @throws UsageError */
function overlongOf({ overlongBuffer: text, maxResponseLength: limit }: RescoreFlags): OverlongBuffer | null {
  if (text === undefined) return null;
  if (limit === undefined)
    throw new UsageError('--overlong-buffer needs the end of a response: give --max-response-length');
  return asUsage(() => overlongBuffer(parseJson(text), limit));
}

/** @throws UsageError for a function that cannot be opened, or is not allowed to run */
function allow(flag: string, choice: RewardChoice, { exec }: RescoreFlags): void {
  const runs = rewardRuns(choice);
  if (runs !== null && !exec) throw new UsageError(`--no-exec forbids running ${runs.what} on ${runs.where}`);
  const problem = rewardProblem(choice);
  if (problem !== null) throw new UsageError(`${flag}: ${problem}`);
  if (runs !== null && choice.reward !== 'code') say(`${runs.what} runs on ${runs.where}`);
}

async function openedRewards(flag: string, choice: RewardChoice, run: Run, signal: AbortSignal): Promise<OpenRewards> {
  const rewards = openRewards(choice, run);
  await rewards.start(signal).catch((error: Error) => {
    rewards.close();
    throw new UsageError(`${flag}: ${error.message}`);
  });
  return rewards;
}

/** The totals over all rollouts for two functions, or for several runs of one. */
class ScoreSums {
  #both = 0;
  #parts = 0;
  #first = 0;
  #second = 0;
  #repeated = 0;
  #wavering = 0;
  #names = ['', ''];

  add({ reward, score, against, repeats }: Rescored): void {
    if (repeats !== null) this.#repeated++;
    if (repeats?.wavers) this.#wavering++;
    if (against === null) return;
    this.#names = [reward ?? itemAt(this.#names, 0), against.reward ?? itemAt(this.#names, 1)];
    if (against.parts) this.#parts++;
    if (score === null || against.score === null) return;
    this.#both++;
    this.#first += score;
    this.#second += against.score;
  }

  notes(): string[] {
    const mean = (sum: number) => Number((sum / this.#both).toPrecision(4));
    const [first, second] = this.#names;
    return [
      ...(this.#repeated > 0 ? [`${this.#wavering} of ${plural(this.#repeated, 'rollout')} waver`] : []),
      ...(this.#both > 0 ? [`${first} gives ${mean(this.#first)} on average, ${second} ${mean(this.#second)}`] : []),
      ...(this.#both + this.#parts > 0 ? [`they part in ${plural(this.#parts, 'rollout')}`] : []),
    ];
  }
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

async function* chosenRows(args: readonly string[], flags: RescoreFlags, journal: Journal): AsyncGenerator<DumpRecord> {
  const rows = selectRows(args, await dumpOptions(flags), filterOf(flags.filter), keptIn([journal]));
  for await (const { row } of rows) yield row;
}

const readText = (pred: Rescored['pred']): string =>
  pred === null ? '' : `, read ${typeof pred === 'string' ? JSON.stringify(pred) : printJson(pred)}`;

function scoreLine({ locator, recorded, score, status, reward, reason, pred, repeats, against }: Rescored): string {
  const spread = repeats === null ? '' : ` ± ${Number(repeats.deviation.toPrecision(3))} of ${repeats.runs}`;
  const other =
    against === null
      ? ''
      : `; ${against.parts ? 'another' : 'the same'} by ${against.reward ?? 'no function'}: ${against.score ?? 'none'}${readText(against.pred)}${against.reason === null ? '' : `: ${against.reason}`}`;
  const details = `${spread}${readText(pred)}${reason === null ? '' : `: ${reason}`}${other}`;
  return sanitiseLine(
    `${locator}  recorded ${recorded ?? 'none'}, now ${score ?? 'none'}  ${scoreStatusWord(status)} (${reward ?? 'no function'})${details}`,
  );
}
