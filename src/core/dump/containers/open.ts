import { closeSync, openSync, readFileSync, readSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import type { ReadContext } from '../../formats/format.ts';
import { errorMessage } from '../../text/thrown.ts';
import { copyInThread } from '../copy-thread.ts';
import { type Join, joinOf } from '../joins/index.ts';
import { addNameless, openNameless } from '../nameless-file.ts';
import { originOf, type PartialFile } from '../origins.ts';
import { type FileShape, fileShapeOf } from '../shape.ts';
import { fileShapeBetweenKeys } from '../shape-thread.ts';
import { documentRecords } from './document.ts';
import { bytesInOrder, type NeedBytes } from './file-bytes.ts';
import { writeFirstRecords } from './first-records.ts';
import { gunzip } from './gzip.ts';
import { inspectSamples, isInspectLog, isLargeLog, largeLogSamples } from './inspect-log.ts';
import { type ContainerKind, HEAD_BYTES, kindOf } from './kind.ts';

import { LARGEST_RECORD } from './limits.ts';
import { type Copy, type CopyLine, copyLines, lineCopyOf } from './lines-in.ts';
import { rowsOrSessions, sessionRecords } from './sessions.ts';
import type { Member } from './zip.ts';
import { unzstd } from './zstd.ts';

export type { ContainerKind };

/**
 * How to access a file's records: in place, or through a copy with one record per line that is filled while it is read.
 */
export interface OpenedContainer {
  kind: ContainerKind;
  /** null if the records decide it, once the first is in the copy. */
  shape: FileShape | null;
  copy: Copy | null;
  /** The records of the copy are those of the file's own bytes, whatever lies beside it. */
  isAlone?: boolean;
}

/**
 * Opens any container at a path. JSON lines are read in place. Everything else is laid out one record per line in a
 * nameless file, in a single pass, record by record, so that the first is available at once and memory stays flat.
 * @param name the user's path of the bytes, if they are read from another
 * @param inThread a person is waiting at the keyboard meanwhile
 * @param nearest no record before this line will be asked for: something else may stand for it if it takes longer to read
 */
export async function openContainer(
  path: string,
  context: ReadContext,
  name = path,
  inThread = false,
  nearest = 1,
): Promise<OpenedContainer> {
  const partial = path === name ? originOf(path)?.partial : undefined;
  if (partial !== undefined) return openPartial(partial, context, name, inThread, nearest);
  const kind = kindOf(fileHead(path), name);
  if (kind === 'gzip' || kind === 'zstd') return openPacked(path, kind, context, name, null, inThread);
  const join = joinOf(name);
  if (kind === 'lines') return openLines(path, context, join, inThread);
  const isAlone = kind === 'parquet' && join === null;
  if (inThread && THREADED.has(kind)) {
    const first = isAlone ? firstOf(path, context, false) : undefined;
    return { kind, shape: null, copy: copyInThread(path, name, context, null, false, first), isAlone };
  }
  const source = await recordSource(kind, path, context, null, nearest);
  if (source === null) return openLines(path, context, join, inThread);
  return { kind, shape: null, copy: lineCopyOf(openNameless(), joined(source, join)), isAlone };
}

/** A file whose parts come as its reader asks for them; of another kind than those that can be read so, all of it. */
async function openPartial(
  partial: PartialFile,
  context: ReadContext,
  name: string,
  inThread: boolean,
  nearest: number,
): Promise<OpenedContainer> {
  const { size, need, mayStop } = partial;
  await need(0, Math.min(HEAD_BYTES, size));
  const { path } = partial;
  const kind = kindOf(fileHead(path), name);
  const comesInOrder = mayStop && (kind === 'lines' || kind === 'gzip');
  if (kind === 'zstd' || comesInOrder) return openPacked(path, kind, context, name, need, inThread);
  if (kind !== 'parquet') {
    await need(0, size);
    // All of it is here, at its own path.
    return openContainer(name, context, name, inThread, nearest);
  }
  if (inThread) return { kind, shape: null, copy: copyInThread(path, name, context, need) };
  const source = await recordSource(kind, path, context, need, nearest);
  return { kind, shape: null, copy: lineCopyOf(openNameless(), joined(source ?? [], joinOf(name))) };
}

/** Kinds that are unpacked from their bytes alone, and may be large. */
const THREADED: ReadonlySet<ContainerKind> = new Set(['zip', 'parquet', 'sqlite', 'pickle']);

/** Fills a file with the records of a container. @param unpacks with its bytes, unpacked @returns null if they are lines after all */
export async function copyInto(
  fd: number,
  path: string,
  context: ReadContext,
  name: string,
  need: NeedBytes | null,
  unpacks: boolean,
): Promise<Copy | null> {
  if (unpacks) return unpackedCopy(fd, unzstd(path, need), UNPACKED_AT_ONCE);
  const source = await recordSource(kindOf(fileHead(path), name), path, context, need);
  return source === null ? null : lineCopyOf(fd, joined(source, joinOf(name)));
}

/** JSON lines that are read in place without additions, so their text is in the file's bytes. */
export function isReadInPlace(path: string, context: ReadContext): boolean {
  if (!statSync(path).isFile() || kindOf(fileHead(path), path) !== 'lines' || joinOf(path) !== null) return false;
  const { kind } = fileShapeOf(path, context);
  return kind === 'lines' || kind === 'split';
}

async function openLines(
  path: string,
  context: ReadContext,
  join: Join | null,
  inThread: boolean,
): Promise<OpenedContainer> {
  const shape = inThread ? await fileShapeBetweenKeys(path, context) : fileShapeOf(path, context);
  if (shape.kind === 'session')
    return {
      kind: 'lines',
      shape: null,
      copy: lineCopyOf(openNameless(), joined(sessionRecords(path, shape.session), join)),
    };
  if (join === null || shape.kind === 'none') return { kind: 'lines', shape, copy: null };
  return { kind: 'lines', shape, copy: lineCopyOf(openNameless(), joined(allLines(path), join)) };
}

/** Readers are loaded on demand: JSON lines need none. */
async function recordSource(
  kind: ContainerKind,
  path: string,
  context: ReadContext,
  need: NeedBytes | null = null,
  nearest = 1,
): Promise<AsyncIterable<CopyLine> | Iterable<CopyLine> | null> {
  switch (kind) {
    case 'json':
      return isLargeLog(statSync(path).size, fileHead(path)) ? largeLogSamples(path) : documentRecords(path, context);
    case 'csv':
      return rowsOrSessions((await import('./table.ts')).csvRecords(path), context);
    case 'yaml':
      return (await import('./table.ts')).yamlRecords(path, context);
    case 'parquet':
      return parquetRecords(path, context, need, nearest);
    case 'sqlite':
      return (await import('./sqlite.ts')).sqliteRows(path);
    case 'pickle':
      return pickleFile(path);
    case 'zip':
      return (await import('./zip.ts')).inZip(path, (members) => zipRecords(members, context));
    default:
      return null;
  }
}

async function parquetRecords(
  path: string,
  context: ReadContext,
  need: NeedBytes | null,
  nearest: number,
): Promise<AsyncIterable<CopyLine>> {
  const { parquetRows } = await import('./parquet.ts');
  let from = nearest;
  return rowsOrSessions(
    parquetRows(path, need, () => from),
    context,
    () => {
      from = 1;
    },
  );
}

async function* pickleFile(path: string): AsyncGenerator<CopyLine> {
  if (statSync(path).size > LARGEST_RECORD)
    throw new Error('a pickle of more than 512 MB; export it as JSONL in Python');
  const { pickledRows, unpickle } = await import('./pickle.ts');
  yield* pickledRows(await unpickle(readFileSync(path), () => undefined));
}

async function* zipRecords(members: Map<string, Member>, context: ReadContext): AsyncGenerator<CopyLine> {
  const pickle = [...members.values()].find(({ name }) => /(?:^|\/)data\.pkl$/.test(name));
  if (pickle !== undefined) {
    const { pickledRows, unpickle } = await import('./pickle.ts');
    const prefix = pickle.name.slice(0, -'data.pkl'.length);
    const storages = new Map<string, Uint8Array>();
    for (const member of members.values())
      if (member.name.startsWith(`${prefix}data/`))
        storages.set(member.name.slice(prefix.length + 5), await member.bytes());
    yield* pickledRows(await unpickle(await pickle.bytes(), (key) => storages.get(key)));
    return;
  }
  if (isInspectLog(members)) {
    yield* inspectSamples(members);
    return;
  }
  let found = 0;
  for (const member of members.values()) {
    if (!/\.(jsonl|ndjson|jl|json|csv|ya?ml|traj)$/i.test(member.name)) continue;
    found++;
    yield* memberRecords(member, context);
  }
  if (found === 0)
    throw new Error(`a zip without a rollout: it holds ${[...members.keys()].slice(0, 6).join(', ') || 'nothing'}`);
}

/**
 * A member with lines gets one record per line; otherwise records are numbered, or named by the member's path if there
 * is only one.
 */
async function* memberRecords(member: Member, context: ReadContext): AsyncGenerator<CopyLine> {
  const fd = openNameless();
  try {
    addNameless(fd, await member.bytes());
    const path = `/dev/fd/${fd}`;
    const { copy } = await openContainer(path, context, member.name);
    if (copy === null) {
      let line = 0;
      for (const { text } of allLines(path)) {
        line++;
        if (text.length > 0) yield { text, place: `/${member.name}:${line}` };
      }
      return;
    }
    for await (const _ of copy.fill);
    let at = 0;
    for (const { text } of allLines(`/dev/fd/${copy.fd}`))
      yield { text, place: `/${member.name}${placeIn(copy.places[at], ++at)}` };
    closeSync(copy.fd);
    if (copy.error !== null) throw new Error(`${member.name}: ${copy.error}`);
  } finally {
    closeSync(fd);
  }
}

const placeIn = (place: string | undefined, number: number): string => (place === ':1' ? '' : (place ?? `:${number}`));

/** gzip and zstd contain another file, identified by its bytes; lines are read as they are unpacked. So are lines that come in parts. */
async function openPacked(
  path: string,
  kind: 'gzip' | 'zstd' | 'lines',
  context: ReadContext,
  name: string,
  need: NeedBytes | null,
  inThread: boolean,
): Promise<OpenedContainer> {
  const inner = basename(name).replace(/\.(gz|zst|zstd)$/i, '');
  const innerName = name.slice(0, name.length - basename(name).length) + inner;
  // Node unpacks gzip in a thread of its own.
  const isThreaded = inThread && kind === 'zstd' && statSync(path).size >= WORTH_A_THREAD;
  const copy = isThreaded
    ? copyInThread(path, name, context, need, true, need === null ? firstOf(path, context, true) : undefined)
    : unpackedCopy(openNameless(), packedBytes(path, kind, need));
  const { fd } = copy;
  // The head identifies the contents.
  for (let bytes = 0; bytes < HEAD_BYTES; bytes = statOf(fd)) if ((await copy.fill.next()).done) break;
  const readable = `/dev/fd/${fd}`;
  const join = joinOf(name);
  if (kindOf(fileHead(readable), innerName) === 'lines' && join === null) {
    const shape = fileShapeOf(readable, context);
    if (shape.kind !== 'session') return { kind, shape, copy, isAlone: true };
  }
  for await (const _ of copy.fill);
  const opened = await openContainer(readable, context, innerName);
  if (opened.copy === null && join === null) return { kind, shape: opened.shape, copy };
  const outer = copy.error;
  const whole = opened.copy ?? lineCopyOf(openNameless(), joined(allLines(readable), join));
  return { kind, shape: opened.shape, copy: thenClosed(whole, fd, outer) };
}

const firstOf = (path: string, context: ReadContext, unpacks: boolean) => (copy: string) =>
  writeFirstRecords(copy, path, context, unpacks);

/** A smaller file is unpacked before a thread has started. */
const WORTH_A_THREAD = 4 << 20;
/** Unpacked bytes that a thread says at once. */
const UNPACKED_AT_ONCE = 1 << 20;

const packedBytes = (path: string, kind: 'gzip' | 'zstd' | 'lines', need: NeedBytes | null) =>
  kind === 'zstd' ? unzstd(path, need) : kind === 'gzip' ? gunzip(path, need) : bytesInOrder(path, need);

/** @param atOnce bytes after which those who wait read on; the head is said as soon as it is there */
function unpackedCopy(fd: number, chunks: AsyncIterable<Uint8Array>, atOnce = 0): Copy {
  const copy: Copy = { fd, fill: write(), places: [], error: null };
  async function* write(): AsyncGenerator<void> {
    let bytes = 0;
    let most = Math.min(HEAD_BYTES, atOnce);
    try {
      for await (const chunk of chunks) {
        addNameless(fd, chunk);
        bytes += chunk.length;
        if (bytes < most) continue;
        bytes = 0;
        most = atOnce;
        yield;
      }
    } catch (error) {
      copy.error = errorMessage(error);
    }
  }
  return copy;
}

/** The copy of what was packed. Its error is known once it is filled. @param outer what was wrong with the packing */
function thenClosed(inner: Copy, fd: number, outer: string | null): Copy {
  const copy: Copy = { ...inner, fill: fill() };
  async function* fill(): AsyncGenerator<void> {
    try {
      yield* inner.fill;
    } finally {
      closeSync(fd);
      copy.error = inner.error ?? outer;
    }
  }
  return copy;
}

function statOf(fd: number): number {
  const buffer = Buffer.alloc(1);
  let size = 0;
  for (let at = HEAD_BYTES; at > 0; at = Math.floor(at / 2))
    if (readSync(fd, buffer, 0, 1, at - 1) === 1) {
      size = at;
      break;
    }
  return size;
}

function fileHead(path: string): Buffer {
  const head = Buffer.alloc(HEAD_BYTES);
  const fd = openSync(path, 'r');
  try {
    return head.subarray(0, readSync(fd, head, 0, head.length, 0));
  } finally {
    closeSync(fd);
  }
}

/** Every physical line, including blank ones, so that line numbers match. */
function* allLines(path: string): Generator<{ text: Uint8Array }> {
  const fd = openSync(path, 'r');
  try {
    let rest: Buffer = Buffer.alloc(0);
    for (let at = 0; ; ) {
      const chunk = Buffer.allocUnsafe(1 << 20);
      const length = readSync(fd, chunk, 0, chunk.length, at);
      if (length === 0) break;
      at += length;
      const bytes = Buffer.concat([rest, chunk.subarray(0, length)]);
      let from = 0;
      for (let end = bytes.indexOf(10); end !== -1; end = bytes.indexOf(10, from)) {
        yield { text: bytes.subarray(from, end) };
        from = end + 1;
      }
      rest = bytes.subarray(from);
    }
    if (rest.length > 0) yield { text: rest };
  } finally {
    closeSync(fd);
  }
}

/** Each record with related data from other files of the run. */
async function* joined(
  source: AsyncIterable<CopyLine> | Iterable<CopyLine>,
  join: Join | null,
): AsyncGenerator<CopyLine> {
  if (join === null) {
    yield* source;
    return;
  }
  const add = await join();
  for await (const block of source) for (const line of copyLines(block)) yield { ...line, text: add(line.text) };
}
