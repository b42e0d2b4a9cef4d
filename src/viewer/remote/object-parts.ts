import { createHash } from 'node:crypto';
import {
  appendFileSync,
  closeSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readdirSync,
  readFileSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as rest } from 'node:timers/promises';
import PQueue from 'p-queue';
import type { PartialFile } from '../../core/dump/origins.ts';
import { roomProblem } from '../../core/files/temporary.ts';
import { hiddenName, removeCopy } from './copies.ts';
import { SourceError } from './machine.ts';

/** The least that is asked for, and the unit in which it is kept. */
const PIECE = 1 << 18;
/** A large part comes by several requests at once. */
const LONGEST_REQUEST = 8 << 20;
const REQUESTS_AT_ONCE = 8;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 30_000;

export interface PartsOptions {
  paths: PartPaths;
  size: number;
  signal: AbortSignal;
  read(start: number, end: number): AsyncIterable<Uint8Array>;
  /** Bytes have come. @throws Error if there is no room for more */
  came(bytes: number): void;
  lost(error: SourceError, pauseMs: number): void;
  /** Attempts before a part is given up. */
  attempts: number;
  /** See `PartialFile`. */
  mayStop: boolean;
  /** A part is here. */
  changed(): void;
  /** See `isAllNeeded`. */
  allNeeded(): void;
  /** It cannot be had: it was replaced, or may not be read. */
  refused(error: SourceError): void;
}

/** One version of an object, in pieces: those that somebody reads come, and stay for the next session. */
export class ObjectParts implements PartialFile {
  #path: string;
  readonly size: number;
  readonly mayStop: boolean;
  readonly #options: PartsOptions;
  readonly #fd: number;
  readonly #pieces: number;
  readonly #requests = new PQueue({ concurrency: REQUESTS_AT_ONCE });
  /** The pieces that are here, or on their way. */
  readonly #here = new Map<number, Promise<void> | true>();
  #whole = 0;
  #isClosed = false;
  /** Its reader can do nothing with parts. */
  isAllNeeded = false;

  constructor(options: PartsOptions) {
    const { paths, size } = options;
    this.#path = paths.bytes;
    this.size = size;
    this.mayStop = options.mayStop;
    this.#options = options;
    this.#pieces = Math.ceil(size / PIECE);
    this.#fd = openForParts(paths.bytes);
    if (fstatSync(this.#fd).size !== size) ftruncateSync(this.#fd, size);
    const [head = '', ...lines] = pieceLines(paths.pieces);
    if (head !== this.#name) writeFileSync(paths.pieces, `${this.#name}\n`, { mode: 0o600 });
    else for (const line of lines) this.#note(...rangeIn(line));
  }

  /** The list belongs to this file: one that was removed and made again holds nothing of it. */
  get #name(): string {
    const { ino, birthtimeMs } = fstatSync(this.#fd);
    return `${ino} ${birthtimeMs} ${PIECE}`;
  }

  get path(): string {
    return this.#path;
  }

  get isWhole(): boolean {
    return this.#whole === this.#pieces;
  }

  need = async (start: number, end: number): Promise<void> => {
    if (start === 0 && end >= this.size && this.#whole < this.#pieces / 2) {
      this.isAllNeeded = true;
      this.#options.allNeeded();
    }
    const last = Math.min(this.#pieces, Math.ceil(end / PIECE));
    const waits: Promise<void>[] = [];
    for (let at = Math.floor(start / PIECE); at < last; ) {
      const here = this.#here.get(at);
      if (here !== undefined) {
        if (here !== true) waits.push(here);
        at++;
        continue;
      }
      let to = at + 1;
      while (to < last && !this.#here.has(to) && (to - at) * PIECE < LONGEST_REQUEST) to++;
      const bringing = this.#bring(at, to);
      for (; at < to; at++) this.#here.set(at, bringing);
      waits.push(bringing);
    }
    await Promise.all(waits);
  };

  /** @param path where its bytes are from now on */
  close(path = this.#path): void {
    this.#path = path;
    this.#isClosed = true;
    closeSync(this.#fd);
  }

  async #bring(from: number, to: number): Promise<void> {
    const { paths, signal, changed, refused } = this.#options;
    try {
      await this.#requests.add(() => this.#bytes(from * PIECE, Math.min(this.size, to * PIECE)));
    } catch (error) {
      for (let at = from; at < to; at++) this.#here.delete(at);
      if (error instanceof SourceError && !signal.aborted) refused(error);
      throw roomProblem(error, dirname(paths.bytes));
    }
    this.#note(from, to);
    appendFileSync(paths.pieces, `${from} ${to}\n`);
    changed();
  }

  async #bytes(start: number, end: number): Promise<void> {
    const { read, came, lost, attempts, signal } = this.#options;
    let at = start;
    for (let failures = 0; at < end; ) {
      try {
        for await (const chunk of read(at, end)) {
          // Its descriptor may be another file's by now.
          if (this.#isClosed) throw new SourceError('ended', true, true);
          came(chunk.length);
          for (let done = 0; done < chunk.length; )
            done += writeSync(this.#fd, chunk, done, Math.min(chunk.length - done, end - at - done), at + done);
          at += chunk.length;
          failures = 0;
        }
        if (at < end) throw new SourceError('an answer ended too early', true);
      } catch (error) {
        if (!(error instanceof SourceError) || !error.isLost || error.isReplaced || signal.aborted) throw error;
        if (++failures >= attempts) throw error;
        const pause = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (failures - 1));
        lost(error, pause);
        await rest(pause, undefined, { signal });
      }
    }
  }

  #note(from: number, to: number): void {
    for (let at = Math.max(0, from); at < Math.min(this.#pieces, to); at++) {
      if (this.#here.get(at) !== true) this.#whole++;
      this.#here.set(at, true);
    }
  }
}

/** Paths of the bytes of one version, and of the list of pieces that are here. */
export interface PartPaths {
  bytes: string;
  pieces: string;
}

export function partPaths(local: string, version: string): PartPaths {
  const kind = createHash('sha256').update(version).digest('hex').slice(0, 12);
  return { bytes: hiddenName(local, `${kind}.bytes`), pieces: hiddenName(local, `${kind}.pieces`) };
}

/** @param bytes those of the version that stays */
export function removeOtherVersions(local: string, bytes: string): void {
  const prefix = hiddenName(local, '');
  const own = bytes.slice(0, -'bytes'.length);
  for (const name of readdirSync(dirname(local))) {
    const path = join(dirname(local), name);
    if (/^[0-9a-f]{12}\.(?:bytes|pieces)$/.test(path.slice(prefix.length)) && path.startsWith(prefix))
      if (!path.startsWith(own)) removeCopy(path);
  }
}

function openForParts(path: string): number {
  try {
    return openSync(path, 'wx+', 0o600);
  } catch {
    return openSync(path, 'r+');
  }
}

/** Without a last line that was cut off. */
function pieceLines(path: string): string[] {
  try {
    return readFileSync(path, 'utf8').split('\n').slice(0, -1);
  } catch {
    return [];
  }
}

const rangeIn = (line: string): [number, number] => {
  const [, from = 0, to = 0] = /^(\d+) (\d+)$/.exec(line) ?? [];
  return [Number(from), Number(to)];
};
