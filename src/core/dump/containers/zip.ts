import { closeSync, createReadStream, fstatSync, openSync, readSync } from 'node:fs';
import { createInflateRaw, inflateRawSync } from 'node:zlib';
import yauzl, { type Entry, type ZipFile } from 'yauzl';
import { errorMessage } from '../../text/thrown.ts';
import { BombGuard, LARGEST_RECORD } from './limits.ts';
import { unzstdBytes, unzstdIn } from './zstd.ts';

/** A member of a zip; of members with one name the last counts, as in Python's zipfile. */
export interface Member {
  name: string;
  size: number;
  bytes(): Promise<Uint8Array>;
  /** The same in pieces, for readers that need only the start. */
  pieces(): AsyncGenerator<Uint8Array>;
}

const METHOD_STORED = 0;
const METHOD_DEFLATED = 8;
/** zstd, which Inspect uses since 2026. */
const METHOD_ZSTD = 93;

/** The members of an archive by name, in directory order. @param use called while the file is open */
export async function* inZip<T>(
  path: string,
  use: (members: Map<string, Member>) => AsyncIterable<T>,
): AsyncGenerator<T> {
  const fd = openSync(path, 'r');
  try {
    const guard = new BombGuard(fstatSync(fd).size);
    const zip = await new Promise<ZipFile>((resolve, reject) =>
      yauzl.fromFd(fd, { lazyEntries: true, autoClose: false, validateEntrySizes: false }, (error, opened) =>
        error ? reject(new Error(`not a whole zip: ${error.message}`)) : resolve(opened),
      ),
    );
    const members = new Map<string, Member>();
    for (const entry of await zipEntries(zip)) {
      const name = entry.fileName;
      if (name.endsWith('/')) continue;
      members.set(name, {
        name,
        size: entry.uncompressedSize,
        bytes: () => memberBytes(fd, zip, entry, guard),
        pieces: () => memberPieces(fd, zip, entry, guard),
      });
    }
    yield* use(members);
  } finally {
    closeSync(fd);
  }
}

function zipEntries(zip: ZipFile): Promise<Entry[]> {
  return new Promise((resolve, reject) => {
    const entries: Entry[] = [];
    zip.on('entry', (entry: Entry) => {
      entries.push(entry);
      zip.readEntry();
    });
    zip.on('end', () => resolve(entries));
    zip.on('error', reject);
    zip.readEntry();
  });
}

/** @throws Error that names the member */
async function memberBytes(fd: number, zip: ZipFile, entry: Entry, guard: BombGuard): Promise<Uint8Array> {
  const { fileName: name, uncompressedSize: size, compressionMethod: method } = entry;
  if (size > LARGEST_RECORD) throw new Error(`${name} has ${size} bytes, more than can be read at once`);
  try {
    if (entry.isEncrypted()) throw new Error('it is encrypted');
    const start = await dataStart(zip, entry);
    const packed = Buffer.alloc(entry.compressedSize);
    if (readSync(fd, packed, 0, packed.length, start) < packed.length) throw new Error('the archive ends inside it');
    if (method === METHOD_ZSTD) return await unzstdBytes(packed, guard);
    if (method !== METHOD_STORED && method !== METHOD_DEFLATED)
      throw new Error(`its compression (${method}) is not known`);
    // A member that is larger than it declares is cut off there, and so is a zip bomb.
    const bytes = method === METHOD_STORED ? packed : inflateRawSync(packed, { maxOutputLength: Math.max(size, 1) });
    guard.add(bytes.length);
    return bytes;
  } catch (error) {
    throw new Error(`${name} cannot be unpacked: ${errorMessage(error)}`);
  }
}

/** @throws Error that names the member */
async function* memberPieces(fd: number, zip: ZipFile, entry: Entry, guard: BombGuard): AsyncGenerator<Uint8Array> {
  const { fileName: name, compressedSize: size, compressionMethod: method } = entry;
  try {
    if (entry.isEncrypted()) throw new Error('it is encrypted');
    const start = await dataStart(zip, entry);
    if (method === METHOD_ZSTD) {
      yield* unzstdIn(fd, start, start + size, guard);
      return;
    }
    if (method !== METHOD_STORED && method !== METHOD_DEFLATED)
      throw new Error(`its compression (${method}) is not known`);
    const packed = createReadStream('', { fd, start, end: start + size - 1, autoClose: false });
    const pieces: AsyncIterable<Buffer> = method === METHOD_STORED ? packed : packed.pipe(createInflateRaw());
    for await (const piece of pieces) {
      guard.add(piece.length);
      yield piece;
    }
  } catch (error) {
    throw new Error(`${name} cannot be unpacked: ${errorMessage(error)}`);
  }
}

const dataStart = (zip: ZipFile, entry: Entry): Promise<number> =>
  new Promise((resolve, reject) =>
    zip.readLocalFileHeader(entry, { minimal: true }, (error, header) =>
      error ? reject(error) : resolve(header.fileDataStart),
    ),
  );
