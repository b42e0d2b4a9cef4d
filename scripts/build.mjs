// npm run build: one bundle for the program, one for its library, and one small file for each worker or child in src/workers/.
import { chmodSync, copyFileSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { noticesOf } from './notices.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = join(root, 'dist');
rmSync(dist, { recursive: true, force: true });

const shared = {
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'esm',
  jsx: 'automatic',
  sourcemap: false,
  minify: true,
  // Stack traces and `instanceof`-free checks name functions and classes.
  keepNames: true,
  logLevel: 'warning',
  metafile: true,
  // Both bring files of their own, which they look for beside themselves.
  external: ['pyodide', 'node-sqlite3-wasm'],
  define: { 'process.env.NODE_ENV': '"production"' },
  // Ink asks for the React developer tools when DEV is set, over a socket of `ws`; neither is part of the program.
  alias: {
    'react-devtools-core': join(root, 'scripts/empty-module.mjs'),
    ws: join(root, 'scripts/empty-module.mjs'),
    // Ink measures as the painter does, without a pattern that takes 0.1 s to compile.
    'string-width': join(root, 'src/text/string-width.ts'),
  },
  banner: {
    js: "import { createRequire as __createRequire } from 'node:module';\nconst require = __createRequire(import.meta.url);",
  },
};

const workers = existsSync(join(root, 'src/workers'))
  ? readdirSync(join(root, 'src/workers')).filter((name) => name.endsWith('.ts'))
  : [];
const program = await build({
  ...shared,
  entryPoints: { 'rollout-viewer': join(root, 'src/main.ts') },
  outdir: dist,
  // What a command imports when it runs lies in files beside the bundle: `ls` need not parse Ink, nor the screen the sandbox server.
  splitting: true,
  chunkNames: 'part-[hash]',
});
const children = await Promise.all(
  workers.map((name) =>
    build({
      ...shared,
      entryPoints: [join(root, 'src/workers', name)],
      outfile: join(dist, 'workers', `${basename(name, '.ts')}.js`),
    }),
  ),
);
const library = await build({
  ...shared,
  entryPoints: ['engine', 'sandbox', 'session'].map((name) => join(root, 'src/library', `${name}.ts`)),
  outdir: dist,
  splitting: true,
  chunkNames: 'library-[hash]',
});
const bin = join(dist, 'rollout-viewer.js');
writeFileSync(bin, `#!/usr/bin/env node\n${readFileSync(bin, 'utf8')}`);
chmodSync(bin, 0o755);
writeFileSync(join(dist, 'THIRD-PARTY-NOTICES.txt'), noticesOf(root, [program, library, ...children]));
// The user's interpreter runs this file as it is.
copyFileSync(join(root, 'src/python/bridge.py'), join(dist, 'bridge.py'));
