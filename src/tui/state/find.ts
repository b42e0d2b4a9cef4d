import type { Place } from '../../dump/dump.ts';
import type { LandmarkName } from '../rows/landmarks.ts';

export type FindAction =
  /** To the next turn of that kind, in this rollout or in one behind it. */
  | { type: 'landmark'; landmark: LandmarkName; by: number }
  /** In the list of places before each jump. */
  | { type: 'jump'; by: number }
  /** To a record, and a turn of it. */
  | { type: 'go'; place: Place; turn: number | null }
  | FindReport;

/** What is looked for over many records, a slice at a time. */
export type FindJob =
  | { kind: 'landmark'; landmark: LandmarkName; from: Place; by: number }
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

export type FindReport =
  | { type: 'find-progress'; progress: FindProgress | null }
  /** `nth` of its landmarks, in the direction of the job. */
  | { type: 'found'; job: FindJob; place: Place | null; nth: number };

export interface FindProgress {
  /** `an error`, `the id b1946ac9`. */
  what: string;
  done: number;
  total: number;
}
