import { isJsonObject, type JsonObject, type JsonValue } from '../json/value.ts';
import { factRow } from '../rollout/fact-row.ts';
import { mostFailed } from '../rollout/facts.ts';
import { type GroupNumber, groupNumbersOf, NO_GROUP } from '../rollout/group-key.ts';
import type { Rollout, RolloutFields } from '../rollout/rollout.ts';
import type { ParsedLine } from './parse-line.ts';

/** The facts of a record: everything from one parse that a question to many rollouts may need. */
export interface RecordFacts {
  /** From `factRow`. */
  row: Float64Array;
  /** null if the record has none. */
  score: number | null;
  /** NaN for a bad record. */
  group: GroupNumber;
  /** Values under the record's keys; an object or a list means that only the record has the value. */
  cells: ReadonlyMap<string, JsonValue>;
}

/** With more names than this they are data, not columns. */
export const MOST_CELLS = 200;
const NO_CELLS: ReadonlyMap<string, JsonValue> = new Map();
const IN_RECORD: JsonObject = {};
/** The names of values that no key of the record holds; no record key can be requested by them. */
export const STATUS_CELL = '#status';
export const FAILED_TOOL_CELL = '#failed_tool';
const OWN_CELLS: ReadonlySet<string> = new Set([STATUS_CELL, FAILED_TOOL_CELL]);

export const isOwnCell = (name: string): boolean => OWN_CELLS.has(name);

export function recordFactsOf({ rollout, findings }: Pick<ParsedLine, 'rollout' | 'findings'>): RecordFacts {
  const row = factRow(rollout, findings);
  if (rollout === null) return { row, score: null, group: NO_GROUP, cells: NO_CELLS };
  return { row, score: rollout.score, group: groupNumbersOf(rollout), cells: cellsOf(rollout) };
}

function cellsOf({
  extras,
  texts,
  status,
  findings,
}: RolloutFields & Pick<Rollout, 'findings'>): Map<string, JsonValue> {
  const cells = new Map<string, JsonValue>();
  const add = (name: string, value: JsonValue): void => {
    if (cells.size < MOST_CELLS) cells.set(name, typeof value === 'object' && value !== null ? IN_RECORD : value);
  };
  if (status !== null) add(STATUS_CELL, status);
  const failed = mostFailed({ findings });
  if (failed?.tool != null) add(FAILED_TOOL_CELL, failed.tool);
  for (const key of Object.keys(extras)) {
    if (isOwnCell(key)) continue;
    const value = extras[key]!;
    add(key, value);
    if (!isJsonObject(value)) continue;
    for (const inner of Object.keys(value)) {
      const name = `${key}.${inner}`;
      if (!Object.hasOwn(extras, name)) add(name, value[inner]!);
    }
  }
  // A text of the record may contain a key's name.
  for (const name of Object.keys(texts)) if (!name.startsWith('/')) add(name, IN_RECORD);
  return cells;
}
