import { closeSync, lstatSync, openSync, readdirSync, readSync, realpathSync, type Stats, statSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { globSync, isDynamicPattern } from 'tinyglobby';
import { plural } from '../text/numbers.ts';
import { reasonOf } from '../text/problems.ts';
import { shownPath } from '../text/shown-path.ts';
import { isBinary, kindOf } from './containers/kind.ts';
import { awayIn } from './origins.ts';
import { rolloutEntries, unopenedKind } from './run-folders.ts';
import { isInside } from './stranger-file.ts';
import { failedText, Unmade } from './unmade.ts';

/** A request that cannot be carried out: the message names the path and says what to do. Exit status 2. */
export class UsageError extends Error {
  /** Lines below the message, such as the input with a marker under the wrong character; already sanitised. */
  readonly details: readonly string[];
  constructor(message: string, details: readonly string[] = []) {
    super(message);
    this.details = details;
  }
}

/** A file of a dump, before it is read. */
export interface FoundFile {
  /** As the user gave it, or below the directory that the user gave: the beginning of locators. */
  path: string;
  stream: string;
  /** Found on a walk through a directory: nobody said that it holds rollouts. */
  isFound?: true;
}

export interface FoundPaths {
  files: FoundFile[];
  /** Unreadable directories inside the named ones, one line each. */
  notices: string[];
  /** Unreadable named paths, one line each, if others are readable. */
  refused: string[];
}

const NOTHING_INSIDE =
  'no file in it that may hold rollouts (.jsonl, .json, .parquet, .eval, .pt, .traj, .db …, also packed)';

/**
 * Resolves the paths of the command line: directories (each nested one with files is a stream; dot directories are
 * skipped), files of any name, glob patterns.
 * @param waits missing, empty or unmounted paths are not errors: the caller waits for them
 * @throws UsageError if every named path is missing, unreadable, empty or binary
 */
export function findFiles(paths: readonly string[], waits = false): FoundPaths {
  const found: FoundPaths = { files: [], notices: [], refused: [] };
  const seen = new Set<string>();
  for (const path of paths) {
    try {
      for (const match of expand(path)) findNamed(match, found, seen, waits);
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      if (!waits) found.refused.push(error.message);
    }
  }
  if (found.files.length === 0 && found.refused.length > 0) throw new UsageError(found.refused.join('\n'));
  found.files.sort(inOrder);
  return found;
}

function findNamed(path: string, found: FoundPaths, seen: Set<string>, waits: boolean): void {
  const real = linkTarget(path);
  if (real !== null) found.notices.push(`${path}: a link, followed to ${real}`);
  if (statNamed(path).isDirectory()) {
    const walked: Walk = {
      root: path,
      found,
      seen,
      visited: new Set(),
      entries: 0,
      files: 0,
      left: 0,
      unopened: new Map(),
    };
    walk(walked, path);
    const unopened = [...walked.unopened].map(([kind, of]) => unopenedText(kind, of));
    if (walked.files + walked.left === 0) throw new UsageError([`${path}: ${emptyText(path)}`, ...unopened].join('\n'));
    found.notices.push(...unopened.map((text) => `${path}: ${text}`));
    return;
  }
  const problem = waits ? null : problemOfFile(path);
  if (problem !== null) throw new UsageError(`${path}: ${problem}`);
  addFile(found, seen, { path, stream: streamOf(basename(dirname(resolve(path))), path) }, resolve(path));
}

const unopenedText = (kind: string, { count, first }: Unopened): string =>
  `${plural(count, `${kind} file`)} not opened, such as ${shownPath(first)}; name one to read it, if it can be read`;

/** The target of a link; null if it is not a link. */
function linkTarget(path: string): string | null {
  try {
    return lstatSync(path.replace(/(?<=.)\/+$/, '')).isSymbolicLink() ? realpathSync(path) : null;
  } catch {
    return null;
  }
}

/** A run whose rollouts all failed has a folder but no dump. */
function emptyText(folder: string): string {
  const [failed] = new Unmade().of([{ path: join(folder, '1.jsonl') }]);
  return failed === undefined ? NOTHING_INSIDE : failedText(failed.causes);
}

/**
 * The number of a step file (`120.jsonl`, `step_120.jsonl`, `val-0.jsonl.gz`), null for a name without one, and for a
 * part of a data set (`-00000-of-00002`).
 */
export function stepOfName(path: string): number | null {
  const stem = stemOf(path);
  const digits = /-of-\d+$/.test(stem) ? undefined : /^(?:.*?[^0-9])??(\d+)$/.exec(stem)?.[1];
  return digits === undefined || digits.length > 15 ? null : Number(digits);
}

export const stemOf = (path: string): string =>
  basename(path)
    .replace(/\.(gz|zst|zip)$/i, '')
    .replace(/\.[^.]+$/, '');

/** Streams by name, steps by number, then names without a number. */
export function inOrder(a: FoundFile, b: FoundFile): number {
  if (a.stream !== b.stream) return a.stream < b.stream ? -1 : 1;
  const [one, two] = [stepOfName(a.path) ?? Number.POSITIVE_INFINITY, stepOfName(b.path) ?? Number.POSITIVE_INFINITY];
  if (one !== two) return one - two;
  return a.path < b.path ? -1 : a.path > b.path ? 1 : 0;
}

/** A shell without a match passes the pattern on; an existing path is never a pattern. */
function expand(path: string): string[] {
  if (!isDynamicPattern(path) || exists(path)) return [path];
  const matches = globSync(path, { onlyFiles: false, dot: false, expandDirectories: false }).sort();
  if (matches.length === 0) throw new UsageError(`${path}: no path matches this pattern`);
  return matches.map((match) => match.replace(/\/$/, ''));
}

function exists(path: string): boolean {
  try {
    statSync(path);
    return true;
  } catch {
    return false;
  }
}

function statNamed(path: string): Stats {
  try {
    return statSync(path);
  } catch (error) {
    throw new UsageError(`${shownPath(path)}: ${reasonOf(error)}`);
  }
}

interface Walk {
  root: string;
  found: FoundPaths;
  seen: Set<string>;
  /** Real paths of directories: links may form cycles. */
  visited: Set<string>;
  entries: number;
  /** Dump files found, including those named before. */
  files: number;
  /** Entries that a notice covers. */
  left: number;
  /** By the end of their names. */
  unopened: Map<string, Unopened>;
}

/** Files that may hold rollouts and are not opened. */
interface Unopened {
  count: number;
  first: string;
}

/** A dump has thousands of files. A directory with this many entries was probably named by mistake. */
const MAX_ENTRIES = 200_000;

function walk(walked: Walk, directory: string): void {
  const { root, found, seen, visited } = walked;
  const leave = (notice: string) => {
    walked.left++;
    found.notices.push(notice);
  };
  let entries: { name: string; isDirectory: boolean; isLink: boolean }[];
  let real: string;
  try {
    real = realpathSync(directory);
    entries = readdirSync(directory, { withFileTypes: true }).map((entry) => ({
      name: entry.name,
      isLink: entry.isSymbolicLink(),
      isDirectory: entry.isDirectory() || (entry.isSymbolicLink() && isDirectory(join(directory, entry.name))),
    }));
    for (const name of awayIn(directory, entries)) entries.push({ name, isLink: false, isDirectory: false });
  } catch (error) {
    if (directory === root) throw new UsageError(`${directory}: ${reasonOf(error)}`);
    leave(`${directory}: ${reasonOf(error)}`);
    return;
  }
  if (visited.has(real)) return;
  visited.add(real);
  walked.entries += entries.length;
  if (walked.entries > MAX_ENTRIES)
    throw new UsageError(`${root}: more than ${MAX_ENTRIES} entries; name a directory nearer to the dump`);
  const stream = relative(root, directory) || basename(resolve(root));
  const links = new Set(entries.filter(({ isLink }) => isLink).map(({ name }) => name));
  entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  const opened = rolloutEntries(directory, entries);
  const names = new Set(opened.map(({ name }) => name));
  for (const { name, isDirectory: isNested } of entries) {
    const kind = isNested || names.has(name) ? null : unopenedKind(name);
    if (kind === null) continue;
    const known = walked.unopened.get(kind);
    if (known === undefined) walked.unopened.set(kind, { count: 1, first: pathInside(directory, name) });
    else known.count++;
  }
  for (const { name, isDirectory: isNested } of opened) {
    const path = pathInside(directory, name);
    if (links.has(name) && !isInside(root, path))
      leave(
        exists(path)
          ? `${path}: a link out of ${root}, not followed; name it to open it`
          : `${path}: a link that leads nowhere`,
      );
    else if (isNested) {
      walk(walked, path);
    } else {
      walked.files++;
      if (name.includes('\ufffd')) {
        leave(`${path}: its name is not UTF-8 and cannot be opened here; rename it`);
        continue;
      }
      // Not even a stat here: a run may have 10,000 step files on a network file system. The index looks at each file
      // in turn.
      addFile(found, seen, { path, stream: streamOf(stream, path), isFound: true }, resolve(path));
    }
  }
}

/** Keeps what the user typed (`./dump`, `dump/`): `join` would normalise it. */
const pathInside = (directory: string, name: string): string =>
  directory.endsWith('/') ? directory + name : `${directory}/${name}`;

const isDirectory = (path: string): boolean => {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
};

function addFile(found: FoundPaths, seen: Set<string>, file: FoundFile, identity: string): void {
  if (seen.has(identity)) return;
  seen.add(identity);
  found.files.push(file);
}

/** Why a file cannot be read as a dump; null if it can. */
export function problemOfFile(path: string): string | null {
  try {
    const stats = statSync(path);
    return stats.isFile() ? pathProblem(path, stats.size) : 'not a regular file';
  } catch (error) {
    return reasonOf(error);
  }
}

/** The problem of a file that is still empty. */
export const EMPTY = 'empty (0 bytes)';

function pathProblem(path: string, size: number): string | null {
  if (size === 0) return EMPTY;
  const head = Buffer.alloc(4096);
  let length: number;
  try {
    const fd = openSync(path, 'r');
    try {
      length = readSync(fd, head, 0, head.length, 0);
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    return reasonOf(error);
  }
  const bytes = head.subarray(0, length);
  if (isBinary(kindOf(bytes, path))) return null;
  const text = bytes.toString('latin1', 0, 200).trimStart();
  if (text.startsWith('version https://git-lfs'))
    return 'a Git LFS pointer, not the file itself: `git lfs pull` fetches it';
  if (/^<(?:!doctype html|html)/i.test(text)) return 'an HTML page, not a dump';
  if (bytes[0] === 0xff && bytes[1] === 0xfe)
    return 'UTF-16 text; convert it to UTF-8 first (iconv -f UTF-16 -t UTF-8)';
  return bytes.includes(0)
    ? 'binary, and no container that is known (JSON lines, JSON, gzip, zstd, zip, parquet, SQLite, pickle)'
    : null;
}

/** A file of validation rollouts beside those of training, by name: `eval_11.pt` (slime), `val_data_step3.jsonl` (NeMo-RL). */
const VALIDATION_FILE = /^(?:val(?:id(?:ation)?)?|evals?|evaluation)(?=[_.-]|\d|$)/i;

/** The stream of a file in a folder: rollouts of validation are a stream of their own. */
function streamOf(folder: string, path: string): string {
  const word = VALIDATION_FILE.exec(stemOf(path))?.[0].toLowerCase();
  return word === undefined || isValidationStream(folder) ? folder : `${folder}/${word}`;
}

/** Streams that hold validation rollouts, by name: val, valid, validation, val_generations …, eval, evals, eval_results, dumped_evals. */
export const isValidationStream = (stream: string): boolean =>
  stream
    .split('/')
    .some((part) => /^(?:val(?:id(?:ation)?)?(?:[_.-].*)?|(?:dumped_)?eval(?:s|uations?|_results)?)$/i.test(part));
