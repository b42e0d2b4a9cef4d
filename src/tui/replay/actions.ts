import type { Place } from '../../dump/dump.ts';
import type { RolloutReplay } from '../../present/replay/view.ts';
import type { JsonValue } from '../../rollout/json.ts';
import type { Rows } from '../rows.ts';
import type { BulkProgress, LiveModel, Where } from './state.ts';

export type ReplayAction =
  /** `all`: every call of the rollout, which is asked for once more. */
  | { type: 'replay-ask'; all: boolean }
  | { type: 'replay-key'; key: string }
  | { type: 'rescore'; all: boolean }
  | { type: 'fork-ask' }
  | { type: 'branches' }
  | ReplayNews;

/** What the desk tells. */
export type ReplayNews =
  | { type: 'replay-where'; place: Place; call: number | null; where: Where }
  | { type: 'replay-edited'; place: Place; call: number; args: JsonValue }
  | { type: 'fork-edited'; place: Place; turn: number; text: string }
  | { type: 'replay-rollout'; locator: string; replay: RolloutReplay }
  | { type: 'replay-words'; words: ReadonlyMap<string, string> }
  | { type: 'replay-busy'; isBusy: boolean; bulk: BulkProgress | null }
  | { type: 'replay-drift'; place: Place; turn: number }
  | { type: 'replay-tick'; now: number };

/** Work for the desk. Only these ever run anything, and each follows a key. */
export type ReplayJob =
  | { kind: 'where'; place: Place; call: number }
  | { kind: 'edit'; place: Place; call: number; args: JsonValue | undefined }
  | { kind: 'run'; place: Place; call: number; args: JsonValue | undefined; repeat: number }
  | { kind: 'all'; place: Place; repeat: number }
  | { kind: 'list'; rows: Rows; repeat: number }
  | { kind: 'fork-where'; place: Place }
  | { kind: 'fork-edit'; place: Place; turn: number; text: string | null }
  | { kind: 'fork'; place: Place; turn: number; edited: string | null; model: LiveModel; n: number }
  | { kind: 'rescore'; rows: Rows }
  | { kind: 'cancel' };
