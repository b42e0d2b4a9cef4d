import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { errorMessage } from '../text/thrown.ts';
import { kindOf } from './containers/kind.ts';
import { Dump, type DumpOptions } from './dump.ts';
import { DumpFile, QUIET } from './dump-file.ts';
import { FileContent } from './file-content.ts';
import { addNameless, openNameless } from './nameless-file.ts';

export interface StreamedDump {
  dump: Dump;
  ended: Promise<void>;
  /** Stops reading. */
  stop(): void;
}

/**
 * A dump that arrives through a pipe (`tail -F`, `ssh … cat`, `kubectl logs`). It is saved to a nameless file, so that
 * memory stays flat and any record can be read again; its locators are `-:LINE`.
 */
export function dumpOfStream(stream: Readable, { reading }: DumpOptions = {}): StreamedDump {
  const fd = openNameless();
  const file = new DumpFile({ path: '-', stream: 'stdin' }, () => false, new FileContent('-', fd), reading);
  const dump = Dump.of(file);
  return { dump, ended: takeStream(stream, fd, dump, file), stop: () => stream.destroy() };
}

/** Nothing else looks at a stream again once no byte has come for a while. */
function tellQuiet(dump: Dump): () => void {
  let timer: NodeJS.Timeout | undefined;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(() => dump.notify(), QUIET + 10).unref();
  };
}

async function takeStream(stream: Readable, fd: number, dump: Dump, file: DumpFile): Promise<void> {
  const came = tellQuiet(dump);
  try {
    for await (const chunk of await unpacked(stream)) {
      if (dump.isClosed) return;
      addNameless(fd, chunk);
      await dump.refresh(file);
      came();
    }
  } catch (error) {
    dump.notices.push(`stdin: ${errorMessage(error)}`);
  }
  // The stream has ended, so a last line without its newline is complete.
  await dump.refresh(file, false);
  dump.hasEnded = true;
  dump.notify();
}

/** The stream, decompressed if it begins like an archive. */
async function unpacked(stream: Readable): Promise<AsyncIterable<Buffer>> {
  const chunks: AsyncIterator<Buffer> = stream[Symbol.asyncIterator]();
  const first = await chunks.next();
  if (first.done) return (async function* () {})();
  const start = first.value;
  async function* all() {
    yield start;
    for (let next = await chunks.next(); !next.done; next = await chunks.next()) yield next.value;
  }
  return kindOf(start, '-') === 'gzip' ? Readable.from(all()).pipe(createGunzip()) : all();
}
