import type { DumpRecord } from '../../dump/dump-file.ts';
import { parseJson } from '../../json/parse.ts';
import type { JsonValue } from '../../json/value.ts';
import type { RolloutReplay } from '../../present/replay/view.ts';
import { withReplay } from '../../present/replay/with-replay.ts';
import type { Block } from '../../present/transcript/block.ts';
import { type Folds, pendingBlocks, rawBlocks, transcriptSections } from '../../present/transcript/blocks.ts';
import { detailBlocks } from '../../present/transcript/details-view.ts';
import { jsonBlocks } from '../../present/transcript/json-view.ts';
import { rawTextBlocks } from '../../present/transcript/raw-view.ts';
import { inSections, type Section } from '../../present/transcript/section.ts';
import { fieldBlocks } from '../../present/transcript/table-view.ts';
import type { DisplayState } from '../state/display.ts';

export interface GroupWords {
  /** The record's group, in words. */
  group: string;
  /** Why there is none; '' where there is one. */
  noGroup: string;
  advantage: number | null;
}

/** A record as the chosen view shows it. */
export function shownSections(
  record: DumpRecord,
  display: DisplayState,
  folds: Folds,
  beside: GroupWords,
  replay?: RolloutReplay,
): Iterable<Section> {
  const { rollout } = record;
  if (rollout === null || display.view !== 'chat') return inSections(shownBlocks(record, display, folds, beside));
  const sections = transcriptSections(rollout, folds, beside.advantage);
  return replay === undefined ? sections : withReplay(sections, rollout, replay, folds);
}

function shownBlocks(record: DumpRecord, display: DisplayState, folds: Folds, beside: GroupWords): Iterable<Block> {
  const { rollout, error } = record;
  if (record.isPending === true) return pendingBlocks(record.bytes);
  if (rollout === null) return rawBlocks(error ?? 'not a rollout', record.raw);
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
  const { raw } = record;
  let value: JsonValue;
  try {
    value = parseJson(raw);
  } catch {
    // A container whose records are not lines of JSON: its text is all there is.
    return rawBlocks('this record is not one JSON value', raw);
  }
  return display.view === 'json' ? jsonBlocks(value, folds) : fieldBlocks(value, display.hidden);
}
