import { closeSync, futimesSync, mkdirSync, openSync, readSync, renameSync, statSync, truncateSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as rest } from 'node:timers/promises';
import { noteOrigin } from '../../core/dump/origins.ts';
import { writeWhole } from '../../core/files/temporary.ts';
import { mirrorName } from '../../core/text/shown-path.ts';
import type { Address } from './address.ts';
import { cachedFiles, copyAt, hiddenName, layPending, removeCopy } from './copies.ts';
import { filesToBring } from './files-to-bring.ts';
import { type Machine, type RemoteFile, SourceError } from './machine.ts';
import { checkedListing } from './plain-path.ts';

export interface MirrorOptions {
  source: Machine;
  address: Address;
  /** The cache of all machines. */
  cache: string;
  /** Bytes that the cache may hold. */
  most: number;
  /** Keeps copying what arrives. */
  follows: boolean;
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
const FULL = 'the cache is full (--cache-size)';
/** Files with these names can be read while incomplete. */
const GROWS = /\.(jsonl|ndjson|jl|log|csv)$/i;

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
  #ended: Promise<void> | null = null;
  /** Bytes of free room in the cache. */
  #room = 0;
  /** Files that delivered more than announced, and more than there was room for: they are not requested again. */
  readonly #endless = new Set<string>();
  /** Since the connection was last lost. */
  #cameBytes = false;
  /** Bytes beyond those that were already here. */
  #cameNews = false;

  constructor(options: MirrorOptions) {
    this.#options = options;
    this.#folder = join(options.cache, mirrorName(options.address.name));
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
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    this.#ended = this.#run();
    this.#ended.catch(() => {});
    if (this.#options.follows) await Promise.race([this.#hasFirst, this.#ended]);
    else await this.#ended;
    return this.#local(this.#root ?? this.#options.address.path);
  }

  close(): void {
    this.#stop.abort();
    this.#tail?.over.abort();
    this.#options.source.close();
  }

  #local = (path: string): string => join(this.#folder, path);

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
        this.#noteOrigins(files);
        const isAll = await this.#fill(files, begun);
        failures = 0;
        this.#first();
        if (follows) this.#followTail(files[0]);
        if (!isAll) continue;
        this.#say(
          this.#endless.size === 0
            ? null
            : `${[...this.#endless].join(', ')} does not end where it should, and ${FULL}`,
        );
        if (!follows) return;
        await rest(Math.max(LOOK_MS, took * LIST_SHARE), undefined, { signal }).catch(() => {});
      } catch (error) {
        if (signal.aborted) return;
        const most = follows && this.#isHere() ? Number.POSITIVE_INFINITY : attempts;
        if (!(error instanceof SourceError) || !error.isLost || (++failures >= most && !this.#cameNews)) {
          this.#say(error instanceof Error ? error.message : String(error));
          // Local files can be read without the remote side.
          if (follows && this.#isHere()) this.#first();
          throw error;
        }
        // A connection that delivered something is retried at once.
        if (this.#cameNews) failures = 1;
        const isShort = failures === 1 || this.#cameBytes;
        this.#cameBytes = false;
        this.#cameNews = false;
        const pause = Math.min(LONGEST_PAUSE_MS, isShort ? FIRST_PAUSE_MS : 250 * 2 ** failures);
        this.#say(`connection lost (${error.message}), again in ${Math.ceil(pause / 1000)} s`);
        if (follows && this.#isHere()) this.#first();
        await rest(pause, undefined, { signal }).catch(() => {});
      }
    }
  }

  /** The order in which copies arrive says nothing about the run: its times are those of the other machine. */
  #noteOrigins(files: readonly RemoteFile[]): void {
    const isFirst = this.#known === null;
    this.#known ??= new Map();
    for (const { path, size, modified, inode } of files) {
      const before = this.#known.get(path);
      const isSame = before !== undefined && before.inode === inode && before.size <= size;
      const known = isSame ? before.size : isFirst ? size : 0;
      this.#known.set(path, { inode, size: known });
      noteOrigin(this.#local(path), { modified: modified * 1000, known });
    }
  }

  /** Part of what was named was transferred in an earlier session. */
  #isHere(): boolean {
    this.#root ??= this.#options.address.path;
    return statSync(this.#local(this.#root), { throwIfNoEntry: false }) !== undefined;
  }

  /** @param files the newest first @returns false if the list should be refreshed before the rest is transferred */
  async #fill(files: readonly RemoteFile[], since: number): Promise<boolean> {
    const missing = files.filter((file) => !this.#isWhole(file) && !this.#endless.has(file.path));
    for (const file of missing) if (copyAt(this.#local(file.path)) === null) this.#layPending(file, 'not here yet');
    this.#removeGone(files);
    let room = this.#options.most - cachedFiles(this.#options.cache).reduce((sum, { size }) => sum + size, 0);
    // Also for lines that are appended while nothing is missing.
    this.#room = room;
    for (const [at, file] of missing.entries()) {
      this.#say(`${files.length - missing.length + at} of ${files.length} files here`);
      const needed = file.size - (copyAt(this.#local(file.path))?.size ?? 0);
      room -= needed;
      if (room < 0) room += this.#makeRoom(-room, file, files);
      if (room < 0) {
        this.#layPending(file, `not here: ${FULL}`);
        room += needed;
        continue;
      }
      this.#room = room + needed;
      await this.#bring(file);
      const here = copyAt(this.#local(file.path))?.size ?? 0;
      if (here < file.size && !this.#endless.has(file.path))
        throw new SourceError(`${file.path} ended after ${here} of ${file.size} bytes`, true);
      this.#first();
      if (this.#options.follows && file === files[0]) this.#followTail(file);
      // A step that arrived meanwhile takes precedence over older ones.
      if (this.#options.follows && performance.now() - since > LOOK_MS * 2 && at < missing.length - 1) return false;
    }
    return true;
  }

  #layPending({ path, size }: RemoteFile, says: string): void {
    layPending(this.#local(path), `${says}: ${Math.ceil(size / 1e5) / 10} MB at ${this.#options.source.name}`);
  }

  #isWhole({ path, size, modified, inode }: RemoteFile): boolean {
    const here = copyAt(this.#local(path));
    if (size === 0) return here === null || here.size === 0;
    if (here === null || here.size !== size) return false;
    const brought = this.#brought.get(path);
    if (brought?.modified === null && brought.inode === inode) {
      // The last bytes came while it was being written, so only now is its version known. The copy keeps its own time, or it would be read
      // again from the start.
      brought.modified = modified;
    }
    return here.modified === modified || (brought?.modified === modified && brought.inode === inode);
  }

  /** Files deleted there are deleted here too. */
  #removeGone(files: readonly RemoteFile[]): void {
    const there = new Set(files.map(({ path }) => path));
    for (const path of this.#brought.keys()) {
      if (there.has(path)) continue;
      removeCopy(this.#local(path));
      this.#brought.delete(path);
    }
  }

  /** The oldest go first, but no requested file that is newer. @returns the bytes freed */
  #makeRoom(needed: number, file: RemoteFile, files: readonly RemoteFile[]): number {
    const kept = new Set(files.slice(0, files.indexOf(file) + 1).map(({ path }) => this.#local(path)));
    let freed = 0;
    for (const old of cachedFiles(this.#options.cache)) {
      if (freed >= needed) break;
      if (kept.has(old.path)) continue;
      const own = files.find(({ path }) => this.#local(path) === old.path);
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
    const own = before.catch(() => {}).then(() => this.#bringNow(file, hasGrown));
    this.#bringing.set(file.path, own);
    own.catch(() => {}).finally(() => this.#bringing.get(file.path) === own && this.#bringing.delete(file.path));
    return own;
  }

  async #bringNow(file: RemoteFile, hasGrown: boolean): Promise<void> {
    const { source } = this.#options;
    const { signal } = this.#stop;
    const local = this.#local(file.path);
    const isWholeOnly = !GROWS.test(file.path);
    const draft = hiddenName(local, 'part');
    const here = copyAt(isWholeOnly ? draft : local);
    if (file.size === 0) {
      // It was emptied there.
      if (here !== null) truncateSync(here.path);
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
    mkdirSync(dirname(local), { recursive: true, mode: 0o700 });
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
          this.#first();
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

function tailOf(path: string, length: number): Buffer {
  const { size } = statSync(path);
  const bytes = Buffer.alloc(length);
  const fd = openSync(path, 'r');
  try {
    readSync(fd, bytes, 0, length, size - length);
  } finally {
    closeSync(fd);
  }
  return bytes;
}
