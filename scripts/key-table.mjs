// node scripts/key-table.mjs [--check]: writes the table of keys into the README, from the keymap; --check only says whether it is there.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
const readme = join(root, 'README.md');
const folder = mkdtempSync(join(tmpdir(), 'rollout-viewer-keys-'));
try {
  const outfile = join(folder, 'key-table.mjs');
  await build({
    entryPoints: [join(root, 'src/tui/keys/key-table.ts')],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    logLevel: 'error',
  });
  const { withKeyTable } = await import(pathToFileURL(outfile).href);
  const before = readFileSync(readme, 'utf8');
  const after = withKeyTable(before);
  if (before !== after && process.argv.includes('--check')) {
    console.error("README.md: the table of keys is not the keymap's; node scripts/key-table.mjs writes it");
    process.exitCode = 1;
  } else if (before !== after) writeFileSync(readme, after);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
