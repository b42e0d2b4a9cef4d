// The types of the library (its entries in engine/ and sandbox/), as the package ships them in dist/types. zod is bundled, so its types are
// included.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const out = join(root, 'dist/types');
rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });

const project = join(root, 'tsconfig.types.json');
const { status } = spawnSync(join(root, 'node_modules/.bin/tsc'), ['-p', project], { cwd: root, stdio: 'inherit' });
if (status !== 0) process.exit(status ?? 1);

const zod = join(root, 'node_modules/zod');
for (const part of ['classic', 'core', 'locales'])
  cpSync(join(zod, 'v4', part), join(out, 'zod', part), {
    recursive: true,
    // The program prints zod's messages in English alone.
    filter: (path) => !/\.[a-z]+$/.test(path) || (path.endsWith('.d.ts') && !/locales\/(?!en\.)/.test(path)),
  });
writeFileSync(join(out, 'zod/locales/index.d.ts'), "export { default as en } from './en.js';\n");

const withoutRemarks = (text) =>
  text.replace(/\/\*\*[\s\S]*?\*\//g, (remark) => (remark.includes('@ts-') ? remark : '')).replace(/\n\s+/g, '\n');

/** Redirects every zod import to the copy, which omits comments. */
for (const name of readdirSync(out, { recursive: true }).map(String)) {
  if (!name.endsWith('.d.ts')) continue;
  const path = join(out, name);
  const text = readFileSync(path, 'utf8');
  if (name.startsWith('zod')) {
    writeFileSync(path, withoutRemarks(text));
    continue;
  }
  const copy = relative(dirname(path), join(out, 'zod/classic/index.js'));
  const local = text
    .replace(/(['"])zod\1/g, `'${copy.startsWith('.') ? copy : `./${copy}`}'`)
    // @types/node, which every TypeScript program here has, provides these.
    .replace(/(['"])undici\1/g, "'undici-types'");
  // Only our own files refer to bundled packages; a program that reads these types cannot reach them, so their shape is omitted.
  const shown = local.replace(
    /^import (?:type )?\{([^}]*)\} from ['"](?!\.|node:|undici-types)[^'"]+['"];$/gm,
    (_, names) =>
      names
        .split(',')
        .map(
          (name) =>
            `type ${name
              .trim()
              .replace(/^type /, '')
              .replace(/.* as /, '')} = unknown;`,
        )
        .join('\n'),
  );
  const foreign = /^(?:import|export)\b[^;]*?from ['"](?!\.|node:|undici-types)([^'"]+)['"]/m.exec(shown)?.[1];
  if (foreign !== undefined)
    throw new Error(`dist/types/${name} needs the types of '${foreign}', which the package does not bring`);
  if (shown !== text) writeFileSync(path, shown);
}

// tsc writes the types of each file that the program reads; the entries mention few of them.
const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const entries = Object.values(exports).flatMap(({ types }) => (types === undefined ? [] : [join(root, types)]));

/** The files that these name in statements of this form, and those that they name in turn. */
function reachedBy(form) {
  const found = new Set(entries);
  for (const path of found)
    for (const [, target] of readFileSync(path, 'utf8').matchAll(form))
      found.add(join(dirname(path), target.replace(/\.(?:js|tsx?)$/, '.d.ts')));
  return found;
}
const reached = reachedBy(/(?:from|import\(?) ?['"](\.[^'"]+)['"]/g);
const offered = reachedBy(/^export [^;]*?from ['"](\.[^'"]+)['"]/gm);
for (const entry of readdirSync(out, { recursive: true, withFileTypes: true })) {
  const path = join(entry.parentPath, entry.name);
  if (!entry.isFile()) continue;
  if (!reached.has(path)) rmSync(path);
  // Types that a program cannot name come without their comments, which would only make the package larger.
  else if (!offered.has(path)) writeFileSync(path, withoutRemarks(readFileSync(path, 'utf8')));
}
