// npm test [-- PATTERN…], npm run test:slow and npm run test:long: sets up, then runs one tier of the tests against the built program.
import { join } from 'node:path';
import { become, build, install, root } from './setup.mjs';

install();
build();
const args = process.argv.slice(2);
const [, TIER] = /^--(slow|long)$/.exec(args[0]) ?? [];
become(process.execPath, [join(root, 'node_modules/vitest/vitest.mjs'), 'run', ...(TIER ? args.slice(1) : args)], {
  cwd: root,
  env: TIER ? { ...process.env, TIER } : process.env,
});
