// The folder of Pyodide, and the memory image that cuts its start from 2 s to 0.4 s: made once per version of
// Pyodide and Node and per set of imports, and kept in the user's cache folder.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, realpathSync, renameSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import envPaths from 'env-paths';
import manifest from '../../../../package.json' with { type: 'json' };
import { ensureFolder } from '../../../core/files/ensure-folder.ts';
import { sweepLeftovers } from '../leftovers.ts';
import { findOnPath } from './interpreters.ts';
import { PRELOADED } from './pyodide-protocol.ts';

export interface PyodideFiles {
  folder: string;
  child: string;
}

/** @throws {Error} when the package or the built child is missing. */
export function findPyodide(): PyodideFiles {
  let entry: string;
  try {
    entry = createRequire(import.meta.url).resolve('pyodide');
  } catch {
    throw new Error(`the package pyodide is not installed: ${installation()}`);
  }
  return { folder: realpathSync(dirname(entry)), child: realpathSync(findChild()) };
}

/** The command that installs Pyodide where the program looks for it. The wheel may run where there is a Node, but no npm. */
function installation(): string {
  const folder = programFolder();
  const version = manifest.optionalDependencies.pyodide;
  if (findOnPath('npm') !== null) return `npm install --no-save --omit=dev --prefix '${folder}' 'pyodide@${version}'`;
  const place = join(folder, 'node_modules/pyodide');
  const address = `https://registry.npmjs.org/pyodide/-/pyodide-${version.replace(/^\D*/, '')}.tgz`;
  return `mkdir -p '${place}' && curl -fsSL ${address} | tar xz --strip-components=1 -C '${place}'`;
}

/** The folder above dist/, or above src/ when running from the sources. */
function programFolder(): string {
  for (let folder = dirname(fileURLToPath(import.meta.url)); ; folder = dirname(folder))
    if (existsSync(join(folder, 'dist')) || folder === dirname(folder)) return folder;
}

/** Beside the bundle in dist/, or in the dist/ above when running from the sources. */
function findChild(): string {
  const name = 'workers/pyodide-child.js';
  for (let folder = dirname(fileURLToPath(import.meta.url)); ; folder = dirname(folder)) {
    for (const path of [join(folder, name), join(folder, 'dist', name)]) if (existsSync(path)) return path;
    if (folder === dirname(folder)) throw new Error(`${name} is missing; npm run build makes it`);
  }
}

/** The flag's newer name if this Node knows it. @throws {Error} when it has neither. */
function permissionFlag(): string {
  const flag = ['--permission', '--experimental-permission'].find((name) =>
    process.allowedNodeEnvironmentFlags.has(name),
  );
  if (flag === undefined) throw new Error(`Node ${process.version} has no permission model`);
  return flag;
}

/** Node's arguments for a child with its files in these places. */
export const nodeFlags = ({ folder, child }: PyodideFiles, ...more: string[]): string[] => [
  permissionFlag(),
  `--allow-fs-read=${folder}`,
  `--allow-fs-read=${child}`,
  '--disallow-code-generation-from-strings',
  '--no-warnings',
  ...more,
  child,
  folder,
];

/** The image's path; builds the image if it is missing. */
export async function memoryImage(files: PyodideFiles, remake = false): Promise<string> {
  const { version } = JSON.parse(readFileSync(join(files.folder, 'package.json'), 'utf8')) as { version: string };
  const key = createHash('sha256').update(`${version} ${process.version} ${PRELOADED}`).digest('hex').slice(0, 12);
  const folder = envPaths('rollout-viewer', { suffix: '' }).cache;
  const path = join(folder, `pyodide-${version}-${key}.image`);
  if (existsSync(path) && !remake) return path;
  ensureFolder(folder);
  sweepLeftovers(folder, /^pyodide-.*\.image\.(\d+)$/);
  const draft = `${path}.${process.pid}`;
  try {
    await promisify(execFile)(process.execPath, [...nodeFlags(files, `--allow-fs-write=${draft}`), '--make', draft], {
      env: {},
      cwd: '/',
      timeout: 60_000,
    });
    // Written atomically: another server may be starting from it.
    renameSync(draft, path);
  } finally {
    rmSync(draft, { force: true });
  }
  return path;
}
