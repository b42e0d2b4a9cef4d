import { constants, setPriority } from 'node:os';
import { InvalidArgumentError, Option } from 'commander';
import { allowThreads } from '../../core/async/thread-count.ts';
import { LEAST_MEMORY, threadsWithin } from '../../core/dump/memory-limit.ts';

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

/** `--memory 600M` on a training node. */
export const memoryOption = (): Option =>
  new Option(
    '--memory <size>',
    'stay near this much memory, such as 600M (400M or more): fewer threads read, and records that need more are not read',
  ).argParser((text: string) => {
    const bytes = bytesWritten(text);
    if (bytes === null) throw new InvalidArgumentError(`"${text}" is not a size; write 600M or 2G.`);
    if (bytes < LEAST_MEMORY)
      throw new InvalidArgumentError(`${text} is too little: the least is ${LEAST_MEMORY / 1e6}M.`);
    return bytes;
  });

const UNITS: Readonly<Record<string, number>> = { '': 1, k: 1e3, m: 1e6, g: 1e9, t: 1e12 };

/** @returns bytes; null if the text is not a size */
export function bytesWritten(text: string): number | null {
  const [, number, unit = ''] = /^(\d+(?:\.\d+)?)\s*([kmgt]?)i?b?$/i.exec(text.trim()) ?? [];
  return number === undefined ? null : Number(number) * (UNITS[unit.toLowerCase()] ?? 1);
}

export const niceOption = (): Option => new Option('--nice', 'give way to other programs of this machine');

export interface MachineFlags {
  threads?: number;
  nice?: boolean;
  memory?: number;
}

/** How politely the program uses the machine, for the time that it runs. */
export function shareMachine({ threads, nice, memory }: MachineFlags): void {
  allowThreads(threads ?? null, memory === undefined ? undefined : threadsWithin(memory));
  // Threads that start later inherit it.
  if (nice === true) setPriority(constants.priority.PRIORITY_LOW);
}
