import type { Place } from '../dump/dump.ts';
import type { Folds } from '../present/transcript/blocks.ts';
import type { Anchor } from '../present/transcript/layout.ts';
import { type DisplayState, firstDisplay } from './display.ts';
import { type FollowState, initialFollow } from './follow.ts';
import { initialReplay, type ReplayState } from './replay/state.ts';
import type { SearchState } from './search/search.ts';

export type Focus = 'list' | 'transcript';

export interface ListState {
  /** The record that the cursor is on, wherever it stands in the list. */
  cursor: Place | null;
  /** Rows between the top of the list and the cursor: what grows or is sorted above does not move it on the screen. */
  offset: number;
}

export interface TranscriptState {
  /** The row at the top; null: where a rollout opens, at the start of its response. */
  top: Anchor | null;
  /** The turn that the cursor is on; null: the first of the response. */
  turn: number | null;
  folds: Folds;
}

export interface HelpState {
  filter: string;
  cursor: number;
}

/** What is asked at the foot of the screen; prompt/kinds.ts says what becomes of the answer. */
export type PromptId = 'command' | 'filter' | 'search' | 'pipe' | 'model';

export interface PromptState {
  id: PromptId;
  value: string;
  /** Grows whenever the value was set by something else than typing: the input field begins anew, its cursor at the end. */
  seed: number;
  /** What is wrong with the value, and at which character. */
  error: { message: string; at: number } | null;
  /** The place in the history, null while what was typed stands there, which is kept in `draft`. */
  past: number | null;
  draft: string;
  /** Completions that Tab goes through, as whole values. */
  choices: readonly string[];
  choice: number;
}

export interface Message {
  text: string;
  kind: 'info' | 'error';
}

/** All that the screen shows follows from this and from the dump. */
export interface State {
  columns: number;
  rows: number;
  focus: Focus;
  list: ListState;
  transcript: TranscriptState;
  display: DisplayState;
  search: SearchState | null;
  help: HelpState | null;
  prompt: PromptState | null;
  replay: ReplayState;
  follow: FollowState;
  /** What --notify had to say since the last key: the newest, and how many came before it. */
  alarm: { text: string; before: number } | null;
  /** What was entered at each prompt before, the newest last. */
  history: Readonly<Partial<Record<PromptId, readonly string[]>>>;
  /** What the last action had to say; gone with the next key. */
  message: Message | null;
}

export const opened: TranscriptState = { top: null, turn: null, folds: new Map() };

export function initialState(columns: number, rows: number): State {
  return {
    columns,
    rows,
    focus: 'transcript',
    list: { cursor: null, offset: 0 },
    transcript: opened,
    display: firstDisplay,
    search: null,
    help: null,
    prompt: null,
    replay: initialReplay(true, null),
    follow: initialFollow,
    alarm: null,
    history: {},
    message: null,
  };
}
