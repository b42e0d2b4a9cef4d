import { join } from 'node:path';
import type { JsonObject } from '../rollout/json.ts';
import type { Printable } from '../rollout/json-print.ts';
import { LinesFile } from './lines.ts';
import { type JournalPlace, journalPlace, type PlaceOptions } from './place.ts';

/** What an entry says of itself; the rest belongs to its kind. */
export interface EntryHead {
  /** recordKey of the record it is about. */
  record: string;
  /** Where the record lay then: a hint for people, never a key. */
  locator: string;
}

export type Entry = JsonObject & { kind: string; record: string; locator: string; at: string };

/** Kinds of entries, a file each; a later version may know more. */
export type EntryKind = 'replay' | 'fork' | 'label';

/**
 * What the user's work on one dump leaves, append-only, found again at the next start. Nothing is ever changed or taken out: of entries on
 * the same thing the last one holds, the others are its history.
 */
export class Journal {
  readonly place: JournalPlace;
  readonly #files = new Map<EntryKind, { lines: LinesFile | null; byRecord: Map<string, Entry[]> }>();
  /** Why the last append was not kept on disk; null while all were. */
  problem: string | null = null;

  constructor(place: JournalPlace) {
    this.place = place;
  }

  /** The journal of the dump that `path` is, or is a file of. Never throws: where nothing can be written it lives in memory. */
  static of(path: string | null, options: PlaceOptions = {}): Journal {
    return new Journal(journalPlace(path, options));
  }

  get directory(): string | null {
    return this.place.directory;
  }

  /** Keeps an entry. A disk that is full costs the entry its file, not the program its life: see `problem`. */
  append(kind: EntryKind, entry: EntryHead & { [key: string]: Printable }): void {
    const file = this.#file(kind);
    const whole = { kind, at: new Date().toISOString(), ...entry };
    if (file.lines !== null) {
      try {
        // What others wrote before comes first, and then this line comes back by the same way.
        file.lines.append(whole);
        this.#refresh(kind);
        return;
      } catch (error) {
        this.problem = `${file.lines.path}: ${(error as Error).message}`;
      }
    }
    keep(file.byRecord, whole as unknown as Entry);
  }

  /** The entries on a record, oldest first, those of other processes included. */
  entries(kind: EntryKind, record: string): readonly Entry[] {
    this.#refresh(kind);
    return this.#file(kind).byRecord.get(record) ?? [];
  }

  /** As `entries`, of what was read so far: for a screen, which asks for every row it draws. */
  known(kind: EntryKind, record: string): readonly Entry[] {
    return this.#file(kind).byRecord.get(record) ?? [];
  }

  close(): void {
    for (const { lines } of this.#files.values()) lines?.close();
  }

  #refresh(kind: EntryKind): void {
    const { lines, byRecord } = this.#file(kind);
    for (const value of lines?.news() ?? []) if (isEntry(value)) keep(byRecord, value);
  }

  #file(kind: EntryKind) {
    const known = this.#files.get(kind);
    if (known !== undefined) return known;
    const { directory } = this.place;
    const file = {
      lines: directory === null ? null : new LinesFile(join(directory, `${kind}.jsonl`)),
      byRecord: new Map<string, Entry[]>(),
    };
    this.#files.set(kind, file);
    this.#refresh(kind);
    return file;
  }
}

function keep(byRecord: Map<string, Entry[]>, entry: Entry): void {
  const entries = byRecord.get(entry.record);
  if (entries === undefined) byRecord.set(entry.record, [entry]);
  else entries.push(entry);
}

const isEntry = (value: JsonObject): value is Entry =>
  typeof value.record === 'string' && typeof value.kind === 'string' && typeof value.locator === 'string';
