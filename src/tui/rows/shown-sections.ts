import type { DumpRecord } from '../../dump/dump-file.ts';
import { mappingOf } from '../../dump/mapping.ts';
import { parseJson } from '../../json/parse.ts';
import { isJsonObject, type JsonValue } from '../../json/value.ts';
import type { RolloutReplay } from '../../present/replay/view.ts';
import { withReplay } from '../../present/replay/with-replay.ts';
import type { Block } from '../../present/transcript/block.ts';
import { type Folds, pendingBlocks, rawBlocks, transcriptSections } from '../../present/transcript/blocks.ts';
import { detailBlocks } from '../../present/transcript/details-view.ts';
import { jsonBlocks } from '../../present/transcript/json-view.ts';
import { mappingBlocks } from '../../present/transcript/mapping-view.ts';
import { rawTextBlocks } from '../../present/transcript/raw-view.ts';
import { inSections, type Section } from '../../present/transcript/section.ts';
import { fieldBlocks } from '../../present/transcript/table-view.ts';
import { tokenBlocks } from '../../present/transcript/token-view.ts';
import type { TokenText } from '../../rollout/token-table.ts';
import { sanitise } from '../../text/sanitise.ts';
import type { DisplayState } from '../state/display.ts';

export interface GroupWords {
  /** The record's group, in words. */
  group: string;
  /** Why there is none; '' where there is one. */
  noGroup: string;
  advantage: number | null;
  /** What people say of the record. */
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
): Iterable<Section> {
  const { rollout } = record;
  if (rollout === null || display.view !== 'chat')
    return inSections(shownBlocks(record, display, folds, beside, tokenizer));
  const sections = transcriptSections(rollout, folds, beside);
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
  if (rollout === null) return unknownBlocks(record, error ?? 'not a rollout', folds);
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

/** An object that no format knows is a tree of its keys, below what was looked for; what is no object is shown as it was written. */
function* unknownBlocks({ raw, json }: DumpRecord, error: string, folds: Folds): Generator<Block> {
  if (!isJsonObject(json)) {
    yield* rawBlocks(error, raw);
    return;
  }
  for (const [i, text] of [error, ...LOOKED_FOR, ''].entries())
    yield {
      id: `why.${i}`,
      turn: null,
      text: sanitise(text),
      style: i === 0 ? 'error' : 'quiet',
      trained: false,
      indent: 0,
    };
  yield* jsonBlocks(json, folds);
}

const LOOKED_FOR = [
  'looked for: input and output; prompt and completion or response; messages or conversations; trajectory, trajectories, traces, samples, simulations, steps or history; token_ids with a mask',
  '--map turns=PLACE,score=PLACE says where they lie (also formats: in config.yaml); --format NAME says what it is',
];
