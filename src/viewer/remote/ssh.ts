import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { scriptWord } from '../../core/text/shell-quote.ts';
import type { Address } from './address.ts';
import { outputOf, whole } from './child.ts';
import { type Machine, type RemoteFile, SourceError } from './machine.ts';
import { makeSshFolder } from './ssh-folder.ts';

/** ssh's last message if a retry would only repeat it. */
export const REFUSED = /Permission denied \(|Host key verification failed/;
/** ssh's exit status if it could not reach the other side, or lost it. */
const LOST = { lost: [255], refused: REFUSED };
/** The block size of `dd`; a read begins at a multiple of it. */
const BLOCK = 4096;
/** Bytes of greeting that a shell may print before a command runs. */
const MOST_GREETING = 1 << 20;

/**
 * A machine behind the system's ssh, so that its settings, agents, jump hosts and known hosts apply. Nothing is installed there: it uses
 * `find`, `dd` and `tail`, and GNU's or BSD's `stat` if present. One connection serves everything, and is reopened if lost.
 */
export class SshSource implements Machine {
  readonly name: string;
  readonly #host: string;
  readonly #flags: readonly string[];
  /** Printed before a command's output: shell startup files (`.bashrc`, `.zshenv`) may print text of their own before that. */
  readonly #mark = randomBytes(12).toString('hex');
  readonly #folder = makeSshFolder();

  constructor({ name, host, port }: Extract<Address, { kind: 'ssh' }>) {
    this.name = name.replace(/:$/, '');
    this.#host = host;
    this.#flags = [
      ...(port === null ? [] : ['-p', port]),
      ...option('ControlMaster', 'auto'),
      ...option('ControlPath', join(this.#folder, '%C')),
      ...option('ControlPersist', '60'),
      ...option('ConnectTimeout', '15'),
      // A silently dead connection is given up within 15 s.
      ...option('ServerAliveInterval', '5'),
      ...option('ServerAliveCountMax', '3'),
    ];
  }

  /** A password, or the confirmation of an unknown host, is requested on the terminal before anything else uses it. */
  greet(): Promise<void> {
    return new Promise((resolve, reject) => {
      const child = spawn('ssh', [...this.#flags, '--', this.#host, 'true'], { stdio: ['inherit', 2, 2] });
      child.on('error', ({ code, message }: NodeJS.ErrnoException) =>
        reject(new SourceError(code === 'ENOENT' ? 'the program ssh is not installed' : message, false)),
      );
      child.on('close', (status) =>
        status === 0 ? resolve() : reject(new SourceError(`ssh could not log in at ${this.#host}`, true)),
      );
    });
  }

  async list(path: string, signal: AbortSignal): Promise<{ root: string; files: RemoteFile[] }> {
    return listedFiles(await whole(this.#said(LIST, path, signal)), path);
  }

  async *read(path: string, offset: number, end: number, signal: AbortSignal): AsyncGenerator<Buffer> {
    const skip = Math.floor(offset / BLOCK);
    let drop = offset - skip * BLOCK;
    let left = end - offset;
    const count = Number.isFinite(end) ? ` count=${Math.ceil((end - skip * BLOCK) / BLOCK)}` : '';
    // dd stops at the end of the file if that comes first; its messages are discarded.
    const script = `exec dd if="$1" bs=${BLOCK} skip=${skip}${count} 2>/dev/null`;
    for await (const chunk of this.#said(script, path, signal)) {
      const from = Math.min(drop, chunk.length);
      drop -= from;
      const own = chunk.subarray(from, from + left);
      left -= own.length;
      if (own.length > 0) yield own;
      if (left <= 0) return;
    }
  }

  async follow(path: string, size: number, grown: () => void, signal: AbortSignal): Promise<void> {
    // Its output is only a signal here: the bytes are read again from their offset.
    const script = `exec tail -c +${size + 1} -f "$1"`;
    for await (const _ of this.#said(script, path, signal)) grown();
  }

  close(): void {
    const child = spawn('ssh', [...this.#flags, '-O', 'exit', '--', this.#host], { stdio: 'ignore' });
    child.on('error', () => {});
    child.on('close', () => rmSync(this.#folder, { recursive: true, force: true }));
  }

  /** The output of a script that gets the path as `$1`; both are quoted as one word for any remote shell. */
  #said(script: string, path: string, signal: AbortSignal): AsyncGenerator<Buffer> {
    const word = path.startsWith('~') ? homeWord(path) : scriptWord(path);
    // Printed in halves, so that a shell that echoes the command does not print the mark.
    const marked = scriptWord(`printf %s%s ${this.#mark.slice(0, 12)} ${this.#mark.slice(12)}; ${script}`);
    const args = [...this.#flags, '-o', 'BatchMode=yes', '--', this.#host, `exec sh -c ${marked} sh ${word}`];
    return behindMark(outputOf('ssh', args, LOST, signal), this.#mark);
  }
}

/** The bytes after the mark. @throws SourceError with the actual output if the mark is missing */
async function* behindMark(chunks: AsyncIterable<Buffer>, mark: string): AsyncGenerator<Buffer> {
  let greeting: Buffer | null = Buffer.alloc(0);
  try {
    for await (const chunk of chunks) {
      if (greeting === null) {
        yield chunk;
        continue;
      }
      greeting = Buffer.concat([greeting, chunk]);
      const at = greeting.indexOf(mark);
      if (at === -1 && greeting.length > MOST_GREETING) break;
      if (at === -1) continue;
      const first = greeting.subarray(at + mark.length);
      greeting = null;
      if (first.length > 0) yield first;
    }
  } catch (error) {
    if (!(error instanceof SourceError) || error.isLost || greeting === null || greeting.length === 0) throw error;
    throw new SourceError(`${greetingWords(greeting)} (${error.message})`, false);
  }
  if (greeting !== null) throw new SourceError(`no command is run there: ${greetingWords(greeting)}`, false);
}

const greetingWords = (greeting: Buffer): string =>
  greeting.toString('utf8', 0, 200).trim() || 'it ended without a word';

const option = (name: string, value: string): string[] => ['-o', `${name}=${value}`];

/** `~/x` and `~user/x`: the remote shell expands the first part. */
function homeWord(path: string): string {
  const [home, ...rest] = path.split('/');
  const safe = /^~[A-Za-z0-9_.-]*$/.test(home!) ? home! : scriptWord(home!);
  return rest.length === 0 ? safe : `${safe}/${scriptWord(rest.join('/'))}`;
}

/**
 * The folder and a NUL, `d` or `f`, then for each file `SIZE MODIFIED INODE`, a newline, its path and a NUL, because names may contain
 * newlines. Hidden folders are left out. GNU's find does it all at once; otherwise each file is queried with GNU's or BSD's stat, or with
 * ls. It is one line, because csh allows no newline within quotes.
 */
const LIST = `
unset CDPATH; d=$1;
if [ -d "$d" ]; then cd -- "$d" 2>/dev/null || { echo "permission denied" >&2; exit 3; }; k=d; d=.;
elif [ -e "$d" ]; then cd -- "$(dirname -- "$d")" || exit 3; k=f; d=./$(basename -- "$d");
else
  case $(LC_ALL=C ls -d -- "$d" 2>&1) in *"Permission denied"*) w="permission denied";; *) w="no such file or directory";; esac;
  echo "$w" >&2; exit 3;
fi;
printf "%s\\0%s\\n" "$(pwd)" "$k";
if find . -maxdepth 0 -printf "" 2>/dev/null; then
  find -H "$d" -type d -name ".?*" ! -name .rollout-viewer -prune -o -type f -printf "%s %T@ %i\\n%p\\0" 2>/dev/null;
else
  find -H "$d" -type d -name ".?*" ! -name .rollout-viewer -prune -o -type f -exec sh -c '
    for f do
      stat -L -c "%s %Y %i" "$f" 2>/dev/null || stat -f "%z %m %i" "$f" 2>/dev/null || { ls -ldnL "$f" | { read -r a b c e s r && echo "$s 0 0"; }; };
      printf "%s\\0" "$f";
    done' sh {} + 2>/dev/null;
fi;
exit 0`.replaceAll(/\n\s*/g, ' ');

function listedFiles(output: Buffer, asked: string): { root: string; files: RemoteFile[] } {
  const border = output.indexOf(0);
  const start = output.indexOf(10, border) + 1;
  if (border === -1 || start === 0) throw new SourceError(`${asked}: it could not be listed`, false);
  const folder = output.toString('utf8', 0, border);
  const inFolder = folder === '/' ? '' : folder;
  const files: RemoteFile[] = [];
  for (let at = start; at < output.length; ) {
    const line = output.indexOf(10, at);
    const nul = output.indexOf(0, line);
    if (line === -1 || nul === -1) break;
    const [, size, modified, inode] = /^(\d+) (\d+)\S* (\d+)$/.exec(output.toString('latin1', at, line)) ?? [];
    const name = output.toString('utf8', line + 1, nul);
    at = nul + 1;
    const path = `${inFolder}/${name.replace(/^\.\//, '')}`;
    // A name that is not UTF-8 could not be requested; find never returns one that leads elsewhere.
    if (size === undefined || name.includes('\ufffd') || path.split('/').includes('..')) continue;
    files.push({ path, size: Number(size), modified: Number(modified), inode: inode! });
  }
  const isFile = output[border + 1] === 'f'.charCodeAt(0);
  return { root: isFile ? (files[0]?.path ?? folder) : folder, files };
}
