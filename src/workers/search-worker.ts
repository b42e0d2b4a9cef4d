import { closeSync, openSync, readSync } from 'node:fs';
import { parentPort } from 'node:worker_threads';
import { fieldNamed } from '../analysis/query/fields.ts';
import { Subject, type SubjectFile, textOf } from '../analysis/query/subject.ts';
import type { RecordHits, SearchAnswer, SearchRequest, TextHit } from '../analysis/search/search-thread.ts';
import { type Sieve, sieveOf, sift } from '../analysis/search/sieve.ts';
import { type Matcher, matcher } from '../analysis/text-search.ts';
import { type ParsedLine, parseLine } from '../dump/parse-line.ts';

/** A text of a record that is looked in. */
interface Searched {
  turn: number | null;
  role: string | null;
  text: string;
}

/** Searches records off the main thread: bytes first, and a parse only of lines that may hold a hit. */
parentPort?.on('message', ({ id, request }: { id: number; request: SearchRequest }) => {
  const answer: SearchAnswer = { found: [] };
  let fd: number | null = null;
  try {
    fd = openSync(request.path, 'r');
    const wanted = matcher(request.pattern);
    for (const at of candidates(request, fd)) {
      const hits = hitsIn(request, fd, at, wanted);
      if (hits !== null) answer.found.push(hits);
    }
  } catch {
    // A file that vanished holds nothing.
  }
  if (fd !== null) closeSync(fd);
  parentPort?.postMessage({ id, answer });
});

/** Kept from one request to the next: fresh memory costs a page fault every 4 kB. */
let memory = Buffer.allocUnsafeSlow(1 << 20);

function bytesAt(fd: number, start: number, size: number, buffer: Buffer): Buffer {
  let length = 0;
  for (let got = -1; got !== 0 && length < size; length += got)
    got = readSync(fd, buffer, length, size - length, start + length);
  return buffer.subarray(0, length);
}

/** The records that may hold a hit, in their order. */
function candidates({ pattern, places, field }: SearchRequest, fd: number): Iterable<number> {
  const count = places.length / 2;
  // What a field comes to may stand nowhere in the line, such as a number.
  const sieve: Sieve | null = field === null ? sieveOf(pattern) : null;
  if (sieve === null) return Array.from({ length: count }, (_, at) => at);
  const base = places[0]!;
  const size = places.at(-2)! + places.at(-1)! - base;
  if (memory.length < size) memory = Buffer.allocUnsafeSlow(size);
  const bytes = bytesAt(fd, base, size, memory);
  const may = new Uint8Array(count);
  sift(bytes, sieve, (at) => {
    const record = recordAt(places, base + at);
    may[record] = 1;
    // Lines of several rollouts have one place.
    for (let other = record - 1; other >= 0 && places[other * 2] === places[record * 2]; other--) may[other] = 1;
    return Math.max(at + 1, places[record * 2]! + places[record * 2 + 1]! - base);
  });
  return Array.from(may.keys()).filter((at) => may[at] === 1);
}

/** The last record that begins at or before a byte. */
function recordAt(places: Float64Array, offset: number): number {
  let low = 0;
  let high = places.length / 2 - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (places[middle * 2]! <= offset) low = middle;
    else high = middle - 1;
  }
  return low;
}

function hitsIn(request: SearchRequest, fd: number, at: number, wanted: Matcher): RecordHits | null {
  const { places, parts, readContext, context, most } = request;
  const size = places[at * 2 + 1]!;
  const bytes = bytesAt(fd, places[at * 2]!, size, Buffer.allocUnsafe(size));
  const line = parseLine(bytes.toString('utf8'), readContext, parts?.[at]);
  const hits: TextHit[] = [];
  let count = 0;
  for (const { turn, role, text } of textsOf(request, line, at)) {
    wanted.find(text, (start, end) => {
      count++;
      if (hits.length >= most) return true;
      const [low, high] = [Math.max(0, start - context), Math.min(text.length, end + context)];
      hits.push({
        turn,
        role,
        start,
        end,
        text: text.slice(start, end),
        before: text.slice(low, start),
        after: text.slice(end, high),
        goesOn: [low > 0, high < text.length],
      });
      return true;
    });
  }
  return count === 0 ? null : { at, count, hits };
}

function textsOf({ roles, field, stream }: SearchRequest, line: ParsedLine, at: number): Searched[] {
  if (field === null)
    return (line.rollout?.turns ?? [])
      .filter(({ role }) => roles === null || roles.includes(role))
      .map(({ index, role, text }) => ({ turn: index, role, text }));
  const file: SubjectFile = {
    stream,
    index: { length: () => 0 },
    measures: null,
    isRead: () => null,
    stepOf: () => line.rollout?.step ?? null,
    score: () => undefined,
    facts: () => undefined,
  };
  const value = new Subject({ file, record: at }, { read: () => line, hasRaw: () => true }).value(fieldNamed(field));
  return value === undefined || value === null ? [] : [{ turn: null, role: null, text: textOf(value) }];
}
