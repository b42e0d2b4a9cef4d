import { closeSync, constants, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { ensureFolder } from '../../core/files/ensure-folder.ts';
import { hashOf } from '../../core/json/fingerprint.ts';
import { type Printable, printJson } from '../../core/json/print.ts';
import { errorMessage } from '../../core/text/thrown.ts';

const { O_APPEND, O_CREAT, O_NOFOLLOW, O_WRONLY } = constants;

/** The file of one rollout: one event per line, each written at once, so that a killed recorder loses no complete event. */
export class RecordFile {
  readonly path: string;
  readonly #onProblem: (problem: string) => void;
  #fd: number | null = null;
  /** The last line is cut: what follows must not be glued to it. */
  #isCut = false;

  /** @param onProblem called for each event that could not be saved; the agent continues */
  constructor(folder: string, name: string, onProblem: (problem: string) => void) {
    this.path = join(folder, `${fileName(name)}.jsonl`);
    this.#onProblem = onProblem;
    try {
      ensureFolder(folder);
      this.#fd = openSync(this.path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW, 0o644);
    } catch (error) {
      onProblem(`${this.path}: ${errorMessage(error)}`);
    }
  }

  append(event: { [key: string]: Printable }): void {
    if (this.#fd === null) return;
    const bytes = Buffer.from(`${this.#isCut ? '\n' : ''}${printJson({ recorder: 1, ...event })}\n`);
    let at = 0;
    try {
      while (at < bytes.length) at += writeSync(this.#fd, bytes, at);
      this.#isCut = false;
    } catch (error) {
      this.#isCut ||= at > 0;
      this.#onProblem(`${this.path}: an event is lost: ${errorMessage(error)}`);
    }
  }

  close(): void {
    if (this.#fd !== null) closeSync(this.#fd);
    this.#fd = null;
  }
}

/** A client's name is untrusted: everything but plain characters is replaced, and a hash keeps such names distinct. */
function fileName(name: string): string {
  const plain = name
    .replace(/[^A-Za-z0-9_.-]/g, '_')
    .replace(/^\.+/, '_')
    .slice(0, 100);
  return plain === name && plain !== '' ? plain : `${plain}-${hashOf(name)}`;
}
