import type { Place } from '../../../core/dump/dump.ts';
import type { JsonValue } from '../../../core/json/value.ts';
import type { Label, LabelChange } from '../../../replay/journal/labels.ts';
import type { RewardChoice } from '../../../replay/reward-choice.ts';
import type { SavedView } from '../../config/saved-views.ts';
import type { RescoreView } from '../../present/replay/view.ts';
import type { MouseEvent } from '../screen/mouse.ts';
import type { ViewName } from './display.ts';
import type { EditorSubject } from './editor.ts';
import type { FindJob, FindProgress, LandmarkName } from './find.ts';
import type { MenuKind } from './menu.ts';
import type { PageSubject } from './page.ts';
import type { PromptId, PromptProblem } from './prompt.ts';
import type {
  BulkProgress,
  ForkSettings,
  FoundForkWorld,
  FoundWorld,
  LiveModel,
  RolloutChange,
  Way,
  Where,
  WorldWish,
} from './replay.ts';
import type { SetsState } from './sets.ts';

/** Everything that keys, the terminal and background work can ask for. update/ has a file for each concept. */
export type Action =
  | MoveAction
  | GoAction
  | TranscriptAction
  | ListAction
  | PageAction
  | PromptAction
  | ReplayAction
  | ProgramAction
  | ReportAction;

/** Movements, which pause following. */
export type ScrollUnit = 'line' | 'half' | 'page';
export type TurnEdge = 'first' | 'last';

export type MoveAction =
  | { type: 'scroll'; by: number; unit: ScrollUnit }
  | { type: 'top'; line: number | null }
  | { type: 'bottom'; line: number | null }
  | { type: 'turn'; by: number }
  | { type: 'turn-edge'; edge: TurnEdge }
  | { type: 'sample'; by: number }
  | { type: 'step'; by: number };

/** Jumps to places that may be far away. */
export type GoAction =
  /** To a record, and a turn in it. */
  | { type: 'go'; place: Place; turn: number | null }
  /** To the next turn of that kind, in this rollout or a later one. */
  | { type: 'landmark'; landmark: LandmarkName; by: number }
  /** To the rollout whose uid or request_id has this prefix. */
  | { type: 'find-id'; id: string }
  /** Through the places before each jump. */
  | { type: 'jump'; by: number }
  | { type: 'search'; value: string }
  | { type: 'search-next'; by: number }
  | { type: 'search-word'; by: number }
  | { type: 'mark-go'; letter: string }
  | { type: 'mark-next'; by: number }
  | { type: 'group-member'; by: number }
  | { type: 'branches' }
  | FoundReport
  | DriftReport;

type TranscriptAction =
  | { type: 'fold' }
  | { type: 'fold-all' }
  | { type: 'view'; view: ViewName }
  /** To the next improbable token, in the token view. */
  | { type: 'surprise'; by: number }
  | { type: 'view-next'; by: number }
  | { type: 'wrap' }
  | { type: 'sideways'; by: number }
  | { type: 'field-hide' }
  | { type: 'field-show-all' }
  | { type: 'copy-text'; what: CopyKind }
  /** A page for a browser, of the marked rows or the open rollout; null: under a generated name. */
  | { type: 'write-page'; path: string | null }
  /** A training set, of the marked rows or the list. */
  | { type: 'write-set'; format: string; path: string; options: readonly string[] }
  | { type: 'edit' }
  | { type: 'pipe'; command: string }
  | { type: 'open' }
  | { type: 'back' }
  | { type: 'focus-next' }
  | { type: 'zoom' };

export type CopyKind = 'turn' | 'call' | 'prompt' | 'json' | 'link' | 'patch';

/** The records of the list, and their order. */
type ListAction =
  /** An expression as typed after `&`: empty clears, a leading `!` inverts all of it, and `!` alone inverts the current filter. */
  | { type: 'filter'; text: string }
  /** null: disk order. `toFirst` goes to the first row instead of staying on the record. */
  | { type: 'sort'; key: string | null; descending: boolean; toFirst?: true }
  /** Filter, sort, columns, marks and place are saved under a name, or restored. */
  | { type: 'view-save'; name: string }
  | { type: 'view-restore'; name: string }
  | { type: 'sort-reverse' }
  /** null: the default columns. */
  | { type: 'columns'; columns: readonly string[] | null }
  | { type: 'undo' }
  | { type: 'redo' }
  /** Stops a filter or a sort in progress: the list stays as it was. */
  | { type: 'filter-cancel' }
  | { type: 'group' }
  | { type: 'mark'; letter: string }
  | { type: 'mark-row' }
  /** @property after follows a label given with one key */
  | { type: 'list-menu'; menu: MenuKind; after?: Action }
  | { type: 'menu-key'; key: string }
  /** This user's label for the rollout under the cursor, and the action that follows. */
  | { type: 'label'; change: LabelChange; after?: Action }
  | { type: 'sets-open' }
  | { type: 'set-drop'; name: string; locator: string }
  /** Puts the rollout under the cursor, or the marked rows, into a set. */
  | { type: 'set-add'; name: string; reason: string | null };

type PageAction =
  | { type: 'page-open'; subject: PageSubject }
  /** The same page with another subject, such as one with a member excluded. */
  /** The group of the open rollout, with its advantages. */
  | { type: 'page-group' }
  /** A page about the open rollout. */
  | { type: 'page-files' }
  | { type: 'page-here'; page: 'contexts' | 'history' | 'times' | 'step-times' | 'signal' }
  /** The open rollout beside another one; null: beside one of its group with a different score. */
  | { type: 'page-compare'; place: Place | null }
  | { type: 'page-tree' }
  | { type: 'page-column'; by: number }
  /** By the cursor's column; again: in reverse. */
  | { type: 'page-sort' }
  | { type: 'page-change'; subject: PageSubject }
  /** The alternative action of the row under the cursor. */
  /** The list, with a filter added to the current one. */
  | { type: 'page-list'; filter: string }
  | { type: 'page-switch' }
  | { type: 'page-numbers' }
  /** The rollout of the next row, without showing the page in between. */
  | { type: 'page-next'; by: number }
  /** A place that a row of the page leads to; Esc returns. */
  | PageRead;

/** @property search a pattern whose first hit from that turn on is shown */
export interface PageRead {
  type: 'page-read';
  place: Place;
  turn: number | null;
  search?: string;
}

/** `by` counts into the past. */
type PromptAction =
  | { type: 'prompt-open'; prompt: PromptId; value?: string }
  | { type: 'prompt-change'; value: string }
  /** An edit that the input field does not make itself. */
  | { type: 'prompt-edit'; value: string; cursor: number }
  | { type: 'prompt-submit' }
  | { type: 'prompt-close' }
  | { type: 'prompt-move'; by: number }
  | { type: 'prompt-complete'; by: number };

type ReplayAction =
  /** `all`: every call of the rollout, which needs another confirmation. */
  | { type: 'replay-ask'; all: boolean }
  | { type: 'replay-key'; key: string }
  | { type: 'rescore'; all: boolean }
  /** A reward function as typed at a prompt after `line`; '': by data_source. */
  | { type: 'reward'; text: string; line: string; prompt: PromptId }
  /** From now on, that function scores. */
  | { type: 'reward-chosen'; choice: RewardChoice }
  /** `model`: from now on. */
  | { type: 'fork-ask'; model?: LiveModel }
  /** From now on, calls that need an image run in this one; null: in the one that the record names. */
  | { type: 'world'; wish: WorldWish | null }
  /** Which call changes the answer of this command? */
  | { type: 'bisect'; command: string }
  /** null: the loop of this program. */
  | { type: 'fork-agent'; command: string | null }
  | { type: 'fork-settings'; settings: ForkSettings }
  | { type: 'editor-key'; key: string; text: string };

type ProgramAction =
  | { type: 'quit' }
  /** ^c: cancels what runs; twice within a second quits. `at` in ms, from any monotonic clock. */
  | { type: 'cancel'; at: number }
  | { type: 'mouse-mode' }
  | { type: 'mouse'; event: MouseEvent }
  | { type: 'suspend' }
  | { type: 'repaint' }
  | { type: 'reload' }
  | { type: 'follow' }
  /** As if its key had been pressed: a command chosen by name. */
  | { type: 'command'; id: string }
  /** Searches the commands that may continue a sequence. */
  | { type: 'help-behind'; sequence: string };

/** Reports from the terminal, the dump and the runner. No person asked for them, so the last key's message stays. */
export type ReportAction =
  | { type: 'resize'; columns: number; rows: number }
  /** Keys of an incomplete command were typed, or it was abandoned. */
  | { type: 'keys-pending'; typed: string; sequence: string }
  /** Nothing followed the start of a sequence for a while. */
  | { type: 'keys-waited' }
  | { type: 'dump-changed' }
  /** The list's rows changed: it was filtered, sorted, or found more. */
  | { type: 'rows-changed' }
  /** Unfinished rollouts have progressed or ended. */
  | { type: 'live-changed' }
  | { type: 'say'; text: string; kind: 'info' | 'error' }
  /** A step meets a --notify condition. */
  | { type: 'alarm'; text: string }
  /** A long search has progressed. */
  | { type: 'search-found' }
  /** Marks and place of the dump's last view; the place only if nobody has moved. */
  | { type: 'view-reopen'; view: SavedView; isMoved: boolean }
  | { type: 'prompt-problem'; prompt: PromptId; value: string; problem: PromptProblem }
  | ProgressReport
  | ReplayReport;

type ProgressReport = { type: 'find-progress'; progress: FindProgress | null };
/** `nth` of its landmarks, in the direction of the job. */
type FoundReport = { type: 'found'; job: FindJob; place: Place | null; nth: number };
export type FindReport = ProgressReport | FoundReport;

/** A turn that a run found, and what it is. */
type DriftReport = { type: 'replay-drift'; place: Place; turn: number; words: string };
export type RunnerReport = DriftReport | ReplayReport;

type ReplayReport =
  | { type: 'replay-where'; place: Place; call: number | null; way: Way | null; where: Where }
  /** The call is one of a container. */
  | { type: 'world-needed'; place: Place; call: number }
  | { type: 'world-where'; place: Place; call: number; wish: WorldWish | null; found: FoundWorld }
  | { type: 'fork-world'; place: Place; wish: WorldWish | null; inWorld: FoundForkWorld | null }
  | { type: 'replay-known'; place: Place; call: number; way: Way; known: number; rollouts: number }
  | { type: 'replay-backend'; name: string }
  | { type: 'replay-edited'; place: Place; call: number; args: JsonValue }
  /** The agent went another way in that branch. */
  | { type: 'fork-parted'; place: Place; branch: Place }
  | { type: 'fork-edited'; place: Place; turn: number; text: string }
  | { type: 'replay-rollout'; locator: string; change: RolloutChange; now: number }
  /** Every set, read again. */
  | { type: 'sets-known'; sets: NonNullable<SetsState['known']> }
  /** Labels of rollouts, by locator; an empty list removes them. */
  | { type: 'labels-known'; labels: ReadonlyMap<string, readonly Label[]> }
  | { type: 'replay-words'; words: ReadonlyMap<string, string>; rescores: ReadonlyMap<string, RescoreView> }
  | { type: 'replay-busy'; isBusy: boolean; bulk: BulkProgress | null }
  | { type: 'replay-idle'; now: number }
  | { type: 'replay-tick'; now: number }
  | { type: 'editor-open'; subject: EditorSubject; title: string; text: string }
  | { type: 'editor-problem'; problem: string }
  | { type: 'editor-close' };

/** New movements and jumps must be added to these tables; the compiler enforces it. */
export const MOVES: Readonly<Record<MoveAction['type'], true>> = {
  scroll: true,
  top: true,
  bottom: true,
  turn: true,
  'turn-edge': true,
  sample: true,
  step: true,
};

/** Actions whose starting point is kept for `<`: whenever they move, only if they lead to another record, or never. */
export const JUMPS: Readonly<
  Record<(MoveAction | GoAction)['type'] | 'menu-key' | 'prompt-submit', 'always' | 'record' | null>
> = {
  scroll: null,
  top: 'always',
  bottom: 'always',
  turn: null,
  'turn-edge': 'always',
  sample: null,
  step: 'always',
  go: 'always',
  landmark: 'record',
  'find-id': null,
  jump: null,
  search: 'always',
  'search-next': 'record',
  'search-word': null,
  'mark-go': 'always',
  'mark-next': 'record',
  'group-member': null,
  branches: null,
  found: 'record',
  'replay-drift': null,
  'menu-key': 'always',
  'prompt-submit': 'always',
};

export const REPORTS: Readonly<Record<ReportAction['type'], true>> = {
  resize: true,
  'keys-pending': true,
  'keys-waited': true,
  'dump-changed': true,
  'rows-changed': true,
  'live-changed': true,
  say: true,
  alarm: true,
  'search-found': true,
  'view-reopen': true,
  'prompt-problem': true,
  'find-progress': true,
  'replay-where': true,
  'world-needed': true,
  'world-where': true,
  'fork-world': true,
  'replay-known': true,
  'replay-backend': true,
  'replay-edited': true,
  'fork-parted': true,
  'fork-edited': true,
  'replay-rollout': true,
  'labels-known': true,
  'sets-known': true,
  'replay-words': true,
  'replay-busy': true,
  'replay-idle': true,
  'replay-tick': true,
  'editor-open': true,
  'editor-problem': true,
  'editor-close': true,
};
