// npm run check: types, format, lint, and the README's tables.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { install, root } from './setup.mjs';

install();
const bin = (name) => join(root, 'node_modules/.bin', name);
const failed = [
  [bin('tsc'), '--noEmit'],
  [bin('biome'), 'check', '--error-on-warnings', '.'],
  [process.execPath, join(root, 'scripts/readme-tables.mjs'), '--check'],
].filter(([command, ...args]) => spawnSync(command, args, { cwd: root, stdio: 'inherit' }).status !== 0);
process.exit(failed.length > 0 ? 1 : 0);
