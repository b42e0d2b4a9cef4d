import type { Place } from '../../../core/dump/dump.ts';

/** The subject of a page. A new one needs a kind here and a builder in pages/pages.ts. */
export type PageSubject =
  /** The rollouts of one prompt in one step; `left` are the excluded records. */
  | { kind: 'group'; place: Place; left: readonly number[] }
  /** The message histories of a rollout. */
  | { kind: 'contexts'; place: Place }
  /** The histories before and after a compaction side by side. */
  | { kind: 'compaction'; place: Place; context: number }
  /** The history before a turn. */
  | { kind: 'history'; place: Place; turn: number }
  /** Changes made by calls, or the files that they touched; a file after a change; a difference. */
  | { kind: 'files'; place: Place; byFile: boolean }
  | { kind: 'file'; place: Place; path: string; change: number | null }
  | { kind: 'file-diff'; place: Place; path: string | null; change: number | null }
  /** The time of a rollout, or its turns within a stretch of it; that of all rollouts in its file. */
  | { kind: 'times'; place: Place; within?: { start: number; end: number } }
  | { kind: 'step-times'; place: Place }
  /** The learning signal of a rollout's step. */
  | { kind: 'signal'; place: Place }
  /** Unfinished rollouts. */
  | { kind: 'under-way' }
  /** A row for each prompt of each step; pass@k. */
  | { kind: 'groups'; k: number }
  /** A row for each prompt, a column for each step. */
  | { kind: 'matrix' }
  /** The answers of a rollout's group as a tree; two rollouts side by side. */
  | { kind: 'tree'; place: Place }
  | { kind: 'compare'; a: Place; b: Place }
  /** Every number, with its curve. */
  | { kind: 'charts' }
  /** A number by step, and how often it has each value. */
  | { kind: 'chart'; name: string }
  | { kind: 'histogram'; name: string }
  /** Incidents, some unfolded, or every number with its correlations and its jump; rollouts around one number's jump. */
  | { kind: 'movement'; statistics?: boolean; open?: readonly number[] }
  | { kind: 'moved'; name: string }
  /** Turns matching a pattern in all rollouts of the list: with these roles, or a field of the records. */
  | { kind: 'hits'; pattern: string; roles: readonly string[] | null; field: string | null }
  /** Failed calls by tool, and how rollouts ended. */
  | { kind: 'errors' }
  /** Another run beside the open one, by prompt. */
  | { kind: 'runs'; path: string }
  /** Every set of rollouts; the rollouts of one. */
  | { kind: 'sets' }
  | { kind: 'set'; name: string }
  /** The rollouts to read. */
  | { kind: 'triage'; n: number; seed: number };

export type SubjectOf<Kind extends PageSubject['kind']> = Extract<PageSubject, { kind: Kind }>;

/** A view of the whole body, replacing the list and the transcript: rows with a cursor. */
export interface PageState {
  subject: PageSubject;
  row: number;
  /** A stable name for the cursor's row, if rows come and go. */
  anchor: string | null;
  column: number;
  /** The first row on screen. */
  top: number;
  sort: PageSort | null;
  /** The page that Esc returns to. */
  below: PageState | null;
  /** A rollout from it is being read: the page is hidden until Esc. */
  isAside: boolean;
}

export interface PageSort {
  column: number;
  descending: boolean;
}

export const freshPage = (subject: PageSubject, below: PageState | null): PageState => ({
  subject,
  row: 0,
  anchor: null,
  column: 0,
  top: 0,
  sort: null,
  below,
  isAside: false,
});
