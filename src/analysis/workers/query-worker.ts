import { closeSync, openSync, readSync } from 'node:fs';
import { parentPort } from 'node:worker_threads';
import { loadEncoding } from '../../core/chat/rendered.ts';
import { bad, type ParsedLine, parseFields, parseLine } from '../../core/dump/parse-line.ts';
import { printJson } from '../../core/json/print.ts';
import { isJsonObject, type JsonValue } from '../../core/json/value.ts';
import { float64At } from '../../core/lists/at.ts';
import { FACT_ROW, isLookedAt } from '../../core/rollout/fact-row.ts';
import { fieldNamed } from '../query/fields.ts';
import { type IndexedFile, NO_COLUMNS } from '../query/on-columns.ts';
import { compileQuery, type Query } from '../query/query.ts';
import { FACTS_AT, PLACE, type QueryAnswer, type QueryRequest } from '../query/query-thread.ts';
import { type SortOrder, sortValue } from '../query/sort.ts';
import { Subject } from '../query/subject.ts';

/** The most characters of a value that a column shows. */
const MAX_SHOWN = 200;

let known: Query | null = null;

function queryFor(text: string): Query {
  if (known?.text !== text) known = compileQuery(text);
  return known;
}

/** Truncated, because columns are narrow and values are sent between threads. */
function shownValue(value: JsonValue | undefined): JsonValue | undefined {
  if (typeof value === 'string') return value.slice(0, MAX_SHOWN);
  if (Array.isArray(value) || isJsonObject(value)) return printJson(value).slice(0, MAX_SHOWN);
  return value;
}

/** Answers filters, sorts and columns that need the records themselves, off the main thread. */
parentPort?.on('message', async ({ id, request }: { id: number; request: QueryRequest }) => {
  await loadEncoding(request.context.encoding);
  const { places, filter, sort, columns } = request;
  const count = places.length / PLACE;
  const answer: QueryAnswer = {
    accepted: new Uint8Array(count),
    values: [],
    columns: [],
  };
  const query = filter === null ? null : queryFor(filter.text);
  const order: SortOrder | null = sort === null ? null : { key: sort, field: fieldNamed(sort), descending: false };
  const shown = columns.map(fieldNamed);
  const fd = openedFile(request.path);
  let place = places;
  const rows = Array.from({ length: FACT_ROW }, (_, at) => ({ at: () => float64At(place, FACTS_AT + at) }));
  for (let i = 0; i < count; i++) {
    place = places.subarray(i * PLACE, (i + 1) * PLACE);
    const [offset, bytes, record, step, hasScore, score, part, isRead] = place;
    const file: IndexedFile = {
      stream: request.stream,
      index: { length: () => bytes!, columns: { ...NO_COLUMNS, isLooked: () => isLookedAt(place, FACTS_AT), rows } },
      measures: null,
      signals: null,
      isRead: () => (Number.isNaN(isRead) ? null : isRead === 1),
      stepOf: () => (Number.isNaN(step) ? null : step!),
      score: () => (hasScore === 0 ? undefined : hasScore === 1 ? null : score),
    };
    let buffer: Buffer | null | undefined;
    const raw = () => {
      if (buffer === undefined) buffer = lineBytes(fd, offset!, bytes!);
      return buffer;
    };
    let decoded: string | null | undefined;
    const text = () => {
      if (decoded === undefined) decoded = raw()?.toString('utf8') ?? null;
      return decoded;
    };
    const fields = () => {
      const line = text();
      return line === null ? null : parseFields(line, request.context, part);
    };
    const read = (): ParsedLine => {
      const line = text();
      if (line === null) return bad(undefined, 'it cannot be read');
      return parseLine(line, request.context, part);
    };
    const subject = new Subject(
      { file, record: record! },
      { read, fields, hasRaw: (characters) => raw()?.includes(characters) ?? true },
    );
    const isAccepted = query === null || query.accepts(subject) !== filter!.isInverted;
    answer.accepted[i] = isAccepted ? 1 : 0;
    if (order !== null) answer.values.push(isAccepted ? sortValue(order, subject) : null);
    for (const field of shown) answer.columns.push(shownValue(subject.value(field)));
  }
  if (fd !== null) closeSync(fd);
  parentPort?.postMessage({ id, answer }, [answer.accepted.buffer as ArrayBuffer]);
});

function openedFile(path: string): number | null {
  try {
    return openSync(path, 'r');
  } catch {
    return null;
  }
}

function lineBytes(fd: number | null, offset: number, bytes: number): Buffer | null {
  if (fd === null) return null;
  try {
    const buffer = Buffer.allocUnsafe(bytes);
    return buffer.subarray(0, readSync(fd, buffer, 0, bytes, offset));
  } catch {
    return null;
  }
}
