import { ThreadClient } from '../async/thread-client.ts';
import type { ReadContext } from '../formats/format.ts';
import type { JsonValue } from '../json/value.ts';
import type { GroupKey } from '../rollout/group-key.ts';

export interface WorkerRequest {
  path: string;
  /** Offset and byte length of each record, alternating. */
  places: Float64Array;
  /** The index's number of each record on its line; null if every line holds one. */
  parts: readonly number[] | null;
  context: ReadContext;
  wantsKeys: boolean;
  wantsDetails: boolean;
  /** Somebody is at the keyboard, whose thread goes first. */
  givesWay: boolean;
}

export interface WorkerAnswer {
  /** One row of facts per record, zeros if it could not be read. */
  facts: Float64Array;
  scores: Float64Array;
  hasScore: Uint8Array;
  groups: Float64Array;
  prompts: Float64Array;
  uids: Float64Array;
  /** Values under the records' keys, one per record, undefined if it has none. */
  cells: { name: string; values: (JsonValue | undefined)[] }[];
  /** Group keys, null for a bad record; empty unless requested. */
  keys: (GroupKey | null)[];
  /** A packed line of details per record; null unless requested. */
  details: Uint8Array | null;
  /** Keys of the records' extra values, without duplicates. */
  extras: string[];
}

/** A thread that parses records. */
export class RecordWorker extends ThreadClient<WorkerRequest, WorkerAnswer> {
  constructor() {
    super('record-worker');
  }
}
