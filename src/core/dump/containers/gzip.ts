import { createReadStream, statSync } from 'node:fs';
import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { errorMessage } from '../../text/thrown.ts';
import { bytesInOrder, type NeedBytes } from './file-bytes.ts';
import { BombGuard } from './limits.ts';

/**
 * Unpacks a .gz chunk by chunk. A damaged or half-written archive ends with an error after the part that could be
 * unpacked.
 * @param need for a file that is elsewhere: its bytes are asked for in their order
 */
export async function* gunzip(path: string, need: NeedBytes | null = null): AsyncGenerator<Uint8Array> {
  const guard = new BombGuard(statSync(path).size);
  const packed = need === null ? createReadStream(path) : Readable.from(bytesInOrder(path, need), { highWaterMark: 1 });
  const unpacking = createGunzip({ chunkSize: 1 << 18 });
  let unread: Error | null = null;
  packed.on('error', (error: Error) => {
    unread = error;
    unpacking.destroy(error);
  });
  try {
    const chunks: AsyncIterable<Buffer> = packed.pipe(unpacking);
    for await (const chunk of chunks) {
      guard.add(chunk.length);
      yield chunk;
    }
  } catch (error) {
    if (unread !== null) throw unread;
    const message = errorMessage(error);
    throw new Error(message.startsWith('unpacks to') ? message : `the archive is damaged or not complete: ${message}`);
  }
}
