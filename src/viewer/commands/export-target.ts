import { closeSync, existsSync, openSync, readSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { Dump, type DumpOptions } from '../../core/dump/dump.ts';
import { UsageError } from '../../core/dump/paths.ts';
import { isLocator, pathOfArgument } from './select-rows.ts';

/**
 * A command must not replace a file that it reads, whatever name or link leads there.
 * @param option names the targets
 * @param args paths and locators of rollouts
 * @param others files that are read beside them
 * @throws UsageError
 */
export function refuseSources(
  targets: readonly string[],
  args: readonly string[],
  options: DumpOptions,
  others: readonly string[] = [],
  option = '--out',
): void {
  const replaced = targets.filter((path) => existsSync(path));
  if (replaced.length === 0) return;
  const read = [...new Set([...args.flatMap((arg) => filesOf(arg, options)), ...others])].map(realPath);
  for (const target of replaced) {
    // The name itself is replaced, not the file that a link of that name leads to; a file may be read under both.
    const places = [join(realPath(dirname(target)), basename(target)), realPath(target)];
    const source = read.find((path) => places.some((place) => path === place || path.startsWith(`${place}/`)));
    if (source !== undefined)
      throw new UsageError(`${option} ${target}: the command reads this file; choose another name`);
  }
}

function filesOf(arg: string, options: DumpOptions): string[] {
  if (isLocator(arg)) return [pathOfArgument(arg)];
  const dump = Dump.open([arg], options);
  try {
    return dump.files.map(({ path }) => path);
  } finally {
    dump.close();
  }
}

/**
 * A command that replaces its earlier output unasked must not replace any other file.
 * @param start begins each file that it writes
 * @throws UsageError
 */
export function refuseOthers(path: string, start: string, option: string, what: string): void {
  const there = statSync(path, { throwIfNoEntry: false });
  if (there?.isFile() !== true || there.size === 0) return;
  const bytes = Buffer.alloc(start.length);
  const fd = openSync(path, 'r');
  try {
    readSync(fd, bytes, 0, bytes.length, 0);
  } finally {
    closeSync(fd);
  }
  if (bytes.toString('latin1') !== start)
    throw new UsageError(`${option} ${path}: the file exists and is no ${what}; name another one`);
}

/**
 * Names of one rollout, if the arguments may name it twice: by two paths to its file, or by its folder and itself.
 * @param args paths and locators of rollouts
 * @returns null if no rollout can come twice
 */
export function rolloutNames(args: readonly string[]): ((locator: string) => string) | null {
  const paths = args.map((arg) => realPath(pathOfArgument(arg)));
  const distinct = new Set(paths);
  const isInside = (path: string): boolean => {
    for (let above = dirname(path); above !== dirname(above); above = dirname(above))
      if (distinct.has(above)) return true;
    return false;
  };
  if (distinct.size === paths.length && !paths.some(isInside)) return null;
  const found = new Map<string, string>();
  return (locator) => {
    const [place = ''] = /(?::\d+(?:\.\d+)?)?$/.exec(locator) ?? [];
    const path = locator.slice(0, locator.length - place.length);
    const real = found.get(path) ?? realPath(path);
    found.set(path, real);
    return real + place;
  };
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
