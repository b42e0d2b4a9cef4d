// Which interpreters a sandboxed program sees. /usr is always there; a Python or Node elsewhere (pyenv, conda, a venv,
// nvm) is mounted too. A version manager's shim is not an interpreter: it is asked once for the real path, as
// the user that the sandbox will run as, so an interpreter this user cannot reach is skipped.

import { execFile } from 'node:child_process';
import { accessSync, constants, existsSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { thrownError } from '../../../core/text/thrown.ts';

const run = promisify(execFile);
const STANDARD_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
/** Holds the links that the sandbox adds. */
const LINKS = '/run/bin';

export interface Interpreters {
  /** Host folders outside /usr, mounted read-only at the same path. */
  mounts: string[];
  /** Symbolic links to make: target, link. */
  links: [string, string][];
  path: string;
  notes: string[];
  /** Java archives that programs may assume. */
  jars: string[];
  /** A folder with node_modules. */
  nodeFolder: string | null;
}

const folders = (): string[] => (process.env.PATH ?? '').split(':').filter((folder) => isAbsolute(folder));

export function findOnPath(name: string): string | null {
  for (const folder of folders()) {
    const path = join(folder, name);
    try {
      accessSync(path, constants.X_OK);
      return path;
    } catch {
      // not installed
    }
  }
  return null;
}

/** Every executable of these names, in PATH order, then the system's. */
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

/** @throws Error that says why the requested one is unavailable; null if none was requested and none is installed */
async function findPython(uid?: number, wished?: string): Promise<Python | null> {
  let problem = '';
  const ask = 'import json,sys;print(json.dumps([sys.executable,sys.prefix,sys.base_prefix]))';
  for (const path of wished === undefined ? candidates('python3', 'python') : [wished]) {
    try {
      const { stdout } = await run(path, ['-I', '-c', ask], { ...identity(uid), timeout: 10_000 });
      const [executable, ...prefixes] = JSON.parse(stdout) as [string, string, string];
      if (isSystem(executable) && prefixes.every((prefix) => prefix === '/usr' || isSystem(`${prefix}/`)))
        return { executable, prefixes: [] };
      // Never a folder that holds more than an interpreter.
      const outside = [...new Set(prefixes)].filter((prefix) => !isSystem(`${prefix}/`));
      const wide = outside.find((prefix) => homedir().startsWith(prefix) || dirname(prefix) === prefix);
      problem = `it is in ${wide}, and programs would read all of that folder`;
      if (wide !== undefined) continue;
      return { executable, prefixes: outside };
    } catch (error) {
      // A shim of a missing version, or not accessible to this uid.
      problem = await startProblem(path, uid, thrownError(error));
    }
  }
  if (wished !== undefined)
    throw new Error(`${wished} starts no Python that a sandboxed program could reach: ${problem}`);
  return null;
}

async function startProblem(path: string, uid: number | undefined, error: Error): Promise<string> {
  if (!existsSync(path)) return 'there is no such file';
  const isReadable = await run('/bin/ls', [realpathSync(path)], { ...identity(uid), timeout: 10_000 }).then(
    () => true,
    () => false,
  );
  if (isReadable) return error.message.split('\n').find((line) => !line.startsWith('Command failed')) || error.message;
  const who = uid === undefined ? 'you' : `user ${uid}, whom programs run as,`;
  return `${who} cannot read ${realpathSync(path)}: move it, or give others the right to enter its folders (chmod o+x)`;
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

/**
 * @param uid the sandbox's user; undefined: this process's user
 * @param toolchains folders that the user named; their programs come before the system's
 * @param wished the interpreter for Python programs
 * @throws {Error} for a folder that is missing or unreadable for the sandbox's user, and for an interpreter that does not start for that user
 */
export async function resolveInterpreters(
  uid?: number,
  toolchains: readonly string[] = [],
  wished?: string,
): Promise<Interpreters> {
  const named = await Promise.all(toolchains.map((folder) => readToolchain(folder, uid)));
  const bins = named.flatMap(({ bins }) => bins);
  const [python, node] = await Promise.all([findPython(uid, wished), findNode(uid)]);
  const mounts: string[] = named.flatMap(({ mounts }) => mounts);
  const links: [string, string][] = [];
  const path: string[] = [];
  const notes: string[] = [];
  const has = (tool: string) => bins.some((folder) => existsSync(join(folder, tool)));
  if (wished === undefined && (has('python') || has('python3'))) {
    const own = bins.map((folder) => join(folder, 'python3')).find(existsSync);
    if (!has('python') && own !== undefined) links.push([own, `${LINKS}/python`]);
  } else if (python === null) {
    notes.push('no python3 that a sandboxed program could reach');
  } else {
    mounts.push(...python.prefixes);
    const home = dirname(python.executable);
    // A link to a virtual environment's Python would start a different one.
    const isNamed = wished !== undefined && isSystem(python.executable);
    if (isNamed || !existsSync(join(home, 'python'))) links.push([python.executable, `${LINKS}/python`]);
    if (!isSystem(python.executable)) path.push(home);
  }
  if (node !== null && !has('node')) {
    // Node is a single file; its folder may hold anything.
    if (!isSystem(node)) mounts.push(node);
    if (!STANDARD_PATH.split(':').includes(dirname(node))) links.push([node, `${LINKS}/node`]);
  }
  for (const [name, others] of STAND_INS) {
    const other = others.map((tool) => `/usr/bin/${tool}`).find(existsSync);
    if (!has(name) && !existsSync(`/usr/bin/${name}`) && other) links.push([other, `${LINKS}/${name}`]);
  }
  notes.push(...ignoredTools(bins));
  return {
    mounts: [...new Set(mounts)],
    links,
    path: (wished === undefined ? [...bins, ...path, LINKS] : [...path, LINKS, ...bins])
      .concat(STANDARD_PATH)
      .join(':'),
    notes,
    jars: [...named.flatMap(({ jars }) => jars), ...systemJars()],
    nodeFolder: named.map(({ nodeFolder }) => nodeFolder).find((folder) => folder !== null) ?? null,
  };
}

/** Tools with a different name in Debian. */
const STAND_INS: [string, string[]][] = [
  ['dmd', ['ldmd2', 'gdmd']],
  ['lua', ['lua5.4', 'lua5.3']],
];

const JAVA_LIBRARIES = '/usr/share/java';
/** The jars of Debian's libjavatuples-java and junit5. */
const JAVA_NAMES =
  /^(?:javatuples|junit-(?:jupiter|platform)-[a-z-]+|opentest4j|apiguardian-api|picocli|univocity-parsers)\.jar$/;
const systemJars = (): string[] =>
  existsSync(JAVA_LIBRARIES)
    ? readdirSync(JAVA_LIBRARIES)
        .filter((name) => JAVA_NAMES.test(name))
        .map((name) => join(JAVA_LIBRARIES, name))
    : [];

interface NamedToolchain {
  mounts: string[];
  bins: string[];
  jars: string[];
  nodeFolder: string | null;
}

const OF_THE_MACHINE = /^\/(?:(?:boot|dev|etc|home|proc|root|run|sys|tmp|var)?$|(?:dev|proc|sys)\/)/;

/** A folder of rustup, cargo, pyenv, a virtual environment, node_modules, or any folder with programs in it or in its bin. */
async function readToolchain(given: string, uid: number | undefined): Promise<NamedToolchain> {
  const fail = (why: string): never => {
    throw new Error(`--toolchain ${given}: ${why}`);
  };
  const folder = resolve(given);
  if (!existsSync(folder) || !statSync(folder).isDirectory()) fail('there is no such folder');
  const real = realpathSync(folder);
  if (OF_THE_MACHINE.test(real) || real === homedir())
    fail(`programs would read all of ${real}; name the folder of the toolchain alone`);
  const root = versionOf(folder);
  const bins = ['bin', 'node_modules/.bin', 'condabin']
    .map((name) => join(root, name))
    .filter((name) => existsSync(name));
  const jars = readdirSync(root)
    .filter((name) => name.endsWith('.jar'))
    .map((name) => join(root, name));
  const nodeFolder = existsSync(join(root, 'node_modules')) ? root : null;
  if (bins.length === 0 && jars.length === 0 && nodeFolder === null) bins.push(root);
  const mounts = [folder, ...baseOfEnvironment(root)];
  for (const mount of mounts) {
    const readable = await run('/bin/ls', [mount], { ...identity(uid), timeout: 10_000 }).catch(() => null);
    if (readable === null) {
      fail(
        `${mount} cannot be read by ${uid === undefined ? 'you' : `user ${uid}, whom programs run as`}: move it, or give others the right to enter its folders (chmod o+x)`,
      );
    }
  }
  return { mounts, bins, jars, nodeFolder };
}

/** rustup and pyenv hold several versions; picks the one they would. */
function versionOf(folder: string): string {
  for (const [many, settings, pattern] of [
    ['toolchains', 'settings.toml', /^default_toolchain\s*=\s*"([^"]+)"/m],
    ['versions', 'version', /^(\S+)/],
  ] as const) {
    const parent = join(folder, many);
    if (!existsSync(parent)) continue;
    const all = readdirSync(parent).toSorted();
    const file = join(folder, settings);
    const wanted = existsSync(file) ? pattern.exec(readFileSync(file, 'utf8'))?.[1] : undefined;
    const found = all.find((name) => name === wanted) ?? all.at(-1);
    if (found !== undefined) return join(parent, found);
  }
  return folder;
}

/** A virtual environment's real Python is elsewhere. */
function baseOfEnvironment(folder: string): string[] {
  const file = join(folder, 'pyvenv.cfg');
  const home = existsSync(file) ? /^home\s*=\s*(.+)$/m.exec(readFileSync(file, 'utf8'))?.[1]?.trim() : undefined;
  return home === undefined || isSystem(`${home}/`) ? [] : [dirname(home)];
}

const WATCHED = ['rustc', 'go', 'julia', 'swiftc', 'dotnet', 'kotlin', 'scala', 'tsx', 'pytest', 'ruby', 'php', 'lake'];

/** Tools on PATH that programs will not see, and how to include them. */
function ignoredTools(bins: readonly string[]): string[] {
  return WATCHED.flatMap((tool) => {
    const found = findOnPath(tool);
    if (found === null || isSystem(found) || bins.some((folder) => existsSync(join(folder, tool)))) return [];
    return [`${found} is not seen by programs, which have the system's own only: --toolchain ${toolchainOf(found)}`];
  });
}

/** The folder to name for a tool in FOLDER/bin or FOLDER/shims; rustup's proxies are not in its toolchains' folder. */
function toolchainOf(tool: string): string {
  const folder = dirname(dirname(tool));
  const rustup = join(dirname(folder), '.rustup');
  return folder.endsWith('/.cargo') && existsSync(rustup) ? rustup : folder;
}

/** Upstream links these libraries into every C++ program; used here if they can be linked. */
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
