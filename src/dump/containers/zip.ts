import { closeSync, fstatSync, openSync } from 'node:fs';
import { type Entry, fromFd, type ZipFile } from 'yauzl';
import { BombGuard, LARGEST_RECORD } from './limits.ts';
import { unzstdBytes } from './zstd.ts';

/** A member of a zip; of members of one name the last one counts, as for Python's zipfile. */
export interface Member {
  name: string;
  size: number;
  bytes(): Promise<Uint8Array>;
}

/** zstd, which Inspect uses since 2026; yauzl leaves it to us. */
const METHOD_ZSTD = 93;

/** The members of an archive by name, in the order of its directory. @param use what is done with them; the file is open as long */
export async function* inZip<T>(
  path: string,
  use: (members: Map<string, Member>) => AsyncIterable<T>,
): AsyncGenerator<T> {
  const fd = openSync(path, 'r');
  try {
    const guard = new BombGuard(fstatSync(fd).size);
    const zip = await new Promise<ZipFile>((resolve, reject) =>
      fromFd(fd, { lazyEntries: true, autoClose: false, validateEntrySizes: false }, (error, opened) =>
        error ? reject(new Error(`not a whole zip: ${error.message}`)) : resolve(opened),
      ),
    );
    const members = new Map<string, Member>();
    for (const entry of await entriesOf(zip)) {
      const name = entry.fileName;
      if (name.endsWith('/')) continue;
      members.set(name, { name, size: entry.uncompressedSize, bytes: () => bytesOf(zip, entry, guard) });
    }
    yield* use(members);
  } finally {
    closeSync(fd);
  }
}

function entriesOf(zip: ZipFile): Promise<Entry[]> {
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
async function bytesOf(zip: ZipFile, entry: Entry, guard: BombGuard): Promise<Uint8Array> {
  const { fileName: name, uncompressedSize: size } = entry;
  if (size > LARGEST_RECORD) throw new Error(`${name} has ${size} bytes, more than can be read at once`);
  const isZstd = entry.compressionMethod === METHOD_ZSTD;
  const parts: Buffer[] = [];
  try {
    const stream = await new Promise<NodeJS.ReadableStream>((resolve, reject) => {
      const take = (error: Error | null, opened: NodeJS.ReadableStream) => (error ? reject(error) : resolve(opened));
      if (isZstd) zip.openReadStream(entry, { decodeFileData: false } as never, take as never);
      else zip.openReadStream(entry, take as never);
    });
    for await (const chunk of stream) {
      if (!isZstd) guard.add((chunk as Buffer).length);
      parts.push(chunk as Buffer);
    }
    const bytes = Buffer.concat(parts);
    if (!isZstd) return bytes;
    return await unzstdBytes(bytes, guard);
  } catch (error) {
    throw new Error(`${name} cannot be unpacked: ${(error as Error).message}`);
  }
}
