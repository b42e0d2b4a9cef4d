import { spawnSync } from 'node:child_process';
import { spawn } from '@lydell/node-pty';
import { bin, figure, madeDump, median } from './support/measure.ts';

const RUNS = 15;

/** The cost of a start: `--version`, the list, the first frame with a list and a rollout's text, the first key that works. */
export async function run(): Promise<void> {
  const dump = madeDump('10mb', 40, 10, 24);
  const times = {
    node: [] as number[],
    version: [] as number[],
    ls: [] as number[],
    frame: [] as number[],
    key: [] as number[],
  };
  for (let i = 0; i < RUNS; i++) {
    times.node.push(timed(['-e', '0']));
    times.version.push(timed([bin, '--version']));
    times.ls.push(timed([bin, 'ls', dump, '--limit', '1']));
    const { frame, key } = await screen(dump);
    times.frame.push(frame);
    times.key.push(key);
  }
  const node = median(times.node);
  const say = (what: string, values: readonly number[], goal: string) =>
    figure(what, `${median(values).toFixed(0)} ms`, `node -e 0: ${node.toFixed(0)} ms`, median(values) / node, goal);
  say('--version', times.version, '≤ 1.5 ×');
  say('ls --limit 1 of 10 MB', times.ls, '');
  say('first frame of 10 MB', times.frame, '≤ 3.5 ×');
  say('a key works', times.key, '≤ 5 ×');
}

function timed(args: readonly string[]): number {
  const start = performance.now();
  spawnSync(process.execPath, args, { stdio: 'ignore' });
  return performance.now() - start;
}

/** Milliseconds until list and text are in the frame, and until a key that was pressed at once has moved to the next rollout. */
function screen(dump: string): Promise<{ frame: number; key: number }> {
  return new Promise((resolve) => {
    const start = performance.now();
    // Where the run before it left the screen is not where this one waits for.
    const terminal = spawn(process.execPath, [bin, dump, '--fresh'], {
      cols: 200,
      rows: 50,
      env: { ...process.env, TERM: 'xterm-256color' },
    });
    let seen = '';
    let frame = 0;
    terminal.onData((data) => {
      seen += data;
      if (frame === 0 && seen.includes('score') && seen.includes('assistant')) {
        frame = performance.now() - start;
        terminal.write('J');
        seen = '';
      } else if (frame > 0 && seen.includes('sample 2/')) {
        const key = performance.now() - start;
        // A program that is killed keeps no compiled code for its next start.
        terminal.onExit(() => resolve({ frame, key }));
        terminal.write('q');
      }
    });
  });
}
