// Prepares a fresh clone: installs packages and builds the bundle. Uses only Node's built-in modules, because nothing is installed yet. All
// messages go to stderr, so that stdout belongs to the program.
import { spawnSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));

const modified = (path) => {
  try {
    return statSync(join(root, path)).mtimeMs;
  } catch {
    return -1;
  }
};

/** The newest change below a folder, so that an edited source is newer than the bundle. */
function newest(folder) {
  let latest = -1;
  for (const entry of readdirSync(join(root, folder), { recursive: true })) {
    latest = Math.max(latest, modified(join(folder, entry)));
  }
  return latest;
}

/** npm goes on installing behind the shell's next prompt after a Ctrl-C; this shell ends it. */
const ENDED_BY_CTRL_C = 'trap \'kill "$!"; wait; exit 130\' INT TERM; "$@" & wait "$!"';

function run(command, args, env) {
  const wait = () => {};
  process.on('SIGINT', wait);
  const { status, error } = spawnSync('sh', ['-c', ENDED_BY_CTRL_C, 'sh', command, ...args], {
    cwd: root,
    env,
    stdio: ['ignore', 2, 2],
  });
  process.off('SIGINT', wait);
  if (error) throw error;
  if (status === 130) process.exit(130);
  if (status !== 0) {
    console.error(`rollout-viewer: "${command} ${args.join(' ')}" failed (exit ${status}); its own message is above.`);
    process.exit(2);
  }
}

/** npm writes node_modules/.package-lock.json last, so it marks a finished install. */
export function install() {
  if (modified('node_modules/.package-lock.json') >= modified('package-lock.json')) return;
  // npm passes its settings to scripts as npm_config_*; those and NODE_ENV=production would change what is installed.
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => name !== 'NODE_ENV' && !name.startsWith('npm_config_')),
  );
  console.error('rollout-viewer: installing packages (once) …');
  run('npm', ['ci', '--include=dev', '--no-fund', '--no-audit'], env);
}

export function build() {
  const built = modified('dist/rollout-viewer.js');
  if (built > Math.max(newest('src'), modified('scripts/build.mjs'), modified('package.json'))) return;
  console.error('rollout-viewer: building …');
  run(process.execPath, [join(root, 'scripts/build.mjs')], process.env);
}

/** Runs a program of the project on the user's terminal and exits with its status. */
export function become(command, args, options = {}) {
  const { status, signal, error } = spawnSync(command, args, { stdio: 'inherit', ...options });
  if (error) throw error;
  process.exit(signal ? 1 : status);
}
