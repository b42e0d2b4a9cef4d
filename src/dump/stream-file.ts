import { writeSync } from 'node:fs';
import { Dump } from './dump.ts';
import { DumpFile } from './dump-file.ts';
import { FileContent } from './file-content.ts';
import { openNameless } from './nameless-file.ts';

/**
 * A dump that comes through a pipe (`tail -F`, `ssh … cat`, `kubectl logs`). It is kept in a nameless file, so that memory stays
 * flat and any record can be read again; its locators are `-:LINE`.
 */
export function dumpOfStream(stream: NodeJS.ReadableStream): { dump: Dump; ended: Promise<void> } {
  const fd = openNameless();
  const file = new DumpFile({ path: '-', stream: 'stdin' }, () => false, new FileContent('-', fd));
  const dump = Dump.of(file);
  return { dump, ended: take(stream, fd, dump, file) };
}

async function take(stream: NodeJS.ReadableStream, fd: number, dump: Dump, file: DumpFile): Promise<void> {
  try {
    for await (const chunk of stream) {
      if (dump.isClosed) return;
      writeSync(fd, chunk as Buffer);
      await dump.refresh(file);
    }
  } catch (error) {
    dump.notices.push(`stdin: ${(error as Error).message}`);
  }
  // The stream is over: a last line without its newline is whole.
  await dump.refresh(file, false);
}
