import type { SavedView } from '../../config/saved-views.ts';
import { type DisplayState, firstDisplay } from './display.ts';
import type { EditorState } from './editor.ts';
import type { FindProgress } from './find.ts';
import { type FollowState, initialFollow } from './follow.ts';
import { type JumpList, noJumps } from './jumps.ts';
import { initialLabels, type LabelState } from './labels.ts';
import { firstList, type ListState } from './list.ts';
import type { PageState } from './page.ts';
import type { PromptId, PromptState } from './prompt.ts';
import { initialReplay, NOTHING_ASKED, type ReplayState } from './replay.ts';
import type { SearchState } from './search.ts';
import { noSets, type SetsState } from './sets.ts';
import { opened, type TranscriptState } from './transcript.ts';

/** Everything on screen follows from this and the dump. */
export interface State {
  columns: number;
  rows: number;
  focus: Focus;
  /** The focused pane has the full width. */
  zoom: boolean;
  /** A wide screen has a column of details beside the transcript. */
  hasDetails: boolean;
  mouse: boolean;
  list: ListState;
  transcript: TranscriptState;
  display: DisplayState;
  /** Replaces list and transcript while it is shown. */
  page: PageState | null;
  search: SearchState | null;
  jumps: JumpList;
  /** A search over many records in progress. */
  find: FindProgress | null;
  keys: PendingKeys;
  help: HelpState | null;
  prompt: PromptState | null;
  /** The last seed given to a prompt. */
  seed: number;
  replay: ReplayState;
  labels: LabelState;
  sets: SetsState;
  /** A text being edited in the screen; null if absent. */
  editor: EditorState | null;
  follow: FollowState;
  /** --notify alarms since the last key: the newest, and how many came before it. */
  alarm: { text: string; before: number } | null;
  /** Saved views of the dump, by name. */
  views: ReadonlyMap<string, SavedView>;
  /** Earlier entries of each prompt, the newest last. */
  history: Readonly<Partial<Record<PromptId, readonly string[]>>>;
  /** The response to the last action; cleared by the next key. */
  message: StatusMessage | null;
  /** When ^c last found nothing to cancel, in ms. */
  cancelled: number;
}

type Focus = 'list' | 'transcript';

/** The help is open: its prompt filters commands, and the cursor is on one of them. */
interface HelpState {
  cursor: number;
  /** The start of a sequence: only its continuations are listed; '': everything. */
  begun: string;
}

/** Keys of an incomplete command. */
interface PendingKeys {
  /** Count and sequence, for the footer; '' if nothing was typed. */
  typed: string;
  sequence: string;
  /** A menu shows the continuations. */
  isMenuOpen: boolean;
}

const NO_KEYS: PendingKeys = { typed: '', sequence: '', isMenuOpen: false };

export interface StatusMessage {
  text: string;
  kind: 'info' | 'error';
}

export const initialState = (columns: number, rows: number): State => ({
  columns,
  rows,
  zoom: false,
  hasDetails: true,
  mouse: false,
  focus: 'transcript',
  list: firstList,
  transcript: opened,
  display: firstDisplay,
  page: null,
  search: null,
  jumps: noJumps,
  find: null,
  keys: NO_KEYS,
  help: null,
  prompt: null,
  seed: 0,
  replay: initialReplay(NOTHING_ASKED),
  sets: noSets,
  labels: initialLabels(''),
  editor: null,
  follow: initialFollow,
  alarm: null,
  views: new Map(),
  history: {},
  message: null,
  cancelled: Number.NEGATIVE_INFINITY,
});
