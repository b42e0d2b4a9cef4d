import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { DumpRecord } from '../core/dump/dump-file.ts';
import { hashOf } from '../core/json/fingerprint.ts';
import { printJson } from '../core/json/print.ts';
import { isJsonObject, type JsonObject } from '../core/json/value.ts';
import type { Rollout } from '../core/rollout/rollout.ts';
import { toolCallsOf } from '../core/rollout/rollout.ts';
import { branchesOf } from './branches.ts';
import { FORKS, REPLAYS, RESCORES } from './entries.ts';
import { forkPrefix } from './fork-prefix.ts';
import type { Journal } from './journal/journal.ts';
import { LinesFile } from './journal/lines.ts';
import { recordKey } from './journal/record-key.ts';
import { dataSourceOf, extraInfoOf } from './reward-task.ts';

const EDITS = 'edits';

/** A turn that a person rewrites. */
export interface TurnEdit {
  turn: number;
  text: string;
  /** The person. */
  by: string;
}

interface KeptEdit {
  path: string;
  /** The locator of the branch. */
  branch: string;
  /** A hash of its record's text. */
  source: string;
}

/**
 * Keeps a rollout with one turn rewritten as a file of its own in the journal. The other turns stay as recorded. Score,
 * token ids and mask belong to the original, so the branch has none.
 * @throws Error if the rollout cannot be edited, or the journal takes no file
 */
export function keepEdit(journal: Journal, { raw, locator, rollout }: DumpRecord, edit: TurnEdit): KeptEdit {
  if (rollout === null) throw new Error(`${locator} holds no rollout`);
  const record = recordKey(raw);
  const uid = randomUUID();
  const line = { id: uid, ...editedLine(rollout, edit, { locator, record }) };
  const folder = journal.subfolder(EDITS);
  if (folder === null || journal.directory === null) throw new Error(journal.problem ?? 'nothing can be kept');
  const name = `${record.slice(0, 12)}-${uid.slice(0, 8)}.jsonl`;
  const file = new LinesFile((mode) => folder.openFile(name, mode));
  try {
    file.append(line);
  } finally {
    file.close();
    folder.close();
  }
  const path = join(journal.directory, EDITS, name);
  journal.append(FORKS, {
    ...{ record, locator, path, uid, turn: edit.turn, branch: branchesOf(journal, record).length },
    ...{ model: edit.by, status: 'COMPLETED', score: null, turns: rollout.turns.length, edited: true },
  });
  return { path, branch: `${path}:1`, source: hashOf(printJson(line)) };
}

function editedLine(rollout: Rollout, { turn, text, by }: TurnEdit, original: JsonObject): JsonObject {
  const { turns, step, groundTruth, toolSchemas } = rollout;
  if (turns[turn] === undefined) throw new Error(`there is no turn ${turn}; the turns are 0 to ${turns.length - 1}`);
  if (turns[turn].text === text) throw new Error(`the text of turn ${turn} is already this one`);
  if (turns.some(({ context = 0 }) => context !== 0))
    throw new Error('this rollout has several message histories, and an edit would lose all but one');
  const { messages } = forkPrefix(rollout, turns.length, { offersTools: false, edits: new Map([[turn, text]]) });
  return {
    messages: messages,
    ...(toolSchemas.length > 0 ? { tools: [...toolSchemas] } : {}),
    ...(step === null ? {} : { step }),
    ...(groundTruth === undefined ? {} : { ground_truth: groundTruth }),
    data_source: dataSourceOf(rollout) ?? null,
    extra_info: extraInfoOf(rollout) ?? {},
    edited: { ...original, turn, by },
  };
}

/** Whether a turn was rewritten: by `keepEdit`, or before a fork went on from it. */
export const isEdited = ({ extras: { edited, fork } }: Rollout): boolean =>
  isJsonObject(edited) || (isJsonObject(fork) && fork.edited === true);

/** The score by the reward, if each call of an edited branch was run again with the recorded result; else null. */
export function verifiedScore(journal: Journal, raw: string, rollout: Rollout): number | null {
  const record = recordKey(raw);
  const runs = journal.known(REPLAYS, record).filter(({ edited }) => !edited);
  const isSame = toolCallsOf(rollout).every(
    ({ index }) => runs.findLast(({ call }) => call === index)?.verdict === 'same',
  );
  return isSame ? (journal.known(RESCORES, record).at(-1)?.score ?? null) : null;
}
