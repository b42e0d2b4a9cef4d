import { appendFileSync, readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { ensureFolder } from '../files/ensure-folder.ts';
import { parseJson } from '../json/parse.ts';
import { isJsonObject } from '../json/value.ts';
import type { LineIndex } from './line-index.ts';

/** The place of a rollout's bytes. Different bytes at the place, as written by another run, are another rollout. */
interface ReadPlace {
  path: string;
  offset: number;
  bytes: number;
  /** Its place on its line, 0 if it is the only one. */
  part: number;
}

/**
 * The rollouts that this user has read, in any dump. The file is append-only, so its contents survive however the
 * program ends.
 */
export class ReadMarks {
  readonly #path: string;
  /** By path of a dump's file: bytes by place. */
  #known: Map<string, Map<string, number>> | null = null;
  #count = 0;

  /** @param path of the file that keeps them; need not exist */
  constructor(path: string) {
    this.#path = path;
  }

  /** Changes with every mark, because a list filtered by marks may change. */
  get count(): number {
    return this.#count;
  }

  has(path: string, index: LineIndex, record: number): boolean {
    const own = this.#marks().get(resolve(path));
    return own !== undefined && own.get(`${index.offset(record)}.${index.part(record)}`) === index.length(record);
  }

  /**
   * Marks a rollout as read. A mark that cannot be written lasts until the program ends: not worth an error message.
   */
  add(path: string, index: LineIndex, record: number): void {
    if (this.has(path, index, record)) return;
    const [offset, bytes, part] = [index.offset(record), index.length(record), index.part(record)];
    const place: ReadPlace = { path: resolve(path), offset, bytes, part };
    this.#take(place);
    try {
      ensureFolder(dirname(this.#path), 0o700);
      // A previously truncated line must not swallow this one.
      appendFileSync(this.#path, `\n${JSON.stringify(place)}`, { mode: 0o600 });
    } catch {
      // The next session starts without it.
    }
  }

  #marks(): Map<string, Map<string, number>> {
    if (this.#known !== null) return this.#known;
    this.#known = new Map();
    for (const line of markLines(this.#path)) {
      const place = markPlace(line);
      if (place !== null) this.#take(place);
    }
    return this.#known;
  }

  #take({ path, offset, bytes, part }: ReadPlace): void {
    const known = this.#known!;
    const own = known.get(path) ?? new Map<string, number>();
    known.set(path, own.set(`${offset}.${part}`, bytes));
    this.#count++;
  }
}

function markLines(path: string): string[] {
  try {
    return readFileSync(path, 'utf8').split('\n');
  } catch {
    return [];
  }
}

/** null for a line that is not a place. */
function markPlace(line: string): ReadPlace | null {
  if (line === '') return null;
  try {
    const value = parseJson(line);
    if (!isJsonObject(value)) return null;
    const { path, offset, bytes, part } = value;
    const areNumbers = [offset, bytes, part].every((one) => typeof one === 'number');
    return typeof path === 'string' && areNumbers ? (value as unknown as ReadPlace) : null;
  } catch {
    return null;
  }
}
