import { statSync } from 'node:fs';
import { ThreadClient } from '../../core/async/thread-client.ts';
import { threadCount } from '../../core/async/thread-count.ts';
import { isReadInPlace } from '../../core/dump/containers/open.ts';
import type { Dump } from '../../core/dump/dump.ts';
import type { DumpFile } from '../../core/dump/dump-file.ts';
import type { ReadContext } from '../../core/formats/format.ts';
import { itemAt } from '../../core/lists/at.ts';
import { sieveOf } from './sieve.ts';

/** The text to search for, and the fields to search. */
export interface SearchFor {
  /** As `matcher` takes it. */
  pattern: string;
  /** Only turns of these roles. */
  roles: readonly string[] | null;
  /** A field of the filter language to search instead of the turns. */
  field: string | null;
  /** Characters of context returned with a hit. */
  context: number;
  /** The most hits returned per rollout; all are counted. */
  most: number;
}

/** Whether bytes of a file may contain a hit; the positions of its records are not known yet. */
export interface SiftRequest {
  kind: 'sift';
  pattern: string;
  path: string;
  from: number;
  to: number;
}

export interface SearchRequest extends SearchFor {
  kind: 'search';
  path: string;
  stream: string;
  readContext: ReadContext;
  /** Offset and byte length of each record, alternating, in file order. */
  places: Float64Array;
  parts: readonly number[] | null;
}

export interface TextHit {
  /** null if a field was searched. */
  turn: number | null;
  role: string | null;
  /** UTF-16 offsets into the text of the turn or field. */
  start: number;
  end: number;
  text: string;
  before: string;
  after: string;
  /** There is more text before and after the excerpt. */
  goesOn: readonly [before: boolean, after: boolean];
}

export interface RecordHits {
  /** Its index among the requested records. */
  at: number;
  count: number;
  hits: TextHit[];
}

export interface SearchAnswer {
  found: RecordHits[];
  /** The result of a sift. */
  mayHold: boolean;
}

class SearchThread extends ThreadClient<SearchRequest | SiftRequest, SearchAnswer> {
  constructor() {
    super('search-worker');
  }
}

/** Records of one file that were searched. */
export interface Searched {
  file: DumpFile;
  from: number;
  count: number;
  found: readonly { record: number; count: number; hits: readonly TextHit[] }[];
  /** The records could not be searched: they exceed a thread's memory. */
  isLost: boolean;
}

const BYTES = 8 << 20;
const RECORDS = 1 << 14;
const MOST_THREADS = 8;
/** Bytes of a file that one thread sifts. */
const PIECE = 64 << 20;
/** No needle is longer than this. */
const OVERLAP = 1024;

/**
 * Searches all records of a dump in threads and yields results in dump order. The bytes of the next files are sifted
 * ahead of the consumer: a file without a hit costs one pass over its bytes, and no index.
 */
export async function* searchDump(dump: Dump, wanted: SearchFor): AsyncGenerator<Searched> {
  const threads = Array.from({ length: threadCount(MOST_THREADS) }, () => new SearchThread());
  const asked: Promise<Searched>[] = [];
  const sifted: Promise<boolean>[] = [];
  let next = 0;
  const { files } = dump;
  const oldest = async (): Promise<Searched> => {
    const searched = await asked.shift()!;
    dump.reached(searched.file, searched.from + searched.count);
    return searched;
  };
  try {
    for (const [at, file] of files.entries()) {
      while (sifted.length < Math.min(files.length, at + threads.length * 2))
        sifted.push(mayHold(threads[sifted.length % threads.length]!, files[sifted.length]!, wanted));
      const mayHave = await sifted[at];
      dump.reached(file, 0);
      if (!mayHave) continue;
      if (file.state === 'waiting') await file.buildIndex(() => !dump.isClosed);
      for (let from = 0; from < file.count; ) {
        const to = searchEnd(file, from);
        asked.push(ask(itemAt(threads, next++ % threads.length), file, from, to, wanted));
        from = to;
        if (asked.length > threads.length * 2) yield await oldest();
      }
    }
    while (asked.length > 0) yield await oldest();
  } finally {
    for (const thread of threads) thread.close();
  }
}

/** Whether a file without an index may contain a hit. */
async function mayHold(thread: SearchThread, file: DumpFile, { pattern, field }: SearchFor): Promise<boolean> {
  // The value of a field need not appear in the line literally, for example a number.
  if (file.state !== 'waiting' || file.container !== 'lines' || field !== null || sieveOf(pattern) === null)
    return true;
  const { path, context } = file;
  let size = 0;
  try {
    if (isReadInPlace(path, context)) ({ size } = statSync(path));
  } catch {
    // The index will say what is wrong with it.
  }
  if (size === 0) return true;
  for (let from = 0; from < size; from += PIECE) {
    const to = Math.min(size, from + PIECE + OVERLAP);
    const answer = await thread.ask({ kind: 'sift', pattern, path, from, to });
    if (answer?.mayHold !== false) return true;
  }
  return false;
}

function searchEnd({ index }: DumpFile, from: number): number {
  let to = from;
  let bytes = 0;
  while (to < index.count && to - from < RECORDS && (to === from || bytes + index.length(to) <= BYTES))
    bytes += index.length(to++);
  return to;
}

async function ask(
  thread: SearchThread,
  file: DumpFile,
  from: number,
  to: number,
  wanted: SearchFor,
): Promise<Searched> {
  const { index, readablePath: path, stream, context: readContext } = file;
  const places = new Float64Array((to - from) * 2);
  let hasParts = false;
  for (let record = from; record < to; record++) {
    places[(record - from) * 2] = index.offset(record);
    places[(record - from) * 2 + 1] = index.length(record);
    hasParts ||= index.part(record) > 0;
  }
  const parts = hasParts ? Array.from({ length: to - from }, (_, at) => index.part(from + at)) : null;
  const answer = await thread.ask({ kind: 'search', ...wanted, path, stream, readContext, places, parts }, [
    places.buffer,
  ]);
  const found = (answer?.found ?? []).map(({ at, count, hits }) => ({ record: from + at, count, hits }));
  return { file, from, count: to - from, found, isLost: answer === null };
}
