import { closeSync, openSync, readSync } from 'node:fs';
import type { ReadContext, Session } from '../formats/format.ts';
import { isHeadLine, isPlaceholder, notRollout } from '../formats/not-rollouts.ts';
import { formatOf, QUICK_KEYS, sessionOf } from '../formats/registry.ts';
import { JsonError, parseJson } from '../json/parse.ts';
import { hasNoValue, isJsonObject, type JsonObject, type JsonValue } from '../json/value.ts';
import { isHeavy, LONG_RECORD, textInFile } from './long-record.ts';
import { tooLarge } from './memory-limit.ts';

/**
 * How the lines of a file map to rollouts: one each, several, all together one session; or the file is part of a run
 * and holds none.
 */
export type FileShape = (
  | { kind: 'lines'; quickKeys: { score: string; step: string } | null; isKnown: boolean }
  | { kind: 'split' }
  | { kind: 'session'; session: Session }
  | { kind: 'none'; says: string }
) & {
  /** A number at the end of the file's name is not a step but an agent's session or an instance of an evaluation. */
  isStepless?: boolean;
  /** Its only line is a placeholder for a file of another machine that has not arrived yet. */
  isAway?: boolean;
};

/** A kept shape of lines; null for anything else. */
export function linesShape(value: unknown): FileShape | null {
  const { kind, quickKeys, isKnown } = (value ?? {}) as { kind?: unknown; quickKeys?: unknown; isKnown?: unknown };
  const keys = (quickKeys ?? {}) as { score?: unknown; step?: unknown };
  const areKeys = quickKeys === null || (typeof keys.score === 'string' && typeof keys.step === 'string');
  return kind === 'lines' && areKeys && typeof isKnown === 'boolean' ? (value as FileShape) : null;
}

/** The number of lines examined: a session may begin with some that are not events. */
const LINES = 8;
/** The head of a longer first line is never enough to decide, so it counts as a rollout. */
const LONGEST = 64 << 20;
const LONGEST_LINE = 256 << 20;
/** Bytes of a long first line that are looked through at once. */
const PIECE = 1 << 20;
/** Lines that no format recognises: rows that say so. */
const UNKNOWN: FileShape = { kind: 'lines', quickKeys: QUICK_KEYS, isKnown: false };
/** A step that is elsewhere is a row, or nobody would know of it. */
export const AWAY_SHAPE: FileShape = { kind: 'lines', quickKeys: null, isKnown: true, isAway: true };
/** The start of verl's lines, which need no examination. */
const VERL = /^(?:\ufeff)?\s*\{"input":/;

/**
 * @param path any that can be opened, also of a descriptor @param mayBeSession records that are already complete
 * contain no event lines
 */
export function fileShapeOf(path: string, context: ReadContext, mayBeSession = true): FileShape {
  const fd = openSync(path, 'r');
  try {
    let size = 4096;
    for (;;) {
      const buffer = Buffer.allocUnsafe(size);
      const length = readSync(fd, buffer, 0, size, 0);
      const text = buffer.toString('utf8', 0, length);
      if (isVerl(text, context)) return { kind: 'lines', quickKeys: QUICK_KEYS, isKnown: true };
      const isAll = length < size;
      const known = shapeOfLines(text, isAll, context, mayBeSession);
      if (known !== null) return known;
      if (isAll || size >= LONGEST) return UNKNOWN;
      size *= 16;
      if (size <= LONG_RECORD) continue;
      const end = firstLineEnd(fd, LONGEST_LINE);
      if (end <= LONG_RECORD || end === LONGEST_LINE) continue;
      // Nor is the record read.
      if (tooLarge(context.memory, end) !== null) return UNKNOWN;
      // A session does not begin with a rollout of this length, and the next lines may be as long.
      const shape = shapeOfLines(textInFile(fd, 0, end), false, context, mayBeSession);
      if (shape?.kind === 'lines' || shape?.kind === 'split') return shape;
    }
  } finally {
    closeSync(fd);
  }
}

const isVerl = (head: string, { format, maps }: ReadContext): boolean =>
  VERL.test(head) && format === undefined && maps === undefined;

/** The length of the first line with its newline, or `most` if it is longer; 0 if there is only a part of it. */
function firstLineEnd(fd: number, most: number): number {
  const piece = Buffer.allocUnsafe(PIECE);
  for (let at = 0; at < most; ) {
    const length = readSync(fd, piece, 0, PIECE, at);
    if (length === 0) return 0;
    const end = piece.subarray(0, length).indexOf('\n');
    if (end !== -1) return Math.min(most, at + end + 1);
    at += length;
  }
  return most;
}

/** The bytes of its first line, if parsing it would keep a key waiting; else 0. */
export function heavyBeginning(path: string, context: ReadContext): number {
  const fd = openSync(path, 'r');
  try {
    const head = Buffer.alloc(PIECE);
    const length = readSync(fd, head, 0, PIECE, 0);
    if (length < PIECE || head.includes('\n') || isVerl(head.toString('utf8', 0, 64), context)) return 0;
    const end = firstLineEnd(fd, LONGEST_LINE);
    return isHeavy({ length: end }) ? end : 0;
  } finally {
    closeSync(fd);
  }
}

/** null if more of the file is needed. */
function shapeOfLines(text: string, isAll: boolean, context: ReadContext, mayBeSession: boolean): FileShape | null {
  const lines = text.split('\n');
  if (!isAll) lines.pop();
  const records: JsonObject[] = [];
  let examined = 0;
  for (const line of lines) {
    if (examined >= LINES) break;
    const value = line.trim() === '' ? null : valueIn(line);
    if (value === null || hasNoValue(value)) continue;
    examined++;
    if (isJsonObject(value)) records.push(value);
  }
  const session = !mayBeSession ? undefined : records.map(sessionOf).find((one) => one !== undefined);
  if (session !== undefined && context.format === undefined) return { kind: 'session', session, isStepless: true };
  for (const record of records) {
    const format = formatOf(record, context);
    if (format !== undefined) {
      const isStepless = format.isStepless === true;
      return format.split
        ? { kind: 'split', isStepless }
        : { kind: 'lines', quickKeys: format.quickKeys ?? null, isKnown: true, isStepless };
    }
    if (isPlaceholder(record)) return AWAY_SHAPE;
    const says = isHeadLine(record) ? null : notRollout(record);
    if (says !== null) return { kind: 'none', says };
  }
  return examined >= LINES || isAll ? UNKNOWN : null;
}

function valueIn(line: string): JsonValue | undefined {
  try {
    return parseJson(line.startsWith('\ufeff') ? line.slice(1) : line);
  } catch (error) {
    if (error instanceof JsonError) return undefined;
    throw error;
  }
}
