import { parseJson } from '../json/parse.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../json/value.ts';
import type { Rollout, ToolCall } from './rollout.ts';

/** A call that the ground truth lists, or one that was made of a tool that it names. */
export interface TruthCall {
  name: string;
  /** made: with the same arguments; other: with other ones; missing: never; extra: made, and not listed. */
  how: 'made' | 'other' | 'missing' | 'extra';
  /** The turn that called it; null if none did. */
  turn: number | null;
  /** The arguments that differ; undefined where one side has none of that name. */
  differs: readonly { key: string; wanted: JsonValue | undefined; given: JsonValue | undefined }[];
  /** Its result is an error. */
  failed: boolean;
}

/** A ground truth with more calls is not compared. */
const MOST = 200;
/** The names under which benchmarks keep a call's arguments. */
const ARGUMENTS = ['kwargs', 'arguments', 'args', 'parameters'] as const;

interface WantedCall {
  name: string;
  given: JsonObject;
}

interface MadeCall extends WantedCall {
  turn: number;
  failed: boolean;
}

/**
 * The calls that a ground truth lists, compared with those that were made, in the truth's order; then the extra ones.
 * null if the ground truth is no list of calls. Tools that it does not name may be called at will: most of them only
 * look something up.
 */
export function truthCalls(rollout: Rollout): TruthCall[] | null {
  const wanted = wantedCalls(rollout.groundTruth);
  if (wanted === null) return null;
  const names = new Set(wanted.map(({ name }) => name));
  const made = madeCalls(rollout).filter(({ name }) => names.has(name));
  // A call that failed changed nothing, so that a later one was meant.
  const free = new Set(made.sort((a, b) => Number(a.failed) - Number(b.failed)));
  // The same arguments first, so that an earlier call cannot take the place of a later one.
  const same = wanted.map(({ name, given }) => {
    const found = [...free].find((call) => call.name === name && differences(given, call.given).length === 0);
    if (found !== undefined) free.delete(found);
    return found;
  });
  const listed = wanted.map(({ name, given }, i): TruthCall => {
    const exact = same[i];
    if (exact !== undefined) return { name, how: 'made', turn: exact.turn, differs: [], failed: exact.failed };
    const [nearest] = [...free]
      .filter((call) => call.name === name)
      .map((call) => ({ call, differs: differences(given, call.given) }))
      .sort((a, b) => Number(a.call.failed) - Number(b.call.failed) || a.differs.length - b.differs.length);
    if (nearest === undefined) return { name, how: 'missing', turn: null, differs: [], failed: false };
    free.delete(nearest.call);
    return { name, how: 'other', turn: nearest.call.turn, differs: nearest.differs, failed: nearest.call.failed };
  });
  const extra = made
    .filter((call) => free.has(call))
    .sort((a, b) => a.turn - b.turn)
    .map(({ name, turn, failed }): TruthCall => ({ name, how: 'extra', turn, differs: [], failed }));
  return [...listed, ...extra];
}

function wantedCalls(truth: JsonValue | undefined): WantedCall[] | null {
  const list = typeof truth === 'string' ? parsedList(truth) : truth;
  if (!Array.isArray(list) || list.length === 0 || list.length > MOST) return null;
  const calls = list.flatMap((one): WantedCall[] => {
    if (!isJsonObject(one) || typeof one.name !== 'string') return [];
    const given = ARGUMENTS.map((key) => one[key]).find((value) => value !== undefined);
    return isJsonObject(given) ? [{ name: one.name, given }] : [];
  });
  return calls.length === list.length ? calls : null;
}

function parsedList(text: string): JsonValue | undefined {
  if (!text.trimStart().startsWith('[')) return undefined;
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

function madeCalls({ turns, responseTurn, findings }: Rollout): MadeCall[] {
  const failures = new Set(findings.filter(({ check }) => check === 'tool_error').map(({ turn }) => turn));
  const isFailed = ({ resultTurn }: ToolCall): boolean => resultTurn !== null && failures.has(resultTurn);
  return turns
    .slice(responseTurn)
    .flatMap(({ index, toolCalls }) =>
      toolCalls.flatMap((call): MadeCall[] =>
        call.error !== null || call.name === null || !isJsonObject(call.arguments ?? undefined)
          ? []
          : [{ name: call.name, given: call.arguments as JsonObject, turn: index, failed: isFailed(call) }],
      ),
    );
}

function differences(wanted: JsonObject, given: JsonObject): TruthCall['differs'] {
  return [...new Set([...Object.keys(wanted), ...Object.keys(given)])]
    .filter((key) => sortedText(wanted[key]) !== sortedText(given[key]))
    .map((key) => ({ key, wanted: wanted[key], given: given[key] }));
}

/** Equal for equal values, whatever the order of their keys. */
function sortedText(value: JsonValue | undefined, depth = 0): string {
  if (value === undefined) return '';
  if (typeof value === 'bigint' || typeof value === 'number') return String(value);
  if (typeof value !== 'object' || value === null || depth > MOST) return JSON.stringify(value) ?? '';
  const items = Array.isArray(value)
    ? value.map((item) => sortedText(item, depth + 1))
    : Object.keys(value)
        .sort()
        .map((key) => `${JSON.stringify(key)}:${sortedText((value as JsonObject)[key], depth + 1)}`);
  return Array.isArray(value) ? `[${items.join()}]` : `{${items.join()}}`;
}
