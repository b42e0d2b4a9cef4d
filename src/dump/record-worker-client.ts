import type { GroupKey } from '../rollout/group-key.ts';
import { ThreadClient } from './thread-client.ts';

export interface WorkerRequest {
  path: string;
  /** Offset and byte length of each record, alternating. */
  places: Float64Array;
  validation: boolean;
  wantsKeys: boolean;
}

export interface WorkerAnswer {
  /** Packed facts, 0 where a record could not be read. */
  facts: Uint32Array;
  scores: Float64Array;
  hasScore: Uint8Array;
  /** Group keys, null for a bad record; empty unless asked for. */
  keys: (GroupKey | null)[];
  /** Names under which the records have values of their own, each once. */
  extras: string[];
}

/** A thread that parses records. */
export class RecordWorker extends ThreadClient<WorkerRequest, WorkerAnswer> {
  constructor() {
    super('record-worker');
  }
}
