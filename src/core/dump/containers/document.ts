import { readFileSync, statSync } from 'node:fs';
import { splitRollouts } from '../../formats/beside-rollouts.ts';
import type { ReadContext, Session } from '../../formats/format.ts';
import { formatOf, listedSessionOf, wrapList } from '../../formats/registry.ts';
import { JsonError, parseJson } from '../../json/parse.ts';
import { printJson } from '../../json/print.ts';
import { hasNoValue, isJsonObject, type JsonObject, type JsonValue, objectIn } from '../../json/value.ts';
import { uint8At } from '../../lists/at.ts';
import { countRollouts } from '../parse-line.ts';
import { jsonLine } from './inspect-log.ts';
import { LARGEST_RECORD } from './limits.ts';
import { type CopyLine, unreadable } from './lines-in.ts';
import { sessionsOf } from './sessions.ts';

/** A document is read whole; each of its records must fit into a string. */
const LARGEST_DOCUMENT = 2 ** 31 - 1024;

/**
 * The records of one JSON document: its value, the elements of its array, or several concatenated values. null if these
 * are lines after all, whatever the name says. Raw line ends inside strings are accepted, as in pasted text.
 */
export function documentRecords(path: string, context: ReadContext): Generator<CopyLine> | null {
  const { size } = statSync(path);
  if (size > LARGEST_DOCUMENT)
    throw new Error(
      `one JSON document of ${Math.round(size / 2 ** 20)} MB: more than can be read at once; write it as JSON lines`,
    );
  const bytes = readFileSync(path);
  const start = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
  return bytes[firstByte(bytes, start)] === OPEN_LIST ? elements(bytes, start, context) : values(bytes, start, context);
}

const [OPEN_LIST, CLOSE_LIST, OPEN, CLOSE, QUOTE, BACKSLASH, COMMA] = [
  0x5b, 0x5d, 0x7b, 0x7d, 0x22, 0x5c, 0x2c,
] as const;

function firstByte(bytes: Uint8Array, from: number): number {
  let at = from;
  while (at < bytes.length && uint8At(bytes, at) <= 32) at++;
  return at;
}

/**
 * The first byte after the value that begins at `from`: objects and lists end by brackets, everything else at a comma,
 * a bracket or a line's end.
 */
function endOfValue(bytes: Uint8Array, from: number): number {
  const end = bytes.length;
  let depth = 0;
  for (let at = from; at < end; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) {
      at++;
      while (at < end && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
      if (depth === 0) return Math.min(end, at + 1);
    } else if (byte === OPEN || byte === OPEN_LIST) depth++;
    else if (byte === CLOSE || byte === CLOSE_LIST) {
      if (depth <= 1) return depth === 0 ? at : at + 1;
      depth--;
    } else if (depth === 0 && (byte === COMMA || byte === 10)) return at;
  }
  return end;
}

/** Each element of an array is a record, but a list of messages or events is a single record. */
function* elements(bytes: Buffer, start: number, context: ReadContext): Generator<CopyLine> {
  const open = firstByte(bytes, start);
  const first = firstByte(bytes, open + 1);
  if (bytes[first] === CLOSE_LIST || first >= bytes.length) {
    yield { text: '[]', place: ':1' };
    return;
  }
  const head = headOf(bytes, first);
  const isOne = !isJsonObject(head)
    ? !Array.isArray(head)
    : formatOf(head, context) === undefined && wrapList([head]) !== null;
  if (isOne && bytes.length < LARGEST_RECORD) {
    const value = documentValue(bytes.subarray(start));
    const session = isJsonObject(head) ? listedSessionOf(head) : undefined;
    if (session !== undefined && Array.isArray(value)) {
      const events = value.flatMap((event, at) => (isJsonObject(event) ? [{ event, line: at + 1 }] : []));
      yield* sessionsOf(events, session, ':1');
      return;
    }
    const record = Array.isArray(value) ? wrapList(value) : null;
    if (record !== null || !Array.isArray(value) || !value.some(isJsonObject)) {
      yield { text: record === null ? printOr(value, bytes) : printJson(record), place: ':1' };
      return;
    }
  }
  let number = 0;
  for (let at = first; at < bytes.length && bytes[at] !== CLOSE_LIST; ) {
    const end = endOfValue(bytes, at);
    number++;
    if (end > at) yield* recordLines(bytes.subarray(at, end), number, context);
    at = firstByte(bytes, Math.max(end, at + 1));
    if (bytes[at] === COMMA) at = firstByte(bytes, at + 1);
  }
}

/** The first element that has a value: a node of a graph may begin a stream without writing anything. */
function headOf(bytes: Buffer, first: number): JsonValue | undefined {
  for (let at = first; ; ) {
    const end = endOfValue(bytes, at);
    const value = documentValue(bytes.subarray(at, end));
    const next = firstByte(bytes, end);
    if (!hasNoValue(value) || bytes[next] !== COMMA) return value;
    at = firstByte(bytes, next + 1);
  }
}

const printOr = (value: JsonValue | undefined, bytes: Uint8Array): string | Uint8Array =>
  value === undefined ? jsonLine(bytes) : printJson(value);

function values(bytes: Buffer, start: number, context: ReadContext): Generator<CopyLine> | null {
  const lineEnd = bytes.indexOf(10, start);
  const first = firstByte(bytes, start);
  if (lineEnd !== -1 && first < lineEnd && firstByte(bytes, lineEnd) < bytes.length) {
    const line = bytes.subarray(first, lineEnd);
    if (isJsonObject(documentValue(line) ?? undefined)) return null;
  }
  return inTurn(bytes, first, context);
}

function* inTurn(bytes: Buffer, first: number, context: ReadContext): Generator<CopyLine> {
  const session = splitSession(bytes.subarray(first, endOfValue(bytes, first)), context);
  if (session !== null) {
    const events: { event: JsonObject; line: number }[] = [];
    for (let at = first; at < bytes.length; ) {
      const end = Math.max(at + 1, endOfValue(bytes, at));
      const event = documentValue(bytes.subarray(at, end));
      if (isJsonObject(event)) events.push({ event, line: events.length + 1 });
      at = firstByte(bytes, end);
    }
    yield* sessionsOf(events, session, ':1');
    return;
  }
  let number = 0;
  for (let at = first; at < bytes.length; ) {
    const end = Math.max(at + 1, endOfValue(bytes, at));
    number++;
    yield* recordLines(bytes.subarray(at, end), number, context);
    at = firstByte(bytes, end);
  }
}

/** Longer documents are not parsed twice for a guess. */
const LARGEST_REQUEST = 64 << 20;

/** The session of a document that holds several events, such as a request of OTLP; null for any other. */
function splitSession(bytes: Uint8Array, context: ReadContext): Session | null {
  if (bytes.length > LARGEST_REQUEST || context.format !== undefined) return null;
  const value = documentValue(bytes);
  const session = isJsonObject(value) ? listedSessionOf(value) : undefined;
  return session?.eventsOf === undefined ? null : session;
}

/**
 * A record as a line. A record with several rollouts becomes one line each, so that reading one does not read the
 * others.
 */
function* recordLines(bytes: Uint8Array, number: number, context: ReadContext): Generator<CopyLine> {
  if (bytes.length > LARGEST_RECORD) {
    yield { text: unreadable(`a record of ${bytes.length} bytes is more than can be shown`), place: `:${number}` };
    return;
  }
  const text = oneLineOrMended(bytes);
  if (countRollouts(text, context) === null) {
    yield { text, place: `:${number}` };
    return;
  }
  const value = parseJson(text);
  const record = Array.isArray(value) ? wrapList(value) : value;
  const object = objectIn(record ?? undefined);
  const format = formatOf(object, context);
  const rollouts = format === undefined ? [] : (splitRollouts(format, object) ?? []);
  if (rollouts.length === 1) {
    yield { text: printJson(rollouts[0]), place: `:${number}` };
    return;
  }
  for (const [at, one] of rollouts.entries()) yield { text: printJson(one), place: `:${number}.${at + 1}` };
}

/** Text whose strings contain raw line ends: they would end a line of the copy, and JSON requires them escaped. */
function oneLineOrMended(bytes: Uint8Array): string {
  const text = Buffer.from(bytes).toString('utf8');
  if (!/[\n\r]/.test(text)) return text;
  try {
    JSON.parse(text);
    return text.replaceAll(/[\n\r]/g, ' ');
  } catch {
    return escapedInStrings(text);
  }
}

/** Escapes raw control characters inside strings; line ends between tokens become blanks. */
function escapedInStrings(text: string): string {
  let result = '';
  let from = 0;
  let isInString = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) isInString = !isInString;
    else if (code === BACKSLASH && isInString) at++;
    else if (code < 32) {
      result += text.slice(from, at) + (isInString ? ESCAPED[code] : ' ');
      from = at + 1;
    }
  }
  return result + text.slice(from);
}

const ESCAPED: string[] = Array.from({ length: 32 }, (_, code) =>
  JSON.stringify(String.fromCharCode(code)).slice(1, -1),
);

function documentValue(bytes: Uint8Array): JsonValue | undefined {
  if (bytes.length > LARGEST_RECORD) return undefined;
  try {
    return parseJson(Buffer.from(bytes).toString('utf8'));
  } catch (error) {
    if (error instanceof JsonError) return undefined;
    throw error;
  }
}
