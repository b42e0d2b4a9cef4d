import { createHash } from 'node:crypto';
import { accessSync, constants, existsSync, mkdirSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';

/** Where the user's work on a dump may be kept, the best place first. Nothing is made there before there is something to keep. */
export interface JournalPlace {
  directories: readonly string[];
}

export interface PlaceOptions {
  /** `--journal DIR`: this directory itself. */
  journal?: string | undefined;
  env?: NodeJS.ProcessEnv;
}

const NAME = '.rollout-viewer';
/** Directories that are a part of a dump rather than one: the journal of `run/train` lies beside `run`, not in it. */
const STREAM = /^(?:train|training|test|eval|evaluation|val|valid|validation)(?:[_.-].*)?$/i;

/**
 * For `P/rollout_data` that is `P/.rollout-viewer/rollout_data`, and where that cannot be written a directory under XDG_STATE_HOME.
 * @param path of the dump as the user named it: a directory, or a file of one; null for a stream without a name
 */
export function journalPlace(path: string | null, { journal, env = process.env }: PlaceOptions = {}): JournalPlace {
  const root = path === null ? null : dumpRoot(path);
  const wished = journal !== undefined ? [resolve(journal)] : root === null ? [] : [besideOf(root)];
  return { directories: [...wished, stateDirectory(root, env)] };
}

/** The first of the places that can be written, made where it is not there yet; null where none can. */
export function writablePlace({ directories }: JournalPlace): string | null {
  return directories.find(makeWritable) ?? null;
}

const besideOf = (root: string): string => join(dirname(root), NAME, basename(root));

/** The directory that holds the whole dump. A journal that is there already says best what that is. */
export function dumpRoot(path: string): string {
  const absolute = resolve(path);
  const start = isDirectory(absolute) ? absolute : dirname(absolute);
  for (let at = start; dirname(at) !== at; at = dirname(at)) if (existsSync(besideOf(at))) return at;
  let root = start;
  while (STREAM.test(basename(root)) && dirname(root) !== root) root = dirname(root);
  return root;
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

function stateDirectory(root: string | null, env: NodeJS.ProcessEnv): string {
  const state = env.XDG_STATE_HOME || join(env.HOME || homedir(), '.local', 'state');
  if (root === null) return join(state, 'rollout-viewer', 'stdin');
  const hash = createHash('sha256').update(root).digest('hex').slice(0, 12);
  return join(state, 'rollout-viewer', `${basename(root) || 'root'}-${hash}`);
}

function makeWritable(directory: string): boolean {
  try {
    mkdirSync(directory, { recursive: true });
    accessSync(directory, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
