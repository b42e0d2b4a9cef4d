import type { Place } from '../../dump/dump.ts';
import type { JsonValue } from '../../json/value.ts';
import type { RescoreView, RolloutReplay } from '../../present/replay/view.ts';
import type { RewardChoice } from '../../replay/reward-choice.ts';
import type { Rows } from '../rows/rows.ts';
import type { EditorAction, EditorSubject } from './editor.ts';
import type { BulkProgress, ForkPlan, Where } from './replay.ts';

export type ReplayAction =
  /** `all`: every call of the rollout, which is asked for once more. */
  | { type: 'replay-ask'; all: boolean }
  | { type: 'replay-key'; key: string }
  | { type: 'rescore'; all: boolean }
  | { type: 'fork-ask' }
  | { type: 'branches' }
  | ReplayReport;

/** What the runner tells. */
export type RunnerReport = ReplayReport | Exclude<EditorAction, { type: 'editor-key' }>;

type ReplayReport =
  | { type: 'replay-where'; place: Place; call: number | null; way: Way | null; where: Where }
  | { type: 'replay-known'; place: Place; call: number; way: Way; known: number; rollouts: number }
  | { type: 'replay-backend'; name: string }
  | { type: 'replay-edited'; place: Place; call: number; args: JsonValue }
  | { type: 'fork-edited'; place: Place; turn: number; text: string }
  | { type: 'replay-rollout'; locator: string; replay: RolloutReplay }
  | { type: 'replay-words'; words: ReadonlyMap<string, string>; rescores: ReadonlyMap<string, RescoreView> }
  | { type: 'replay-busy'; isBusy: boolean; bulk: BulkProgress | null }
  | { type: 'replay-drift'; place: Place; turn: number }
  | { type: 'replay-tick'; now: number };

/** Work for the runner. Only these ever run anything, and each follows a key. */
export type RunnerJob =
  | ({ kind: 'where'; place: Place; call: number } & Way)
  /** `inside`: in the screen itself, not in $EDITOR. */
  | { kind: 'edit'; place: Place; call: number; args: JsonValue | undefined; inside: boolean }
  | { kind: 'edited'; subject: EditorSubject; text: string }
  | ({ kind: 'run'; place: Place; call: number; args: JsonValue | undefined } & Way)
  | ({ kind: 'all'; place: Place } & Way)
  /** `resume`: what was run in this way before is not run again. */
  | ({ kind: 'list'; rows: Rows; resume: boolean } & Way)
  | { kind: 'fork-where'; place: Place }
  | { kind: 'fork-edit'; place: Place; turn: number; text: string | null; inside: boolean }
  | ForkPlan
  | { kind: 'rescore'; rows: Rows; choice: RewardChoice }
  /** Of that call alone; null: of everything. */
  | { kind: 'cancel'; call: { place: Place; call: number } | null };

/** How calls are run. */
export interface Way {
  repeat: number;
  session: boolean;
}
