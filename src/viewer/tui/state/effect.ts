import type { Place } from '../../../core/dump/dump.ts';
import type { JsonValue } from '../../../core/json/value.ts';
import type { LabelChange } from '../../../replay/journal/labels.ts';
import type { RewardChoice } from '../../../replay/reward-choice.ts';
import type { SavedView } from '../../config/saved-views.ts';
import type { Action } from './action.ts';
import type { EditorSubject } from './editor.ts';
import type { FindJob } from './find.ts';
import type { PromptId } from './prompt.ts';
import type { ForkPlan, Way, WhatRuns, WorldWish } from './replay.ts';
import type { Rows } from './rows.ts';
import type { Want } from './want.ts';

/** Work that update requests. The shell performs each. */
export type Effect =
  | { type: 'quit' }
  | { type: 'suspend' }
  | { type: 'repaint' }
  | { type: 'mouse'; on: boolean }
  /** Searches many records, replacing the current search; null ends it. */
  | { type: 'find'; job: FindJob | null }
  /** As if its key had been pressed: a command chosen by name. */
  | { type: 'command'; id: string }
  /** Replay, fork or re-score; done by the runner, beside the screen. */
  | { type: 'run'; job: RunnerJob }
  /** Checks whether a reward function, as typed at a prompt, can score; a file may be missing. */
  | { type: 'check-reward'; choice: RewardChoice; prompt: PromptId; value: string; at: number }
  /** Reads everything from disk again. */
  | { type: 'reload' }
  /** Reads the open record again, to show its current state. */
  | { type: 'reopen' }
  | { type: 'bell' }
  /** `words` describe it in the confirmation. */
  | { type: 'copy'; text: string; words: string }
  /** Passes the text to an editor, or to a shell command. */
  | { type: 'edit'; text: string; extension: string }
  | { type: 'pipe'; command: string; text: string; extension: string }
  /** Keeps the columns for the next session. */
  | { type: 'remember-columns'; columns: readonly string[] | null }
  /** Saves a view under its name. */
  | { type: 'remember-view'; name: string; view: SavedView }
  /** Fetches what the store does not hold yet; the action follows. */
  | { type: 'load'; want: Want; action: Action }
  /** Keeps an entry of a prompt for the next session. */
  | { type: 'remember'; prompt: PromptId; value: string };

/** A file that rollouts are written to. */
export type TakenAway =
  | { form: 'page'; path: string | null }
  | { form: 'set'; format: string; path: string; options: readonly string[] };

/** Work for the runner. Nothing else runs code, and each job follows a key. */
export type RunnerJob =
  /** Determines where a call would run, and how many of the marked rows, or of the list, were run in this way before. */
  | ({ kind: 'where'; place: Place; call: number; marked: Rows | null } & Way)
  /** `inside`: in the screen itself, not in $EDITOR. */
  | { kind: 'edit'; place: Place; call: number; args: JsonValue | undefined; inside: boolean }
  | { kind: 'edited'; subject: EditorSubject; text: string }
  | ({ kind: 'run'; place: Place; call: number; args: JsonValue | undefined } & Way)
  | { kind: 'world-where'; place: Place; call: number; wish: WorldWish | null }
  /** A call, all calls of its rollout, or a shell, in its world. */
  | {
      kind: 'world-run';
      place: Place;
      call: number;
      edited: JsonValue | undefined;
      wish: WorldWish | null;
      run: Exclude<WhatRuns, 'list' | 'bisect'>;
    }
  /** Finds the call that changes the answer of a command. */
  | { kind: 'world-bisect'; place: Place; wish: WorldWish | null; command: string }
  /** Whole rollouts in that image; those whose records name another one are left out. */
  | { kind: 'world-list'; rows: Rows; image: string; wish: WorldWish | null }
  /** A Python prompt at the state before the call. */
  | { kind: 'prompt'; place: Place; call: number; session: boolean }
  | ({ kind: 'all'; place: Place } & Way)
  /** `resume`: skips what was run in this way before. */
  | ({ kind: 'list'; rows: Rows; resume: boolean } & Way)
  | { kind: 'fork-where'; place: Place; wish: WorldWish | null }
  | { kind: 'fork-edit'; place: Place; turn: number; text: string | null; inside: boolean }
  /** `image` of its container; null: without the tools there. */
  | (ForkPlan & { image: string | null })
  | { kind: 'label'; rows: Rows; rater: string; change: LabelChange }
  /** Reads every set. */
  | { kind: 'sets' }
  | { kind: 'set-drop'; name: string; locator: string; by: string }
  | { kind: 'set-add'; rows: Rows; name: string; reason: string | null; filter: string | null; by: string }
  /** null: all rollouts of the dump. */
  | { kind: 'write'; rows: Rows | null; what: TakenAway }
  | { kind: 'rescore'; rows: Rows; choice: RewardChoice }
  /** Only that call; null: everything. */
  | { kind: 'cancel'; call: { place: Place; call: number } | null };
