import { join } from 'node:path';
import type { Printable } from '../json/print.ts';
import type { JsonObject } from '../json/value.ts';
import { LinesFile } from './lines.ts';
import { type JournalPlace, journalPlace, type PlaceOptions, writablePlace } from './place.ts';

/** What an entry says of itself; the rest belongs to its kind. */
export interface EntryHead {
  /** recordKey of the record it is about. */
  record: string;
  /** Where the record lay then: a hint for people, never a key. */
  locator: string;
}

export type Entry = JsonObject & { kind: string; record: string; locator: string; at: string };

/** Kinds of entries, a file each; a later version may know more. */
export type EntryKind = 'replay' | 'fork' | 'rescore' | 'label';

interface KindOfEntries {
  /** By directory: a place that could not be written once may hold older work. */
  files: LinesFile[];
  byRecord: Map<string, Entry[]>;
}

/**
 * What the user's work on one dump leaves, append-only, found again at the next start. Nothing is ever changed or taken out: of entries on
 * the same thing the last one holds, the others are its history. Reading makes no file.
 */
export class Journal {
  readonly place: JournalPlace;
  readonly #kinds = new Map<EntryKind, KindOfEntries>();
  /** undefined: nothing was written yet; null: nothing can be. */
  #directory: string | null | undefined;
  /** Why entries are not where they were wished, or not on disk at all; null while all is well. */
  problem: string | null = null;

  constructor(place: JournalPlace) {
    this.place = place;
  }

  /** The journal of the dump that `path` is, or is a file of. */
  static of(path: string | null, options: PlaceOptions = {}): Journal {
    return new Journal(journalPlace(path, options));
  }

  /** Where entries are written, made now if it was not there; null where nothing can be, and they live in memory alone. */
  get directory(): string | null {
    if (this.#directory === undefined) {
      this.#directory = writablePlace(this.place);
      const [wished] = this.place.directories;
      if (this.#directory === null)
        this.problem = `nothing is kept: ${this.place.directories.join(' and ')} cannot be written`;
      else if (this.#directory !== wished)
        this.problem = `${wished} cannot be written; results are kept in ${this.#directory}`;
    }
    return this.#directory;
  }

  /** Keeps an entry. A disk that is full costs the entry its file, not the program its life: see `problem`. */
  append(kind: EntryKind, entry: EntryHead & { [key: string]: Printable }): void {
    const { files, byRecord } = this.#kind(kind);
    const whole = { kind, at: new Date().toISOString(), ...entry };
    const file = this.directory === null ? undefined : files[this.place.directories.indexOf(this.directory)];
    try {
      if (file === undefined) throw new Error('in memory alone');
      // What others wrote before it comes first, and then this line comes back the same way.
      file.append(whole);
      this.#refresh(kind);
    } catch (error) {
      if (file !== undefined) this.problem = `not all results were kept: ${file.path}: ${(error as Error).message}`;
      keep(byRecord, whole as unknown as Entry);
    }
  }

  /** The entries on a record, oldest first, those of other processes included. */
  entries(kind: EntryKind, record: string): readonly Entry[] {
    this.#refresh(kind);
    return this.known(kind, record);
  }

  /** As `entries`, of what was read so far: for a screen, which asks for every row it draws. */
  known(kind: EntryKind, record: string): readonly Entry[] {
    return this.#kind(kind).byRecord.get(record) ?? [];
  }

  /** Where the records lay that have entries of a kind, each at its last entry: hints, as every locator here. */
  locators(kind: EntryKind): ReadonlySet<string> {
    return new Set([...this.#kind(kind).byRecord.values()].map((entries) => entries.at(-1)!.locator));
  }

  close(): void {
    for (const { files } of this.#kinds.values()) for (const file of files) file.close();
  }

  #refresh(kind: EntryKind): void {
    const { files, byRecord } = this.#kind(kind);
    for (const file of files) for (const value of file.news()) if (isEntry(value)) keep(byRecord, value);
  }

  #kind(kind: EntryKind): KindOfEntries {
    const known = this.#kinds.get(kind);
    if (known !== undefined) return known;
    const files = this.place.directories.map((directory) => new LinesFile(join(directory, `${kind}.jsonl`)));
    const made = { files, byRecord: new Map<string, Entry[]>() };
    this.#kinds.set(kind, made);
    this.#refresh(kind);
    return made;
  }
}

function keep(byRecord: Map<string, Entry[]>, entry: Entry): void {
  const entries = byRecord.get(entry.record);
  if (entries === undefined) {
    byRecord.set(entry.record, [entry]);
    return;
  }
  const isLate = (entries.at(-1)?.at ?? '') > entry.at;
  entries.push(entry);
  // Of several places, the one that is read later may hold what is older.
  if (isLate) entries.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
}

const isEntry = (value: JsonObject): value is Entry =>
  typeof value.record === 'string' &&
  typeof value.kind === 'string' &&
  typeof value.locator === 'string' &&
  typeof value.at === 'string';
