import { parseJson } from '../../../core/json/parse.ts';
import { isJsonObject, type JsonValue } from '../../../core/json/value.ts';
import { sanitise } from '../../../core/text/sanitise.ts';
import type { Block } from './block.ts';
import { type Folds, rawBlocks } from './blocks.ts';
import { jsonBlocks } from './json-view.ts';
import { fieldBlocks } from './table-view.ts';

/** How a record's raw text is shown, independent of its format. */
export interface TextView {
  view: 'json' | 'fields';
  folds: Folds;
  /** Fields that are left out. */
  hidden: readonly string[];
  /** Why the record is not a rollout; null if it is one. */
  error: string | null;
}

/** A record shown from its text alone. */
export function textBlocks(raw: string, { view, folds, hidden, error }: TextView): Iterable<Block> {
  const value = jsonIn(raw);
  if (error !== null) return unknownBlocks(value, raw, error, folds);
  // A container whose records are not JSON lines: there is only its text.
  if (value === undefined) return rawBlocks('this record is not one JSON value', raw);
  return view === 'json' ? jsonBlocks(value, folds) : fieldBlocks(value, hidden);
}

function jsonIn(raw: string): JsonValue | undefined {
  try {
    return parseJson(raw);
  } catch {
    return undefined;
  }
}

/** An object in an unknown format is shown as a tree of its keys, below the explanation; anything else verbatim. */
export function* unknownBlocks(
  value: JsonValue | undefined,
  raw: string,
  error: string,
  folds: Folds,
): Generator<Block> {
  if (!isJsonObject(value)) {
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
  yield* jsonBlocks(value, folds);
}

const LOOKED_FOR = [
  'looked for: input and output; prompt and completion or response; messages or conversations; trajectory, trajectories, traces, samples, simulations, steps or history; token_ids with a mask',
  '--map turns=PLACE,score=PLACE names their places (also formats: in config.yaml); --format NAME names the format',
];
