// npm test [-- PATTERN…]: set up, then run the tests against the built program.
import { join } from 'node:path';
import { become, build, install, root } from './setup.mjs';

install();
build();
become(process.execPath, [join(root, 'node_modules/vitest/vitest.mjs'), 'run', ...process.argv.slice(2)], {
  cwd: root,
});
