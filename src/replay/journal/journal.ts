import { z } from 'zod';
import { Folder, isOwnFile, ownerOf } from '../../core/files/folder.ts';
import { parseJson } from '../../core/json/parse.ts';
import { type Printable, printJson } from '../../core/json/print.ts';
import { objectIn } from '../../core/json/value.ts';
import { lastItem } from '../../core/lists/at.ts';
import { errorMessage } from '../../core/text/thrown.ts';
import { type Line, LinesFile } from './lines.ts';
import { type JournalFolder, type JournalPlace, journalPlace, type PlaceOptions, pathOf } from './place.ts';
import { Seal } from './seal.ts';

/** The fields common to all entries; the rest depends on the kind. */
export const EntryHead = z.object({
  /** recordKey of the record it is about. */
  record: z.string(),
  /** The record's place at the time: a hint for people, never a key. */
  locator: z.string(),
  at: z.string(),
});
export type EntryHead = z.infer<typeof EntryHead>;

/** A kind of entries, with one file each. A line that does not fit the schema is ignored. */
export interface EntryKind<T extends EntryHead> {
  name: 'replay' | 'fork' | 'rescore' | 'label';
  schema: z.ZodType<T>;
  /** In a folder that the user names, everybody has a file, and each entry counts for the name written in it. */
  isShared?: boolean;
}

/** An entry written by somebody else, or by an unknown author: shown with that name, never counted. */
export interface Reported<T> {
  by: string;
  entry: T;
}

interface Source {
  file: LinesFile;
  folder: JournalFolder;
  /** The file holds this user's own entries. */
  isMine: boolean;
}

interface KindOfEntries {
  kind: EntryKind<EntryHead>;
  sources: Source[];
  /** Lines that this process appended and nobody asked for yet; none of them is reported. */
  pending: { folder: JournalFolder; isOwn: boolean; text: string }[];
  /** When the files were last read, by this process's clock. */
  lookedAt: number;
  own: Map<string, EntryHead[]>;
  reported: Map<string, Reported<EntryHead>[]>;
}

/** Entries of this layout; those of version 0.1 have no number. */
const LAYOUT = 2;
/** Appending many entries looks for those of others this often. */
const LOOK_MS = 250;
/** The most people who may share a folder. */
const MOST_FILES = 200;
/** The most bytes to read from a file that may have come with a dump. */
const MOST_BYTES = { own: Number.POSITIVE_INFINITY, sealed: 1 << 28, reported: 1 << 24 };

/**
 * The user's results for one dump, append-only and found again at the next start. Nothing is ever changed or removed: the last entry about
 * something applies, the earlier ones are its history. Reading creates no file.
 */
export class Journal {
  readonly place: JournalPlace;
  readonly #kinds = new Map<string, KindOfEntries>();
  /** Keyed by whether others write there too. undefined: nothing was written yet; null: nothing can be. */
  readonly #homes = new Map<boolean, JournalFolder | null>();
  readonly #folders = new Map<JournalFolder, Folder>();
  #seal: Seal | null | undefined;
  /** Why entries are not where the user wanted them, or not on disk at all; null while all is well. */
  problem: string | null = null;

  constructor(place: JournalPlace) {
    this.place = place;
  }

  /** The journal of the dump at `path`, or of the dump that contains the file `path`. */
  static of(path: string | null, options: PlaceOptions = {}): Journal {
    return new Journal(journalPlace(path, options));
  }

  /** The folder for new entries, created if absent; null if nothing can be written, in which case entries live in memory only. */
  get directory(): string | null {
    const home = this.#writable();
    return home === null ? null : pathOf(home);
  }

  /** A folder inside the journal's directory to write into; null if nothing can be kept. @throws Error */
  subfolder(name: string): Folder | null {
    const home = this.#writable();
    return home === null ? null : this.#folder(home, true).folder(name, true);
  }

  #writable(isShared = false): JournalFolder | null {
    const known = this.#homes.get(isShared);
    if (known !== undefined) return known;
    const problems: string[] = [];
    let home: JournalFolder | null = null;
    const candidates = this.place.folders.filter(({ trust }) => trust !== 'reported');
    for (const one of candidates) {
      try {
        const isOpen = isShared && one.isNamed === true;
        if (!this.#folder(one, true).isOwn && !isOpen) throw new Error(`${pathOf(one)} belongs to another user`);
        if (one.trust === 'sealed' && this.#sealer() === null) throw new Error('there is no key to sign entries with');
        home = one;
        break;
      } catch (error) {
        problems.push(reasonOf(error));
      }
    }
    this.#homes.set(isShared, home);
    if (home === null) this.problem = `nothing is kept: ${problems.join('; ')}`;
    else if (home !== candidates[0]) this.problem = `${problems.join('; ')}; results are kept in ${pathOf(home)}`;
    return home;
  }

  #folder(place: JournalFolder, make: boolean): Folder {
    const known = this.#folders.get(place);
    if (known !== undefined) return known;
    const folder = Folder.open(place.base, place.names, make);
    this.#folders.set(place, folder);
    return folder;
  }

  /** null if the state directory is not writable. */
  #sealer(): Seal | null {
    if (this.#seal !== undefined) return this.#seal;
    try {
      const folder = this.#folder(this.place.state, true);
      this.#seal = folder.isOwn ? Seal.of(folder) : null;
    } catch {
      this.#seal = null;
    }
    return this.#seal;
  }

  /** Keeps an entry. A full disk loses the entry on disk but does not stop the program: see `problem`. */
  append<T extends EntryHead>(kind: EntryKind<T>, entry: Omit<EntryHead, 'at'> & { [key: string]: Printable }): void {
    const known = this.#kind(kind);
    const whole = { kind: kind.name, layout: LAYOUT, at: new Date().toISOString(), ...entry };
    const home = this.#writable(kind.isShared);
    const source = known.sources.find(({ folder, isMine }) => isMine && folder === home);
    try {
      if (source === undefined) throw new Error('in memory alone');
      const line = printJson(whole);
      const text = home?.trust === 'sealed' ? (this.#sealer() as Seal).seal(line) : line;
      // Reading back yields lines that others wrote meanwhile first, then this one.
      const isAlone = source.file.append(text);
      const { folder } = source;
      const { isOwn } = this.#folder(folder, false);
      if (isAlone) known.pending.push({ folder, isOwn, text });
      if (!isOwn) this.#read(kind);
      if (!isAlone || performance.now() - known.lookedAt > LOOK_MS) this.#refresh(kind);
    } catch (error) {
      if (source !== undefined) this.problem = `not all results were kept: ${reasonOf(error)}`;
      const read = kind.schema.safeParse(whole);
      if (read.success) keep(this.#read(kind).own, read.data);
    }
  }

  /** The entries for a record, oldest first, including those of this user's other processes. */
  entries<T extends EntryHead>(kind: EntryKind<T>, record: string): readonly T[] {
    this.#refresh(kind);
    return this.known(kind, record);
  }

  /** Like `entries`, limited to what has been read so far: for a screen, which calls it for every row it draws. */
  known<T extends EntryHead>(kind: EntryKind<T>, record: string): readonly T[] {
    return (this.#read(kind).own.get(record) ?? []) as unknown as readonly T[];
  }

  /** Entries beside the dump by another user or from version 0.1: shown as someone's claim, nothing more. */
  reported<T extends EntryHead>(kind: EntryKind<T>, record: string): readonly Reported<T>[] {
    return (this.#kind(kind).reported.get(record) ?? []) as unknown as readonly Reported<T>[];
  }

  /** The locators of records with entries of a kind, each from its last entry: hints, like every locator here. */
  locators<T extends EntryHead>(kind: EntryKind<T>): ReadonlySet<string> {
    return new Set([...this.#read(kind).own.values()].flatMap((entries) => entries.at(-1)?.locator ?? []));
  }

  /** Every record with entries of a kind, including reported ones, with the locator from its last entry: a hint. */
  records<T extends EntryHead>(kind: EntryKind<T>): { record: string; locator: string }[] {
    const { own, reported } = this.#read(kind);
    const places = new Map([...reported].map(([record, entries]) => [record, lastItem(entries).entry.locator]));
    for (const [record, entries] of own) places.set(record, lastItem(entries).locator);
    return [...places].map(([record, locator]) => ({ record, locator }));
  }

  close(): void {
    for (const { sources } of this.#kinds.values()) for (const { file } of sources) file.close();
    for (const folder of this.#folders.values()) folder.close();
    this.#folders.clear();
  }

  #refresh<T extends EntryHead>(kind: EntryKind<T>): void {
    const known = this.#read(kind);
    known.lookedAt = performance.now();
    for (const source of known.sources) {
      let owner: number | null = null;
      let isOwn = false;
      const look = (fd: number): boolean => {
        owner = ownerOf(fd);
        isOwn = isOwnFile(fd) && this.#folder(source.folder, false).isOwn;
        return true;
      };
      for (const line of source.file.news(look)) this.#take(known, source.folder, line, { owner, isOwn });
    }
  }

  /** A kind with the lines that were appended since: `append` leaves reading them to whoever asks. */
  #read<T extends EntryHead>(kind: EntryKind<T>): KindOfEntries {
    const known = this.#kind(kind);
    const owner = process.geteuid?.() ?? null;
    for (const { folder, isOwn, text } of known.pending.splice(0))
      this.#take(known, folder, { value: objectIn(parseJson(text)), text }, { owner, isOwn });
    return known;
  }

  #take(
    { kind, own, reported }: KindOfEntries,
    folder: JournalFolder,
    { value, text }: Line,
    { owner, isOwn }: { owner: number | null; isOwn: boolean },
  ): void {
    const read = kind.schema.safeParse(value);
    if (!read.success || value.kind !== kind.name) return;
    const entry = read.data;
    const isProven = folder.trust === 'own' || (folder.trust === 'sealed' && this.#sealer()?.holds(text) === true);
    const isHeard = isOwn || (kind.isShared === true && folder.isNamed === true);
    if (isHeard && isProven && value.layout === LAYOUT) keep(own, entry);
    else keep(reported, { by: speakerOf(folder, isOwn, owner), entry }, ({ entry: one }) => one);
  }

  /** The files of a kind in a folder, this user's first. */
  #filesOf(
    { name, isShared = false }: Pick<EntryKind<EntryHead>, 'name' | 'isShared'>,
    folder: JournalFolder,
  ): string[] {
    if (!isShared || folder.isNamed !== true) return [`${name}.jsonl`];
    const mine = `${name}-${userName()}.jsonl`;
    try {
      const isOne = (other: string): boolean =>
        other === `${name}.jsonl` || (other !== mine && other.startsWith(`${name}-`) && other.endsWith('.jsonl'));
      return [mine, ...this.#folder(folder, false).names().filter(isOne).slice(0, MOST_FILES)];
    } catch {
      return [mine, `${name}.jsonl`];
    }
  }

  #kind<T extends EntryHead>(kind: EntryKind<T>): KindOfEntries {
    const known = this.#kinds.get(kind.name);
    if (known !== undefined) return known;
    const sources = this.place.folders.flatMap((folder) =>
      this.#filesOf(kind, folder).map((name, i): Source => {
        const open = (mode: 'read' | 'append'): number => this.#folder(folder, false).openFile(name, mode);
        return { folder, file: new LinesFile(open, MOST_BYTES[folder.trust]), isMine: i === 0 };
      }),
    );
    const made: KindOfEntries = { kind, sources, pending: [], lookedAt: 0, own: new Map(), reported: new Map() };
    this.#kinds.set(kind.name, made);
    this.#refresh(kind);
    return made;
  }
}

const userName = (): string => String(process.geteuid?.() ?? 'me');

/** The source of a reported entry. */
function speakerOf({ trust }: JournalFolder, isOwn: boolean, owner: number | null): string {
  if (!isOwn && owner !== null && owner !== process.geteuid?.()) return `user ${owner}`;
  return trust === 'own' ? 'an earlier version' : 'what came with the dump';
}

/** The system's message names the open descriptor, not the path. */
const reasonOf = (error: unknown): string =>
  errorMessage(error).replace(/,? (?:open|mkdir) '\/proc\/self\/fd\/\d+\/([^']*)'/, ' ($1)');

function keep<T>(map: Map<string, T[]>, value: T, headOf: (value: T) => EntryHead = (one) => one as EntryHead): void {
  const { record, at } = headOf(value);
  const entries = map.get(record);
  if (entries === undefined) {
    map.set(record, [value]);
    return;
  }
  const last = entries.at(-1);
  const isLate = last !== undefined && headOf(last).at > at;
  entries.push(value);
  // A location read later may hold older entries.
  if (isLate) entries.sort((a, b) => (headOf(a).at < headOf(b).at ? -1 : headOf(a).at > headOf(b).at ? 1 : 0));
}
