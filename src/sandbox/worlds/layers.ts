import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  constants,
  copyFileSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { ensureFolder } from '../../core/files/ensure-folder.ts';
import { errorMessage } from '../../core/text/thrown.ts';
import { mergeLayers } from './merge.ts';
import { type ChangedPath, hashFile, isWhiteout, namesIn, statOf, Tree } from './tree.ts';

/** A changed path as files of ours keep it. */
export const changedPath = z.object({
  path: z.string(),
  type: z.enum(['file', 'dir', 'symlink', 'fifo', 'socket', 'device']),
  mode: z.string(),
  size: z.number().nullable(),
  sha256: z.string().nullable(),
  change: z.enum(['added', 'modified', 'deleted']),
});

const layerRecord = z.object({
  id: z.string(),
  parent: z.string().nullable(),
  changed: z.array(changedPath),
  /** Paths that are as in the image again. */
  same: z.array(z.string()),
  /** The saved state of a persistent shell. */
  captured: z.string().nullable(),
  dir: z.string(),
  /** Memory of an agent's own file tools, if the call changed it; the caller's text. */
  tools: z.string().nullable(),
  /** Processes running at that time; a layer keeps none. */
  processes: z.array(z.string()),
  /** Entries that could not be kept, with the reason. */
  lost: z.array(z.string()),
  bytes: z.number(),
  /** Its files with their hashes, and with what the file system knew of them: both must change for a changed file. */
  kept: z.array(z.tuple([z.string(), z.string().nullable(), z.string()])),
});

/** The effect of a call: paths that differ from the state before it. */
export type LayerRecord = z.infer<typeof layerRecord>;

/** Layers are named by the image and all calls up to theirs, so rollouts with the same beginning share them. */
export const layerId = (parent: string, call: unknown): string =>
  createHash('sha256').update(parent).update('\0').update(JSON.stringify(call)).digest('hex').slice(0, 32);

/** overlayfs takes 500 directories, whose names must fit into one page; the oldest are merged. */
const IN_ONE_MOUNT = 400;

const BYTES_KEPT = 4 * 2 ** 30;
/** Counting all layers takes longer than a short run. */
const SWEEP_MS = 60_000;
/** Read and copied at the most for one layer: sparse files hold more than a disk. */
const LAYER_BYTES = 8 * 2 ** 30;

const sha256Hex = (text: string): string => createHash('sha256').update(text).digest('hex');

/** The layers of one image, one folder each. */
export class LayerStore {
  readonly folder: string;
  readonly #root: string;

  constructor(root: string, imageKey: string) {
    // A world's programs start in another folder.
    this.#root = resolve(root);
    this.folder = join(this.#root, imageKey);
    ensureFolder(this.folder, 0o700);
    chmodSync(root, 0o700);
  }

  fsOf(id: string): string {
    return join(this.folder, id, 'fs');
  }

  /** null if the layer is missing, truncated, changed since, or of another version. */
  read(id: string): LayerRecord | null {
    try {
      const [sum = '', text = ''] = readFileSync(join(this.folder, id, 'layer.json'), 'utf8').split('\n', 2);
      if (sha256Hex(text) !== sum) return null;
      const record = layerRecord.parse(JSON.parse(text));
      return record.id === id && this.#isWhole(record) ? record : null;
    } catch {
      return null;
    }
  }

  #isWhole({ id, kept }: LayerRecord): boolean {
    const fs = this.fsOf(id);
    return (
      statSync(fs).isDirectory() &&
      kept.every(([path, sha256, seen]) => {
        const stats = statOf(`${fs}${path}`);
        if (stats === null) return false;
        return seenOf(stats) === seen || (stats.isFile() && sha256 !== null && hashFile(`${fs}${path}`) === sha256);
      })
    );
  }

  /** Writes the record of a layer. */
  write(folder: string, record: LayerRecord): void {
    const text = JSON.stringify(record);
    writeFileSync(join(folder, 'layer.json'), `${sha256Hex(text)}\n${text}`);
  }

  /** The layers up to one, oldest first; null if any is missing. */
  chain(ids: readonly string[]): LayerRecord[] | null {
    const records: LayerRecord[] = [];
    for (const id of ids) {
      const record = this.read(id);
      if (record === null) return null;
      records.push(record);
    }
    return records;
  }

  /** The lower directories of a world's mount in its folder: the layers that hold anything, the newest first. */
  lowersOf(records: readonly LayerRecord[], folder: string, most = IN_ONE_MOUNT): string[] {
    const layers = records.map(({ id }) => this.fsOf(id)).filter((fs) => namesIn(fs).length > 0);
    if (layers.length <= most) return layers.reverse();
    const first = records.findIndex(({ id }) => this.fsOf(id) === layers[layers.length - most]);
    const merged = join(folder, 'merged');
    mergeLayers(layers.slice(0, -most), merged, foldChanges(records.slice(0, first)).values());
    return [...layers.slice(-most).reverse(), merged];
  }

  /** A folder for a running world. Also removes what killed programs left. */
  live(): string {
    const lives = join(this.folder, 'live');
    ensureFolder(lives, 0o700);
    this.#removeDead();
    const folder = join(lives, `${ownName()}-${Math.random().toString(36).slice(2, 10)}`);
    mkdirSync(folder, { mode: 0o700 });
    return folder;
  }

  #removeDead(): void {
    for (const image of namesIn(this.#root)) {
      const folder = join(this.#root, image);
      for (const name of namesIn(join(folder, 'live')))
        if (!isHolderAlive(name)) removeTree(join(folder, 'live', name));
      for (const name of namesIn(folder)) {
        const owner = /\.new-(.+)$/.exec(name)?.[1];
        if (owner !== undefined && !isHolderAlive(owner)) removeTree(join(folder, name));
      }
    }
  }

  /** Removes the least recently used layers of all images until the rest fits. */
  sweep(limit = BYTES_KEPT): void {
    const stamp = join(this.#root, 'swept');
    const last = statOf(stamp)?.mtimeMs ?? 0;
    if (limit === BYTES_KEPT && Date.now() - last < SWEEP_MS) return;
    writeFileSync(stamp, '');
    const kept = namesIn(this.#root)
      .flatMap((image) => namesIn(join(this.#root, image)).map((name) => join(this.#root, image, name)))
      .filter((path) => /\/[0-9a-f]{32}$/.test(path))
      .map((path) => {
        const stats = statOf(join(path, 'layer.json'));
        return { path, bytes: folderBytes(path) + 4096, used: stats?.mtimeMs ?? 0 };
      })
      .sort((a, b) => b.used - a.used);
    let sum = 0;
    for (const { path, bytes } of kept) {
      sum += bytes;
      if (sum > limit) removeTree(path);
    }
  }
}

/** The size that a layer declares; an unreadable layer counts as empty and goes last. */
function folderBytes(path: string): number {
  try {
    const text = readFileSync(join(path, 'layer.json'), 'utf8').split('\n', 2)[1] ?? '';
    return layerRecord.parse(JSON.parse(text)).bytes;
  } catch {
    return 0;
  }
}

/** Attributes of an entry that a program cannot set back. */
const seenOf = (stats: Stats): string => `${stats.ino} ${stats.mode} ${stats.size} ${stats.mtimeMs} ${stats.ctimeMs}`;

/** When a process began, by the kernel's clock: another one may have its number today. */
function startOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ', 20)[19] ?? '0';
  } catch {
    return '0';
  }
}

let own: string | null = null;

/** The name of this process in folders: `PID-START`. */
function ownName(): string {
  own ??= `${process.pid}-${startOf(process.pid)}`;
  return own;
}

/** Whether the process that a folder is named after lives: `PID-START…`. */
function isHolderAlive(name: string): boolean {
  const [pid = '', start = ''] = name.split('-');
  return existsSync(`/proc/${Number(pid)}`) && startOf(Number(pid)) === start;
}

/** Removes a folder even if its own modes forbid it. */
export function removeTree(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch {
    // Folders that a program made inaccessible, and overlayfs' work folder.
    try {
      execFileSync('chmod', ['-R', 'u+rwx', '--', path], { stdio: 'ignore' });
      rmSync(path, { recursive: true, force: true });
    } catch {
      // Another start tries again.
    }
  }
}

type Sign = string;

const isEqual = (a: ChangedPath | undefined, b: ChangedPath): boolean =>
  a !== undefined &&
  a.type === b.type &&
  a.mode === b.mode &&
  a.size === b.size &&
  a.sha256 === b.sha256 &&
  a.change === b.change;

/** Takes frozen copies of a running world's writes, one layer per call. */
export class LayerWriter {
  readonly #store: LayerStore;
  readonly #image: string;
  readonly #live: string;
  readonly #tree: Tree;
  /** Changes made by the layers below the running world. */
  readonly #before: ReadonlyMap<string, ChangedPath>;
  #signs = new Map<string, Sign>();
  #changed = new Map<string, ChangedPath>();

  constructor(store: LayerStore, image: string, live: string, before: readonly LayerRecord[] = []) {
    this.#store = store;
    this.#image = image;
    this.#live = live;
    this.#tree = new Tree(image);
    this.#before = foldChanges(before);
    this.#changed = new Map(this.#before);
  }

  /** The paths that currently differ from the image. */
  get changed(): ReadonlyMap<string, ChangedPath> {
    return this.#changed;
  }

  /** Freezes what the world wrote since the last time. An existing layer is only listed. */
  freeze(
    id: string,
    parent: string | null,
    state: Pick<LayerRecord, 'captured' | 'dir' | 'processes' | 'tools' | 'lost'>,
    shown: (path: string) => readonly string[] | null,
  ): LayerRecord {
    const upper = join(this.#live, 'up');
    const bare = new Set(namesIn(join(this.#live, 'bare')).map((name) => `/${name}`));
    const now = this.#tree.changed(upper, shown, this.#before, bare);
    const lost = [...state.lost];
    const record: LayerRecord = { id, parent, ...state, lost, changed: [], same: [], bytes: 0, kept: [] };
    for (const [path, entry] of now) if (!isEqual(this.#changed.get(path), entry)) record.changed.push(entry);
    for (const path of this.#changed.keys()) if (!now.has(path)) record.same.push(path);
    this.#changed = now;
    const target = join(this.#store.folder, `${id}.new-${ownName()}`);
    const fs = join(target, 'fs');
    ensureFolder(fs, 0o700);
    const signs = new Map<string, Sign>();
    this.#copy(upper, '', fs, signs, record);
    for (const path of this.#signs.keys())
      if (!signs.has(path) && isFolderAt(upper, parentOf(path))) this.#whiteout(upper, fs, path);
    for (const { path, change } of record.changed) if (change === 'deleted') this.#hideInFolder(upper, fs, path);
    for (const path of record.same)
      if (this.#before.get(path)?.change !== 'deleted') this.#hideInFolder(upper, fs, path);
    this.#signs = signs;
    this.#store.write(target, record);
    const place = join(this.#store.folder, id);
    if (this.#store.read(id) !== null) {
      removeTree(target);
      utimesSync(join(place, 'layer.json'), new Date(), new Date());
      return record;
    }
    // A layer that was cut is replaced; no world is mounted over one that cannot be read.
    removeTree(place);
    renameSync(target, place);
    return record;
  }

  #copy(upper: string, at: string, fs: string, signs: Map<string, Sign>, record: LayerRecord): void {
    for (const name of namesIn(join(upper, `.${at}`))) {
      const path = `${at}/${name}`;
      const stats = statOf(`${upper}${path}`);
      if (stats === null) continue;
      const sign = `${stats.ino} ${stats.mode} ${stats.size} ${stats.mtimeMs} ${stats.isDirectory() ? '' : stats.ctimeMs}`;
      signs.set(path, sign);
      const [from, to] = [Buffer.from(`${upper}${path}`, 'latin1'), Buffer.from(`${fs}${path}`, 'latin1')];
      const isNew = this.#signs.get(path) !== sign;
      try {
        if (stats.isDirectory()) {
          const count = signs.size;
          if (isNew) makeFolder(fs, upper, path);
          this.#copy(upper, path, fs, signs, record);
          if (isNew && signs.size >= count && statOf(`${fs}${path}`) !== null) chmodSync(to, stats.mode & 0o7777);
          continue;
        }
        if (!isNew) continue;
        makeFolder(fs, upper, at);
        if (isWhiteout(stats)) linkSync(from, to);
        else if (stats.isSymbolicLink()) symlinkSync(readlinkSync(from, { encoding: 'buffer' }), to);
        else if (stats.isFile()) {
          if (record.bytes + stats.size > LAYER_BYTES) {
            record.lost.push(`${path}: the layer would be larger than ${LAYER_BYTES / 2 ** 30} GB`);
            continue;
          }
          copyFile(from, to, stats);
          chmodSync(to, stats.mode & 0o7777);
          utimesSync(to, stats.atime, stats.mtime);
          const copy = lstatSync(to);
          if (copy.size !== stats.size) record.lost.push(`${path}: it changed while it was copied`);
          else record.kept.push([path, this.#changed.get(path)?.sha256 ?? null, seenOf(copy)]);
          record.bytes += stats.size;
        } else if (stats.isFIFO()) withPaths(`mkfifo -m ${(stats.mode & 0o7777).toString(8)} -- "$b"`, from, to);
        else record.lost.push(`${path}: neither a file, a folder nor a link`);
      } catch (error) {
        record.lost.push(`${path}: ${errorMessage(error)}`);
      }
    }
  }

  /** A removed name must hide the entry in lower layers and the image. */
  #whiteout(upper: string, fs: string, path: string): void {
    const template = join(this.#live, 'gone');
    if (!existsSync(template) || statOf(`${fs}${path}`) !== null) return;
    makeFolder(fs, upper, parentOf(path));
    linkSync(template, Buffer.from(`${fs}${path}`, 'latin1'));
  }

  /** A folder that replaces one of the image or of earlier layers hides their content, which only a mount would reveal. */
  #hideInFolder(upper: string, fs: string, path: string): void {
    const isBelow = this.#before.has(path) || statOf(`${this.#image}${path}`) !== null;
    if (isBelow && isFolderAt(upper, parentOf(path)) && statOf(`${upper}${path}`) === null)
      this.#whiteout(upper, fs, path);
  }
}

const BLOCK = 512;

/** Holes stay holes: a file of a terabyte may take no place at all. */
function copyFile(from: Buffer, to: Buffer, stats: Stats): void {
  if (stats.blocks * BLOCK >= stats.size || stats.size < 1 << 20) {
    copyFileSync(from, to, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL);
    return;
  }
  withPaths('cp --sparse=always --no-dereference -- "$a" "$b"', from, to);
}

/** Runs a line of bash with two paths of any bytes in $a and $b: arguments of a program would have to be UTF-8. */
function withPaths(script: string, a: Buffer, b: Buffer): void {
  const word = (bytes: Buffer) => `"$(printf '${bytes.toString('hex').replace(/../g, '\\x$&')}X')"`;
  const text = `export LC_ALL=C; a=${word(a)}; b=${word(b)}; a=\${a%X} b=\${b%X}; ${script}`;
  execFileSync('bash', ['-c', text], { stdio: 'ignore' });
}

/** Folders on the way to an entry, with the modes that the world gave them. */
function makeFolder(fs: string, upper: string, path: string): void {
  if (path === '' || statOf(`${fs}${path}`) !== null) return;
  makeFolder(fs, upper, path.slice(0, path.lastIndexOf('/')));
  mkdirSync(Buffer.from(`${fs}${path}`, 'latin1'), { mode: 0o700 });
  const stats = statOf(`${upper}${path}`);
  if (stats !== null) chmodSync(Buffer.from(`${fs}${path}`, 'latin1'), (stats.mode & 0o7777) | 0o700);
}

const parentOf = (path: string): string => path.slice(0, path.lastIndexOf('/'));

const isFolderAt = (upper: string, path: string): boolean => statOf(`${upper}${path}`)?.isDirectory() === true;

/** All changes of a chain, merged. */
export function foldChanges(records: readonly LayerRecord[]): Map<string, ChangedPath> {
  const all = new Map<string, ChangedPath>();
  for (const { changed, same } of records) {
    for (const entry of changed) all.set(entry.path, entry);
    for (const path of same) all.delete(path);
  }
  return all;
}
