import { splitRollouts } from '../formats/beside-rollouts.ts';
import { withEncodingChecks } from '../formats/encoding-checks.ts';
import type { Format, ReadContext } from '../formats/format.ts';
import { valueAt } from '../formats/key-map.ts';
import { isPlaceholder, notRollout } from '../formats/not-rollouts.ts';
import { recordedPolicy } from '../formats/recorded-policy.ts';
import { withTurns } from '../formats/recorded-times.ts';
import { formatOf, wrapList } from '../formats/registry.ts';
import { otelTimes } from '../formats/span-times.ts';
import { JsonError, parseJson } from '../json/parse.ts';
import { printJson } from '../json/print.ts';
import { isJsonObject, type JsonObject, type JsonValue, objectIn } from '../json/value.ts';
import { reportedFinding } from '../rollout/checks.ts';
import type { Finding } from '../rollout/finding.ts';
import type { Rollout, RolloutFields } from '../rollout/rollout.ts';
import { errorMessage } from '../text/thrown.ts';
import { readBeside } from './beside.ts';
import { formsOfFile } from './file-forms.ts';
import { tooLarge } from './memory-limit.ts';

/** The content of a line of a dump: a rollout, or the reason why it is not one. */
export interface ParsedLine {
  json: JsonValue | undefined;
  rollout: Rollout | null;
  error: string | null;
  findings: Finding[];
  /** It is an object that no format knows. */
  isUnknown?: true;
  /** A placeholder for a file of another machine that has not arrived yet. */
  isAwaited?: true;
}

/**
 * Reads one line, or one of its rollouts. Whatever it contains, the result is a row and never an exception.
 * @param part which of the line's rollouts, from 1; 0 if it holds one
 */
export function parseLine(text: string, context: ReadContext, part = 0): ParsedLine {
  return parsedRecord(recordIn(text, context, part), context);
}

/** The same of a record that is parsed: its text is needed no more. */
export function parsedRecord(read: ParsedRecord, context: ReadContext): ParsedLine {
  if ('error' in read)
    return {
      ...bad(read.json, read.error),
      ...(read.isUnknown && { isUnknown: true }),
      ...(isJsonObject(read.json) && isPlaceholder(read.json) && awaited(read.error)),
    };
  try {
    const reading = withForms(withBeside(read.format, read.json, context));
    const whole = read.format.read(read.json, read.format.isUntrained ? { ...reading, validation: true } : reading);
    const rollout = withEncodingChecks(
      withTrainer(groupedBy(whole, read.json, context), read.format, read.json),
      context.encoding,
    );
    return new RolloutLine(read.json, rollout);
  } catch (error) {
    // No format should throw. If one does on a record of unforeseen shape, the row says so, and its neighbours are
    // unaffected.
    return bad(read.json, `not readable as ${read.format.name}: ${errorMessage(error)}`);
  }
}

/** All lines share one accessor, for the reason given at `completeRollout`. */
class RolloutLine implements ParsedLine {
  declare readonly findings: Finding[];
  readonly json: JsonValue;
  readonly rollout: Rollout;
  readonly error = null;

  constructor(json: JsonValue, rollout: Rollout) {
    this.json = json;
    this.rollout = rollout;
    Object.defineProperty(this, 'findings', FINDINGS_OF_ROLLOUT);
  }
}

const FINDINGS_OF_ROLLOUT: PropertyDescriptor = {
  enumerable: true,
  configurable: true,
  get(this: RolloutLine) {
    return this.rollout.findings;
  },
};

/** When it was made, and by which weights. The rollout itself changes: a copy would ask for its findings. */
function withTrainer(rollout: Rollout, format: Format, record: JsonObject): Rollout {
  const times = format.times?.(record) ?? otelTimes(record);
  const policy = recordedPolicy(record);
  if (times === null && policy === null) return rollout;
  if (times !== null) rollout.times = withTurns(times, rollout);
  if (policy !== null) rollout.policy = policy;
  return rollout;
}

/** The group from the user's key; a record without the key keeps its group. */
function groupedBy(rollout: Rollout, record: JsonObject, { groupBy }: ReadContext): Rollout {
  if (groupBy === undefined) return rollout;
  const held = valueAt(record, groupBy) ?? valueAt(rollout.extras, groupBy);
  if (held === undefined || held === null) return rollout;
  rollout.group = typeof held === 'string' ? held : printJson(held);
  return rollout;
}

function withBeside({ besides }: Format, record: JsonObject, context: ReadContext): ReadContext {
  const name = besides?.(record) ?? null;
  const beside = name === null || context.directory === undefined ? undefined : readBeside(context.directory, name);
  return beside === undefined ? context : { ...context, beside };
}

/** The forms that the file's records repeat, if a reader asks. */
function withForms(context: ReadContext): ReadContext {
  const { file } = context;
  if (file === undefined || context.forms !== undefined) return context;
  return { ...context, forms: () => formsOfFile(file, context, parseLine) };
}

/**
 * The fields of the whole rollout, for a fifth of a parse; null for a bad record, undefined if it needs a whole parse.
 */
export function parseFields(text: string, context: ReadContext, part = 0): RolloutFields | null | undefined {
  const read = recordIn(text, context, part);
  return 'error' in read ? null : read.format.fields?.(read.json);
}

/** How many rollouts a line holds; null if it holds one in the usual way of its format. */
export function countRollouts(text: string, context: ReadContext): number | null {
  const whole = lastSplit(text, context);
  return whole === null ? null : whole.length;
}

export type ParsedRecord =
  | { json: JsonObject; format: Format }
  | { json: JsonValue | undefined; error: string; isUnknown?: true };

/** The rollouts of the line that was split last: they are read one after another, and share one split. */
let split: { text: string; format: string | undefined; records: JsonObject[] | null } | null = null;
function lastSplit(text: string, context: ReadContext): JsonObject[] | null {
  if (split?.text === text && split.format === context.format) return split.records;
  const read = readInFull(text, context);
  const records = 'error' in read ? null : splitRollouts(read.format, read.json);
  split = { text, format: context.format, records };
  return records;
}

/** The record of a line, and its format; or why it has none. */
export function recordIn(text: string, context: ReadContext, part: number): ParsedRecord {
  const problem = tooLarge(context.memory, text.length, text);
  if (problem !== null) return { json: undefined, error: problem };
  if (part === 0) {
    const whole = readInFull(text, context);
    const rollouts = 'error' in whole ? null : splitRollouts(whole.format, whole.json);
    if ('error' in whole || rollouts === null) return whole;
    const [first] = rollouts;
    if (first === undefined) return { json: whole.json, error: whyEmpty(whole.json) };
    const format = formatOf(first, context);
    return format === undefined ? unknown(first) : { json: first, format };
  }
  const records = lastSplit(text, context);
  const json = records?.[part - 1];
  if (json === undefined) {
    const whole = readInFull(text, context);
    return 'error' in whole ? whole : { json: whole.json, error: `the line holds no rollout ${part}` };
  }
  const format = formatOf(json, context);
  return format === undefined ? unknown(json) : { json, format };
}

function readInFull(text: string, context: ReadContext): ParsedRecord {
  let json: JsonValue;
  try {
    json = parseJson(text.startsWith('\ufeff') ? text.slice(1) : text);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    const cut = error.offset >= text.length ? ': cut off, or still being written' : '';
    return { json: undefined, error: `not JSON at character ${error.offset + 1}: ${error.message}${cut}` };
  }
  const record = Array.isArray(json) ? wrapList(json) : json;
  if (!isJsonObject(record ?? undefined)) return { json, error: `${valueKind(json)}, not a JSON object` };
  const object = objectIn(record);
  const format = formatOf(object, context);
  return format === undefined ? unknown(object) : { json: object, format };
}

/** Part of a known writer's files, or of no known form. */
function unknown(json: JsonObject): ParsedRecord {
  const isUnknown = json[UNREADABLE] === undefined && notRollout(json) === null && Object.keys(json).length > 0;
  return { json, error: whyUnknown(json), ...(isUnknown && { isUnknown: true }) };
}

/** A row that is not a record: it says why, and appears among its neighbours. */
export function bad(json: JsonValue | undefined, error: string): ParsedLine {
  return {
    json,
    rollout: null,
    error,
    findings: [reportedFinding('bad_record', error)],
  };
}

/** Nothing is wrong with a file that is not here yet. */
const awaited = (says: string): Pick<ParsedLine, 'isAwaited' | 'findings'> => ({
  isAwaited: true,
  findings: [reportedFinding('not_here', says)],
});

/** An episode whose agents never started, or a step without samples: what the record says about it. */
function whyEmpty(json: JsonObject): string {
  const errors = Array.isArray(json.errors) ? json.errors.filter(isJsonObject) : [];
  const said = errors.map(({ type, message }) => [type, message].filter((word) => typeof word === 'string').join(': '));
  return ['it holds no rollout', ...said].join('; ').slice(0, 400);
}

/** The key of a line that represents an unreadable record of a container. */
export const UNREADABLE = 'rollout-viewer: unreadable';

function whyUnknown(json: JsonObject): string {
  if (typeof json[UNREADABLE] === 'string') return json[UNREADABLE];
  const part = notRollout(json);
  if (part !== null) return isPlaceholder(json) ? part : `no rollout: ${part}`;
  for (const key of ['input', 'output']) {
    const value = json[key];
    if (value !== undefined && typeof value !== 'string') return `\`${key}\` is ${valueKind(value)}, not a string`;
  }
  const keys = Object.keys(json);
  const shown = keys.slice(0, 8).join(', ') + (keys.length > 8 ? ', …' : '');
  if (keys.length === 0) return 'an empty object';
  return `not a rollout: no format knows these keys: ${shown}`;
}

function valueKind(value: JsonValue): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? 'an object' : `a ${typeof value === 'bigint' ? 'number' : typeof value}`;
}
