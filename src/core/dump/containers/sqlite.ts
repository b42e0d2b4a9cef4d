import {
  closeSync,
  copyFileSync,
  existsSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { isFull, makeTemporary, temporaryProblem } from '../../files/temporary.ts';
import { DATABASES } from '../../formats/databases.ts';
import { printJson } from '../../json/print.ts';
import type { JsonObject } from '../../json/value.ts';
import { bytesAsText, jsonOf } from './foreign-values.ts';
import type { CopyLine } from './lines-in.ts';
import { sessionsOf } from './sessions.ts';

/**
 * The rollouts of a known writer's database. The rows are read from a copy in the temporary folder, because SQLite creates a lock
 * and a shared-memory file next to the database, and nothing may be created beside a dump. Pages committed in a
 * write-ahead log are merged into the copy.
 */
export async function* sqliteRows(path: string): AsyncGenerator<CopyLine> {
  const { default: sqlite } = await import('node-sqlite3-wasm');
  const folder = makeTemporary('rollout-viewer-');
  try {
    const copy = join(folder, 'copy.db');
    try {
      copyFileSync(path, copy);
      foldLog(copy, `${path}-wal`);
    } catch (error) {
      throw isFull(error) ? temporaryProblem(error) : error;
    }
    const database = new sqlite.Database(copy, { readOnly: true });
    try {
      const tables = new Map(
        database
          .all("select name from sqlite_master where type = 'table'")
          .map(({ name }): [string, Set<string>] => [String(name), columnsOf(database, String(name))]),
      );
      const known = DATABASES.find(({ has }) =>
        Object.entries(has).every(
          ([table, columns]) => columns.every((column) => tables.get(table)?.has(column)) && tables.has(table),
        ),
      );
      if (known === undefined)
        throw new Error(`a SQLite database of no known writer; its tables: ${[...tables.keys()].join(', ') || 'none'}`);
      const rows = tableRows(database, known.queries);
      if (known.session === undefined) for (const row of rows) yield { text: printJson(row) };
      else
        yield* sessionsOf(
          [...rows].map((event, at) => ({ event, line: at + 1 })),
          known.session,
          ':1',
        );
    } finally {
      database.close();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The part of the reader that is used; it is loaded on demand. */
interface SqliteReader {
  all(sql: string): Record<string, unknown>[];
  prepare(sql: string): { iterate(values: never[]): Iterable<Record<string, unknown>>; finalize(): void };
}

const columnsOf = (database: SqliteReader, table: string): Set<string> =>
  new Set(database.all(`pragma table_info("${table.replaceAll('"', '""')}")`).map(({ name }) => String(name)));

function* tableRows(database: SqliteReader, queries: readonly string[]): Generator<JsonObject> {
  for (const query of queries) {
    const statement = database.prepare(query);
    try {
      for (const row of statement.iterate([]))
        yield Object.fromEntries(
          Object.entries(row).map(([name, value]) => [
            name,
            value instanceof Uint8Array ? bytesAsText(value) : jsonOf(value),
          ]),
        );
    } finally {
      statement.finalize();
    }
  }
}

const WAL_HEADER = 32;
const FRAME_HEADER = 24;
/** Bytes 18 and 19 of a database are its write and read versions: 2 = with a log, which the copy no longer has. */
const VERSIONS = 18;

/**
 * Writes the committed frames of a log (sqlite.org/fileformat2.html, 4.1) into the copy. Frames after one with a
 * different salt or checksum were never committed.
 */
function foldLog(copy: string, logPath: string): void {
  const fd = openSync(copy, 'r+');
  try {
    const header = Buffer.alloc(20);
    readSync(fd, header, 0, 20, 0);
    if (header[VERSIONS] !== 2 && header[VERSIONS + 1] !== 2) return;
    if (existsSync(logPath) && statSync(logPath).size > WAL_HEADER) fold(fd, readFileSync(logPath));
    writeSync(fd, Buffer.from([1, 1]), 0, 2, VERSIONS);
  } finally {
    closeSync(fd);
  }
}

function fold(fd: number, log: Buffer): void {
  const magic = log.readUInt32BE(0);
  if ((magic & 0xfffffffe) >>> 0 !== 0x377f0682) return;
  const isBig = (magic & 1) === 1;
  const page = log.readUInt32BE(8) || 65536;
  let sum: [number, number] = checksum(log.subarray(0, 24), [0, 0], isBig);
  if (sum[0] !== log.readUInt32BE(24) || sum[1] !== log.readUInt32BE(28)) return;
  let waiting: { number: number; at: number }[] = [];
  for (let at = WAL_HEADER; at + FRAME_HEADER + page <= log.length; at += FRAME_HEADER + page) {
    if (!log.subarray(at + 8, at + 16).equals(log.subarray(16, 24))) return;
    sum = checksum(log.subarray(at, at + 8), sum, isBig);
    sum = checksum(log.subarray(at + FRAME_HEADER, at + FRAME_HEADER + page), sum, isBig);
    if (sum[0] !== log.readUInt32BE(at + 16) || sum[1] !== log.readUInt32BE(at + 20)) return;
    waiting.push({ number: log.readUInt32BE(at), at: at + FRAME_HEADER });
    if (log.readUInt32BE(at + 4) === 0) continue;
    for (const frame of waiting) writeSync(fd, log, frame.at, page, (frame.number - 1) * page);
    waiting = [];
  }
}

function checksum(bytes: Buffer, [one, two]: [number, number], isBig: boolean): [number, number] {
  let first = one;
  let second = two;
  for (let at = 0; at + 8 <= bytes.length; at += 8) {
    first = (first + (isBig ? bytes.readUInt32BE(at) : bytes.readUInt32LE(at)) + second) >>> 0;
    second = (second + (isBig ? bytes.readUInt32BE(at + 4) : bytes.readUInt32LE(at + 4)) + first) >>> 0;
  }
  return [first, second];
}
