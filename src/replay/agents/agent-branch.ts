import { join, resolve } from 'node:path';
import { Dump, type Place } from '../../core/dump/dump.ts';
import type { DumpRecord } from '../../core/dump/dump-file.ts';
import { UsageError } from '../../core/dump/paths.ts';
import type { Rollout, Turn } from '../../core/rollout/rollout.ts';
import { HISTORY_RULES } from '../../engine/record/history-items.ts';
import { RecordFile } from '../../engine/record/record-file.ts';
import { modelTurns } from '../../engine/record/recorded-replies.ts';
import { type BranchDifference, type BranchEntry, branchesOf, firstDifference } from '../branches.ts';
import { FORKS } from '../entries.ts';
import type { Journal } from '../journal/journal.ts';
import { recordKey } from '../journal/record-key.ts';
import type { WorldOptions } from '../worlds/replay-world.ts';
import { type AgentOutcome, type AgentWatch, differenceText, runAgent } from './agent-run.ts';

/** Branches that the agent of a rollout makes. */
export interface AgentFork {
  row: DumpRecord;
  rollout: Rollout;
  command: string;
  turn: number;
  /** The text that replaces the reply of that turn; null: the model is asked for it. */
  edited: string | null;
  modelUrl: string;
  world: WorldOptions | null;
  journal: Journal;
  /** The folder of the branches; undefined: one in the journal. */
  out: string | undefined;
}

export interface AgentBranch {
  outcome: AgentOutcome;
  entry: Omit<BranchEntry, 'at'>;
  /** The file as it is shown. */
  path: string;
  /** How it ended, in words. */
  words: string;
}

/** Runs the agent up to the turn with recorded replies, and on with the live model. The branch is kept and noted. @throws UsageError */
export async function agentBranch(fork: AgentFork, uid: string, watch: AgentWatch): Promise<AgentBranch> {
  const { row, rollout, command, turn, edited, modelUrl, world, journal, out } = fork;
  const { locator, raw } = row;
  if (!modelTurns(rollout).some(({ index }) => index === turn))
    throw new UsageError(
      `${locator}#t${turn}: --agent continues from a turn that the model wrote, and this is not one`,
    );
  const folder = out ?? (journal.directory === null ? null : join(journal.directory, 'agent-branches'));
  if (folder === null) throw new UsageError('--out: name a folder for the branches; there is no journal here');
  const record = recordKey(raw);
  const branch = branchesOf(journal, record).length;
  const file = new RecordFile(
    folder,
    `${locator.replace(/^.*\//, '').replace(/\.jsonl\b/, '')}-t${turn}-${uid}`,
    watch.say,
  );
  file.append({ type: 'fork', of: locator, turn, edited: edited !== null });
  const outcome = await runAgent(
    {
      rollout,
      command,
      rules: new Set(HISTORY_RULES),
      edited: edited === null ? undefined : new Map([[turn, edited]]),
      liveFrom: { turn, modelUrl },
      world,
      open: () => file,
    },
    watch,
  );
  file.close();
  const { made, score } = await readBranch(file.path);
  const entry = {
    path: resolve(file.path),
    uid,
    turn: edited === null ? turn : turn + 1,
    branch,
    model: command,
    status: watch.signal?.aborted === true ? 'CANCELLED' : outcome.isLive ? 'SUCCEEDED' : 'FAILED',
    score,
    turns: made.length,
    edited: edited !== null,
  };
  journal.append(FORKS, { record, locator, ...entry });
  return { outcome, entry, path: file.path, words: outcomeText(turn, outcome) };
}

function outcomeText(turn: number, { difference, isLive, status }: AgentOutcome): string {
  if (difference !== null && !isLive) return `went another way before t${turn}: ${differenceText(difference)}`;
  return isLive
    ? `went on from t${turn}; the agent ended with status ${status}`
    : `the agent ended with status ${status} before it reached t${turn}`;
}

/** The only rollout of a recorder's file, opened. @returns null if it holds none */
export async function openBranch(path: string): Promise<Place | null> {
  const [file] = Dump.open([path]).files;
  await file?.buildIndex(() => true);
  return file === undefined || file.count === 0 ? null : { file, record: 0 };
}

async function readBranch(path: string): Promise<{ made: readonly Turn[]; score: number | null }> {
  const place = await openBranch(path).catch(() => null);
  const rollout = place?.file.read(place.record).rollout ?? null;
  place?.file.close();
  return { made: rollout?.turns ?? [], score: rollout?.score ?? null };
}

/** The turns of an agent's branch from its first new one on, and where they differ from the original's. */
export async function agentBranchTurns(
  original: Rollout,
  { path, turn, edited }: Pick<BranchEntry, 'path' | 'turn' | 'edited'>,
): Promise<{ turns: readonly Turn[]; difference: BranchDifference | null }> {
  const { made } = await readBranch(path);
  // An agent's system prompt may be in one of the two alone, so replies are counted.
  const count = modelTurns(original).filter(({ index }) => index < turn).length;
  const replies = modelTurns({ ...original, turns: [...made] });
  const last = edited ? replies[count - 1] : undefined;
  const start = last === undefined ? (replies[count]?.index ?? made.length) : last.index + 1;
  const turns = made.slice(start);
  return { turns, difference: firstDifference(original.turns.slice(turn), turns, 0, turn) };
}
