import { createReadStream, statSync } from 'node:fs';
import { createGunzip } from 'node:zlib';
import { errorMessage } from '../../text/thrown.ts';
import { BombGuard } from './limits.ts';

/**
 * Unpacks a .gz chunk by chunk. A damaged or half-written archive ends with an error after the part that could be
 * unpacked.
 */
export async function* gunzip(path: string): AsyncGenerator<Uint8Array> {
  const guard = new BombGuard(statSync(path).size);
  try {
    const chunks: AsyncIterable<Buffer> = createReadStream(path).pipe(createGunzip({ chunkSize: 1 << 18 }));
    for await (const chunk of chunks) {
      guard.add(chunk.length);
      yield chunk;
    }
  } catch (error) {
    const message = errorMessage(error);
    throw new Error(message.startsWith('unpacks to') ? message : `the archive is damaged or not complete: ${message}`);
  }
}
