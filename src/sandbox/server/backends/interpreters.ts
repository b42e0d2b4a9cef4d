// Which interpreters a sandboxed program sees. /usr is there anyway; a Python or Node elsewhere (pyenv, conda, a venv,
// nvm) is mounted with it. A version manager's shim is no interpreter: it is asked once where the real one lies, as
// the user that the sandbox will run as, so one that this user cannot reach falls out by itself.
import { execFile } from 'node:child_process';
import { accessSync, constants, existsSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const STANDARD_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
/** Holds the links that the sandbox adds. */
const LINKS = '/run/bin';

export interface Interpreters {
  /** Host folders outside /usr to show read-only at their own place. */
  mounts: string[];
  /** Symbolic links to make: target, link. */
  links: [string, string][];
  path: string;
  notes: string[];
}

const folders = (): string[] => (process.env.PATH ?? '').split(':').filter((folder) => isAbsolute(folder));

export function findOnPath(name: string): string | null {
  for (const folder of folders()) {
    const path = join(folder, name);
    try {
      accessSync(path, constants.X_OK);
      return path;
    } catch {
      // not here
    }
  }
  return null;
}

/** Every executable of these names, in the order of PATH, then the system's own. */
const candidates = (...names: string[]): string[] => [
  ...new Set(
    [...folders(), '/usr/local/bin', '/usr/bin'].flatMap((folder) =>
      names.map((name) => join(folder, name)).filter((path) => existsSync(path)),
    ),
  ),
];

const isSystem = (path: string): boolean => /^\/(?:usr|bin|sbin|lib)\//.test(path);

interface Python {
  executable: string;
  prefixes: string[];
}

async function findPython(uid?: number): Promise<Python | null> {
  const ask = 'import json,sys;print(json.dumps([sys.executable,sys.prefix,sys.base_prefix]))';
  for (const path of candidates('python3', 'python')) {
    try {
      const { stdout } = await run(path, ['-I', '-c', ask], { ...identity(uid), timeout: 10_000 });
      const [executable, ...prefixes] = JSON.parse(stdout) as [string, string, string];
      if (isSystem(executable) && prefixes.every((prefix) => prefix === '/usr' || isSystem(`${prefix}/`)))
        return { executable, prefixes: [] };
      // Never a folder that holds more than an interpreter.
      const outside = [...new Set(prefixes)].filter((prefix) => !isSystem(`${prefix}/`));
      if (outside.some((prefix) => homedir().startsWith(prefix) || dirname(prefix) === prefix)) continue;
      return { executable, prefixes: outside };
    } catch {
      // a shim of a missing version, or not for this uid
    }
  }
  return null;
}

async function findNode(uid?: number): Promise<string | null> {
  for (const path of [...candidates('node'), process.execPath]) {
    try {
      const { stdout } = await run(path, ['-p', 'process.execPath'], { ...identity(uid), timeout: 10_000 });
      return realpathSync(stdout.trim());
    } catch {
      // as above
    }
  }
  return null;
}

const identity = (uid?: number) => ({ cwd: '/', ...(uid !== undefined && { uid, gid: uid }) });

/** @param uid whom the sandbox runs as; undefined: the user of this process. */
export async function resolveInterpreters(uid?: number): Promise<Interpreters> {
  const [python, node] = await Promise.all([findPython(uid), findNode(uid)]);
  const mounts: string[] = [];
  const links: [string, string][] = [];
  const path: string[] = [];
  const notes: string[] = [];
  if (python === null) notes.push('no python3 that a sandboxed program could reach; Python programs will answer 127');
  else {
    mounts.push(...python.prefixes);
    const home = dirname(python.executable);
    if (!existsSync(join(home, 'python'))) links.push([python.executable, `${LINKS}/python`]);
    if (!isSystem(python.executable)) path.push(home);
  }
  if (node !== null) {
    // Node is one file; the folder around it may hold anything.
    if (!isSystem(node)) mounts.push(node);
    if (!STANDARD_PATH.split(':').includes(dirname(node))) links.push([node, `${LINKS}/node`]);
  }
  return { mounts, links, path: [...path, LINKS, STANDARD_PATH].join(':'), notes };
}

/** Upstream links these libraries into every C++ program where they can be linked. */
export async function linkFlags(): Promise<string> {
  const libraries = ['crypto', 'ssl', 'pthread'];
  const present = await Promise.all(
    libraries.map(async (name) => {
      for (const ending of ['so', 'a']) {
        try {
          const { stdout } = await run('g++', [`-print-file-name=lib${name}.${ending}`], { cwd: '/' });
          if (isAbsolute(stdout.trim())) return ` -l${name}`;
        } catch {
          return '';
        }
      }
      return '';
    }),
  );
  return present.join('');
}
