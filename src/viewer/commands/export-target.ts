import { existsSync, realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { Dump, type DumpOptions } from '../../core/dump/dump.ts';
import { UsageError } from '../../core/dump/paths.ts';
import { isLocator, pathOfArgument } from './select-rows.ts';

/**
 * An export must not replace a file that it reads, whatever name or link leads there.
 * @param args paths and locators of rollouts
 * @param others files that are read beside them
 * @throws UsageError
 */
export function refuseSources(
  targets: readonly string[],
  args: readonly string[],
  options: DumpOptions,
  others: readonly string[],
): void {
  const replaced = targets.filter((path) => existsSync(path));
  if (replaced.length === 0) return;
  const read = [...new Set([...args.flatMap((arg) => filesOf(arg, options)), ...others])].map(realPath);
  for (const target of replaced) {
    // The name itself is replaced, not the file that a link of that name leads to; a file may be read under both.
    const places = [join(realPath(dirname(target)), basename(target)), realPath(target)];
    const source = read.find((path) => places.some((place) => path === place || path.startsWith(`${place}/`)));
    if (source !== undefined) throw new UsageError(`--out ${target}: the export reads this file; choose another name`);
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

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
