import type { DumpRecord } from '../../../core/dump/dump-file.ts';
import { LONG_RECORD } from '../../../core/dump/long-record.ts';
import { mappingOf } from '../../../core/dump/mapping.ts';
import { tooLarge } from '../../../core/dump/memory-limit.ts';
import type { Rollout } from '../../../core/rollout/rollout.ts';
import type { TokenText } from '../../../core/rollout/token-table.ts';
import { unreadOf } from '../../../core/rollout/unread.ts';
import type { RolloutReplay } from '../../present/replay/view.ts';
import { withReplay } from '../../present/replay/with-replay.ts';
import type { Block } from '../../present/transcript/block.ts';
import {
  type Folds,
  pendingBlocks,
  preparingSections,
  rawBlocks,
  transcriptSections,
} from '../../present/transcript/blocks.ts';
import { detailBlocks } from '../../present/transcript/details-view.ts';
import type { ArrivingBlocks, LongTexts } from '../../present/transcript/long-text.ts';
import { mappingBlocks } from '../../present/transcript/mapping-view.ts';
import { rawTextSections } from '../../present/transcript/raw-view.ts';
import { inSections, type PartOrPause, paused, type Section } from '../../present/transcript/section.ts';
import { type TextView, textBlocks, unknownBlocks } from '../../present/transcript/text-view.ts';
import { tokenBlocks } from '../../present/transcript/token-view.ts';
import type { DisplayState } from '../state/display.ts';
import type { GroupWords } from './group-words.ts';

/** A record as the chosen view shows it. */
export function shownSections(
  record: DumpRecord,
  display: DisplayState,
  folds: Folds,
  beside: GroupWords,
  tokenizer: TokenText | null,
  replay?: RolloutReplay,
): Iterable<PartOrPause<Section> | null> {
  const { rollout } = record;
  if (rollout !== null && display.view === 'raw') return rawTextSections(rollout);
  if (rollout === null || display.view !== 'chat')
    return inSections(shownBlocks(record, display, folds, beside, tokenizer));
  const sections = transcriptSections(rollout, folds, { ...beside, tokenizer });
  return prepared(rollout, folds, replay === undefined ? sections : withReplay(sections, rollout, replay, folds));
}

function* prepared(rollout: Rollout, folds: Folds, sections: Iterable<Section>): Generator<PartOrPause<Section>> {
  yield* paused(preparingSections(rollout, folds));
  yield* sections;
}

function shownBlocks(
  record: DumpRecord,
  display: DisplayState,
  folds: Folds,
  beside: GroupWords,
  tokenizer: TokenText | null,
): Iterable<PartOrPause<Block>> {
  const { rollout, error } = record;
  if (record.isPending === true) return pendingBlocks(record.bytes);
  if (record.isAwaited === true || isLeftOut(record)) return rawBlocks(error ?? '', '');
  if (rollout === null) return unknownBlocks(record.json, record.raw, error ?? 'not a rollout', folds);
  if (display.view === 'tokens') return tokenBlocks(rollout, tokenizer);
  if (display.view === 'mapping') return mappingBlocks(mappingOf(record));
  if (display.view === 'details') {
    return detailBlocks({
      rollout,
      unread: record.json === undefined ? null : unreadOf(record.json, rollout),
      locator: record.locator,
      bytes: record.bytes,
      fileStep: record.file.step,
      ...beside,
    });
  }
  const view = display.view === 'json' ? 'json' : 'fields';
  return textBlocks(record.raw, { view, folds, hidden: display.hidden, error: null });
}

/** Whether it was not read because it takes more memory than is allowed: its JSON would take as much. */
function isLeftOut(record: DumpRecord): boolean {
  const { memory } = record.file.context;
  if (memory === undefined || record.rollout !== null) return false;
  return tooLarge(memory, record.bytes) !== null || tooLarge(memory, record.bytes, record.raw) !== null;
}

/** How the record's raw text is shown; null if a rollout is shown, or nothing yet. */
function textViewOf(
  { rollout, error, isPending }: DumpRecord,
  { view, hidden }: DisplayState,
): Omit<TextView, 'folds'> | null {
  if (isPending === true) return null;
  if (rollout === null) return { view: 'json', hidden, error: error ?? 'not a rollout' };
  return view === 'json' || view === 'fields' ? { view, hidden, error: null } : null;
}

/** The text of a long record comes from a thread; null if the record is not long, or is shown as a rollout. */
export function longText(
  texts: LongTexts,
  record: DumpRecord,
  display: DisplayState,
  folds: Folds | null,
  arrived: () => void,
): Iterable<Block | null> | null {
  const view = record.bytes > LONG_RECORD && !isLeftOut(record) ? textViewOf(record, display) : null;
  if (view === null) return null;
  // Folds change nothing in a table of fields: a text of 45 MB that a layout or a search still has is taken from it.
  const isTable = view.view === 'fields' && view.error === null;
  const known = isTable ? fieldTables.get(record) : undefined;
  const table = known?.hidden === view.hidden ? known.blocks.deref() : undefined;
  if (table?.isRead) return table;
  const { path, offset, length } = record.file.whereabouts(record.record);
  const blocks = texts.open({ path, offset, length, ...view, folds }, arrived);
  if (isTable) fieldTables.set(record, { hidden: view.hidden, blocks: new WeakRef(blocks) });
  return blocks;
}

/** The fields of long records that have arrived. */
const fieldTables = new WeakMap<DumpRecord, { hidden: readonly string[]; blocks: WeakRef<ArrivingBlocks> }>();
