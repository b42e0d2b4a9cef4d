import { withLeftovers } from '../../formats/beside-rollouts.ts';
import type { ReadContext, Session } from '../../formats/format.ts';
import { lostLine } from '../../formats/lost-line.ts';
import { formatOf, sessionOf } from '../../formats/registry.ts';
import { JsonError, parseJson } from '../../json/parse.ts';
import { printJson } from '../../json/print.ts';
import { isJsonObject, type JsonObject } from '../../json/value.ts';
import { type CopyLine, copyLines } from './lines-in.ts';
import { numberedLines } from './text-lines.ts';

/** An event, and its line or its index in a list. */
interface PlacedEvent {
  event: JsonObject;
  line: number;
}

/** The sessions of a file of events, one record each. A line that cannot be read is included as such. */
export async function* sessionRecords(path: string, session: Session): AsyncGenerator<CopyLine> {
  const events: PlacedEvent[] = [];
  for await (const { text, line } of numberedLines(path)) events.push({ event: eventOf(text, line), line });
  yield* sessionsOf(events, session, '');
}

/**
 * One record for each session of the events. A file with one session is that rollout, named by its path; otherwise each
 * is named by its first line. Events without a session belong to the previous event's, and those before any to the
 * first.
 * @param alone the place of the only session of a file
 */
export function* sessionsOf(events: readonly PlacedEvent[], session: Session, alone: string): Generator<CopyLine> {
  const byKey = new Map<string, FoundSession>();
  const byId = new Map<string, JsonObject>();
  const nameless: JsonObject[] = [];
  const all = session.eventsOf === undefined ? events : events.flatMap((one) => eventsWithin(one, session));
  const keys = session.keysOf?.(all.map(({ event }) => event));
  let current: string | null = null;
  for (const [at, { event, line }] of all.entries()) {
    const key: string | null = keys?.[at] ?? session.keyOf(event) ?? current;
    if (key === null) {
      nameless.push(event);
      continue;
    }
    current = key;
    const known = byKey.get(key);
    const id = session.isEvent(event) ? (session.eventIdOf?.(event) ?? null) : null;
    const again = id === null ? undefined : byId.get(`${key} ${id}`);
    if (again !== undefined) {
      Object.assign(again, withoutNull(event));
      continue;
    }
    const own = id === null ? event : { ...event };
    if (id !== null) byId.set(`${key} ${id}`, own);
    if (known === undefined) byKey.set(key, { events: byKey.size === 0 ? [...nameless, own] : [own], line });
    else known.events.push(own);
  }
  const found = byKey.size === 0 ? [{ events: nameless, line: 1 }] : joinedBy(session, [...byKey.values()]);
  const firsts = new Map<number, number>();
  for (const { events: held, line } of found) {
    // Several sessions may begin in one line.
    const before = firsts.get(line) ?? 0;
    firsts.set(line, before + 1);
    yield {
      text: printJson({ session_of: session.name, events: held }),
      place: found.length === 1 ? alone : `:${line}${before === 0 ? '' : `.${before + 1}`}`,
    };
  }
}

/**
 * The rows of a table; if they are events, the sessions of these. A cell without a value is no key of its event. @param areEvents called
 * in that case after the first row
 */
export async function* rowsOrSessions(
  rows: AsyncIterable<CopyLine> | Iterable<CopyLine>,
  context: ReadContext,
  areEvents: () => void = () => {},
): AsyncGenerator<CopyLine> {
  let session: Session | null | undefined;
  const events: PlacedEvent[] = [];
  let line = 0;
  for await (const block of rows) {
    if (session === undefined) {
      session = sessionOfRows(block, context);
      if (session !== null) areEvents();
    }
    if (session === null) yield block;
    else for (const row of copyLines(block)) events.push({ event: rowEvent(row, ++line), line });
  }
  if (session) yield* sessionsOf(events, session, ':1');
}

/** The session that rows are events of, by the first of them. */
export function sessionOfRows(block: CopyLine, context: ReadContext): Session | null {
  const [row = block] = copyLines(block);
  const first = rowEvent(row, 1);
  return formatOf(first, context) === undefined ? (sessionOf(first) ?? null) : null;
}

/** In a CSV an empty cell has no value. */
function rowEvent({ text }: CopyLine, line: number): JsonObject {
  const event = eventOf(typeof text === 'string' ? text : Buffer.from(text).toString('utf8'), line);
  return Object.fromEntries(Object.entries(event).filter(([, value]) => value !== null && value !== ''));
}

interface FoundSession {
  events: JsonObject[];
  line: number;
}

const withoutNull = (event: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(event).filter(([, value]) => value !== null));

const eventsWithin = (one: PlacedEvent, session: Session): PlacedEvent[] =>
  session.isEvent(one.event) && session.eventsOf !== undefined
    ? withLeftovers(one.event, session.eventsOf(one.event)).map((event) => ({ event, line: one.line }))
    : [one];

/** Sessions that share an id are one, if the id says so or the later one continues the earlier. */
function joinedBy(session: Session, found: readonly FoundSession[]): FoundSession[] {
  if (session.sharedIdOf === undefined) return [...found];
  const bySharedId = new Map<string, FoundSession[]>();
  const joined: FoundSession[] = [];
  for (const one of found) {
    const shared = new Map<string, boolean>();
    for (const event of one.events) {
      const held = session.sharedIdOf(event);
      if (held !== null) shared.set(held.id, held.isCertain || shared.get(held.id) === true);
    }
    const earlier = [...shared].flatMap(([id, isCertain]) =>
      (bySharedId.get(id) ?? []).filter((other) => isCertain || session.continues?.(other.events, one.events) === true),
    )[0];
    if (earlier !== undefined) earlier.events.push(...one.events);
    else joined.push(one);
    for (const id of shared.keys()) {
      const list = bySharedId.get(id) ?? [];
      if (earlier === undefined || !list.includes(earlier)) bySharedId.set(id, [...list, earlier ?? one]);
    }
  }
  return joined;
}

/** @param line physical, from 1 */
export function eventOf(text: string, line: number): JsonObject {
  try {
    const value = parseJson(text.startsWith('\ufeff') ? text.slice(1) : text);
    return isJsonObject(value) ? value : lostLine(line, 'it is not a JSON object');
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    const isCut = error.offset >= text.length;
    return lostLine(line, isCut ? 'it is cut off' : `not JSON at character ${error.offset + 1}`);
  }
}
