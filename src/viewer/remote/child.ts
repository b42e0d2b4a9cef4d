import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { errorCode } from '../../core/text/thrown.ts';
import { SourceError } from './machine.ts';

/** How to interpret a program's exit: the statuses that mean the other side was not reached. */
export interface ChildRules {
  lost: readonly number[];
  /** Error messages after which retrying is useless. */
  refused?: RegExp;
}

const MOST_MESSAGES = 2000;

/** A program's output as it comes. @throws SourceError with its error output if it fails */
export async function* outputOf(
  command: string,
  args: readonly string[],
  { lost, refused }: ChildRules,
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const stop = () => child.kill('SIGTERM');
  signal.addEventListener('abort', stop);
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-MOST_MESSAGES);
  });
  const closed = once(child, 'close').catch((error: NodeJS.ErrnoException) => error);
  try {
    if (signal.aborted) stop();
    for await (const chunk of child.stdout) yield chunk;
    const ended = await closed;
    if (ended instanceof Error)
      throw new SourceError(
        errorCode(ended) === 'ENOENT' ? `the program ${command} is not installed` : ended.message,
        false,
      );
    const [status, killed] = ended;
    if (signal.aborted) throw new SourceError('ended', true);
    if (status === 0) return;
    // The error comes before its cause.
    const last =
      said
        .trim()
        .split('\n')
        .findLast((line) => !/^(?:\s|caused by:)/.test(line)) ?? '';
    const isLost = (killed !== null || lost.includes(status ?? -1)) && refused?.test(last) !== true;
    throw new SourceError(last === '' ? `${command} ended with status ${status ?? killed}` : last, isLost);
  } finally {
    signal.removeEventListener('abort', stop);
    stop();
  }
}

/** No dump has a file list this long. */
const MOST_OUTPUT = 64 << 20;

/** The chunks joined. @throws SourceError if they exceed the size of any file list */
export async function whole(output: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of output) {
    size += chunk.length;
    if (size > MOST_OUTPUT)
      throw new SourceError(`its list is longer than ${MOST_OUTPUT >> 20} MB; name a folder nearer to the dump`, false);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
