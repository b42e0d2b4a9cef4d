// A module needed by the first frame and by another command would end up in a chunk of its own for each set of commands that share it: some
// hundred files, each found, read and linked before anything is shown. This plugin makes every command import all that a short command
// needs, and all of the rest if it needs any of it, so they share two chunks.
import { readFile } from 'node:fs/promises';
import { extname, resolve } from 'node:path';

const NAME = 'common-chunk';

/**
 * @param metafile of a build without the plugin
 * @param first the modules imported before the first frame
 * @param fewest the modules imported before the first line of a short command
 */
export function commonChunk(metafile, first, fewest) {
  const { inputs } = metafile;
  const importsOf = (path, isDynamic) =>
    (inputs[path]?.imports ?? [])
      .filter(({ external, kind }) => !external && (kind === 'dynamic-import') === isDynamic)
      .map((one) => one.path);
  const reach = (roots) => {
    const seen = new Set(roots);
    for (const path of seen) for (const next of importsOf(path, false)) seen.add(next);
    return seen;
  };
  const own = Object.keys(inputs).filter((path) => path.startsWith('src/'));
  const loaded = new Set([
    ...first,
    ...own.flatMap((path) => importsOf(path, true)).filter((path) => path.startsWith('src/')),
  ]);
  const shared = reach([...loaded].filter((path) => !first.includes(path)));
  const needed = reach(first);
  // Packages follow the modules that import them.
  const common = own.filter((path) => needed.has(path) && shared.has(path));
  const least = reach(fewest);
  const rest = common.filter((path) => !least.has(path));
  const parts = { [NAME]: common.filter((path) => least.has(path)), [`${NAME}-rest`]: rest };
  const entries = new Map(
    [...loaded]
      .filter((path) => !common.includes(path))
      .map((path) => {
        const reached = reach([path]);
        return [resolve(path), rest.some((one) => reached.has(one)) ? Object.keys(parts) : [NAME]];
      }),
  );
  return {
    name: NAME,
    setup(build) {
      build.onResolve({ filter: new RegExp(`^${NAME}`) }, ({ path }) => ({ path, namespace: NAME, sideEffects: true }));
      build.onLoad({ filter: /./, namespace: NAME }, ({ path }) => ({
        contents: importing(parts[path].map((one) => resolve(one))),
        resolveDir: process.cwd(),
      }));
      build.onLoad({ filter: /\.tsx?$/ }, async ({ path }) =>
        entries.has(path)
          ? {
              contents: `${importing(entries.get(path))}${await readFile(path, 'utf8')}`,
              loader: extname(path).slice(1),
            }
          : undefined,
      );
    },
  };
}

const importing = (paths) => paths.map((path) => `import ${JSON.stringify(path)};\n`).join('');
