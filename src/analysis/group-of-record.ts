import type { DumpRecord } from '../core/dump/dump-file.ts';
import { recordsWith } from '../core/dump/records-with.ts';
import { type GroupKey, groupKeyOf } from '../core/rollout/group-key.ts';
import type { Rollout } from '../core/rollout/rollout.ts';

/** The group of one record, without parsing the whole file. */
export interface RecordGroup {
  /** null: it has none, by the rules of Groups. */
  key: string | null;
  /** The rollouts of the same prompt, this one included, in file order. */
  members: { record: number; score: number | null }[];
}

/**
 * Same result as Groups, for one record. Only records that hold a piece of its prompt (or of its uid) byte for byte are
 * parsed, because a file may have a gigabyte. This relies on one writer encoding a text in one way; if this record's
 * own bytes do not hold the piece, every record is parsed.
 */
export function groupOfRecord(row: DumpRecord): RecordGroup {
  if (row.rollout === null) return { key: null, members: [] };
  const near = new NearRecords(row);
  const own = groupKeyOf(row.rollout);
  if (own.uid !== null) {
    const members = near.with(row.raw, own.uid).filter(({ key }) => key.uid === own.uid);
    if (members.length > 1) return { key: own.uid, members };
  }
  const found =
    own.from === 'uid'
      ? near.with(row.raw, row.rollout.group ?? `${own.key}_`)
      : near.with(row.raw, endOfPrompt(row.rollout)).filter(({ record, key }) => !near.sharesUid(record, key));
  const members = found.filter(({ key }) => key.from === own.from && key.key === own.key);
  if (own.from === 'uid') return { key: own.key, members };
  // If all prompts of a step are equal they identify no groups. A record without the piece has another prompt, if it
  // has one.
  const isOther = ({ record, key }: NearRecord): boolean =>
    key.from === 'prompt' && key.prompt !== own.prompt && !near.sharesUid(record, key);
  const byPrompt = found.filter(({ key }) => key.from === 'prompt');
  const areAlike = byPrompt.length > 1 && !found.some(isOther) && !some(near.all(), isOther);
  return areAlike ? { key: null, members: [] } : { key: own.key, members };
}

interface NearRecord {
  record: number;
  key: GroupKey;
  score: number | null;
}

/** The rollouts of the step of one record. */
class NearRecords {
  readonly #row: DumpRecord;
  readonly #step: number | null;
  readonly #shared = new Map<string, boolean>();

  constructor(row: DumpRecord) {
    this.#row = row;
    this.#step = row.file.stepOf(row.record);
  }

  /** Those whose bytes hold a text as `raw` does, or all if it does not. */
  with(raw: string, text: string): NearRecord[] {
    const needle = needleOf(raw, text);
    return needle === null ? [...this.all()] : [...this.#read(recordsWith(this.#row.file, needle))];
  }

  all(): Generator<NearRecord> {
    return this.#read(Array(this.#row.file.count).keys());
  }

  /** Another rollout of the step has its uid. */
  sharesUid(record: number, { uid }: GroupKey): boolean {
    if (uid === null) return false;
    let isShared = this.#shared.get(uid);
    if (isShared === undefined) {
      const raw = this.#row.file.raw(record) ?? '';
      isShared = this.with(raw, uid).filter(({ key }) => key.uid === uid).length > 1;
      this.#shared.set(uid, isShared);
    }
    return isShared;
  }

  *#read(records: Iterable<number>): Generator<NearRecord> {
    const { file, record: own, rollout: known } = this.#row;
    for (const record of records) {
      if (file.stepOf(record) !== this.#step) continue;
      const rollout = record === own ? known : file.read(record).rollout;
      if (rollout !== null) yield { record, key: groupKeyOf(rollout), score: rollout.score };
    }
  }
}

function some<T>(values: Iterable<T>, holds: (value: T) => boolean): boolean {
  for (const value of values) if (holds(value)) return true;
  return false;
}

/** Bytes from the end of a prompt: its beginning (tools, instructions) is the same for all. */
const PIECE = 160;

function endOfPrompt({ turns, responseTurn }: Rollout): string {
  const asked = turns.slice(0, responseTurn).findLast(({ role }) => role === 'user')?.text ?? '';
  return asked
    .trim()
    .slice(-PIECE)
    .replace(/^[\udc00-\udfff]/, '');
}

/** null if the text is not in the raw record as JSON has it. */
function needleOf(raw: string, text: string): Buffer | null {
  if (text === '') return null;
  const plain = JSON.stringify(text).slice(1, -1);
  // Python writes ASCII only by default.
  const ascii = plain.replace(/[\u007f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
  const found = [plain, ascii].find((piece) => raw.includes(piece));
  return found === undefined ? null : Buffer.from(found);
}
