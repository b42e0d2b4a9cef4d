// Processes of the built program that a test starts beside itself, and may kill.
import { type ChildProcess, spawn } from 'node:child_process';
import { bin } from '../program.ts';

const running = new Set<ChildProcess>();

/** Workers, and runs that are to be killed or watched. `said` gives what a process wrote to stderr, `wrote` what to stdout. */
export function start(
  args: readonly string[],
  {
    cwd,
    env,
    program = [process.execPath, bin],
  }: { cwd?: string | undefined; env?: NodeJS.ProcessEnv; program?: readonly [string, ...string[]] } = {},
) {
  const [command, ...before] = program;
  const child = spawn(command, [...before, ...args], {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  child.stderr.setEncoding('utf8').on('data', (part: string) => {
    text += part;
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    output += part;
  });
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  running.add(child);
  return { child, ended, said: () => text, wrote: () => output };
}

export const startWorker = (url: string, ...more: string[]) =>
  start(['worker', '--queue', url, '--concurrency', '8', ...more]);

export async function kill({ child }: { child: ChildProcess }, signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
  running.delete(child);
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill(signal);
  await ended;
}

export const killAll = (): Promise<unknown> => Promise.all([...running].map((child) => kill({ child })));

export const until = async (condition: () => boolean | Promise<boolean>): Promise<void> => {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 20));
};
