import { settleNumbers } from '../../analysis/facts/group-numbers.ts';
import type { DumpFile, DumpRecord } from '../../core/dump/dump-file.ts';
import type { RecordDetails } from '../../core/dump/record-details.ts';
import { parseJson } from '../../core/json/parse.ts';
import { printJson } from '../../core/json/print.ts';
import { type JsonValue, objectIn } from '../../core/json/value.ts';
import {
  type GroupKey,
  type GroupNumber,
  groupKeyOf,
  groupKeysLike,
  groupNumbersOf,
  isOfPrompt,
  mayHaveGroupKeys,
  NO_GROUP,
} from '../../core/rollout/group-key.ts';
import type { Rollout } from '../../core/rollout/rollout.ts';

type GroupFields = Pick<Rollout, 'extras' | 'group'>;

/** Group keys of the rows of several files. */
export class FileGroups {
  /** How many records from the start of a file have groups that nothing changes. */
  readonly #known = new Map<DumpFile, number>();
  readonly #firstSteps = new Map<DumpFile, FirstStep>();
  readonly #settled = new Map<DumpFile, Float64Array>();
  readonly #seen = new Set<string>();
  readonly #values = new Map<string, Set<JsonValue>>();
  #rows = 0;

  /** null for a bad record, and if nothing distinguishes the prompts of its step. */
  of(file: DumpFile, { rollout, record }: Pick<DumpRecord, 'rollout' | 'record'>): string | null {
    if (rollout === null) return null;
    const own = groupKeyOf(rollout);
    if (this.#rows++ < MOST_NOTED) this.#note(printJson(own.key), rollout);
    return this.#groupOf(file, record, own);
  }

  /** The same from what was kept of a record, as JSON. */
  ofKept(file: DumpFile, record: number, { group, extras }: RecordDetails): string | null {
    if (group === null) return null;
    const { from, key, uid, isNamed } = group;
    if (this.#rows++ < MOST_NOTED)
      this.#note(key, { extras: !isNamed && mayHaveGroupKeys(extras) ? objectIn(parseJson(extras)) : {} });
    return this.#groupOf(file, record, { from, key, uid: uid === 'null' ? null : uid });
  }

  #groupOf(file: DumpFile, record: number, { from, key, uid }: Omit<GroupKey, 'prompt'>): string | null {
    if (from === 'uid' || (uid === null && this.#isPlain(file, file.stepOf(record)))) return key;
    let settled = this.#settled.get(file);
    if (settled === undefined) {
      settled = settledIn(file);
      this.#settled.set(file, settled);
    }
    const number = settled[record] ?? Number.NaN;
    return Number.isNaN(number) ? null : isOfPrompt(number) ? key : uid;
  }

  #isPlain(file: DumpFile, step: number | null): boolean {
    let first = this.#firstSteps.get(file);
    if (first === undefined) {
      first = new FirstStep(file);
      this.#firstSteps.set(file, first);
    }
    return first.isPlain(step);
  }

  /** Whether the groups of a file's first records are known, whatever the rest of the file holds. */
  areKnown(file: DumpFile, records: number): boolean {
    for (let record = this.#known.get(file) ?? 0; record < Math.min(records, file.count); record++) {
      const { group, uid } = groupNumbers(file, record);
      if (isOfPrompt(group) && !(Number.isNaN(uid) && this.#isPlain(file, file.stepOf(record)))) return false;
      this.#known.set(file, record + 1);
    }
    return true;
  }

  /** @param key as JSON */
  #note(key: string, rollout: GroupFields): void {
    this.#seen.add(key);
    for (const name of groupKeysLike(rollout)) {
      const values = this.#values.get(name) ?? new Set();
      this.#values.set(name, values.add(rollout.extras[name] ?? null));
    }
  }

  /** A key of the records that makes groups of equal size if the prompts make more; null if absent. */
  get better(): string | null {
    const rows = Math.min(this.#rows, MOST_NOTED);
    for (const [name, { size }] of this.#values)
      if (size > 1 && size < this.#seen.size && rows % size === 0 && rows > size) return name;
    return null;
  }
}

/** Looks at a file from its start, as far as it is known, until two prompts of its first step differ. */
class FirstStep {
  readonly #file: DumpFile;
  #next = 0;
  #prompt: number | null = null;
  /** A record of another step came before, or one with a uid. */
  #isOver = false;
  #isPlain = false;

  constructor(file: DumpFile) {
    this.#file = file;
  }

  /** Whether the prompt of a record of this step identifies its group, whatever follows. */
  isPlain(step: number | null): boolean {
    const first = this.#file.stepOf(0);
    while (!this.#isOver && !this.#isPlain && this.#next < this.#file.count) this.#look(this.#next++, first);
    return this.#isPlain && first === step;
  }

  #look(record: number, first: number | null): void {
    const { group, prompt, uid } = groupNumbers(this.#file, record);
    this.#isOver = this.#file.stepOf(record) !== first || !Number.isNaN(uid);
    if (this.#isOver || !isOfPrompt(group)) return;
    this.#isPlain = this.#prompt !== null && prompt !== this.#prompt;
    this.#prompt = prompt;
  }
}

function settledIn(file: DumpFile): Float64Array {
  const columns = {
    keys: new Float64Array(file.count),
    prompts: new Float64Array(file.count),
    uids: new Float64Array(file.count),
    units: new Uint32Array(file.count),
  };
  const steps = new Map<number | null, number>();
  for (let record = 0; record < file.count; record++) {
    const { group, prompt, uid } = groupNumbers(file, record);
    const step = file.stepOf(record);
    const unit = steps.get(step) ?? steps.size;
    steps.set(step, unit);
    columns.keys[record] = group;
    columns.prompts[record] = prompt;
    columns.uids[record] = uid;
    columns.units[record] = unit;
  }
  return settleNumbers(columns);
}

/** NaN for a bad record. */
function groupNumbers(file: DumpFile, record: number): GroupNumber {
  const { groups, prompts, uids } = file.index.columns;
  if (file.index.isLooked(record))
    return { group: groups.at(record), prompt: prompts.at(record), uid: uids.at(record) };
  const { rollout } = file.read(record);
  return rollout === null ? NO_GROUP : groupNumbersOf(rollout);
}

/** Rows searched for a key that makes groups. */
const MOST_NOTED = 10_000;
