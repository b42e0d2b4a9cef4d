import { afterEach, beforeEach, expect, test, vi } from 'vitest';

let written: string[] = [];
const tty = Object.getOwnPropertyDescriptor(process.stderr, 'isTTY');

/** The modules as in a program that has run for a second. */
async function started(isTTY: boolean) {
  Object.defineProperty(process.stderr, 'isTTY', { value: isTTY, configurable: true });
  vi.resetModules();
  const workLine = await import('../../../src/viewer/commands/work-line.ts');
  const output = await import('../../../src/viewer/commands/output.ts');
  vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 1000);
  return { ...workLine, ...output };
}

beforeEach(() => {
  written = [];
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => written.push(String(text)) > 0);
});

afterEach(() => {
  vi.restoreAllMocks();
  if (tty === undefined) Reflect.deleteProperty(process.stderr, 'isTTY');
  else Object.defineProperty(process.stderr, 'isTTY', tty);
});

const HALF = { what: 'reading', done: 1, total: 2 };

test('long work on a terminal says how much is done, and the line goes before a message', async () => {
  const { showWork, say } = await started(true);
  showWork(HALF);
  say('no rollouts');
  say('no hit');
  expect(written).toEqual([
    '\rreading  50 %\x1b[K',
    '\r\x1b[K',
    'rollout-viewer: no rollouts\n',
    'rollout-viewer: no hit\n',
  ]);
});

test('a pipe and --quiet see nothing of it', async () => {
  const piped = await started(false);
  piped.showWork(HALF);
  const quiet = await started(true);
  quiet.beQuiet();
  quiet.showWork(HALF);
  expect(written).toEqual([]);
});
