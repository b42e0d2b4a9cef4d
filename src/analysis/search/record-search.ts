import { readSync } from 'node:fs';
import { type ParsedLine, parseLine } from '../../core/dump/parse-line.ts';
import { float64At, lastItem } from '../../core/lists/at.ts';
import { textOf } from '../query/evaluator.ts';
import { fieldNamed } from '../query/fields.ts';
import { type IndexedFile, NO_COLUMNS } from '../query/on-columns.ts';
import { Subject } from '../query/subject.ts';
import { type Matcher, matcher } from '../text-search.ts';
import { scanFor } from './byte-scan.ts';
import type { RecordHits, SearchAnswer, SearchRequest, TextHit } from './search-thread.ts';

/** A searched text of a record. */
interface Searched {
  turn: number | null;
  role: string | null;
  text: string;
}

/** The hits in the requested records of a file. */
export function searched(request: SearchRequest, fd: number): SearchAnswer {
  const found: RecordHits[] = [];
  const wanted = matcher(request.pattern);
  for (const at of candidates(request, fd)) {
    const hits = hitsIn(request, fd, at, wanted);
    if (hits !== null) found.push(hits);
  }
  return { found, mayHold: found.length > 0 };
}

/** The records that may contain a match, in order. */
function candidates({ pattern, places, field }: SearchRequest, fd: number): Iterable<number> {
  const count = places.length / 2;
  // The value of a field need not appear in the line literally, for example a number.
  const scan = field === null ? scanFor(pattern) : null;
  if (scan === null) return Array.from({ length: count }, (_, at) => at);
  const may = new Uint8Array(count);
  scan.scan(fd, float64At(places, 0), places.at(-2)! + lastItem(places), (at) => {
    const record = recordAt(places, at);
    may[record] = 1;
    // Several rollouts of one line share a place.
    for (let other = record - 1; other >= 0 && places[other * 2] === places[record * 2]; other--) may[other] = 1;
    return Math.max(at + 1, float64At(places, record * 2) + float64At(places, record * 2 + 1));
  });
  return Array.from(may.keys()).filter((at) => may[at] === 1);
}

/** The last record that begins at or before a byte. */
function recordAt(places: Float64Array, offset: number): number {
  let low = 0;
  let high = places.length / 2 - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (float64At(places, middle * 2) <= offset) low = middle;
    else high = middle - 1;
  }
  return low;
}

function hitsIn(request: SearchRequest, fd: number, at: number, wanted: Matcher): RecordHits | null {
  const { places, parts, readContext, context, most } = request;
  const size = float64At(places, at * 2 + 1);
  const bytes = Buffer.allocUnsafe(size);
  let length = 0;
  for (let got = -1; got !== 0 && length < size; length += got)
    got = readSync(fd, bytes, length, size - length, float64At(places, at * 2) + length);
  const line = parseLine(bytes.toString('utf8', 0, length), readContext, parts?.[at]);
  const hits: TextHit[] = [];
  let count = 0;
  for (const { turn, role, text } of searchedTexts(request, line, at)) {
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

function searchedTexts({ roles, field, stream }: SearchRequest, line: ParsedLine, at: number): Searched[] {
  if (field === null)
    return (line.rollout?.turns ?? [])
      .filter(({ role }) => roles === null || roles.includes(role))
      .map(({ index, role, text }) => ({ turn: index, role, text }));
  const file: IndexedFile = {
    stream,
    index: { length: () => 0, columns: NO_COLUMNS },
    measures: null,
    signals: null,
    isRead: () => null,
    stepOf: () => line.rollout?.step ?? null,
    score: () => undefined,
  };
  const value = new Subject({ file, record: at }, { read: () => line, hasRaw: () => true }).value(fieldNamed(field));
  return value === undefined || value === null ? [] : [{ turn: null, role: null, text: textOf(value) }];
}
