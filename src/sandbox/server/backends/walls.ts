// The wall around a Pyodide child: it confines a program that has taken over Node itself. Pyodide is a runtime and confines
// nobody; the operating system does. A wall shows the child its interpreter and Pyodide, and gives it no socket, no
// file of the user, no environment and no other process. SECURITY.md describes each.

import { execFile } from 'node:child_process';
import { existsSync, lstatSync, readFileSync, readlinkSync, realpathSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { promisify } from 'node:util';
import { errorMessage } from '../../../core/text/thrown.ts';
import { findOnPath } from './interpreters.ts';
import LANDLOCK from './landlock.py';
import { filterForOne, hasSeccomp } from './seccomp.ts';

export type WallName = 'bubblewrap' | 'landlock' | 'sandbox-exec';

/** The paths that a child must see: its program, and the files and folders it reads. */
export interface BehindWall {
  node: string;
  read: readonly string[];
}

export interface Wall {
  readonly name: WallName;
  /** A `BehindWall` path as seen behind the wall, so no name of the host need be visible. */
  placed(path: string): string;
  /** The program and arguments that start `command`, in placed paths, behind the wall. @param filterFd holds filterForOne's bytes, if wanted */
  around(command: readonly string[], shown: BehindWall, filterFd: number): [program: string, args: string[]];
  /** The bytes that `filterFd` must hold; null if the wall takes none. */
  readonly filter: Buffer | null;
}

const TOP_LEVEL = ['lib', 'lib32', 'lib64', 'libx32'];

/** The shared libraries of this Node, which is also the child's. */
function libraries(): string[] {
  const maps = readFileSync('/proc/self/maps', 'utf8');
  return [...new Set([...maps.matchAll(/ (\/\S+\.so(?:\.[\d.]+)?)$/gm)].map(([, path = '']) => path))];
}

const libraryFolders = (): string[] => [...new Set(libraries().map((file) => dirname(file)))];

/** The root's links to library folders, as on this machine. */
const topLinks = (): [target: string, link: string][] =>
  TOP_LEVEL.map((name) => `/${name}`)
    .filter((link) => existsSync(link) && lstatSync(link).isSymbolicLink())
    .map((link) => [readlinkSync(link), link]);

function bubblewrapWall(program: string): Wall {
  const filter = hasSeccomp() ? filterForOne() : null;
  return {
    name: 'bubblewrap',
    filter,
    placed: (path) => `/run/${basename(path)}`,
    around(command, { node, read }, filterFd) {
      const links = topLinks();
      const folders = [...libraryFolders(), ...TOP_LEVEL.map((name) => `/${name}`)].filter(
        (path) => existsSync(path) && !links.some(([, link]) => path === link || path.startsWith(`${link}/`)),
      );
      // The loader and its name cache are beside the libraries.
      const loaders = links.map(([, link]) => realpathSync(link)).filter((path) => path.endsWith('lib64'));
      const shown = [...new Set([...folders, ...loaders, node])];
      const args = [
        ...['--unshare-all', '--unshare-user', '--disable-userns', '--die-with-parent', '--new-session', '--as-pid-1'],
        ...['--uid', '65534', '--gid', '65534', '--hostname', 'sandbox', '--clearenv', '--cap-drop', 'ALL'],
        ...['--size', String(1024 * 1024), '--tmpfs', '/'],
        ...links.flatMap(([target, link]) => ['--symlink', target, link]),
        ...shown.flatMap((path) => ['--ro-bind', path, path]),
        ...read.flatMap((path) => ['--ro-bind', path, `/run/${basename(path)}`]),
        ...(existsSync('/etc/ld.so.cache') ? ['--ro-bind', '/etc/ld.so.cache', '/etc/ld.so.cache'] : []),
        ...['--dir', '/dev', '--dev-bind', '/dev/null', '/dev/null', '--dev-bind', '/dev/urandom', '/dev/urandom'],
        ...['--chdir', '/', '--remount-ro', '/'],
        ...(filter === null ? [] : ['--seccomp', String(filterFd)]),
      ];
      return [program, [...args, ...command]];
    },
  };
}

function landlockWall(python: string): Wall {
  const filter = filterForOne();
  return {
    name: 'landlock',
    filter: null,
    placed: (path) => path,
    around(command, { node, read }) {
      const order = {
        execute: [realpathSync(node), ...libraries().filter((file) => basename(file).startsWith('ld-'))],
        read: [...read, ...libraryFolders(), ...['/etc/ld.so.cache', '/dev/urandom'].filter(existsSync)],
        write: ['/dev/null'],
        filter: filter.toString('hex'),
        command,
      };
      return [python, ['-I', '-S', '-c', LANDLOCK, JSON.stringify(order)]];
    },
  };
}

/** Quotes a string for a sandbox-exec profile. */
const quotedPath = (path: string): string => `"${path.replace(/[\\"]/g, (character) => `\\${character}`)}"`;

/** The profile for macOS. @param libraries library folders outside the system's */
export function sandboxProfile({ node, read }: BehindWall, libraries: readonly string[]): string {
  const paths = [node, ...read, ...libraries, '/usr/lib', '/System/Library', '/System/Volumes/Preboot/Cryptexes'];
  return [
    '(version 1)',
    '(deny default)',
    '(deny network*)',
    '(deny process-fork)',
    `(allow process-exec (literal ${quotedPath(node)}))`,
    `(allow file-read* ${paths.map((path) => `(subpath ${quotedPath(path)})`).join(' ')})`,
    '(allow file-read* (literal "/dev/null") (literal "/dev/urandom") (literal "/dev/random") (literal "/"))',
    '(allow file-write-data (literal "/dev/null"))',
    '(allow sysctl-read)',
    '(allow process-info* (target self))',
    '(allow signal (target self))',
  ].join('\n');
}

function sandboxExecWall(program: string): Wall {
  const { sharedObjects } = process.report.getReport() as unknown as { sharedObjects: string[] };
  const folders = sharedObjects.filter((path) => !/^\/(?:usr\/lib|System)\//.test(path)).map((path) => dirname(path));
  return {
    name: 'sandbox-exec',
    filter: null,
    placed: (path) => path,
    around: (command, shown) => [program, ['-p', sandboxProfile(shown, [...new Set(folders)]), ...command]],
  };
}

const run = promisify(execFile);

async function openBubblewrap(): Promise<Wall> {
  const program = findOnPath('bwrap');
  if (program === null) throw new Error('bwrap is not on PATH (the package is called bubblewrap)');
  return bubblewrapWall(program);
}

async function openLandlock(): Promise<Wall> {
  if (!hasSeccomp()) throw new Error(`there is no table of system calls for ${process.arch}`);
  const python = ['/usr/bin/python3', '/usr/local/bin/python3'].find(existsSync);
  if (python === undefined) throw new Error('there is no /usr/bin/python3, which asks the kernel for it');
  try {
    await run(python, ['-I', '-S', '-c', LANDLOCK], { timeout: 10_000, env: {}, cwd: '/' });
  } catch (error) {
    throw new Error(String((error as { stderr?: string }).stderr ?? error).trim() || 'it does not start');
  }
  return landlockWall(python);
}

async function openSandboxExec(): Promise<Wall> {
  const program = '/usr/bin/sandbox-exec';
  if (!existsSync(program)) throw new Error(`there is no ${program}`);
  return sandboxExecWall(program);
}

const WALLS: Partial<Record<NodeJS.Platform, [WallName, () => Promise<Wall>][]>> = {
  linux: [
    ['bubblewrap', openBubblewrap],
    ['landlock', openLandlock],
  ],
  darwin: [['sandbox-exec', openSandboxExec]],
};

/** The walls that start on this machine, strongest first. The caller must prove that one holds. @param only tries no other */
export async function* walls(only?: WallName): AsyncGenerator<{ wall: Wall } | { missing: string }> {
  const known = WALLS[process.platform] ?? [];
  if (known.length === 0) yield { missing: `no wall is known for ${process.platform}` };
  for (const [name, open] of known) {
    if (only !== undefined && only !== name) continue;
    try {
      yield { wall: await open() };
    } catch (error) {
      yield { missing: `${name}: ${errorMessage(error)}` };
    }
  }
}
