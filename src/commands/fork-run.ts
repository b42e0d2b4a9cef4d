import { Dump } from '../dump/dump.ts';
import { parseLocator } from '../dump/locator.ts';
import { UsageError } from '../dump/paths.ts';
import { limitsOf, samplingOf, settingsOfFlags } from '../engine/collect/setting-flags.ts';
import { ChatCompletionsModel, type RolloutEvent } from '../engine/index.ts';
import { reachModel } from '../http/reach.ts';
import { printJson } from '../json/print.ts';
import { diffLines } from '../present/replay-text.ts';
import {
  type Branch,
  forkRollout,
  type OpenRewards,
  openRewards,
  type ReplayBackend,
  ReplayTools,
  rewardProblem,
} from '../replay/index.ts';
import { sanitise } from '../text/sanitise.ts';
import { asUsage, choiceOf, consent, openedOrUsage } from './consent.ts';
import { dumpOptions } from './dump-options.ts';
import { FORK_SETTINGS, type ForkFlags } from './fork-flags.ts';
import { journalOf } from './journal-of.ts';
import { ANSWER_IS_NO, DONE, print, say, USAGE } from './output.ts';
import { openTools, ownCodeOf } from './own-run.ts';
import { rewardChoiceOf } from './reward-flags.ts';
import { settingTexts } from './setting-flags.ts';
import { findRow } from './show.ts';

/** Seconds for which a model server that does not listen yet is waited for. */
const PATIENCE = 5;

/** Makes the branches and prints one after another as they end. @returns the exit status */
export async function fork(text: string, flags: ForkFlags): Promise<number> {
  const place = parseLocator(text);
  const turn = flags.turn ?? place.turn;
  if (turn === null) throw new UsageError(`${text}: from which turn? give --turn N, or ${text}#tN`);
  if (!URL.canParse(flags.modelUrl))
    throw new UsageError(`--model-url ${flags.modelUrl}: not an address, such as http://localhost:8000/v1`);
  const settings = asUsage(() => settingsOfFlags(settingTexts(flags, FORK_SETTINGS)));
  const problem = rewardProblem(rewardChoiceOf(flags));
  if (problem !== null) throw new UsageError(`--reward: ${problem}`);
  const replayTools = asUsage(() => new ReplayTools({ tools: flags.tools, mapped: flags.tool, own: ownCodeOf(flags) }));
  const dump = Dump.open([place.path], await dumpOptions(flags));
  const journal = await journalOf(place.path, flags.journal);
  const stop = new AbortController();
  const interrupt = () => stop.abort(new Error('interrupted'));
  process.once('SIGINT', interrupt).once('SIGTERM', interrupt);
  let backend: ReplayBackend | null = null;
  let rewards: OpenRewards | null = null;
  try {
    const row = await findRow(dump, { ...place, turn });
    if (row.rollout === null) throw new UsageError(`${row.locator}: ${row.error}`);
    await openTools(replayTools, flags.yes === true, stop.signal);
    const tools = replayTools.forFork(row.rollout.toolSchemas);
    const isJudgedByCode = flags.reward === 'code';
    if (tools.length > 0 || isJudgedByCode) {
      const choice = choiceOf(flags, replayTools);
      consent(choice, flags, null);
      backend = await openedOrUsage(choice);
      replayTools.use(backend.run);
      say(`tools: ${tools.map(({ name }) => name).join(', ')}; code runs on ${backend.name} (${backend.why})`);
    }
    rewards = openRewards(rewardChoiceOf(flags), backend?.run);
    await rewards.start(stop.signal).catch((error: Error) => {
      throw new UsageError(`--reward: ${error.message}`);
    });
    await reachModel(flags.modelUrl, { seconds: PATIENCE, signal: stop.signal, onWait: say }).catch((error: Error) => {
      throw new UsageError(error.message);
    });
    const branches: Branch[] = [];
    const options = {
      row,
      turn,
      model: new ChatCompletionsModel(flags.model, {
        url: flags.modelUrl,
        apiKey: process.env.ROLLOUT_VIEWER_API_KEY ?? process.env.OPENAI_API_KEY,
      }),
      tools,
      rewards: rewards.router,
      n: flags.n,
      sampling: samplingOf(settings),
      limits: limitsOf(settings),
      ...(flags.toolFormat ? { toolFormat: flags.toolFormat } : {}),
      journal,
      out: flags.out,
      signal: stop.signal,
      onEvent: (branch: number, event: RolloutEvent) => {
        if (flags.json && event.kind === 'message')
          void print(`${printJson({ event: 'turn', branch, turn: event.turn, message: event.message as never })}\n`);
      },
    };
    for await (const branch of forkRollout(options)) {
      branches.push(branch);
      await print(flags.json ? `${printJson(jsonOf(branch, text))}\n` : textOf(branch));
    }
    if (journal.problem !== null) say(journal.problem);
    if (branches.every(({ status }) => status === 'FAILED')) return stop.signal.aborted ? ANSWER_IS_NO : USAGE;
    return branches.some(({ status }) => status === 'FAILED') ? ANSWER_IS_NO : DONE;
  } finally {
    process.off('SIGINT', interrupt).off('SIGTERM', interrupt);
    await backend?.close();
    replayTools.close();
    rewards?.close();
    journal.close();
    dump.close();
  }
}

const jsonOf = (branch: Branch, locator: string) => ({
  event: 'branch',
  locator,
  branch: branch.branch,
  turn: branch.entry.turn,
  status: branch.status,
  score: branch.score,
  reward: branch.reward.name === '' ? null : branch.reward.name,
  error: branch.error ?? branch.reward.error,
  path: branch.entry.path,
  uid: branch.entry.uid,
  turns: branch.turns.length,
  difference: branch.difference as never,
  seconds: branch.seconds,
});

function textOf({ branch, entry, status, score, reward, error, turns, difference, seconds }: Branch): string {
  const judged = score === null ? `no score: ${reward.error ?? error}` : `score ${score} (${reward.name})`;
  const own = turns.slice(entry.turn).flatMap((turn) => ['', `[${turn.role}]`, '', turn.text]);
  // The difference of a branch that failed before the model said anything would be the whole record, taken away.
  const isCompared = own.length > 0 || status !== 'FAILED';
  const compared =
    difference === null ? 'it says the same as the record' : `it differs from turn ${difference.turn} on`;
  const head = [
    `── branch ${branch}: ${status.toLowerCase()}, ${judged}, ${seconds.toFixed(1)} s, kept in ${entry.path}`,
    ...(error === null ? [] : [`error: ${error}`]),
    ...(isCompared ? [compared] : []),
  ];
  const changed = difference === null || !isCompared ? [] : diffLines(difference.diff).map((line) => `    ${line}`);
  return `${[...head.map(sanitise), ...changed, ...own.map(sanitise)].join('\n')}\n`;
}
