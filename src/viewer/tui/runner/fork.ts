import { z } from 'zod';
import type { DumpRecord } from '../../../core/dump/dump-file.ts';
import { parseLine } from '../../../core/dump/parse-line.ts';
import { parseJson } from '../../../core/json/parse.ts';
import { printJson } from '../../../core/json/print.ts';
import type { JsonValue } from '../../../core/json/value.ts';
import { plainJson } from '../../../core/json/value.ts';
import type { Turn } from '../../../core/rollout/rollout.ts';
import { limitsOf, samplingOf, settingsOfFlags } from '../../../engine/collect/setting-flags.ts';
import { ChatCompletionsModel, type Message, messageText } from '../../../engine/index.ts';
import { agentBranchTurns } from '../../../replay/agents/agent-branch.ts';
import {
  type Branch,
  type BranchEntry,
  branchesOf,
  branchLines,
  branchUid,
  firstDifference,
  forkRollout,
  openRewards,
  PrefixOrigin,
  prefixText,
} from '../../../replay/index.ts';
import type { Journal } from '../../../replay/journal/journal.ts';
import { recordKey } from '../../../replay/journal/record-key.ts';
import type { BranchView, SpokenTurn } from '../../present/replay/view.ts';
import { branchChanges } from '../../present/world-text.ts';
import type { JobOf, RunnerContext } from './context.ts';
import { toolsOutside, worldOfFork } from './fork-world.ts';

/** Tokens arrive faster than a person reads the screen. */
const STREAM_MS = 60;

/** Continues from a turn with a live model, n times, and shows the turns as they come. */
export async function startFork(
  runner: RunnerContext,
  { place, turn, edited, model, settings, reward, wish, image }: JobOf<'fork'>,
  signal: AbortSignal,
): Promise<void> {
  const row = runner.row(place);
  if (row.rollout === null) return;
  const { env } = runner.options;
  const { n, texts } = settings;
  const chosen = settingsOfFlags(texts);
  const tools = toolsOutside(runner, row, image);
  const backend = tools.length === 0 && reward.reward !== 'code' ? null : await runner.backend();
  const world = image === null ? null : await worldOfFork(runner, row, { turn, wish }, signal);
  const rewards = openRewards(reward, backend?.run);
  const first = row.rollout.turns[turn]?.role === 'assistant' && edited === null ? turn : turn + 1;
  const live = new Map<number, LiveBranch>();
  const record = recordKey(row.raw);
  const uids = Array.from({ length: n }, () => branchUid(record));
  const earlier = branchesOf(runner.journal, record).length;
  let timer: NodeJS.Timeout | null = null;
  const show = (branch: BranchView) => runner.change(row.locator, { kind: 'branch', branch });
  const showLive = () => {
    timer = null;
    for (const one of live.values()) show(one.view(model.name, first));
  };
  for (const [i, uid] of uids.entries()) live.set(earlier + i, new LiveBranch(uid, earlier + i));
  showLive();
  try {
    const branches = forkRollout({
      row,
      turn,
      model: new ChatCompletionsModel(model.name, {
        url: model.url,
        apiKey: env.ROLLOUT_VIEWER_API_KEY ?? env.OPENAI_API_KEY,
      }),
      tools,
      world: world ?? undefined,
      rewards: rewards.router,
      n,
      uids,
      sampling: samplingOf(chosen),
      limits: limitsOf(chosen),
      ...(edited === null ? {} : { edits: new Map([[turn, edited]]) }),
      journal: runner.journal,
      signal,
      onEvent: (branch, event) => {
        const one = live.get(branch);
        if (one === undefined) return;
        one.note =
          event.kind === 'delta' && event.delta.kind === 'retry' ? `${model.url}: ${event.delta.reason}` : null;
        if (event.kind === 'delta' && event.delta.kind !== 'retry') one.delta(event.turn, event.delta.text);
        else if (event.kind === 'message') one.message(event.turn, event.message);
        else if (one.note === null) return;
        timer ??= setTimeout(showLive, STREAM_MS);
      },
    });
    for await (const branch of branches) {
      live.delete(branch.branch);
      show(endedView(branch));
    }
  } finally {
    rewards.close();
    await world?.close();
    if (timer !== null) clearTimeout(timer);
    for (const one of live.values()) show({ ...one.view(model.name, first), status: 'CANCELLED', error: 'cancelled' });
  }
  if (runner.journal.problem !== null) runner.options.say(runner.journal.problem, 'error');
}

/** A branch in progress: the streaming turn grows, and is replaced by its message once that is complete. */
class LiveBranch {
  readonly #uid: string;
  readonly #branch: number;
  readonly #turns = new Map<number, SpokenTurn>();
  /** Why the model is being waited for. */
  note: string | null = null;

  constructor(uid: string, branch: number) {
    this.#uid = uid;
    this.#branch = branch;
  }

  delta(turn: number, text: string): void {
    const before = this.#turns.get(turn);
    this.#turns.set(turn, { role: 'assistant', text: (before?.text ?? '') + text, calls: [] });
  }

  message(turn: number, message: Message): void {
    const calls = (message.tool_calls ?? []).map(({ function: { name, arguments: args } }) => ({
      name,
      text: callText(args),
    }));
    this.#turns.set(turn, { role: message.role, text: messageText(message), calls });
  }

  view(model: string, turn: number): BranchView {
    const turns = [...this.#turns].sort(([a], [b]) => a - b).filter(([at]) => at >= turn);
    return {
      ...RUNNING,
      uid: this.#uid,
      branch: this.#branch,
      turn,
      model,
      judged: this.note === null ? null : `waiting for the model server: ${this.note}`,
      turns: turns.map(([, one]) => one),
    };
  }
}

export const RUNNING = {
  changed: [],
  ...{ status: null, score: null, judged: null, error: null },
  difference: null,
  prefix: null,
  isEdited: false,
  isNew: true,
} as const;

/** Arguments in readable form: the only text if there is just one, else JSON. */
function callText(args: JsonValue): string {
  let value = args;
  try {
    if (typeof value === 'string') value = plainJson(value);
  } catch {
    return String(args);
  }
  const values = typeof value === 'object' && value !== null ? Object.values(value) : [value];
  return values.length === 1 && typeof values[0] === 'string' ? values[0] : printJson(value, 2);
}

export const spoken = ({ role, text, parts, toolCalls }: Turn): SpokenTurn => ({
  role,
  text: parts
    .filter(({ kind, call }) => kind !== 'call' || toolCalls[call ?? -1]?.error !== null)
    .map(({ start, end }) => text.slice(start, end))
    .join(''),
  calls: toolCalls
    .filter(({ error }) => error === null)
    .map(({ name, arguments: args }) => ({ name: name ?? 'call', text: callText(args) })),
});

function endedView(branch: Branch): BranchView {
  const { entry, turns, difference, score, reward, status, error } = branch;
  return {
    uid: entry.uid,
    branch: branch.branch,
    turn: entry.turn,
    model: entry.model,
    status,
    score,
    judged: score === null ? (reward.error ?? error) : `scored by ${reward.name}`,
    error,
    turns: withPartial(turns.slice(entry.turn).map(spoken), branch.partial),
    difference,
    prefix: prefixText(branch.prefix),
    changed: branch.world === null ? [] : branchChanges(branch.world),
    isEdited: entry.edited,
    isNew: true,
  };
}

/** An interrupted turn comes after the complete ones. */
const withPartial = (turns: SpokenTurn[], partial: string | null): SpokenTurn[] =>
  partial === null ? turns : [...turns, { role: 'assistant, broken off', text: partial, calls: [] }];

/** A branch's line says how it was made; lines from earlier versions say less. */
const Kept = z.object({
  fork: z.object({ prefix: PrefixOrigin.nullable().catch(null), partial: z.string().nullable().catch(null) }),
});

/** Branches of earlier sessions, read from the dump that holds them. */
export async function keptBranches(journal: Journal, row: DumpRecord, record: string): Promise<BranchView[]> {
  const views: BranchView[] = [];
  const lines = new Map<string, string[]>();
  for (const entry of branchesOf(journal, record)) {
    const view = keptView(entry, row, lines);
    views.push(isOfAgent(lines.get(entry.path)) ? { ...view, ...(await agentTurns(row, entry)) } : view);
  }
  return views;
}

/** An agent's branch is a recorder's file. */
const isOfAgent = (lines: readonly string[] = []): boolean => lines[0]?.startsWith('{"recorder":') === true;

async function agentTurns({ rollout }: DumpRecord, entry: BranchEntry): Promise<Partial<BranchView>> {
  if (rollout === null) return {};
  const { turns, difference } = await agentBranchTurns(rollout, entry);
  const error = entry.status === 'FAILED' ? `the agent went another way, or ended, before t${entry.turn}` : null;
  return { turns: turns.map(spoken), difference, error };
}

function keptView(entry: BranchEntry, row: DumpRecord, files: Map<string, string[]>): BranchView {
  const { branch, turn, model, status, score, path, uid, edited } = entry;
  const lines = files.get(path) ?? branchLines(path);
  files.set(path, lines);
  const line = lines.find((text) => text.includes(JSON.stringify(uid)));
  const turns = line === undefined ? [] : (parseLine(line, { validation: false }).rollout?.turns ?? []);
  const { prefix = null, partial = null } =
    line === undefined ? {} : (Kept.safeParse(parseJson(line)).data?.fork ?? {});
  return {
    uid,
    branch,
    turn,
    model,
    status,
    score,
    judged: null,
    error: line === undefined ? `${path} does not hold it any more` : null,
    turns: withPartial(turns.slice(turn).map(spoken), partial),
    changed: [],
    prefix: prefix === null ? null : prefixText(prefix),
    isEdited: edited,
    difference: turns.length === 0 ? null : firstDifference(row.rollout?.turns ?? [], turns, turn),
    isNew: false,
  };
}
