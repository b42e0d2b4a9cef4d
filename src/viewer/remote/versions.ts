import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { VERSIONS } from './copies.ts';

/** The version whose bytes each copy holds, noted before the first of them comes. */
export class KeptVersions {
  readonly #path: string;
  readonly #versions = new Map<string, string>();

  constructor(folder: string) {
    this.#path = join(folder, VERSIONS);
    const lines = keptLines(this.#path);
    for (const line of lines) {
      const [version = '', path] = line.split('\t');
      if (path !== undefined) this.#versions.set(path, version);
    }
    if (lines.length > 1000 && lines.length > 2 * this.#versions.size)
      writeFileSync(this.#path, [...this.#versions].map(lineOf).join(''));
  }

  has = (path: string, version: string): boolean =>
    this.#versions.get(encodeURIComponent(path)) === encodeURIComponent(version);

  note(path: string, version: string): void {
    const entry: [string, string] = [encodeURIComponent(path), encodeURIComponent(version)];
    this.#versions.set(...entry);
    appendFileSync(this.#path, lineOf(entry), { mode: 0o600 });
  }
}

const lineOf = ([path, version]: [string, string]): string => `${version}\t${path}\n`;

function keptLines(path: string): string[] {
  try {
    // A line that was cut off does not count.
    return readFileSync(path, 'utf8').split('\n').slice(0, -1);
  } catch {
    return [];
  }
}
