import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { type AskedText, FORM_RECORDS, type Forms, formsOf } from '../chat/forms.ts';
import type { ReadContext } from '../formats/format.ts';

/** The bytes of a file that tell its forms. */
const HEAD = 1 << 20;

type ReadLine = (line: string, context: ReadContext) => unknown;

/** Files are read one after another, or a few beside one another. */
const MAX_KEPT = 32;
const kept = new Map<string, Forms | null>();

/**
 * The forms that the records at the start of a file repeat; null if it cannot be read, or if no record asks for it. Each reader
 * of the file finds the same. @param read reads a line, and so asks with its texts
 */
export function formsOfFile(path: string, context: ReadContext, read: ReadLine): Forms | null {
  try {
    const stat = statSync(path);
    if (!stat.isFile()) return null;
    const { dev, ino, size, mtimeMs } = stat;
    // Behind its head a file may grow.
    const name = [path, dev, ino, Math.min(size, HEAD), size < HEAD ? mtimeMs : ''].join('\n');
    const known = kept.get(name);
    if (known !== undefined) return known;
    const forms = formsUpTo(path, size, context, read);
    const [oldest] = kept.keys();
    if (kept.size >= MAX_KEPT && oldest !== undefined) kept.delete(oldest);
    kept.set(name, forms);
    return forms;
  } catch {
    return null;
  }
}

/** Do the bytes between two ends of a file add no form? A file without a name, such as that of a stream, has none. */
export function hasSameForms(path: string, before: number, now: number, context: ReadContext, read: ReadLine): boolean {
  if (before >= Math.min(now, HEAD)) return true;
  try {
    return isDeepStrictEqual(formsUpTo(path, before, context, read), formsUpTo(path, now, context, read));
  } catch {
    return true;
  }
}

function formsUpTo(path: string, end: number, context: ReadContext, read: ReadLine): Forms | null {
  const head = Buffer.alloc(Math.min(end, HEAD));
  const fd = openSync(path, 'r');
  let length = 0;
  try {
    for (let got = -1; got !== 0 && length < head.length; length += got)
      got = readSync(fd, head, length, head.length - length, length);
  } finally {
    closeSync(fd);
  }
  const lines = head.toString('utf8', 0, length).split('\n', FORM_RECORDS);
  const asked: AskedText[] = [];
  const forms = (one: AskedText): null => {
    asked.push(one);
    return null;
  };
  for (const line of lines) if (line.trim() !== '') read(line, { ...context, forms });
  return asked.length === 0 ? null : formsOf(asked);
}
