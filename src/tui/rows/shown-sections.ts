import type { DumpRecord } from '../../dump/dump-file.ts';
import { mappingOf } from '../../dump/mapping.ts';
import type { RolloutReplay } from '../../present/replay/view.ts';
import { withReplay } from '../../present/replay/with-replay.ts';
import type { Block } from '../../present/transcript/block.ts';
import { type Folds, pendingBlocks, transcriptSections } from '../../present/transcript/blocks.ts';
import { detailBlocks } from '../../present/transcript/details-view.ts';
import { mappingBlocks } from '../../present/transcript/mapping-view.ts';
import { rawTextBlocks } from '../../present/transcript/raw-view.ts';
import { inSections, type Section } from '../../present/transcript/section.ts';
import { type TextView, textBlocks, unknownBlocks } from '../../present/transcript/text-view.ts';
import { tokenBlocks } from '../../present/transcript/token-view.ts';
import type { TokenText } from '../../rollout/token-table.ts';
import type { DisplayState } from '../state/display.ts';

export interface GroupWords {
  /** The record's group, in words. */
  group: string;
  /** Why there is none; '' where there is one. */
  noGroup: string;
  advantage: number | null;
  /** Labels of people for the record. */
  labels: readonly string[];
}

/** A record as the chosen view shows it. */
export function shownSections(
  record: DumpRecord,
  display: DisplayState,
  folds: Folds,
  beside: GroupWords,
  tokenizer: TokenText | null,
  replay?: RolloutReplay,
): Iterable<Section | null> {
  const { rollout } = record;
  if (rollout === null || display.view !== 'chat')
    return inSections(shownBlocks(record, display, folds, beside, tokenizer));
  const sections = transcriptSections(rollout, folds, { ...beside, tokenizer });
  return replay === undefined ? sections : withReplay(sections, rollout, replay, folds);
}

function shownBlocks(
  record: DumpRecord,
  display: DisplayState,
  folds: Folds,
  beside: GroupWords,
  tokenizer: TokenText | null,
): Iterable<Block> {
  const { rollout, error } = record;
  if (record.isPending === true) return pendingBlocks(record.bytes);
  if (rollout === null) return unknownBlocks(record.json, record.raw, error ?? 'not a rollout', folds);
  if (display.view === 'tokens') return tokenBlocks(rollout, tokenizer);
  if (display.view === 'mapping') return mappingBlocks(mappingOf(record));
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
  const view = display.view === 'json' ? 'json' : 'fields';
  return textBlocks(record.raw, { view, folds, hidden: display.hidden, error: null });
}

/** How the record's text alone is shown; null where a rollout is, or nothing yet. */
export function textViewOf(
  { rollout, error, isPending }: DumpRecord,
  { view, hidden }: DisplayState,
  folds: Folds,
): TextView | null {
  if (isPending === true) return null;
  if (rollout === null) return { view: 'json', folds, hidden, error: error ?? 'not a rollout' };
  return view === 'json' || view === 'fields' ? { view, folds, hidden, error: null } : null;
}
