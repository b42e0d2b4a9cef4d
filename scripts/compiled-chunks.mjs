// Node 20 compiles ES modules from their text at each start; only for a classic script can it keep what it compiled. So each large chunk that
// the first frame needs becomes two files: a script (.cjs), and a module that runs it (core/files/compiled.ts) and exports what it exports.
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { transform } from 'esbuild';

/** In bytes; below it another file costs more than it saves. */
const LARGE = 64_000;

/**
 * @param root that the paths of the metafile start from
 * @param metafile of the build that wrote the chunks
 * @param first the modules imported before the first frame
 * @param banner that each chunk begins with
 */
export async function compiledChunks(root, { outputs }, first, banner) {
  const needed = new Set(Object.keys(outputs).filter((path) => first.includes(outputs[path].entryPoint)));
  for (const path of needed)
    for (const { path: next, kind } of outputs[path].imports)
      if (kind === 'import-statement' && outputs[next]) needed.add(next);
  const large = [...needed].filter((path) => outputs[path].bytes > LARGE);
  await Promise.all(large.map((path) => compiledChunk(resolve(root, path), outputs[path], banner)));
}

/**
 * V8 takes one byte a character. esbuild escapes all others but those in patterns and in raw templates, which hold patterns too; there the
 * escape means the same.
 */
function asciiOf(script, path) {
  const escaped = script.replace(
    /(?<!\\)[^\0-\x7f]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  const left = /.{0,40}[^\0-\x7f]/.exec(escaped);
  if (left !== null) throw new Error(`${path}: a character that no escape stands for: ${left[0]}`);
  return escaped;
}

async function compiledChunk(path, { imports, exports }, banner) {
  const text = readFileSync(path, 'utf8');
  if (!text.startsWith(banner)) throw new Error(`${path} does not begin with the banner`);
  const { code } = await transform(text.slice(banner.length), {
    format: 'cjs',
    platform: 'node',
    target: 'node20',
    minifyWhitespace: true,
    define: { 'import.meta.url': '__url' },
  });
  // Node loses the loader of a script that it did not compile itself.
  const body = code.replace(/\bimport\((?=")/g, '__import(');
  const script = asciiOf(`(function(exports,require,module,__url,__import){${body}\n})`, path);
  const id = createHash('sha256').update(script).digest('hex').slice(0, 16);
  writeFileSync(path.replace(/\.js$/, '.cjs'), script);
  const files = [
    ...new Set(
      [...text.matchAll(/from"(\.\/[\w-]+\.js)"|import"(\.\/[\w-]+\.js)"/g)].map((found) => found[1] ?? found[2]),
    ),
  ];
  const given = files.filter((file) => imports.some((one) => one.path.endsWith(file.slice(1))));
  const names = exports.map((name, at) => `e${at} as ${name}`);
  const module = [
    `import { runScript } from './compiled.js';`,
    ...given.map((file, at) => `import * as i${at} from '${file}';`),
    `const made = runScript(import.meta.url, '${id}', {${given.map((file, at) => `'${file}': i${at}`)}}, (name) => import(name));`,
    `const {${exports.map((name, at) => `${name}: e${at}`)}} = made;`,
    `export {${names}};`,
  ];
  writeFileSync(path, `${module.join('\n')}\n`);
}
