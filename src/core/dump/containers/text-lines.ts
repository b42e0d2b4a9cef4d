import { closeSync, openSync, readSync } from 'node:fs';
import { gunzip } from './gzip.ts';
import { kindOf } from './kind.ts';
import { unzstd } from './zstd.ts';

/** The lines of a text file, possibly compressed, without blank ones. For small files beside a run's rollouts. */
export async function* linesIn(path: string): AsyncGenerator<string> {
  for await (const { text } of numberedLines(path)) yield text;
}

/** The same, with physical line numbers from 1. */
export async function* numberedLines(path: string): AsyncGenerator<{ text: string; line: number }> {
  const head = Buffer.alloc(16);
  const fd = openSync(path, 'r');
  try {
    readSync(fd, head, 0, 16, 0);
  } finally {
    closeSync(fd);
  }
  const kind = kindOf(head, path);
  const chunks = kind === 'zstd' ? unzstd(path) : kind === 'gzip' ? gunzip(path) : plainChunks(path);
  const decoder = new TextDecoder();
  let rest = '';
  let line = 0;
  for await (const chunk of chunks) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const text of lines) {
      line++;
      if (text.trim() !== '') yield { text, line };
    }
  }
  if (rest.trim() !== '') yield { text: rest, line: line + 1 };
}

function* plainChunks(path: string): Generator<Uint8Array> {
  const fd = openSync(path, 'r');
  try {
    for (let at = 0; ; ) {
      const chunk = Buffer.allocUnsafe(1 << 20);
      const length = readSync(fd, chunk, 0, chunk.length, at);
      if (length === 0) return;
      at += length;
      yield chunk.subarray(0, length);
    }
  } finally {
    closeSync(fd);
  }
}
