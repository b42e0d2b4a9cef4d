// The built program on a rollout whose calls are run again, for the tests of both tiers.
import { dirname, join } from 'node:path';
import { App, type StartOptions } from '../../support/driver/app.ts';
import { type DumpFiles, writeDump } from '../../support/dump.ts';

const CALL = (code: string): string =>
  `<tool_call>\n${JSON.stringify({ name: 'code_interpreter', arguments: { code } })}\n</tool_call>`;

interface Step {
  code: string;
  result: string;
}

/** A rollout whose calls gave these results, as verl dumps it without special tokens. */
export const rollout = (steps: readonly Step[], keys: object = {}): object => ({
  input: 'system\nRun Python with the tool where it helps.\nuser\nWhat is left?\nassistant\n',
  output: `${steps
    .map(({ code, result }) => `${CALL(code)}\nuser\n<tool_response>\n${result}\n</tool_response>\nassistant\n`)
    .join('')}The answer is\n#### 7`,
  gts: '7',
  score: 1,
  step: 1,
  ...keys,
});

export const SAME = { code: 'print(3 + 4)', result: '7' };
export const DRIFTED = { code: 'print("a")\nprint("left is", 20 + 1)\nprint("c")', result: 'a\nleft is 20\nc' };
export const SLOW = { code: 'import time\ntime.sleep(25)\nprint(7)', result: '7' };

export let app: App;
export let run: ReturnType<typeof writeDump>;

export async function open(files: DumpFiles, args: string[] = [], options: StartOptions = {}): Promise<void> {
  run = writeDump(files);
  await reopen(args, options);
}

export async function reopen(args: string[] = [], options: StartOptions = {}): Promise<void> {
  app = App.start([run.dir, '--sandbox', 'auto', '--journal', journal(), ...args], { columns: 110, ...options });
  await app.sees(/[▌╎]›assistant/);
}

/** The program with these arguments, which may refuse them. */
export function startWith(args: readonly string[], options: StartOptions): void {
  app = App.start([run.dir, ...args], options);
}

export async function close(): Promise<void> {
  await app.stop();
  run.remove();
}

/** ! and the sandbox named. */
export async function ask(): Promise<void> {
  app.press('!');
  await app.sees('Enter run');
}

export const journal = (): string => join(dirname(run.dir), 'kept');
