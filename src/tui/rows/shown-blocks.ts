import type { DumpRecord } from '../../dump/dump-file.ts';
import { parseJson } from '../../json/parse.ts';
import type { JsonValue } from '../../json/value.ts';
import type { RolloutReplay } from '../../present/replay/view.ts';
import { withReplay } from '../../present/replay/with-replay.ts';
import type { Block } from '../../present/transcript/block.ts';
import { type Folds, rawBlocks, transcriptBlocks } from '../../present/transcript/blocks.ts';
import { detailBlocks } from '../../present/transcript/details-view.ts';
import { jsonBlocks } from '../../present/transcript/json-view.ts';
import { rawTextBlocks } from '../../present/transcript/raw-view.ts';
import { fieldBlocks } from '../../present/transcript/table-view.ts';
import type { DisplayState } from '../state/display.ts';

export interface Beside {
  /** The record's group, in words. */
  group: string;
  /** Why there is none; '' where there is one. */
  noGroup: string;
  advantage: number | null;
}

/** A search sees what is folded away. */
class AllOpen extends Map<string, boolean> {
  override get(): boolean {
    return false;
  }
}
export const ALL_OPEN: Folds = new AllOpen();

/** A record as the chosen view shows it. */
export function shownBlocks(
  record: DumpRecord,
  display: DisplayState,
  folds: Folds,
  beside: Beside,
  replay?: RolloutReplay,
): Block[] {
  const { rollout, raw, error } = record;
  if (rollout === null) return rawBlocks(error ?? 'not a rollout', raw);
  if (display.view === 'chat') {
    const blocks = transcriptBlocks(rollout, folds, beside.advantage);
    return replay === undefined ? blocks : withReplay(blocks, rollout, replay, folds);
  }
  if (display.view === 'raw') return rawTextBlocks(rollout);
  if (display.view === 'details') {
    return detailBlocks({
      rollout,
      locator: record.locator,
      bytes: record.bytes,
      fileStep: record.file.step,
      ...beside,
    });
  }
  let value: JsonValue;
  try {
    value = parseJson(raw);
  } catch {
    // A container whose records are not lines of JSON: its text is all there is.
    return rawBlocks('this record is not one JSON value', raw);
  }
  return display.view === 'json' ? jsonBlocks(value, folds) : fieldBlocks(value, display.hidden);
}
