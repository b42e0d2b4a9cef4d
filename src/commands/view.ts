import { openSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { ReadStream } from 'node:tty';
import { Dump } from '../dump/dump.ts';
import { dumpOfStream } from '../dump/stream-file.ts';
import { sanitiseLine } from '../text/sanitise.ts';
import { run } from '../tui/run.tsx';
import { dumpOptions } from './dump-options.ts';
import { DONE, say } from './output.ts';

export interface ViewOptions {
  validation?: string[];
  /** Paths that do not exist yet are waited for. */
  follow?: boolean;
  poll?: number;
}

/** Opens paths in the terminal UI and stays until the user quits. Stdout must be a TTY. @throws UsageError as Dump.open does */
export async function view(paths: readonly string[], options: ViewOptions): Promise<number> {
  const stream = paths.length === 1 && paths[0] === '-' ? dumpOfStream(process.stdin) : null;
  const dump =
    stream?.dump ??
    Dump.open(paths, { ...dumpOptions(options), holdBack: 'while-arriving', waits: options.follow ?? false });
  const name = sanitiseLine(stream !== null ? 'stdin' : paths.map((path) => basename(resolve(path))).join(' '));
  // With data on stdin the keys come from the terminal itself.
  const input = process.stdin.isTTY ? process.stdin : new ReadStream(openSync('/dev/tty', 'r'));
  await run({ dump, name, input, output: process.stdout, env: process.env, poll: options.poll });
  stream?.stop();
  if (input !== process.stdin) input.destroy();
  for (const notice of dump.notices) say(notice);
  return DONE;
}
