import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { ensureFolder } from '../../core/files/ensure-folder.ts';

/** Lines that a history file may reach before it is trimmed. */
const MAX_LINES = 2000;

/**
 * The entries of the prompts, one JSON array `[prompt, value]` per line. Several programs append to it concurrently; an unreadable or
 * unwritable history is not worth a message.
 */
export class History {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  load(): Record<string, string[]> {
    const known: Record<string, string[]> = {};
    let lines: string[];
    try {
      lines = readFileSync(this.#path, 'utf8').split('\n').filter(Boolean);
    } catch {
      return known;
    }
    for (const line of lines) {
      const entry = entryOf(line);
      if (entry === null) continue;
      const [prompt, value] = entry;
      known[prompt] = [...(known[prompt] ?? []).filter((other) => other !== value), value];
    }
    if (lines.length > MAX_LINES)
      this.#write(() => writeFileSync(this.#path, `${lines.slice(-MAX_LINES / 2).join('\n')}\n`));
    return known;
  }

  add(prompt: string, value: string): void {
    this.#write(() => {
      ensureFolder(dirname(this.#path), 0o700);
      appendFileSync(this.#path, `${JSON.stringify([prompt, value])}\n`, { mode: 0o600 });
    });
  }

  #write(write: () => void): void {
    try {
      write();
    } catch {
      // The home directory is not writable.
    }
  }
}

function entryOf(line: string): readonly [string, string] | null {
  try {
    const entry: unknown = JSON.parse(line);
    if (!Array.isArray(entry) || typeof entry[0] !== 'string' || typeof entry[1] !== 'string') return null;
    return [entry[0], entry[1]];
  } catch {
    return null;
  }
}
