// npm start [-- PATH…]: set up, then open the user's paths, or the shipped fixtures when none is given.
import { join } from 'node:path';
import { become, build, install, root } from './setup.mjs';

install();
build();
const args = process.argv.slice(2);
// npm runs scripts in the package's folder; a path is meant relative to where the user stands.
become(
  process.execPath,
  [join(root, 'dist/rollout-viewer.js'), ...(args.length > 0 ? args : [join(root, 'fixtures/rollout_data')])],
  {
    cwd: process.env.INIT_CWD ?? process.cwd(),
  },
);
