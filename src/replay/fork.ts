import { randomUUID } from 'node:crypto';
import type { DumpRecord } from '../core/dump/dump-file.ts';
import { parseLine } from '../core/dump/parse-line.ts';
import { printJson } from '../core/json/print.ts';
import { isJsonObject, type JsonValue, objectIn } from '../core/json/value.ts';
import type { Rollout, Turn } from '../core/rollout/rollout.ts';
import { errorMessage } from '../core/text/thrown.ts';
import {
  type ChatTokenizer,
  type Judgement,
  type Limits,
  type Message,
  type Model,
  messageText,
  type RewardRouter,
  type RewardTask,
  type RolloutEvent,
  RolloutRequest,
  rolloutRecord,
  type SamplingParams,
  type Tool,
} from '../engine/index.ts';
import {
  type BranchDifference,
  type BranchEntry,
  branchesOf,
  branchPath,
  firstDifference,
  keepBranch,
} from './branches.ts';
import { forkPrefix, type PrefixOrigin, prefixOrigin } from './fork-prefix.ts';
import type { Journal } from './journal/journal.ts';
import { recordKey } from './journal/record-key.ts';
import { missingTools } from './missing-tools.ts';
import { primedTools } from './primed-tools.ts';
import { recordedTokens } from './recorded-tokens.ts';
import { dataSourceOf, extraInfoOf, turnCount } from './reward-task.ts';
import type { WorldEnd, WorldTools } from './worlds/world-tools.ts';

export interface ForkOptions {
  row: DumpRecord;
  /** The turn to continue from: regenerated if it is the assistant's, else answered. */
  turn: number;
  model: Model;
  tools: readonly Tool[];
  /** The tools that work in the rollout's container. */
  world?: WorldTools | undefined;
  rewards: RewardRouter;
  /** Branches. */
  n?: number;
  sampling?: SamplingParams;
  limits?: Partial<Limits>;
  toolFormat?: string;
  /** For a model that takes token ids. */
  tokenizer?: ChatTokenizer | undefined;
  /** Texts that replace recorded ones, by turn. */
  edits?: ReadonlyMap<number, string>;
  journal: Journal;
  /** The uid of each branch, by `branchUid`; generated if absent. */
  uids?: readonly string[];
  /** A directory for the branches, instead of the journal's own. */
  out?: string | undefined;
  signal?: AbortSignal | undefined;
  /** Turns as they come. An event's `turn` counts over the whole branch, including the recorded prefix. */
  onEvent?: ((branch: number, event: RolloutEvent) => void) | undefined;
}

export interface Branch {
  branch: number;
  entry: Omit<BranchEntry, 'at'>;
  /** The turns of the whole branch. */
  turns: Turn[];
  difference: BranchDifference | null;
  score: number | null;
  /** The reward function, and why there is no score. */
  reward: { name: string; error: string | null };
  status: string;
  error: string | null;
  seconds: number;
  prefix: PrefixOrigin;
  /** The changes that its tools made in the container; null if it used none. */
  world: WorldEnd | null;
  /** The start of a turn that the model did not finish; null if all are finished. */
  partial: string | null;
}

/**
 * A uid for a branch of a record, globally unique even if two concurrent forks count from the same number. Readers group by everything but
 * its last two parts.
 */
export const branchUid = (record: string): string => `${record.slice(0, 12)}_${randomUUID()}_0`;

/**
 * Continues from a turn with a live model, n times concurrently, and yields each branch as it ends. An interrupted branch is kept as far as
 * it got, if it has at least one new turn. Nothing is ever written into the dump.
 */
export async function* forkRollout(options: ForkOptions): AsyncGenerator<Branch> {
  const { n = 1 } = options;
  const record = recordKey(options.row.raw);
  const earlier = branchesOf(options.journal, record).length;
  const running = new Map(
    Array.from({ length: n }, (_, i) => i).map((i) => [i, runBranch(options, record, earlier + i, i)] as const),
  );
  while (running.size > 0) {
    const { i, branch } = await Promise.race(
      [...running].map(async ([index, one]) => ({ i: index, branch: await one })),
    );
    running.delete(i);
    yield branch;
  }
}

async function runBranch(options: ForkOptions, record: string, branch: number, place: number): Promise<Branch> {
  const { row, model, sampling, limits, signal, onEvent, edits } = options;
  const rollout = row.rollout!;
  const own = new Set(options.world?.tools.map(({ name }) => name));
  const here = [...options.tools.filter(({ name }) => !own.has(name)), ...(options.world?.tools ?? [])];
  const missing = missingTools(rollout.toolSchemas, here);
  const tools = [...here, ...missing];
  const uid = options.uids?.[place] ?? branchUid(record);
  const made = forkPrefix(rollout, options.turn, { offersTools: tools.length > 0, ...(edits && { edits }) });
  const { messages, turn } = made;
  const { tokenizer } = options;
  const recorded =
    tokenizer === undefined || edits?.size
      ? null
      : recordedTokens(rollout, made, (ids) => tokenizer.decode(ids, false));
  const prompt = typeof recorded === 'object' ? recorded : null;
  const rerendered = typeof recorded === 'string' ? recorded : edits?.size ? 'the turn was changed' : null;
  const template = options.tokenizer === undefined ? 'server' : prompt === null ? 'tokenizer' : 'none';
  const prefix = prefixOrigin(rollout, made, missing, {
    template,
    rerendered: template === 'tokenizer' ? rerendered : null,
  });
  // A system turn with nothing but the template's tools is not sent, so there may be one message fewer than turns.
  const shift = turn - messages.length;
  const seed = sampling?.seed;
  let partial: { turn: number; text: string } | null = null;
  const heard = (event: RolloutEvent) => {
    if (event.kind === 'delta' && event.delta.kind !== 'retry') {
      const before: string = partial?.turn === event.turn ? partial.text : '';
      partial = { turn: event.turn, text: before + event.delta.text };
    } else if (event.kind === 'delta' || event.kind === 'message') partial = null;
    onEvent?.(branch, 'turn' in event ? { ...event, turn: event.turn + shift } : event);
  };
  const request = await new RolloutRequest({
    model,
    messages,
    requestId: uid,
    tools: primedTools(tools, rollout, turn),
    toolsKwargs: kwargsOf(rollout, tools),
    ...(sampling ? { sampling: seed === undefined ? sampling : { ...sampling, seed: seed + place } } : {}),
    ...(limits ? { limits } : {}),
    ...(options.tokenizer ? { tokenizer: options.tokenizer } : {}),
    ...(prompt === null ? {} : { prompt }),
    ...(options.toolFormat ? { toolFormat: options.toolFormat } : {}),
    signal,
    onEvent: heard,
  }).run();
  const judgement = await judgeBranch(request, rollout, shift, options);
  const task = {
    key: record.slice(0, 12),
    groundTruth: rollout.groundTruth ?? null,
    dataSource: dataSourceOf(rollout),
    extraInfo: objectIn(extraInfoOf(rollout) ?? {}),
  };
  const context = { task, rollout: branch, step: rollout.step ?? 0, model: model.name, gamma: 1, judgement };
  const cut = (partial as { text: string } | null)?.text ?? null;
  const fork = {
    ...{ locator: row.locator, record, turn, edited: (edits?.size ?? 0) > 0 },
    ...{ prefix: prefix, partial: cut },
    // Results that are messages of a user, by turn of the branch.
    results: rollout.turns.slice(0, turn).flatMap(({ toolCalls }) =>
      toolCalls.flatMap(({ resultTurn }) => {
        const role = resultTurn !== null && resultTurn < turn ? rollout.turns[resultTurn]?.role : undefined;
        return resultTurn !== null && role === 'user' ? [resultTurn - shift] : [];
      }),
    ),
    ...(options.world === undefined ? {} : { world: options.world.settings }),
  };
  const line = { ...rolloutRecord(request, context), uid, fork };
  const turns = parseLine(printJson(line), { validation: false }).rollout?.turns ?? [];
  const entry = {
    path: branchPath(options.journal, record, options.out) ?? '',
    uid,
    turn,
    branch,
    model: model.name,
    status: request.status,
    score: judgement.score,
    turns: turns.length,
    edited: fork.edited,
  };
  const isNew = request.messages.length > request.promptLength || cut !== null;
  if (isNew && entry.path !== '')
    keepBranch(options.journal, { record, locator: row.locator, out: options.out }, line, entry);
  else entry.path = '';
  return {
    branch,
    entry,
    turns,
    difference: firstDifference(rollout.turns.slice(shift), turns, firstChanged(turn, edits) - shift, shift),
    score: judgement.score,
    reward: { name: judgement.name, error: judgement.error },
    status: request.status,
    error: request.error,
    seconds: request.duration,
    prefix,
    world: options.world?.endOf(uid) ?? null,
    partial: cut,
  };
}

/** Up to here the branch equals the record, though its calls may be spaced differently. */
const firstChanged = (turn: number, edits: ReadonlyMap<number, string> | undefined): number =>
  Math.min(turn, ...(edits?.keys() ?? []));

/** Judging tools need the record's task data. */
function kwargsOf({ extras, groundTruth }: Rollout, tools: readonly Tool[]) {
  const info = extras.extra_info;
  const recorded = extras.tools_kwargs ?? (isJsonObject(info) ? info.tools_kwargs : undefined);
  return Object.fromEntries(
    tools.map(({ name }) => {
      const own = isJsonObject(recorded) ? recorded[name] : undefined;
      const given = objectIn(own);
      const created = isJsonObject(given.create_kwargs) ? given.create_kwargs : { ground_truth: groundTruth ?? null };
      return [name, { ...given, create_kwargs: created }];
    }),
  );
}

async function judgeBranch(
  request: RolloutRequest,
  rollout: Rollout,
  shift: number,
  { rewards, signal }: ForkOptions,
): Promise<Judgement> {
  let name = '';
  try {
    if (request.status === 'FAILED') throw new Error(request.error ?? 'the rollout failed');
    const found = rewards.for(dataSourceOf(rollout));
    name = found.name;
    const spoken = (role: string): Message | undefined => request.messages.findLast((message) => message.role === role);
    const last = spoken('assistant');
    const question = spoken('user');
    const task: RewardTask = {
      ground_truth: rollout.groundTruth ?? null,
      data_source: dataSourceOf(rollout),
      question: question ? messageText(question) : '',
      extra_info: objectIn(extraInfoOf(rollout) ?? {}),
      reward_scores: request.rewardScores as JsonValue,
      ...responseOf(request, rollout, shift),
    };
    const { reward, metadata } = await found.fn(task, last ? messageText(last) : '', signal);
    return { name, score: reward, metadata, error: null };
  } catch (error) {
    return { name, score: null, metadata: {}, error: errorMessage(error) };
  }
}

/**
 * The response of a branch: the recorded part, which its prompt now holds, and the model's new output.
 * @param shift how many messages fewer than turns the prompt has
 */
function responseOf(
  { transcript, promptLength, assistantTurns, userTurns }: RolloutRequest,
  rollout: Rollout,
  shift: number,
): Pick<RewardTask, 'response_str' | 'num_turns'> {
  const first = rollout.responseTurn - shift;
  const start = transcript.spans.find(({ field, turn, kind }) => field === 'input' && turn >= first && kind === 'text');
  const recorded = start === undefined ? '' : transcript.input.slice(start.start);
  const turns = rollout.turns.slice(0, promptLength + shift);
  const before = turnCount({ ...rollout, turns, extras: {} });
  return { response_str: recorded + transcript.output, num_turns: before + assistantTurns + userTurns };
}
