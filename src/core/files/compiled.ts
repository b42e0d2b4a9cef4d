// Node 20 finds, reads and compiles every module at each start, which takes a third of it. So the build makes classic scripts of the modules,
// and what V8 compiled of them is kept in the cache folder. V8 refuses what another V8 wrote; everything else that could be wrong with such
// a file is checked here, since V8 trusts its contents.
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Script } from 'node:vm';
import { isMainThread } from 'node:worker_threads';
import { crc32 } from 'node:zlib';
import { ensureFolder } from './ensure-folder.ts';
import { cacheFolder } from './places.ts';

/** A kept file: its checksum, the number of runs that added to it, then what V8 made. */
const HEADER = 8;

/** Each run compiles only the code that its task needs, so the first few runs add to the file; later ones would add little. */
const RUNS = 3;

const UNUSED_DAYS = 30;

type Exports = Record<string, unknown>;
type Body = (
  part: (name: string) => Exports,
  later: (name: string) => Promise<Exports>,
  // A script whose compiled form was kept cannot import by itself.
  imported: (name: string) => Promise<unknown>,
  url: string,
  require: (name: string) => unknown,
) => Exports;

const kind = process.stdout.isTTY ? 'screen' : 'command';
const folder = (): string => join(cacheFolder(), 'compiled', `${process.version}-${process.arch}`);
const require = createRequire(import.meta.url);

/** Scripts that this run has loaded, by the path of their kept file, with the runs that have added to it. */
const loaded = new Map<string, { script: Script; before: Buffer | undefined; runs: number }>();

/** Whether only this user can write there. */
const isOwn = ({ uid, mode }: { uid: number; mode: number }): boolean =>
  uid === process.getuid?.() && (mode & 0o022) === 0;

function kept(path: string): { data: Buffer; runs: number } | undefined {
  let file: number | undefined;
  try {
    if (!isOwn(lstatSync(folder()))) return;
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const stat = fstatSync(file);
    if (!stat.isFile() || !isOwn(stat)) return;
    const bytes = readFileSync(file);
    const data = bytes.subarray(HEADER);
    if (bytes.length <= HEADER || bytes.readUInt32LE(0) !== crc32(data)) return;
    return { data, runs: bytes.readUInt32LE(4) };
  } catch {
    return;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** Shorter ones are compiled sooner than a kept file is read. */
const SHORT = 8_000;

const run = new Map<string, Exports>();

/**
 * Runs one of the build's scripts, once.
 *
 * @param name its path in dist/ without the ending .cjs
 * @returns its exports
 */
export function part(name: string): Exports {
  const before = run.get(name);
  if (before) return before;
  const { href } = new URL(`./${name}.cjs`, import.meta.url);
  const exports = compiled(name)(part, laterPart, (path) => import(path), href, require);
  run.set(name, exports);
  return exports;
}

/** ms of loading between which keys are answered. */
const SLICE = 8;

/** Like `part`, for what a script imports at run time. What that needs is loaded before it, one after the other. */
export async function laterPart(name: string): Promise<Exports> {
  let since = performance.now();
  for (const one of needsOf(name)) {
    if (performance.now() - since > SLICE) {
      await new Promise((resolve) => setImmediate(resolve));
      since = performance.now();
    }
    part(one);
  }
  return part(name);
}

/** The scripts that one imports and that have not run, those first that others need. */
function needsOf(name: string, found = new Set<string>()): ReadonlySet<string> {
  const [head = ''] = sourceOf(name).split('\n', 1);
  for (const need of head.split(' ').slice(1))
    if (!run.has(need) && !found.has(need)) {
      needsOf(need, found);
      found.add(need);
    }
  return found;
}

const scriptPath = (name: string): string => fileURLToPath(new URL(`./${name}.cjs`, import.meta.url));

/** Scripts that were read and have not run. */
const sources = new Map<string, string>();

function sourceOf(name: string): string {
  // The build writes ASCII alone, and V8 takes one byte a character.
  const source = sources.get(name) ?? readFileSync(scriptPath(name), 'latin1');
  sources.set(name, source);
  return source;
}

function compiled(name: string): Body {
  const source = sourceOf(name);
  sources.delete(name);
  const filename = scriptPath(name);
  if (source.length < SHORT) return new Script(source, { filename }).runInThisContext();
  // The script begins with a comment that changes with its text, and names what it imports.
  const path = join(folder(), `${source.slice(2, 18)}-${kind}`);
  const before = process.platform === 'win32' ? undefined : kept(path);
  const script = new Script(source, { filename, cachedData: before?.data });
  // A thread ends without a word.
  if (!isMainThread && loaded.size === 0) setTimeout(keep, 1000).unref();
  const valid = script.cachedDataRejected ? undefined : before;
  loaded.set(path, { script, before: valid?.data, runs: valid?.runs ?? 0 });
  return script.runInThisContext();
}

function keep(): void {
  const wanted = [...loaded].filter(([, { runs }]) => runs < RUNS);
  loaded.clear();
  if (wanted.length === 0 || process.platform === 'win32') return;
  try {
    // Environments beside it are used by the sandbox's user as well.
    ensureFolder(dirname(folder()));
    ensureFolder(folder(), 0o700);
    if (!isOwn(lstatSync(folder()))) return;
    for (const [path, { script, before, runs }] of wanted) {
      const now = script.createCachedData();
      // V8 also drops functions that it has not called for some time.
      const data = before && before.length > now.length ? before : now;
      const header = Buffer.alloc(HEADER);
      header.writeUInt32LE(crc32(data), 0);
      header.writeUInt32LE(runs + 1, 4);
      const temporary = `${path}.${process.pid}`;
      try {
        writeFileSync(temporary, Buffer.concat([header, data]), { mode: 0o600, flag: 'wx' });
        renameSync(temporary, path);
      } catch (error) {
        unlinkSync(temporary);
        throw error;
      }
    }
    removeUnused();
  } catch {
    // A full or read-only disk: the next start takes longer, and nothing else.
  }
}

/** Other versions of the program leave theirs. */
function removeUnused(): void {
  const parent = join(cacheFolder(), 'compiled');
  const oldest = Date.now() - UNUSED_DAYS * 86_400_000;
  for (const version of readdirSync(parent))
    for (const name of readdirSync(join(parent, version))) {
      const path = join(parent, version, name);
      if (statSync(path).mtimeMs < oldest) unlinkSync(path);
    }
}

/** Keeps what V8 compiles in this run: soon, since it forgets what is seldom used, or at the end of a shorter run. */
export function keepCompiled(): void {
  setTimeout(keep, 2000).unref();
  process.once('exit', keep);
}
