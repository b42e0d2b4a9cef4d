import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Runs a line of shell with `$1` the file that holds the text, on the terminal that was lent; '' or what went wrong. */
function withFile(line: string, text: string, extension: string, env: NodeJS.ProcessEnv): string {
  const directory = mkdtempSync(join(tmpdir(), 'rollout-viewer-'));
  try {
    const file = join(directory, `rollout.${extension}`);
    writeFileSync(file, text, { mode: 0o400 });
    const { error, status } = spawnSync('sh', ['-c', line, 'sh', file], { stdio: 'inherit', env });
    return error !== undefined ? error.message : status === 0 ? '' : `it ended with status ${status}`;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Opens a copy in $VISUAL, $EDITOR or $PAGER; the dump itself is never opened for writing. */
export function openInEditor(text: string, extension: string, env: NodeJS.ProcessEnv): string {
  const program = env.VISUAL || env.EDITOR || env.PAGER || 'less';
  return withFile(`${program} "$1"`, text, extension, env);
}

/** Gives the text to a command, and waits for Enter so that its output can be read. */
export function pipeTo(command: string, text: string, extension: string, env: NodeJS.ProcessEnv): string {
  const wait = 'status=$?; printf "\\n[Enter goes back] "; read -r _ </dev/tty; exit $status';
  return withFile(`{ ${command}\n} <"$1"; ${wait}`, text, extension, env);
}
