import type { Place } from '../../dump/dump.ts';
import type { StopName } from '../rows/landmarks.ts';

export type FindAction =
  /** To the next turn of that kind, in this rollout or in one behind it. */
  | { type: 'stop'; stop: StopName; by: number }
  /** In the list of places before each jump. */
  | { type: 'jump'; by: number }
  /** To a record, and a turn of it. */
  | { type: 'go'; place: Place; turn: number | null }
  | SeekNews;

/** What is looked for over many records, a slice at a time. */
export type SeekJob =
  | { kind: 'stop'; stop: StopName; from: Place; by: number }
  /** A uid or a request_id that begins so; in the whole dump, from behind a record on and round. */
  | { kind: 'id'; id: string; from: Place | null }
  | HitJob;

/** What the user searches for, in the samples behind one or before it. */
export interface HitJob {
  kind: 'hit';
  value: string;
  from: Place;
  by: 1 | -1;
}

export type SeekNews =
  | { type: 'seeking'; progress: SeekProgress | null }
  /** `nth` of its stops, in the direction of the job. */
  | { type: 'sought'; job: SeekJob; place: Place | null; nth: number };

export interface SeekProgress {
  /** `an error`, `the id b1946ac9`. */
  what: string;
  done: number;
  total: number;
}
