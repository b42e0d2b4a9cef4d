import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, dirname, extname, isAbsolute, join, relative, resolve, sep } from 'node:path';

/** A file in which a user's class or function was found. */
export interface OwnEntry {
  /** As written. */
  named: string;
  /** Null for a class of an installed package. */
  file: string | null;
  /** The folder that its name is relative to. */
  root: string;
}

/** A file of the user's code: its path in their folder, and its content. */
export interface OwnFile {
  name: string;
  sha256: string;
}

/** @param isOnly the folder is the only one: a path outside it means the file of that name in it */
export function fileEntry(named: string, folder: string, isOnly = false): OwnEntry {
  const leadsOut = isAbsolute(named) || named.split(/[\\/]/).includes('..');
  if (isOnly) return { named, file: resolve(folder, leadsOut ? basename(named) : named), root: resolve(folder) };
  const beside = resolve(folder, named);
  const file = existsSync(beside) ? beside : resolve(named);
  const root = leadsOut ? dirname(file) : existsSync(beside) ? resolve(folder) : process.cwd();
  return { named, file, root };
}

/** The file of `package.module.Class` in the first folder that has it; null if none has. */
export function moduleEntry(named: string, roots: readonly string[]): OwnEntry | null {
  const parts = named.split('.').slice(0, -1);
  for (const root of roots) {
    const file = pythonFile(join(root, ...parts));
    if (file !== null) return { named, file, root };
  }
  return null;
}

const pythonFile = (path: string): string | null =>
  [`${path}.py`, join(path, '__init__.py')].find((one) => existsSync(one)) ?? null;

/**
 * The files in which classes were found, and the files of the same folders that they import, transitively.
 * @throws Error for a class that is in no file, or outside its folder
 */
export async function ownFiles(entries: readonly OwnEntry[]): Promise<OwnFile[]> {
  const found = new Map<string, string>();
  const read = async (file: string, root: string): Promise<void> => {
    const name = relative(root, file).split(sep).join('/');
    if (found.has(name) || name.startsWith('..')) return;
    const text = await readFile(file);
    found.set(name, createHash('sha256').update(text).digest('hex'));
    for (const one of importsIn(text.toString('utf8'), file, root)) await read(one, root);
  };
  for (const { named, file, root } of entries) {
    if (file === null)
      throw new Error(`${named}: its module is in no folder here, so workers could not check that theirs is the same`);
    await read(file, root);
  }
  return [...found].map(([name, sha256]) => ({ name, sha256 })).sort((a, b) => (a.name < b.name ? -1 : 1));
}

const PYTHON_IMPORT = /^[ \t]*(?:from[ \t]+(\.*)([\w.]*)[ \t]+import[ \t]+\(?([^#\n]*)|import[ \t]+([\w., \t]+))/gm;
const SCRIPT_IMPORT = /(?:\bfrom|\bimport|\brequire)\s*\(?\s*['"](\.{1,2}\/[^'"]+)['"]/g;

function importsIn(text: string, file: string, root: string): string[] {
  const isThere = (path: string | null): path is string => path !== null && existsSync(path);
  if (extname(file) !== '.py')
    return [...text.matchAll(SCRIPT_IMPORT)].map(([, path = '']) => resolve(dirname(file), path)).filter(isThere);
  return [...text.matchAll(PYTHON_IMPORT)]
    .flatMap(([, dots, from, names, plain]) => {
      if (plain !== undefined)
        return plain.split(',').flatMap((name) => modulesAt(firstWord(name), [dirname(file), root]));
      const folders = dots ? [join(dirname(file), ...Array(dots.length - 1).fill('..'))] : [dirname(file), root];
      const own = (names ?? '').split(',').map((name) => firstWord(name).replace(')', ''));
      return [from ?? '', ...own.map((name) => [from, name].filter(Boolean).join('.'))].flatMap((one) =>
        modulesAt(one, folders),
      );
    })
    .filter(isThere);
}

const firstWord = (text: string): string => /\S+/.exec(text)?.[0] ?? '';

/** The files that an import of `a.b` runs, including those of its parent packages. */
const modulesAt = (name: string, folders: readonly string[]): string[] => {
  const parts = name.split('.').filter(Boolean);
  const [top] = parts;
  const folder = folders.find((one) => top !== undefined && pythonFile(join(one, top)) !== null);
  if (folder === undefined) return [];
  return parts.flatMap((_, index) => pythonFile(join(folder, ...parts.slice(0, index + 1))) ?? []);
};

/** How the files of a folder differ from those of a run, one sentence each; empty if they are the same. */
export async function fileDifferences(wanted: readonly OwnFile[], folder: string): Promise<string[]> {
  const differences = await Promise.all(
    wanted.map(async ({ name, sha256 }) => {
      const bytes = await readFile(join(folder, name)).catch(() => null);
      if (bytes === null) return `${name} is not in ${folder}`;
      const here = createHash('sha256').update(bytes).digest('hex');
      return here === sha256
        ? []
        : `${name}: its sha256 is ${here.slice(0, 12)}… here, ${sha256.slice(0, 12)}… is the run's`;
    }),
  );
  return differences.flat();
}
