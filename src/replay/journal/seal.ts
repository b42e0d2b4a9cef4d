import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { closeSync, readFileSync, writeSync } from 'node:fs';
import type { Folder } from '../../core/files/folder.ts';

const KEY = 'journal.key';
const SEALED = /,"seal":"([0-9a-f]{64})"\}$/;

/**
 * Distinguishes lines this user wrote from lines that came with a dump: each ends in a keyed hash, under a key that never leaves the state
 * directory.
 */
export class Seal {
  readonly #key: Buffer;

  private constructor(key: Buffer) {
    this.#key = key;
  }

  /** The user's key, created if absent. @throws Error if the folder is not writable */
  static of(folder: Folder): Seal {
    const read = folder.openFile(KEY, 'append');
    try {
      const known = readFileSync(read, 'latin1').trim();
      if (/^[0-9a-f]{64}$/.test(known)) return new Seal(Buffer.from(known, 'hex'));
      if (known !== '') throw new Error(`${folder.path}/${KEY} holds no key; remove it to have a new one`);
      const made = randomBytes(32);
      writeSync(read, `${made.toString('hex')}\n`);
      return new Seal(made);
    } finally {
      closeSync(read);
    }
  }

  /** @param line a JSON object with at least one key */
  seal(line: string): string {
    return `${line.slice(0, -1)},"seal":"${this.#of(line)}"}`;
  }

  holds(line: string): boolean {
    const found = SEALED.exec(line);
    if (found === null) return false;
    const expected = Buffer.from(this.#of(`${line.slice(0, found.index)}}`));
    return timingSafeEqual(expected, Buffer.from(found[1] ?? ''));
  }

  #of(line: string): string {
    return createHmac('sha256', this.#key).update(line).digest('hex');
  }
}
