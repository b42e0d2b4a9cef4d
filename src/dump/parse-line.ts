import type { Format } from '../formats/format.ts';
import { formatOf } from '../formats/registry.ts';
import { JsonError, parseJson } from '../json/parse.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../json/value.ts';
import type { Finding } from '../rollout/finding.ts';
import type { Rollout, RolloutFields } from '../rollout/rollout.ts';
import { type Facts, packFacts } from './line-index.ts';

/** What a line of a dump says: a rollout, or why it is none. */
export interface ParsedLine {
  json: JsonValue | undefined;
  rollout: Rollout | null;
  error: string | null;
  findings: Finding[];
}

/** Reads one line; whatever it holds, the answer is a row and never an exception. */
export function parseLine(text: string, validation: boolean): ParsedLine {
  const read = readJson(text);
  if ('error' in read) return bad(read.json, read.error);
  const rollout = read.format.read(read.json, { validation });
  return { json: read.json, rollout, error: null, findings: rollout.findings };
}

/** What a line says of the rollout as a whole, for a fifth of a parse; null for a bad record, undefined where it takes a whole parse. */
export function parseFields(text: string): RolloutFields | null | undefined {
  const read = readJson(text);
  return 'error' in read ? null : read.format.fields?.(read.json);
}

type Read = { json: JsonObject; format: Format } | { json: JsonValue | undefined; error: string };

function readJson(text: string): Read {
  let json: JsonValue;
  try {
    json = parseJson(text.startsWith('\ufeff') ? text.slice(1) : text);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    const cut = error.offset >= text.length ? ': cut off, or still being written' : '';
    return { json: undefined, error: `not JSON at character ${error.offset + 1}: ${error.message}${cut}` };
  }
  if (!isJsonObject(json)) return { json, error: `${kindOf(json)}, not a JSON object` };
  const format = formatOf(json);
  return format === undefined ? { json, error: whyUnknown(json) } : { json, format };
}

/** What the index keeps of a parse. */
export function factsOf({ rollout, findings }: Pick<ParsedLine, 'rollout' | 'findings'>): Facts {
  return {
    turns: rollout?.turns.length ?? 0,
    toolCalls: rollout?.turns.reduce((sum, turn) => sum + turn.toolCalls.length, 0) ?? 0,
    findings: findings.map(({ check }) => check),
  };
}

export const packedFactsOf = (line: Pick<ParsedLine, 'rollout' | 'findings'>): number => packFacts(factsOf(line));

/** A row that is no record: it says why and stands beside its neighbours. */
export function bad(json: JsonValue | undefined, error: string): ParsedLine {
  return {
    json,
    rollout: null,
    error,
    findings: [{ check: 'bad_record', severity: 'error', turn: null, message: error }],
  };
}

function whyUnknown(json: { [key: string]: JsonValue }): string {
  for (const key of ['input', 'output']) {
    const value = json[key];
    if (value !== undefined && typeof value !== 'string') return `\`${key}\` is ${kindOf(value)}, not a string`;
  }
  const keys = Object.keys(json);
  const shown = keys.slice(0, 8).join(', ') + (keys.length > 8 ? ', …' : '');
  return keys.length === 0 ? 'an empty object' : `not a rollout: no format knows these keys: ${shown}`;
}

function kindOf(value: JsonValue): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? 'an object' : `a ${typeof value === 'bigint' ? 'number' : typeof value}`;
}
