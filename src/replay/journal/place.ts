import { createHash } from 'node:crypto';
import { existsSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { pathIdentity } from '../../core/text/shown-path.ts';
import { errorCode } from '../../core/text/thrown.ts';

/** A journal folder: no component of `names` may be a link, while links are allowed in `base`. */
export interface JournalFolder {
  base: string;
  names: readonly string[];
  /**
   * own: this user's entries. sealed: the same, in a place that a dump may ship, so each line carries its proof. reported: claimed by
   * whoever made the dump.
   */
  trust: 'own' | 'sealed' | 'reported';
  /** The user named exactly this folder. */
  isNamed?: true;
}

/**
 * The places where the user's work on a dump is kept, the preferred one first, and those of others' reports. Nothing is created before there is
 * something to keep.
 */
export interface JournalPlace {
  folders: readonly JournalFolder[];
  /** The folder with the key that seals entries beside a dump. */
  state: JournalFolder;
}

export interface PlaceOptions {
  /** `--journal DIR`: exactly this folder. `beside`: `.rollout-viewer` beside the dump. Default: the user's state directory. */
  journal?: string | undefined;
  env?: NodeJS.ProcessEnv;
}

/** The value of the `journal` setting that keeps results beside the dump. */
const BESIDE = 'beside';
const NAME = '.rollout-viewer';
const STATE = 'rollout-viewer';
/** Directories that are part of a dump rather than one themselves: the journal of `run/train` is that of `run`. */
const STREAM = /^(?:train|training|test|eval|evaluation|val|valid|validation)(?:[_.-].*)?$/i;

export const pathOf = ({ base, names }: JournalFolder): string => join(base, ...names);

/**
 * For `P/rollout_data` this is `$XDG_STATE_HOME/rollout-viewer/rollout_data-HASH`; the hash is of the path with links resolved.
 * @param path of the dump as the user named it: a directory, or a file in one; null for an unnamed stream
 */
export function journalPlace(path: string | null, { journal, env = process.env }: PlaceOptions = {}): JournalPlace {
  const base = env.XDG_STATE_HOME || join(env.HOME || homedir(), '.local', 'state');
  const root = path === null ? null : dumpRoot(path, base);
  const state: JournalFolder = { base, names: [STATE, root === null ? 'stdin' : stateName(root)], trust: 'own' };
  const key: JournalFolder = { base, names: [STATE], trust: 'own' };
  const beside: JournalFolder[] =
    root === null ? [] : [{ base: dirname(root), names: [NAME, basename(root)], trust: 'reported' }];
  if (journal === BESIDE)
    return { folders: [...beside.map((one) => ({ ...one, trust: 'sealed' as const })), state], state: key };
  if (journal === undefined) return { folders: [state, ...beside], state: key };
  const wished = resolve(journal);
  const others = beside.filter((one) => pathOf(one) !== wished);
  const named: JournalFolder = { base: dirname(wished), names: [basename(wished)], trust: 'own', isNamed: true };
  return { folders: [named, state, ...others], state: key };
}

/** Whether a place may hold entries, of one kind if it is named: nothing is read, and what reads them need not be loaded without any. */
export function mayHoldEntries({ folders }: JournalPlace, kind = 'replay|fork|rescore|label'): boolean {
  const file = new RegExp(`^(?:${kind})(?:-.*)?\\.jsonl$`);
  return folders.some((folder) => {
    try {
      return readdirSync(pathOf(folder)).some((name) => file.test(name));
    } catch (error) {
      // A folder that cannot be listed may hold a file that can be read.
      return !['ENOENT', 'ENOTDIR'].includes(errorCode(error) ?? '');
    }
  });
}

const stateName = (root: string): string =>
  `${basename(root) || 'root'}-${createHash('sha256').update(pathIdentity(root)).digest('hex').slice(0, 12)}`;

/** The directory that holds the whole dump. Existing results are the best evidence. */
function dumpRoot(path: string, stateHome: string): string {
  const absolute = real(resolve(path));
  const start = isDirectory(absolute) ? absolute : dirname(absolute);
  for (let at = start; dirname(at) !== at; at = dirname(at))
    if (existsSync(join(stateHome, STATE, stateName(at)))) return at;
  let root = start;
  while (STREAM.test(basename(root)) && dirname(root) !== root) root = dirname(root);
  return root;
}

function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
