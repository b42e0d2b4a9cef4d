import { createHash } from 'node:crypto';
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { namesIn, statOf } from './tree.ts';

/** The unpacked source of a world. */
export interface WorldImage {
  /** As the user named it. */
  name: string;
  /** The folder that is its root; only read. */
  root: string;
  /** Identifies its content; layers are keyed by it. */
  key: string;
  hostname: string | null;
  env: Readonly<Record<string, string>>;
  workdir: string | null;
  /** Directories and files of this machine that its world must not see. */
  hidden: readonly string[];
}

/** Keys and passwords in a home directory. */
const SECRETS = [
  '.ssh',
  '.aws',
  '.gnupg',
  '.kube',
  '.docker',
  '.config',
  '.netrc',
  '.git-credentials',
  '.npmrc',
  '.pypirc',
  '.pgpass',
  '.azure',
  '.password-store',
  '.local/state',
  '.cache',
];

/** A folder that holds an unpacked root. @throws Error naming what is missing */
export function rootfsImage(folder: string, name = `rootfs:${folder}`): WorldImage {
  const root = resolve(folder);
  if (!existsSync(root))
    throw new Error(`${folder}: there is no such folder; it must hold the unpacked root of an image`);
  if (realpathSync(root) === '/')
    throw new Error(
      `${name}: it is this machine's own root; --image host runs there, with the keys of your home hidden`,
    );
  const shell = ['bin/bash', 'usr/bin/bash', 'bin/sh'].find((path) => statOf(join(root, path)) !== null);
  if (shell === undefined) throw new Error(`${name}: no /bin/sh in it, so no command can run there`);
  if (shell === 'bin/sh') throw new Error(`${name}: it has /bin/sh but no bash; agents' shells are bash`);
  const hostname = fileTextOrNull(join(root, 'etc/hostname'));
  return {
    name,
    root: realpathSync(root),
    key: rootKey(realpathSync(root)),
    hostname: hostname !== null && /^[\w.-]{1,63}$/.test(hostname.trim()) ? hostname.trim() : null,
    env: {},
    workdir: null,
    hidden: [],
  };
}

/** This machine's root, with a home's keys hidden. */
export function hostImage(home = homedir()): WorldImage {
  const hidden = SECRETS.map((name) => join(home, name))
    .filter((path) => existsSync(path))
    .map((path) => realpathSync(path));
  return { name: 'host', root: '/', key: rootKey('/'), hostname: null, env: {}, workdir: null, hidden };
}

/** Identifies a folder and its state by what changes when packages or files in it do. */
function rootKey(root: string): string {
  const hash = createHash('sha256').update(root);
  for (const path of [
    '',
    'etc',
    'usr',
    'usr/bin',
    'usr/lib',
    'var/lib/dpkg/status',
    'etc/os-release',
    'workspace',
    'home',
    'root',
    'opt',
    'srv',
    'testbed',
    'app',
  ]) {
    const stats = statOf(join(root, path));
    hash.update(
      `${path} ${root === '/' && ['', 'root', 'home'].includes(path) ? '' : `${stats?.ino} ${stats?.ctimeMs}`} `,
    );
  }
  for (const name of namesIn(root)) hash.update(`${name}\0`);
  return hash.digest('hex').slice(0, 16);
}

function fileTextOrNull(path: string): string | null {
  try {
    return statOf(path)?.isFile() === true ? readFileSync(path, 'utf8') : null;
  } catch {
    return null;
  }
}
