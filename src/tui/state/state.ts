import type { Folds } from '../../present/transcript/blocks.ts';
import type { Anchor } from '../../present/transcript/layout.ts';
import { Keymap } from '../keys/keymap.ts';
import type { SearchState } from '../rows/search.ts';
import { type Jump, type JumpList, noJumps } from '../update/jumps.ts';
import { type DisplayState, firstDisplay } from './display.ts';
import type { EditorState } from './editor.ts';
import type { FindProgress } from './find.ts';
import { type FollowState, initialFollow } from './follow.ts';
import { firstList, type ListState } from './list.ts';
import { initialReplay, NOTHING_ASKED, type ReplayState } from './replay.ts';

export type Focus = 'list' | 'transcript';

export interface TranscriptState {
  /** The row at the top; null: where a rollout opens, at the start of its response. */
  top: Anchor | null;
  /** The turn that the cursor is on; null: the first of the response. */
  turn: number | null;
  folds: Folds;
}

/** The help is open: what is typed at its prompt chooses commands, the cursor is on one of them. */
export interface HelpState {
  cursor: number;
}

/** What is asked at the foot of the screen; prompt/kinds.ts says what becomes of the answer. */
export type PromptId = 'command' | 'filter' | 'search' | 'pipe' | 'model' | 'help' | 'sampling' | 'reward';

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
  /** Where the reader was when it opened: an answer that leads elsewhere is a jump from there. */
  from: Jump | null;
}

export interface Message {
  text: string;
  kind: 'info' | 'error';
}

/** All that the screen shows follows from this and from the dump. */
export interface State {
  columns: number;
  rows: number;
  keymap: Keymap;
  focus: Focus;
  /** The pane that has the keys has the whole width. */
  zoom: boolean;
  mouse: boolean;
  list: ListState;
  transcript: TranscriptState;
  display: DisplayState;
  search: SearchState | null;
  jumps: JumpList;
  /** What is being looked for over many records. */
  find: FindProgress | null;
  help: HelpState | null;
  prompt: PromptState | null;
  replay: ReplayState;
  /** A text that is edited in the screen; null while none is. */
  editor: EditorState | null;
  follow: FollowState;
  /** What --notify had to say since the last key: the newest, and how many came before it. */
  alarm: { text: string; before: number } | null;
  /** What was entered at each prompt before, the newest last. */
  history: Readonly<Partial<Record<PromptId, readonly string[]>>>;
  /** What the last action had to say; gone with the next key. */
  message: Message | null;
  /** When ^c last found nothing to cancel. */
  cancelled: number;
}

export const opened: TranscriptState = { top: null, turn: null, folds: new Map() };

export function initialState(columns: number, rows: number, keymap = new Keymap()): State {
  return {
    columns,
    rows,
    keymap,
    zoom: false,
    mouse: false,
    focus: 'transcript',
    list: firstList,
    transcript: opened,
    display: firstDisplay,
    search: null,
    jumps: noJumps,
    find: null,
    help: null,
    prompt: null,
    replay: initialReplay(NOTHING_ASKED),
    editor: null,
    follow: initialFollow,
    alarm: null,
    history: {},
    message: null,
    cancelled: Number.NEGATIVE_INFINITY,
  };
}
