import { type ChildProcess, fork, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));
export const bin = join(root, 'dist/rollout-viewer.js');

export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

let answering: ChildProcess | null = null;
let asked: Promise<unknown> = Promise.resolve();

/**
 * The answer of the built program to a command line. One process of it answers everything that a worker of the tests asks, for a tenth of the
 * processor time of a start each. `rolloutViewer` is for what a process does beside its answer: signals, stdin, its end.
 */
export function ask(
  args: readonly string[],
  { cwd = root, env = {} }: { cwd?: string; env?: NodeJS.ProcessEnv } = {},
): Promise<Ended> {
  const answer = asked.then(async () => {
    answering ??= fork(join(root, 'test/support/answering.mjs'));
    const child = answering;
    // It keeps no worker of the tests alive, but a question does.
    child.unref();
    child.channel?.ref();
    child.send({ args, cwd, env: { ...process.env, ...env } });
    const { isLast, ...ended } = await new Promise<Ended & { isLast: boolean }>((resolve, reject) => {
      const fail = () => {
        answering = null;
        reject(new Error(`the program ended without an answer to ${args.join(' ')}`));
      };
      child.once('exit', fail).once('message', (message) => {
        child.off('exit', fail);
        resolve(message as Ended & { isLast: boolean });
      });
    });
    child.channel?.unref();
    if (isLast) answering = null;
    return ended;
  });
  asked = answer.catch(() => {});
  return answer;
}

/** Runs the built program to its end, without a terminal. */
export function rolloutViewer(
  args: readonly string[],
  options: { cwd?: string; stdin?: string; env?: NodeJS.ProcessEnv } = {},
): Promise<Ended> {
  return execute(process.execPath, [bin, ...args], options);
}

export function execute(
  command: string,
  args: readonly string[],
  { cwd = root, stdin, env }: { cwd?: string; stdin?: string; env?: NodeJS.ProcessEnv } = {},
): Promise<Ended> {
  const child = spawn(command, args, { cwd, env: { ...process.env, ...env } });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  // A program that has ended already reads nothing.
  child.stdin.on('error', () => {});
  child.stdin.end(stdin ?? '');
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, stdout, stderr }));
  });
}

/** A directory of its own with the given files, by their path in it. */
export function directoryWith(files: Record<string, string | Uint8Array>): string {
  const directory = mkdtempSync(join(tmpdir(), 'rollout-viewer-test-'));
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, name)), { recursive: true });
    writeFileSync(join(directory, name), content);
  }
  return directory;
}

/** A line of a verl dump with the given keys over plain ones. */
export const verlLine = (keys: Record<string, unknown> = {}): string =>
  `${JSON.stringify({ input: 'user\nWhat is 1+1?\nassistant\n', output: '2', gts: '2', score: 1, step: 1, ...keys })}\n`;

export const jsonLines = (text: string): Record<string, unknown>[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
