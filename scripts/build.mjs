// npm run build: one bundle for the program, one for its library, and a small file for each worker or child in a part's workers/ folder.
import { chmodSync, copyFileSync, cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { globSync } from 'tinyglobby';
import { classicScripts, plainModule } from './classic-scripts.mjs';
import { commonChunk } from './common-chunk.mjs';
import { noticesOf } from './notices.mjs';
import { shortNames } from './short-names.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = join(root, 'dist');
rmSync(dist, { recursive: true, force: true });

/**
 * fdir looks for picomatch beside the program and in every folder above it, although it does not need it here: that could load a foreign
 * file, and takes 10 ms.
 */
const fdirAlone = {
  name: 'fdir-alone',
  setup({ onLoad }) {
    onLoad({ filter: /fdir\/dist\/index\.mjs$/ }, ({ path }) => {
      const source = readFileSync(path, 'utf8');
      const contents = source.replace('__require("picomatch")', 'null').replace('__require.resolve("picomatch")', '');
      if (contents.includes('__require(')) throw new Error(`${path} requires packages: look what, and whether it may`);
      return { contents };
    });
  },
};

/** undici brings its parser with SIMD and without; every processor that Node 20 supports has SIMD. */
const simdAlone = {
  name: 'simd-alone',
  setup({ onResolve }) {
    onResolve({ filter: /llhttp\/llhttp-wasm\.js$/ }, ({ resolveDir }) => ({
      path: join(resolveDir, '../llhttp/llhttp_simd-wasm.js'),
    }));
  },
};

/** zod has its messages in fifty languages; the program prints one. */
const zodInEnglish = {
  name: 'zod-in-english',
  setup({ onLoad }) {
    onLoad({ filter: /zod\/v4\/locales\/index\.js$/ }, ({ path }) => ({
      contents: "export { default as en } from './en.js';",
      resolveDir: dirname(path),
    }));
  },
};

/** hyparquet-compressors brings a decoder of Brotli with its dictionary, which Node has, too. */
const brotliOfNode = {
  name: 'brotli-of-node',
  setup({ onLoad }) {
    onLoad({ filter: /hyparquet-compressors\/src\/brotli\.js$/ }, () => ({
      contents: `import { brotliDecompressSync } from 'node:zlib';
export const decompressBrotli = (input, length) => brotliDecompressSync(input, { maxOutputLength: Math.max(1, length) });`,
    }));
  },
};

/**
 * Ink's layout engine waits for its program to be compiled, and all that imports Ink would wait with it and could not be a script. It is
 * compiled in place, which takes 4 ms.
 */
const yogaInPlace = {
  name: 'yoga-in-place',
  setup({ onLoad }) {
    onLoad({ filter: /yoga-wasm-base64-esm\.js$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8');
      const [whole, program] = /"data:application\/octet-stream;base64,([^"]+)"/.exec(text) ?? [];
      if (!text.includes('if(h.instantiateWasm)') || !program)
        throw new Error('the layout engine starts in another way');
      return { contents: `${text.replace(whole, '""')}\nexport const program = ${JSON.stringify(program)};` };
    });
    onLoad({ filter: /yoga-layout\/dist\/src\/index\.js$/ }, () => ({
      contents: `import load, { program } from '../binaries/yoga-wasm-base64-esm.js';
import wrapAssembly from './wrapAssembly.js';
const yoga = {
  instantiateWasm(imports, start) {
    start(new WebAssembly.Instance(new WebAssembly.Module(Buffer.from(program, 'base64')), imports));
    return {};
  },
};
load(yoga);
export default wrapAssembly(yoga);
export * from './generated/YGEnums.js';`,
    }));
  },
};

/** Ink waits for React's developer tools at its top if DEV is set; they are no part of the program. */
const inkAlone = {
  name: 'ink-alone',
  setup({ onLoad }) {
    onLoad({ filter: /ink\/build\/reconciler\.js$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8');
      const contents = text.replace("await import('./devtools.js')", '').replace('await loadPackageJson()', '{}');
      if (/^\s*await |\? await /m.test(contents)) throw new Error('Ink waits at its top for something else');
      return { contents };
    });
  },
};

/** Modules that hold values alone, which are found now and not at each start. */
const valuesNow = {
  name: 'values-now',
  setup({ onLoad }) {
    onLoad({ filter: /core\/rollout\/error-literals\.ts$/ }, async ({ path }) => {
      const { outputFiles } = await build({ entryPoints: [path], bundle: true, format: 'esm', write: false });
      const source = Buffer.from(outputFiles[0].contents).toString('base64');
      const values = Object.entries(await import(`data:text/javascript;base64,${source}`));
      return { contents: values.map(([name, value]) => `export const ${name} = ${JSON.stringify(value)};`).join('\n') };
    });
  },
};

/** Modules that the program and its threads both import, by their name in dist/, where each lies once. */
const ONCE = {
  zstddec: 'zstddec/stream',
  hyparquet: 'hyparquet',
  'parquet-parts': './src/core/dump/containers/parquet-parts.ts',
  'hyparquet-compressors': 'hyparquet-compressors',
  tokenizers: '@huggingface/tokenizers',
  yaml: 'yaml',
  yauzl: 'yauzl',
  re2js: 're2js',
  jinja: '@huggingface/jinja',
  compiled: './src/core/files/compiled.ts',
  grammars: './src/viewer/present/transcript/grammars.ts',
};

/**
 * @param folder of the files in dist/ that name them: './' or '../'
 * @param once the modules, by their names in dist/
 */
const importedOnce = (folder, once = ONCE) => ({
  name: 'imported-once',
  setup({ onResolve }) {
    for (const [name, path] of Object.entries(once)) {
      const filter = path.startsWith('.') ? new RegExp(`/${name}\\.ts$`) : new RegExp(`^${path}$`);
      onResolve({ filter }, ({ kind }) =>
        kind === 'entry-point' ? undefined : { path: `${folder}${name}.js`, external: true },
      );
    }
  },
});

const BANNER =
  "import { createRequire as __createRequire } from 'node:module';\nconst require = __createRequire(import.meta.url);";

const shared = {
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'esm',
  jsx: 'automatic',
  sourcemap: false,
  // Functions and classes keep their names, for stack traces. With short names esbuild would give each closure its name when it is made,
  // which takes a tenth of the time of a reading.
  minifyWhitespace: true,
  minifySyntax: true,
  logLevel: 'warning',
  metafile: true,
  plugins: [fdirAlone, simdAlone, zodInEnglish, brotliOfNode, yogaInPlace, inkAlone, valuesNow],
  // They bring files that they look for beside themselves.
  external: ['pyodide', 'node-sqlite3-wasm', '@aws-sdk/credential-provider-node'],
  // Python programs are imported as text.
  loader: { '.py': 'text' },
  define: { 'process.env.NODE_ENV': '"production"' },
  alias: {
    bullmq: join(root, 'scripts/bullmq.mjs'),
    undici: join(root, 'scripts/undici.mjs'),
    // For jobs that repeat, which the queue has none of.
    'cron-parser': join(root, 'scripts/empty-module.mjs'),
    // A faster decoder in C++, whose install script npm asks about; msgpackr has its own in JavaScript.
    'msgpackr-extract': join(root, 'scripts/empty-module.mjs'),
    // Ink measures like the painter does, without a regex that takes 0.1 s to compile.
    'string-width': join(root, 'src/core/text/string-width.ts'),
  },
  banner: { js: BANNER },
};

/**
 * Code shared by the program, its library and its threads is written once; what a command imports at run time is in separate files, so that
 * `ls` need not parse Ink.
 */
const split = { ...shared, splitting: true, chunkNames: 'part-[hash]' };

/** It runs under a permission model that lets it read a single file. */
const ALONE = 'pyodide-child';
const workers = globSync('src/*/workers/*.ts', { cwd: root, absolute: true });
const alone = workers.filter((file) => basename(file, '.ts') === ALONE);

/** The library's entries, by their export names in package.json. */
const LIBRARY = {
  engine: 'engine/library',
  record: 'engine/record/library',
  sandbox: 'sandbox/library',
  session: 'sandbox/session-library',
};
const program = {
  ...split,
  absWorkingDir: root,
  entryPoints: {
    program: join(root, 'src/viewer/commands/program.ts'),
    // For the threads: the program itself has it in a chunk that the first frame needs.
    zod: join(root, 'node_modules/zod/index.js'),
    ...Object.fromEntries(Object.entries(LIBRARY).map(([name, file]) => [name, join(root, `src/${file}.ts`)])),
  },
  outdir: dist,
};
const { metafile } = await build({ ...program, write: false });
const commands = 'src/viewer/commands';
const first = [`${commands}/program.ts`, `${commands}/view.ts`];
const fewest = [`${commands}/program.ts`, `${commands}/ls.ts`];

const { compiled, ...packages } = ONCE;
const builds = await Promise.all([
  build({
    ...program,
    plugins: [
      fdirAlone,
      simdAlone,
      zodInEnglish,
      yogaInPlace,
      inkAlone,
      valuesNow,
      importedOnce('./'),
      commonChunk(metafile, first, fewest),
    ],
  }),
  // yaml's entry for Node is CommonJS, which would export nothing by name.
  build({
    ...split,
    absWorkingDir: root,
    entryPoints: { ...packages, yaml: './node_modules/yaml/browser/index.js' },
    outdir: dist,
  }),
  build({
    ...split,
    plugins: [fdirAlone, simdAlone, zodInEnglish, valuesNow, importedOnce('../', { ...ONCE, zod: 'zod' })],
    entryPoints: Object.fromEntries(
      workers.filter((file) => !alone.includes(file)).map((file) => [basename(file, '.ts'), file]),
    ),
    outdir: join(dist, 'workers'),
  }),
  build({ ...shared, entryPoints: alone, outfile: join(dist, 'workers', `${ALONE}.js`) }),
]);
await Promise.all(builds.slice(0, 3).map(({ metafile }) => shortNames(root, metafile, BANNER)));
const isWorker = (name) => name.startsWith('workers/') && !name.includes('/part-');
const isNamed = (name) => name in LIBRARY || name in ONCE || name === 'zod' || isWorker(name);
classicScripts(
  root,
  dist,
  builds.slice(0, 3).map(({ metafile }) => metafile),
  BANNER,
  isNamed,
);
// The first file answers `--version` by itself, and runs the program's script for the rest.
for (const [name, file] of [
  ['rollout-viewer', 'src/main.ts'],
  ['compiled', ONCE.compiled],
]) {
  const outfile = join(dist, `${name}.js`);
  const plugins = [importedOnce('./', { compiled: ONCE.compiled, program: './program.ts' })];
  await build({ ...shared, plugins, entryPoints: [join(root, file)], outfile });
  plainModule(outfile, BANNER);
}
const bin = join(dist, 'rollout-viewer.js');
writeFileSync(bin, `#!/usr/bin/env node\n${readFileSync(bin, 'utf8')}`);
chmodSync(bin, 0o755);
writeFileSync(join(dist, 'THIRD-PARTY-NOTICES.txt'), noticesOf(root, builds));
// The user's interpreter runs this file directly.
copyFileSync(join(root, 'src/engine/python/bridge.py'), join(dist, 'bridge.py'));
cpSync(join(root, 'src/engine/python/_rollout_viewer_bridge'), join(dist, '_rollout_viewer_bridge'), {
  recursive: true,
  filter: (path) => !path.includes('__pycache__'),
});
