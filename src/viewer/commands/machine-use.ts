import { constants, setPriority } from 'node:os';
import { InvalidArgumentError, Option } from 'commander';
import { allowThreads } from '../../core/async/thread-count.ts';

const MOST_THREADS = 256;

/** `--threads 1` beside a training run, `--threads 32` on a machine that is idle. */
export const threadsOption = (): Option =>
  new Option(
    '--threads <count>',
    'threads that read and search, of some 40 MB each (default: one a processor, at most 8)',
  ).argParser((text: string) => {
    const count = Number(text);
    if (!Number.isInteger(count) || count < 1 || count > MOST_THREADS)
      throw new InvalidArgumentError(`"${text}" is not a number from 1 to ${MOST_THREADS}.`);
    return count;
  });

export const niceOption = (): Option => new Option('--nice', 'give way to other programs of this machine');

/** How politely the program uses the machine, for the time that it runs. */
export function shareMachine({ threads, nice }: { threads?: number; nice?: boolean }): void {
  if (threads !== undefined) allowThreads(threads);
  // Threads that start later inherit it.
  if (nice === true) setPriority(constants.priority.PRIORITY_LOW);
}
