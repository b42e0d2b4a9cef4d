import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { spawn } from '@lydell/node-pty';
import { bin, figure, root } from './support/measure.ts';

const COLUMNS = 200;
const ROWS = 50;
/** Between two presses, for the median of one key; and what a keyboard that repeats sends. */
const APART_MS = 40;
/** Between two presses of a reader who looks at what came. */
const READING_MS = 500;
const PRESSES = 150;
const ROLLOUTS = 40;

/** Key to frame through a pseudo-terminal at 200 × 50, in a rollout of 1 MB, beside the same keys in `less` on its text. */
export async function run(): Promise<void> {
  const { dump, text } = longRollout();
  const ours = [process.execPath, bin, dump];
  const less = ['less', text];
  for (const [name, key] of [
    ['a line down (j)', 'j'],
    ['a page down (space)', ' '],
  ] as const) {
    const mine = await keyToFrame(ours, key, '1.jsonl:1');
    const theirs = await keyToFrame(less, key, 'line 0');
    figure(
      `key to frame, ${name}: p50, p95`,
      `${mine.p50.toFixed(1)}, ${mine.p95.toFixed(1)} ms`,
      `less: ${theirs.p50.toFixed(1)}, ${theirs.p95.toFixed(1)} ms`,
      mine.p95 / 16,
      'p95 ≤ 1 × 16 ms',
    );
  }
  for (const [name, key, apart] of [
    ['a turn on (l)', 'l', APART_MS],
    ['the next rollout (J)', 'J', READING_MS],
  ] as const) {
    const { p50, p95 } = await keyToFrame(ours, key, '1.jsonl:1', ROLLOUTS - 1, apart);
    figure(
      `key to frame, ${name}: p50, p95`,
      `${p50.toFixed(1)}, ${p95.toFixed(1)} ms`,
      '16 ms',
      p95 / 16,
      'p95 ≤ 1 × 16 ms',
    );
  }
  // Held, each is read, parsed and laid out between two repeats of the key.
  const held = await keyToFrame(ours, 'J', '1.jsonl:1', ROLLOUTS - 1);
  figure('key to frame, J held: p50', `${held.p50.toFixed(1)} ms`, '33 ms', held.p50 / 33, '≤ 1 × 33 ms');
  const frames = await framesHeld(ours, '1.jsonl:1');
  figure('frames a second while j repeats', frames.toFixed(0), '60', frames / 60, '≥ 1 ×');
}

/** A dump of rollouts whose response is 1 MB of turns, and the same text for a pager. */
function longRollout(): { dump: string; text: string } {
  const directory = join(root, '.bench', 'keys');
  mkdirSync(directory, { recursive: true });
  const turns: string[] = [];
  let bytes = 0;
  for (let i = 0; bytes < 1_000_000; i++) {
    const turn = `line ${i}: so the number of apples is ${i}, 计算 the rest.\n${'let me verify each step of it using python. '.repeat(40)}`;
    const result = `user\n<tool_response>\n${Array.from({ length: 8 }, (_, n) => `row ${n} of ${i}: ${n * i}`).join('\n')}\n</tool_response>\nassistant\n`;
    const call = `<tool_call>\n{"name": "code_interpreter", "arguments": {"code": "print(${i})\\nprint(2)"}}\n</tool_call>\n`;
    turns.push(`${turn}\n${call}${result}`);
    bytes += turns.at(-1)!.length;
  }
  const output = `${turns.join('')}#### 1`;
  const record = { input: 'user\nHow many apples?\nassistant\n', output, gts: '1', score: 1, step: 1 };
  writeFileSync(join(directory, '1.jsonl'), `${JSON.stringify(record)}\n`.repeat(ROLLOUTS));
  writeFileSync(join(directory, 'text.txt'), output);
  return { dump: join(directory, '1.jsonl'), text: join(directory, 'text.txt') };
}

interface Session {
  press(key: string): void;
  /** Resolves with the bytes of the next output, once it has come to rest. */
  next(): Promise<number>;
  output(): string;
  end(): void;
}

async function open(command: readonly string[], sees: string): Promise<Session> {
  const pty = spawn(command[0]!, command.slice(1), { cols: COLUMNS, rows: ROWS, name: 'xterm-256color' });
  let output = '';
  let waiting: ((at: number) => void) | null = null;
  pty.onData((data) => {
    output += data;
    waiting?.(performance.now());
    waiting = null;
  });
  const start = performance.now();
  while (!output.includes(sees)) {
    if (performance.now() - start > 20_000) throw new Error(`nothing like ${sees} from ${command.join(' ')}`);
    await pause(20);
  }
  await pause(500);
  return {
    press: (key) => pty.write(key),
    next: () =>
      new Promise((resolve) => {
        waiting = resolve;
      }),
    output: () => output,
    end: () => pty.kill('SIGTERM'),
  };
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** ms from the press of a key to the first bytes of the frame that it makes. */
async function keyToFrame(
  command: readonly string[],
  key: string,
  sees: string,
  presses = PRESSES,
  apart = APART_MS,
): Promise<{ p50: number; p95: number }> {
  const session = await open(command, sees);
  const times: number[] = [];
  for (let i = 0; i < presses; i++) {
    const next = session.next();
    const start = performance.now();
    session.press(key);
    times.push((await next) - start);
    await pause(apart);
  }
  session.end();
  times.sort((a, b) => a - b);
  return { p50: times[Math.floor(presses / 2)]!, p95: times[Math.floor(presses * 0.95)]! };
}

/** Frames in a second while a key is held that repeats 200 times a second, faster than any keyboard. */
async function framesHeld(command: readonly string[], sees: string): Promise<number> {
  const session = await open(command, sees);
  const before = session.output().split('\x1b[?2026h').length;
  const start = performance.now();
  while (performance.now() - start < 2000) {
    session.press('j');
    await pause(5);
  }
  const seconds = (performance.now() - start) / 1000;
  const frames = session.output().split('\x1b[?2026h').length - before;
  session.end();
  return frames / seconds;
}
