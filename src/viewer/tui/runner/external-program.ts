import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeTemporary } from '../../../core/files/temporary.ts';

const READ_ONLY = 0o400;

/** A text in a file, passed to another program while it runs. */
interface ProgramInput {
  text: string;
  extension: string;
  /** The file's permissions: they decide whether the program may change it. */
  mode: number;
}

/** Runs a shell line on the terminal, with the file as `$1`. @throws Error if it cannot be run, or fails */
function runProgram(
  line: string,
  name: string,
  { text, extension, mode }: ProgramInput,
  env: NodeJS.ProcessEnv,
): string {
  const directory = makeTemporary('rollout-viewer-');
  try {
    const file = join(directory, `rollout.${extension}`);
    writeFileSync(file, text, { mode });
    const { error, status } = spawnSync('sh', ['-c', line, 'sh', file], { stdio: 'inherit', env });
    if (error !== undefined) throw error;
    if (status !== 0) {
      const reason = status === null ? 'was interrupted' : `ended with exit status ${status}`;
      throw new Error(`${name} ${reason}${mode === READ_ONLY ? '' : '; nothing is changed'}`);
    }
    return readFileSync(file, 'utf8');
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Opens a copy in $VISUAL, $EDITOR or $PAGER; the dump itself is never opened for writing. @throws Error */
export function openInEditor(text: string, extension: string, env: NodeJS.ProcessEnv): void {
  // $EDITOR may hold arguments (`code --wait`), so a shell parses it; the path is passed as an argument, never interpolated.
  const program = env.VISUAL || env.EDITOR || env.PAGER || 'less';
  runProgram(`${program} "$1"`, 'it', { text, extension, mode: READ_ONLY }, env);
}

/** Opens $VISUAL or $EDITOR on a text. @returns the edited text @throws Error */
export function editText(text: string, extension: string, env: NodeJS.ProcessEnv): string {
  const editor = env.VISUAL || env.EDITOR || 'vi';
  const edited = runProgram(`${editor} "$1"`, editor, { text, extension, mode: 0o600 }, env);
  // Editors end a file with a newline that the text did not have.
  return !text.endsWith('\n') && edited.endsWith('\n') ? edited.slice(0, -1) : edited;
}

/** Passes the text to a command, then waits for Enter so that its output can be read. @throws Error */
export function pipeTo(command: string, text: string, extension: string, env: NodeJS.ProcessEnv): void {
  const wait = 'status=$?; printf "\\n[Enter goes back] "; read -r _ </dev/tty; exit $status';
  runProgram(`{ ${command}\n} <"$1"; ${wait}`, 'it', { text, extension, mode: READ_ONLY }, env);
}
