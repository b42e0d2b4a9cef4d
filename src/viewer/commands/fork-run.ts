import { Dump } from '../../core/dump/dump.ts';
import type { DumpRecord } from '../../core/dump/dump-file.ts';
import { parseLocator } from '../../core/dump/locator.ts';
import { UsageError } from '../../core/dump/paths.ts';
import { modelUrlProblem } from '../../core/http/model-url.ts';
import { reachModel } from '../../core/http/reach.ts';
import { printJson } from '../../core/json/print.ts';
import type { Rollout } from '../../core/rollout/rollout.ts';
import { formatCount, plural } from '../../core/text/numbers.ts';
import { sanitise } from '../../core/text/sanitise.ts';
import { errorMessage } from '../../core/text/thrown.ts';
import { limitsOf, samplingOf, settingsOfFlags } from '../../engine/collect/setting-flags.ts';
import { loadChatTokenizer, modelOf, type RolloutEvent } from '../../engine/index.ts';
import {
  type Branch,
  type DecideOptions,
  decideCost,
  decideTurns,
  decidingTurns,
  forkRollout,
  type OpenRewards,
  openRewards,
  prefixText,
  type ReplayBackend,
  ReplayTools,
  rewardProblem,
  spreadOf,
} from '../../replay/index.ts';
import { stateBefore } from '../../replay/worlds/outcomes.ts';
import { recordedTools, WorldTools } from '../../replay/worlds/world-tools.ts';
import { fateText } from '../present/fate-text.ts';
import { diffLines } from '../present/replay-text.ts';
import { branchChanges, worldChanges } from '../present/world-text.ts';
import { allowCost } from './allow-cost.ts';
import { asUsage, choiceOf, consent, openedOrUsage } from './consent.ts';
import { dumpOptions } from './dump-options.ts';
import { editedTurn } from './edited-turn.ts';
import { findRow } from './find-row.ts';
import { FORK_SETTINGS, type ForkFlags } from './fork-flags.ts';
import { interruption } from './interruption.ts';
import { journalOf } from './journal-of.ts';
import { ANSWER_IS_NO, DONE, print, say, USAGE } from './output.ts';
import { openTools, ownCodeOf } from './own-run.ts';
import { rewardChoiceOf } from './reward-flags.ts';
import { settingTexts } from './setting-flags.ts';
import { usesOf } from './world-flags.ts';
import { orUsage, sayPlan, WorldImages, worldFor } from './world-options.ts';

/** Seconds to wait for a model server that is not listening yet. */
const PATIENCE = 5;

/** Makes the branches and prints each as it ends. @returns the exit status */
export async function fork(text: string, flags: ForkFlags): Promise<number> {
  if (flags.agent !== undefined) {
    if (flags.eachTurn) throw new UsageError('--each-turn does not go with --agent: name a turn');
    const [ignored] = engineOnly(flags);
    if (ignored !== undefined) throw new UsageError(`${ignored} does not go with --agent: the agent decides it`);
    const { edit, agent } = flags;
    const { forkAgent } = await import('./agent-run.ts');
    const { timeout } = limitsOf(asUsage(() => settingsOfFlags(settingTexts(flags, FORK_SETTINGS))));
    return forkAgent(text, { ...flags, agent, timeout }, (rollout, at) =>
      edit === undefined ? null : editedTurn(rollout, at, edit, '--edit'),
    );
  }
  if (flags.model === undefined) throw new UsageError('--model: name the model there');
  const place = parseLocator(text);
  const turn = flags.eachTurn ? null : (flags.turn ?? place.turn);
  if (turn === null && !flags.eachTurn)
    throw new UsageError(`${text}: it names no turn to continue from; give --turn N, or ${text}#tN`);
  const urlProblem = modelUrlProblem(flags.modelUrl);
  if (urlProblem !== null) throw new UsageError(urlProblem);
  const settings = asUsage(() => settingsOfFlags(settingTexts(flags, FORK_SETTINGS)));
  const problem = rewardProblem(rewardChoiceOf(flags));
  if (problem !== null) throw new UsageError(`--reward: ${problem}`);
  const { model, tokenizer } = await modelOfFlags(flags);
  if (flags.image !== undefined && flags.eachTurn)
    throw new UsageError('--each-turn does not go with --image: name a turn');
  const uses = usesOf(flags.tool);
  const mapped = Object.fromEntries(Object.entries(flags.tool).filter(([name]) => uses[name] === undefined));
  const replayTools = asUsage(() => new ReplayTools({ tools: flags.tools, mapped, own: ownCodeOf(flags) }));
  const dump = Dump.open([place.path], await dumpOptions(flags));
  const journal = await journalOf(place.path, flags.journal);
  const stop = interruption();
  let backend: ReplayBackend | null = null;
  let rewards: OpenRewards | null = null;
  let world: WorldTools | null = null;
  try {
    const row = await findRow(dump, { ...place, turn });
    if (row.rollout === null) throw new UsageError(`${row.locator}: ${row.error}`);
    await openTools(replayTools, flags.yes === true, stop.signal);
    const edits =
      flags.edit === undefined || turn === null
        ? null
        : new Map([[turn, editedTurn(row.rollout, turn, flags.edit, '--edit')]]);
    if (flags.image !== undefined && turn !== null)
      world = await worldOfTurn(row, row.rollout, turn, flags, stop.signal);
    const inWorld = new Set(world?.tools.map(({ name }) => name));
    const tools = replayTools.forFork(row.rollout.toolSchemas).filter(({ name }) => !inWorld.has(name));
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
      model,
      tokenizer: model.exact ? tokenizer : undefined,
      tools,
      world: world ?? undefined,
      rewards: rewards.router,
      ...(edits === null ? {} : { edits }),
      n: flags.n,
      sampling: samplingOf(settings),
      limits: limitsOf(settings),
      ...(flags.toolFormat ? { toolFormat: flags.toolFormat } : {}),
      journal,
      out: flags.out,
      signal: stop.signal,
      onEvent: (branch: number, event: RolloutEvent) => {
        if (flags.json && event.kind === 'message')
          void print(`${printJson({ event: 'turn', branch, turn: event.turn, message: event.message })}\n`);
      },
    };
    if (turn === null) return await eachTurn(row.rollout, options, flags);
    for await (const branch of forkRollout({ ...options, turn })) {
      if (branches.length === 0 && !flags.json) say(prefixText(branch.prefix));
      branches.push(branch);
      await print(flags.json ? `${printJson(branchJson(branch, text))}\n` : branchText(branch));
    }
    await tellSpread(branches, row.rollout.score, flags.json === true);
    if (journal.problem !== null) say(journal.problem);
    if (branches.every(({ status }) => status === 'FAILED')) return stop.signal.aborted ? ANSWER_IS_NO : USAGE;
    return branches.some(({ status }) => status === 'FAILED') ? ANSWER_IS_NO : DONE;
  } finally {
    stop.end();
    await world?.close();
    await backend?.close();
    replayTools.close();
    rewards?.close();
    journal.close();
    dump.close();
  }
}

/** The flags given that are settings of the engine's own branches. */
const engineOnly = (flags: ForkFlags): string[] => [
  ...['reward', 'tools', 'tokenizer'].flatMap((name) => (flags[name] === undefined ? [] : [`--${name}`])),
  ...(flags.toolFormat === undefined ? [] : ['--tool-format']),
  ...(flags.api === 'chat' ? [] : ['--api']),
  ...Object.keys(settingTexts(flags, FORK_SETTINGS))
    .filter((key) => key !== 'timeout')
    .map((key) => `--${key.replaceAll('_', '-')}`),
];

/** The tools of the rollout's container, in the state before a turn. The calls before it are run, and compared. */
async function worldOfTurn(
  row: DumpRecord,
  rollout: Rollout,
  turn: number,
  flags: ForkFlags,
  signal: AbortSignal,
): Promise<WorldTools> {
  const image = await new WorldImages(flags).of(row);
  const options = { ...worldFor(row, rollout, image, flags), signal };
  const tools = recordedTools(rollout, options.plan.actions, usesOf(flags.tool));
  if (tools.length === 0)
    throw new UsageError(
      `${row.locator}: no call of this rollout is one of a container; --tool NAME=shell names its tools`,
    );
  sayPlan(row, options);
  const { chain, drift } = await orUsage(row, stateBefore(options, turn));
  const { call = 0, turn: at = 0 } = drift ?? {};
  say(
    drift === null
      ? `the state before t${turn} comes from ${plural(chain.length, 'call')}, none of them with another result than recorded`
      : `the state before t${turn} is not the recorded one: call ${call} (t${at}) gave another result`,
  );
  say(`tools in ${image.name}: ${tools.map(({ schema }) => schema.function.name).join(', ')}`);
  return new WorldTools(options, tools, async () => chain);
}

/** @throws UsageError for a missing or unreadable tokenizer */
async function modelOfFlags({ api, model = '', modelUrl, tokenizer: path }: ForkFlags) {
  try {
    const tokenizer = path === undefined ? undefined : await loadChatTokenizer(path);
    const server = { apiKey: process.env.ROLLOUT_VIEWER_API_KEY ?? process.env.OPENAI_API_KEY };
    return { model: modelOf({ api, model, model_url: modelUrl }, tokenizer, server), tokenizer };
  } catch (error) {
    throw new UsageError(`--api ${api}: ${errorMessage(error).replace(/^--api \S+ /, '')}`);
  }
}

/** Branches from each turn, and the share that succeeds. Shows the cost and asks for confirmation first. @returns the exit status */
async function eachTurn(rollout: Rollout, options: Omit<DecideOptions, 'turns'>, flags: ForkFlags): Promise<number> {
  const turns = decidingTurns(rollout).map(({ index }) => index);
  if (turns.length === 0) throw new UsageError('--each-turn: the assistant has no turn here');
  const { n = 1 } = options;
  const { branches, written, calls } = decideCost(rollout, turns, n);
  const cost = `${plural(turns.length, 'turn')} × ${n} = ${plural(branches, 'branch')}: about ${formatCount(Math.ceil(written / 4))} tokens and ${plural(calls, 'tool call')}, if they are as long as the record`;
  await allowCost(cost, flags.yes === true);
  const recorded = rollout.score === null ? 'no score' : `score ${rollout.score}`;
  say(`a branch succeeds from score ${flags.success} on; the record has ${recorded}`);
  let answered = 0;
  for await (const fate of decideTurns({ ...options, turns, success: flags.success })) {
    answered += fate.branches;
    const failed = fate.failed === 0 ? '' : `; ${fate.failed} without a score`;
    await print(
      flags.json
        ? `${printJson({ event: 'fate', locator: options.row.locator, ...fate })}\n`
        : `t${String(fate.turn).padEnd(4)} ${fateText(fate)}${failed}\n`,
    );
  }
  say('the shares are of new branches from each turn: they show where outcomes change, not why');
  return options.signal?.aborted || answered === 0 ? ANSWER_IS_NO : DONE;
}

/** Mean and spread of several branches, beside the recorded score. */
async function tellSpread(branches: readonly Branch[], original: number | null, json: boolean): Promise<void> {
  const spread = spreadOf(branches.flatMap(({ score }) => score ?? []));
  if (json) {
    await print(`${printJson({ event: 'branches', branches: branches.length, scores: spread, original })}\n`);
    return;
  }
  if (branches.length < 2) return;
  const record = original === null ? 'the record has no score' : `the record has ${original}`;
  if (spread === null) return say(`${branches.length} branches, none with a score; ${record}`);
  const { count, mean, deviation, min, max } = spread;
  const of = count === branches.length ? `${count}` : `${count} of ${branches.length}`;
  say(
    `${of} branches: mean score ${roundedScore(mean)} ± ${roundedScore(deviation)} (${roundedScore(min)} to ${roundedScore(max)}); ${record}`,
  );
}

const roundedScore = (value: number): number => Number(value.toPrecision(3));

const branchJson = (branch: Branch, locator: string) => ({
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
  difference: branch.difference,
  prefix: branch.prefix,
  changed: branch.world === null ? null : worldChanges(branch.world.changed),
  partial: branch.partial,
  seconds: branch.seconds,
});

function branchText({
  branch,
  entry,
  status,
  score,
  reward,
  error,
  turns,
  difference,
  seconds,
  partial,
  world,
}: Branch): string {
  const judged = score === null ? `no score: ${reward.error ?? error}` : `score ${score} (${reward.name})`;
  const own = turns.slice(entry.turn).flatMap((turn) => ['', `[${turn.role}]`, '', turn.text]);
  if (partial !== null) own.push('', '[assistant, broken off]', '', partial);
  // If a branch failed before the model said anything, its difference would be the whole record removed.
  const isCompared = own.length > 0 || status !== 'FAILED';
  const compared =
    difference === null ? 'it says the same as the record' : `it differs from turn ${difference.turn} on`;
  const head = [
    `── branch ${branch}: ${status.toLowerCase()}, ${judged}, ${seconds.toFixed(1)} s, ${entry.path === '' ? 'not kept' : `kept in ${entry.path}`}`,
    ...(error === null ? [] : [`error: ${error}`]),
    ...(isCompared ? [compared] : []),
    ...(world === null ? [] : branchChanges(world)),
  ];
  const changed = difference === null || !isCompared ? [] : diffLines(difference.diff).map((line) => `    ${line}`);
  return `${[...head.map(sanitise), ...changed, ...own.map(sanitise)].join('\n')}\n`;
}
