import { setMaxListeners } from 'node:events';
import {
  closeSync,
  existsSync,
  futimesSync,
  openSync,
  renameSync,
  statSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as rest, setImmediate } from 'node:timers/promises';
import { noteOrigin, type PartialFile } from '../../core/dump/origins.ts';
import { ensureFolder } from '../../core/files/ensure-folder.ts';
import { roomProblem, writeWhole } from '../../core/files/temporary.ts';
import { mirrorName } from '../../core/text/shown-path.ts';
import type { Address } from './address.ts';
import { AwaySheet } from './away-sheet.ts';
import { cachedFiles, copyAt, hiddenName, layPending, partAt, removeCopy, shownCopies, tailOf } from './copies.ts';
import { filesOfNewestStep, filesToBring, isToolsFile } from './files-to-bring.ts';
import { type Machine, type RemoteFile, SourceError } from './machine.ts';
import { ObjectParts, type PartPaths, partPaths, removeOtherVersions } from './object-parts.ts';
import { checkedListing } from './plain-path.ts';
import { KeptVersions } from './versions.ts';

export interface MirrorOptions {
  source: Machine;
  address: Address;
  /** The cache of all machines. */
  cache: string;
  /** Bytes that the cache may hold. */
  most: number;
  /** Keeps copying what arrives. */
  follows: boolean;
  /**
   * Of objects: all; the newest step and what somebody looks at, where the others are rows that say so; or the parts alone that are read,
   * for a command that may stop before the end.
   */
  brings?: 'all' | 'looked-at' | 'parts';
  /** Attempts before a lost connection is given up; retries are unlimited if the source is followed and part of it is here. */
  attempts: number;
}

/** Bytes of the local copy that are read again before a file is continued: if they differ, it is another file. */
const OVERLAP = 4096;
/** The list is refreshed after this long, or after ten times as long as it took. */
const LOOK_MS = 2000;
const LIST_SHARE = 10;
const LONGEST_PAUSE_MS = 30_000;
const FIRST_PAUSE_MS = 100;
const NOT_HERE_YET = 'not here yet';
const FULL = 'the cache is full (--cache-size)';
/** Files with these names can be read while incomplete. */
export const GROWS = /\.(jsonl|ndjson|jl|log|csv)$/i;
/** Objects with these names come in parts, and the part that somebody reads comes first. */
const IN_PARTS = /\.(parquet|zst)$/i;
/** A smaller object comes as fast whole. */
const SMALLEST_IN_PARTS = 1 << 20;
/** Bytes freed at once for parts that come: to look for old copies takes longer than a part. */
const FREED_AT_ONCE = 64 << 20;
/** Placeholders laid before the answers of a store have their turn. */
const LAID_AT_ONCE = 100;
/** The files that are here are not counted for each piece. */
const COUNT_MS = 200;

const megabytes = (bytes: number): string => `${Math.ceil(bytes / 1e5) / 10} MB`;

/**
 * A copy of a remote folder, the newest step first, transferring only appended bytes. A file that has not arrived yet is a row that says
 * so. The source is only read, never changed.
 */
export class Mirror {
  readonly #options: MirrorOptions;
  readonly #folder: string;
  readonly #stop = new AbortController();
  readonly #listeners = new Set<() => void>();
  /** Transfers of this session, and the content each belonged to. */
  readonly #brought = new Map<string, { inode: string; modified: number | null; at: number }>();
  readonly #bringing = new Map<string, Promise<void>>();
  /** The file whose end is followed. */
  #tail: { path: string; over: AbortController } | null = null;
  /** The files of the first list, and those that came later, with the size at which news begins. */
  #known: Map<string, { inode: string; size: number }> | null = null;
  /** When the current list was requested. */
  #listed = 0;
  #status: string | null = null;
  #root: string | null = null;
  #first!: () => void;
  /** Resolved once there is something to open. */
  readonly #hasFirst = new Promise<void>((resolve) => {
    this.#first = resolve;
  });
  /** Rows for what is not here: a dump that is opened before them would meet each as a change. */
  #laying: Promise<unknown> = Promise.resolve();
  #ended: Promise<void> | null = null;
  /** Bytes of free room in the cache. */
  #room = 0;
  /** Files that delivered more than announced, and more than there was room for: they are not requested again. */
  readonly #endless = new Set<string>();
  /** Files that may not be read, with the reason. */
  readonly #refused = new Map<string, string>();
  readonly #versions: KeptVersions;
  /** The files of the current list, the newest step first. */
  #files: readonly RemoteFile[] = [];
  /** Files that somebody looked at: they are kept up to date. */
  readonly #lookedAt = new Set<string>();
  /** The file that somebody looks at now, while another is still transferred for them. */
  #next: RemoteFile | null = null;
  #isBringingLookedAt = false;
  /** Placeholders of this session, which need no second look. */
  readonly #laid = new Map<string, string>();
  readonly #folders = new Set<string>();
  readonly #sheet = new AwaySheet();
  /** Paths of the cache at which there was something when the list was made. */
  #here: ReadonlySet<string> = new Set();
  /** Objects that come in parts. */
  readonly #parts = new Map<string, { version: string; parts: ObjectParts }>();
  /** When the files that are here were last counted. */
  #counted = 0;
  /** Bytes that came in this session. */
  #read = 0;
  /** Since the connection was last lost. */
  #cameBytes = false;
  /** Bytes beyond those that were already here. */
  #cameNews = false;

  constructor(options: MirrorOptions) {
    this.#options = options;
    this.#folder = join(options.cache, mirrorName(options.address.name, options.source.endpoint));
    this.#versions = new KeptVersions(this.#folder);
    // Each of many transfers listens.
    setMaxListeners(0, this.#stop.signal);
  }

  /** The connection state, for a person; null if everything is here. */
  get status(): string | null {
    return this.#status;
  }

  onStatus(listener: () => void): void {
    this.#listeners.add(listener);
  }

  /**
   * Starts to fill. @returns the local path of the named file or folder, once its first bytes are here, or all of it if nothing is followed
   */
  async open(): Promise<string> {
    ensureFolder(this.#folder, 0o700);
    this.#ended = this.#run();
    this.#ended.catch(() => {});
    if (this.#options.follows) await Promise.race([this.#hasFirst, this.#ended]);
    else await this.#ended;
    return this.#local(this.#root ?? this.#options.address.path);
  }

  close(): void {
    this.#stop.abort();
    this.#tail?.over.abort();
    for (const path of this.#parts.keys()) this.#closeParts(path);
    this.#options.source.close();
  }

  #somethingIsHere(): void {
    void this.#laying.then(this.#first);
  }

  /** To join is a tenth of the work for a list of a hundred thousand names. */
  #local = (path: string): string =>
    path.startsWith('/') && !path.includes('//') ? this.#folder + path : join(this.#folder, path);

  #say(status: string | null): void {
    if (status === this.#status) return;
    this.#status = status;
    for (const listener of this.#listeners) listener();
  }

  async #run(): Promise<void> {
    const { source, follows, attempts } = this.#options;
    const { signal } = this.#stop;
    for (let failures = 0; !signal.aborted; ) {
      try {
        const begun = performance.now();
        const { path } = this.#options.address;
        const listing = checkedListing(await source.list(path, signal), path);
        this.#listed = begun;
        this.#root = listing.root;
        const took = performance.now() - begun;
        const files = filesToBring(listing.root, listing.files);
        this.#files = files;
        this.#removeGone(listing.files);
        this.#noteOrigins(files);
        const isAll = await this.#fill(files, begun);
        failures = 0;
        this.#somethingIsHere();
        if (follows) this.#followTail(files[0]);
        if (!isAll) continue;
        this.#sayWhatIsHere();
        if (!follows) return;
        await rest(Math.max(LOOK_MS, took * LIST_SHARE), undefined, { signal }).catch(() => {});
      } catch (thrown) {
        if (signal.aborted) return;
        const error = roomProblem(thrown, this.#options.cache);
        const most = follows && this.#isHere() ? Number.POSITIVE_INFINITY : attempts;
        if (!(error instanceof SourceError) || !error.isLost || (++failures >= most && !this.#cameNews)) {
          this.#say(error instanceof Error ? error.message : String(error));
          // Local files can be read without the remote side.
          if (follows && this.#isHere()) this.#somethingIsHere();
          throw error;
        }
        // A connection that delivered something is retried at once.
        if (this.#cameNews) failures = 1;
        const isShort = failures === 1 || this.#cameBytes;
        this.#cameBytes = false;
        this.#cameNews = false;
        const pause = Math.min(LONGEST_PAUSE_MS, isShort ? FIRST_PAUSE_MS : 250 * 2 ** failures);
        this.#say(
          error.isReplaced
            ? `${error.message}: read again`
            : `connection lost (${error.message}), again in ${Math.ceil(pause / 1000)} s`,
        );
        if (follows && this.#isHere()) this.#somethingIsHere();
        await rest(pause, undefined, { signal }).catch(() => {});
      }
    }
  }

  /** The order in which copies arrive says nothing about the run: its times are those of the other machine. */
  #noteOrigins(files: readonly RemoteFile[]): void {
    const isFirst = this.#known === null;
    this.#known ??= new Map();
    for (const file of files) {
      const { path, size, modified, inode } = file;
      const before = this.#known.get(path);
      const isSame = before !== undefined && before.inode === inode && before.size <= size;
      const known = isSame ? before.size : isFirst ? size : 0;
      this.#known.set(path, { inode, size: known });
      const origin = { modified: modified * 1000, known, look: () => this.#look(path) };
      const partial = this.#parts.get(path)?.parts ?? this.#partsWhenRead(file);
      const away = this.#sheet.lineOf(this.#local(path));
      noteOrigin(this.#local(path), { ...origin, ...(partial && { partial }), ...(away && { away }) });
    }
  }

  #sayWhatIsHere(): void {
    this.#counted = performance.now();
    const read = `${megabytes(this.#read)} read`;
    const [refused] = this.#refused;
    if (this.#endless.size > 0) this.#say(`${[...this.#endless].join(', ')} does not end where it should, and ${FULL}`);
    else if (refused !== undefined)
      this.#say(`${this.#refused.size} of ${this.#files.length} files are refused: ${refused[0]}: ${refused[1]}`);
    else if (this.#isPartial) {
      const missing = this.#files.filter((file) => !this.#isWhole(file)).length;
      const [whole = this.#files.find((file) => this.#isCopiedWhole(file))?.path] =
        [...this.#parts].find(([, { parts }]) => parts.isAllNeeded) ?? [];
      const why = whole === undefined ? '' : `; ${whole} cannot be read in parts`;
      this.#say(`${this.#files.length - missing} of ${this.#files.length} files here, ${read}${why}`);
    } else this.#say(null);
  }

  /** gzip has no places to begin at. */
  #isCopiedWhole(file: RemoteFile): boolean {
    return /\.gz$/i.test(file.path) && file.size >= SMALLEST_IN_PARTS && this.#isWhole(file);
  }

  get #isPartial(): boolean {
    return this.#options.brings === 'looked-at' && this.#files.some(({ version }) => version !== undefined);
  }

  /** Nothing of an object comes before somebody reads it. */
  #waitsForReader({ path, version }: RemoteFile): boolean {
    return this.#options.brings === 'parts' && version !== undefined && !isToolsFile(path);
  }

  /** Somebody looks at a file: it comes before all others, and one that is looked at later comes before it. */
  #look(path: string): void {
    if (!this.#isPartial || !this.#laid.has(path) || this.#refused.has(path)) return;
    this.#next = this.#files.find((file) => file.path === path) ?? null;
    if (!this.#isBringingLookedAt) void this.#bringLookedAt();
  }

  async #bringLookedAt(): Promise<void> {
    this.#isBringingLookedAt = true;
    for (let file = this.#next; file !== null && !this.#stop.signal.aborted; file = this.#next) {
      this.#next = null;
      this.#lookedAt.add(file.path);
      this.#say(`${file.path} is read: ${megabytes(file.size)}`);
      // A file that fails here is asked for again with the next list, which also says why.
      if (this.#makesRoomFor(file)) await this.#bringAllowed(file).catch(() => {});
      this.#sayWhatIsHere();
    }
    this.#isBringingLookedAt = false;
  }

  /** Part of what was named was transferred in an earlier session. */
  #isHere(): boolean {
    this.#root ??= this.#options.address.path;
    return statSync(this.#local(this.#root), { throwIfNoEntry: false }) !== undefined;
  }

  /** @param files the newest first @returns false if the list should be refreshed before the rest is transferred */
  async #fill(files: readonly RemoteFile[], since: number): Promise<boolean> {
    const missing = files.filter(
      (file) => !this.#isWhole(file) && !this.#endless.has(file.path) && !this.#refused.has(file.path),
    );
    const newest = filesOfNewestStep(files);
    const wanted = this.#isPartial
      ? missing.filter((file) => newest.has(file) || this.#lookedAt.has(file.path) || isToolsFile(file.path))
      : missing.filter((file) => !this.#waitsForReader(file));
    this.#room = this.#options.most - cachedFiles(this.#options.cache).reduce((sum, { size }) => sum + size, 0);
    const running = new Set<Promise<void>>();
    let problem: unknown = null;
    const laying = this.#layMissing(missing, wanted).catch((error: unknown) => {
      problem ??= error;
    });
    this.#laying = laying;
    for (const [at, file] of wanted.entries()) {
      const here = files.length - missing.length + at;
      const read = file.version === undefined ? '' : `, ${megabytes(this.#read)} read`;
      this.#say(`${here} of ${files.length} files here${read}`);
      if (!this.#makesRoomFor(file)) continue;
      const own = this.#bringWhole(file)
        .catch((error: unknown) => {
          problem ??= error;
        })
        .finally(() => running.delete(own));
      running.add(own);
      // The newest comes alone, as fast as it can.
      const lanes = at === 0 ? 1 : (this.#options.source.lanes ?? 1);
      if (running.size >= lanes) await Promise.race(running);
      if (at === 0) await laying;
      if (problem !== null) break;
      if (this.#options.follows && file === files[0]) this.#followTail(file);
      // A step that arrived meanwhile takes precedence over older ones.
      if (this.#options.follows && performance.now() - since > LOOK_MS * 2 && at < wanted.length - 1) {
        await Promise.all(running);
        if (problem !== null) throw problem;
        return false;
      }
    }
    await Promise.all([...running, laying]);
    if (problem !== null) throw problem;
    return true;
  }

  /** A row for each file that is not here. The newest is asked for first, and its answer read in between. */
  async #layMissing(files: readonly RemoteFile[], wanted: readonly RemoteFile[]): Promise<void> {
    const asked = new Set(wanted);
    const away: RemoteFile[] = [];
    let laid = 0;
    for (const file of files) {
      const isObject = file.version !== undefined;
      if (isObject && !asked.has(file) && !this.#here.has(this.#local(file.path)) && file.path !== this.#root) {
        if (!this.#parts.has(file.path)) away.push(file);
        continue;
      }
      // A copy of another version is no copy of this object.
      if (isObject ? this.#isPartOf(file) : copyAt(this.#local(file.path)) !== null) continue;
      if ((file === wanted[0] && isObject) || this.#parts.has(file.path)) continue;
      this.#layPending(file, NOT_HERE_YET);
      if (++laid % LAID_AT_ONCE === 0) await setImmediate();
      if (this.#stop.signal.aborted) return;
    }
    this.#laySheet(away);
  }

  #laySheet(files: readonly RemoteFile[]): void {
    const rows: { path: string; says: string }[] = [];
    for (const file of files) {
      const { path } = file;
      const says = this.#pendingText(file, NOT_HERE_YET);
      if (this.#laid.get(path) === says) continue;
      this.#makeFolderOf(path);
      this.#laid.set(path, says);
      rows.push({ path: this.#local(path), says });
    }
    this.#sheet.lay(rows);
  }

  async #bringWhole(file: RemoteFile): Promise<void> {
    await this.#bringAllowed(file);
    if (this.#parts.has(file.path)) return this.#somethingIsHere();
    const here = copyAt(this.#local(file.path))?.size ?? 0;
    if (here < file.size && !this.#endless.has(file.path) && !this.#refused.has(file.path))
      throw new SourceError(`${file.path} ended after ${here} of ${file.size} bytes`, true);
    this.#somethingIsHere();
  }

  /** One file that may not be read does not hold up the others, once one of them could be. */
  async #bringAllowed(file: RemoteFile): Promise<void> {
    try {
      await this.#bring(file);
    } catch (error) {
      const isOwn = error instanceof SourceError && !error.isLost && file.version !== undefined && this.#read > 0;
      if (!isOwn) throw error;
      this.#refused.set(file.path, error.message);
      this.#layPending(file, `not here: ${error.message}`);
    }
  }

  #makesRoomFor(file: RemoteFile): boolean {
    const needed = file.size - (copyAt(this.#local(file.path))?.size ?? 0);
    if (needed > this.#room) this.#room += this.#makeRoom(needed - this.#room, file, this.#files);
    if (needed <= this.#room) return true;
    this.#layPending(file, `not here: ${FULL}`);
    return false;
  }

  #pendingText = ({ size }: RemoteFile, says: string): string =>
    `${says}: ${megabytes(size)} at ${this.#options.source.name}`;

  #layPending(file: RemoteFile, says: string): void {
    const { path } = file;
    const text = this.#pendingText(file, says);
    if (this.#laid.get(path) === text) return;
    this.#makeFolderOf(path);
    layPending(this.#local(path), text);
    this.#laid.set(path, text);
  }

  #makeFolderOf(path: string): void {
    const folder = dirname(this.#local(path));
    if (this.#folders.has(folder)) return;
    ensureFolder(folder, 0o700);
    this.#folders.add(folder);
  }

  /** The local copy belongs to this version of an object. */
  #isPartOf({ path, size, version = '' }: RemoteFile): boolean {
    if (this.#laid.has(path) || !this.#versions.has(path, version)) return false;
    const here = copyAt(this.#local(path));
    return here !== null && here.size <= size;
  }

  #isWhole(file: RemoteFile): boolean {
    const { path, size, modified, inode, version } = file;
    if (version !== undefined) return this.#isPartOf(file) && copyAt(this.#local(path))?.size === size;
    const here = copyAt(this.#local(path));
    if (size === 0) return here?.size === 0;
    if (here === null || here.size !== size) return false;
    const brought = this.#brought.get(path);
    if (brought?.modified === null && brought.inode === inode) {
      // The last bytes came while it was being written, so only now is its version known. The copy keeps its own time, or it would be read
      // again from the start.
      brought.modified = modified;
    }
    return here.modified === modified || (brought?.modified === modified && brought.inode === inode);
  }

  /** Files deleted there are deleted here too, also those of an earlier session. */
  #removeGone(files: readonly RemoteFile[]): void {
    const there = new Set(files.map(({ path }) => this.#local(path)));
    const versions = new Map(files.map(({ path, version }) => [path, version]));
    for (const [path, { version }] of this.#parts) if (versions.get(path) !== version) this.#closeParts(path);
    const known = this.#root === null ? [] : shownCopies(this.#local(this.#root));
    for (const path of known) if (!there.has(path)) removeCopy(path);
    this.#here = new Set(known);
    this.#sheet.keep((path) => there.has(path));
    for (const path of this.#laid.keys()) if (!versions.has(path)) this.#laid.delete(path);
    for (const path of this.#brought.keys()) if (!there.has(this.#local(path))) this.#brought.delete(path);
  }

  /** The oldest go first, but no requested file that is newer. @returns the bytes freed */
  #makeRoom(needed: number, file: RemoteFile, files: readonly RemoteFile[]): number {
    const kept = new Set(files.slice(0, files.indexOf(file) + 1).map(({ path }) => this.#local(path)));
    for (const { parts } of this.#parts.values()) kept.add(parts.path);
    const shown = new Map(files.map((one) => [this.#local(one.path), one]));
    let freed = 0;
    for (const old of cachedFiles(this.#options.cache)) {
      if (freed >= needed) break;
      if (kept.has(old.path)) continue;
      const own = shown.get(old.path);
      if (own === undefined) removeCopy(old.path);
      else this.#layPending(own, `not here: ${FULL}`);
      freed += old.size;
    }
    return freed;
  }

  /** Transfers what the copy of a file is missing. */
  #bring(file: RemoteFile, hasGrown = false): Promise<void> {
    // One at a time: two transfers appending to one copy would duplicate its lines.
    const before = this.#bringing.get(file.path) ?? Promise.resolve();
    const own = before
      .catch(() => {})
      .then(() =>
        file.version === undefined ? this.#bringNow(file, hasGrown) : this.#bringObject(file, file.version),
      );
    this.#bringing.set(file.path, own);
    own.catch(() => {}).finally(() => this.#bringing.get(file.path) === own && this.#bringing.delete(file.path));
    return own;
  }

  /** Transfers what is missing of this version of an object; bytes of two versions never meet. */
  async #bringObject(file: RemoteFile, version: string): Promise<void> {
    if (this.#isWhole(file)) return;
    const { path, size } = file;
    const local = this.#local(path);
    const draft = hiddenName(local, 'part');
    if (!this.#versions.has(path, version)) {
      removeCopy(draft);
      this.#layPending(file, NOT_HERE_YET);
      this.#versions.note(path, version);
    }
    if (this.#isPartial && IN_PARTS.test(path) && size >= SMALLEST_IN_PARTS) {
      this.#openParts(file, version);
      return;
    }
    // A session that read parts of it left them.
    if (!this.#isPartial && existsSync(partPaths(local, version).pieces))
      return this.#openParts(file, version).need(0, size);
    this.#laid.delete(path);
    // Its first lines can be read before the last are here.
    const isReadable = GROWS.test(path);
    const part = partAt(isReadable ? local : draft, size);
    let at = part?.size ?? 0;
    this.#makeFolderOf(file.path);
    let isShown = part !== null && isReadable;
    const fd = part === null ? openSync(draft, 'w', 0o600) : openSync(part.path, 'r+');
    const show = () => {
      renameSync(draft, local);
      isShown = true;
    };
    try {
      if (at < size)
        for await (const chunk of this.#options.source.read(path, at, size, this.#stop.signal, version)) {
          this.#cameBytes = true;
          this.#cameNews = true;
          this.#read += chunk.length;
          this.#room -= chunk.length;
          // At its place, so that two programs that bring the same bytes do no harm.
          for (let done = 0; done < chunk.length; ) done += writeSync(fd, chunk, done, chunk.length - done, at + done);
          at += chunk.length;
          if (at >= size) break;
          if (isShown || !isReadable) continue;
          show();
          this.#somethingIsHere();
        }
      // A store that gives no time gives none that means "not here".
      if (at >= size) futimesSync(fd, file.modified || 1, file.modified || 1);
      if (at >= size && !isShown) show();
    } finally {
      closeSync(fd);
      if (!isShown) this.#layPending(file, NOT_HERE_YET);
    }
  }

  /** The parts of a file that nobody has read yet. */
  #partsWhenRead(file: RemoteFile): PartialFile | undefined {
    const { size, version } = file;
    if (version === undefined || !this.#waitsForReader(file) || this.#isWhole(file)) return undefined;
    let opened: PartialFile | null = null;
    const parts = (): PartialFile => {
      opened ??= this.#openParts(file, version);
      return opened;
    };
    return {
      size,
      mayStop: true,
      get path() {
        return parts().path;
      },
      need: async (start, end) => parts().need(start, end),
    };
  }

  /** From now on its parts come as they are read; what is read last, brings the rest. */
  #openParts(file: RemoteFile, version: string): PartialFile {
    const { path, size } = file;
    const known = this.#parts.get(path);
    if (known?.version === version) return known.parts;
    const { follows, attempts } = this.#options;
    const local = this.#local(path);
    this.#makeFolderOf(path);
    if (!this.#versions.has(path, version)) this.#versions.note(path, version);
    const paths = partPaths(local, version);
    removeOtherVersions(local, paths.bytes);
    const parts: ObjectParts = new ObjectParts({
      paths,
      size,
      signal: this.#stop.signal,
      attempts: follows ? Number.POSITIVE_INFINITY : attempts,
      mayStop: this.#waitsForReader(file),
      read: (start, end) => this.#options.source.read(path, start, end, this.#stop.signal, version),
      came: (bytes) => {
        this.#read += bytes;
        this.#room -= bytes;
        if (this.#room < 0) this.#room += this.#makeRoom(Math.max(-this.#room, FREED_AT_ONCE), file, this.#files);
        if (this.#room < 0) throw new Error(`not here: ${FULL}`);
      },
      lost: ({ message }, pause) => this.#say(`connection lost (${message}), again in ${Math.ceil(pause / 1000)} s`),
      changed: () => {
        if (parts.isWhole && this.#parts.get(path)?.parts === parts) this.#completeParts(file, paths);
        else if (performance.now() - this.#counted < COUNT_MS) return;
        this.#sayWhatIsHere();
      },
      allNeeded: () => this.#sayWhatIsHere(),
      refused: (error) => {
        if (this.#parts.get(path)?.parts !== parts) return;
        if (error.isReplaced) this.#say(`${error.message}: read again`);
        else this.#refused.set(path, error.message);
      },
    });
    this.#parts.set(path, { version, parts });
    if (parts.isWhole) {
      this.#completeParts(file, paths);
      return parts;
    }
    this.#noteOrigins([file]);
    // A reader that waits for the file sees that there is something new.
    if (follows) this.#layPending(file, 'read in parts');
    return parts;
  }

  #completeParts(file: RemoteFile, paths: PartPaths): void {
    const local = this.#local(file.path);
    utimesSync(paths.bytes, file.modified || 1, file.modified || 1);
    this.#closeParts(file.path, local);
    renameSync(paths.bytes, local);
    removeCopy(paths.pieces);
    this.#noteOrigins([file]);
  }

  /** @param copy where its bytes are from now on */
  #closeParts(path: string, copy?: string): void {
    this.#parts.get(path)?.parts.close(copy);
    this.#parts.delete(path);
    this.#laid.delete(path);
  }

  async #bringNow(file: RemoteFile, hasGrown: boolean): Promise<void> {
    const { source } = this.#options;
    const { signal } = this.#stop;
    const local = this.#local(file.path);
    const isWholeOnly = !GROWS.test(file.path);
    const draft = hiddenName(local, 'part');
    const here = copyAt(isWholeOnly ? draft : local);
    if (file.size === 0) {
      // It is still empty there, or was emptied.
      this.#makeFolderOf(file.path);
      writeFileSync(local, '');
      return;
    }
    const known = this.#brought.get(file.path);
    // The list is older than the last transfer.
    if (
      !hasGrown &&
      known !== undefined &&
      here !== null &&
      known.at > this.#listed &&
      known.inode === file.inode &&
      here.size >= file.size
    )
      return;
    const isOther =
      !hasGrown && (here === null || file.size <= here.size || (known !== undefined && known.inode !== file.inode));
    const have = isOther || here === null ? 0 : here.size;
    const overlap = Math.min(have, OVERLAP);
    this.#makeFolderOf(file.path);
    let fd: number | null = null;
    let expected = overlap === 0 ? null : tailOf(here!.path, overlap);
    let at = have;
    try {
      // A growing file is read to its current end, wherever that is.
      for await (const chunk of source.read(
        file.path,
        have - overlap,
        isWholeOnly ? file.size : Number.POSITIVE_INFINITY,
        signal,
      )) {
        this.#cameBytes = true;
        this.#read += chunk.length;
        let own = chunk;
        if (expected !== null) {
          const part = chunk.subarray(0, expected.length);
          if (!part.equals(expected.subarray(0, part.length))) {
            // Different content under the same name.
            removeCopy(here!.path);
            this.#brought.delete(file.path);
            return await this.#bringNow(file, false);
          }
          expected = expected.length > part.length ? expected.subarray(part.length) : null;
          own = chunk.subarray(part.length);
        }
        if (isWholeOnly) own = own.subarray(0, file.size - at);
        if (isWholeOnly && at === file.size) break;
        if (own.length === 0) continue;
        this.#cameNews = true;
        this.#room -= own.length;
        if (this.#room < 0) {
          this.#endless.add(file.path);
          break;
        }
        if (fd === null) fd = have > 0 ? openSync(here!.path, 'a') : openSync(draft, 'w', 0o600);
        writeWhole(fd, own);
        at += own.length;
        // Set the time together with the last bytes, or readers would take the file for a rewritten one.
        if (at === file.size) futimesSync(fd, file.modified, file.modified);
        if (have === 0 && at === own.length && !isWholeOnly) {
          // The placeholder row disappears with the first bytes.
          renameSync(draft, local);
          this.#somethingIsHere();
        }
      }
    } finally {
      if (fd !== null) closeSync(fd);
      if (at > have || have > 0)
        this.#brought.set(file.path, { inode: file.inode, modified: null, at: performance.now() });
    }
    if (this.#endless.has(file.path)) {
      if (isWholeOnly) removeCopy(draft);
      if (at === 0 || isWholeOnly) this.#layPending(file, `not here: it does not end where it should, and ${FULL}`);
      return;
    }
    if (isWholeOnly && at === file.size && at > 0) renameSync(draft, local);
    if (at === file.size && file.size > 0) {
      this.#brought.set(file.path, { inode: file.inode, modified: file.modified, at: performance.now() });
    }
  }

  /** Lines appended to the newest file are transferred at once, whatever else is in progress. */
  #followTail(newest: RemoteFile | undefined): void {
    const { source } = this.#options;
    if (newest === undefined || newest.path === this.#tail?.path) return;
    this.#tail?.over.abort();
    this.#tail = null;
    if (source.follow === undefined || !GROWS.test(newest.path)) return;
    const over = new AbortController();
    const tail = { path: newest.path, over };
    this.#tail = tail;
    let isBringing = false;
    let again = false;
    const grown = async (): Promise<void> => {
      again = true;
      if (isBringing) return;
      isBringing = true;
      while (again && !over.signal.aborted) {
        again = false;
        // A response lost here is requested with the next list, which also reports the connection state.
        await this.#bring(newest, true).catch(() => {});
      }
      isBringing = false;
    };
    const size = copyAt(this.#local(newest.path))?.size ?? newest.size;
    void source
      .follow(newest.path, size, () => void grown(), over.signal)
      .catch(() => {})
      .finally(() => {
        if (this.#tail === tail) this.#tail = null;
      });
  }
}
