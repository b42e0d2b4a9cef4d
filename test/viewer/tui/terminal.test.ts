import { execFileSync, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { Terminal } from '../../../src/viewer/tui/screen/terminal.ts';
import { bin } from '../../program.ts';
import { App } from '../../support/driver/app.ts';
import { smallRun, toolRollout, writeDump } from '../../support/dump.ts';

const run = writeDump(smallRun(2, 8));
afterAll(() => run.remove());

let app: App;
afterEach(() => app?.stop());

/** The terminal is as a shell left it: main screen, cursor, wrapping, no bracketed paste. */
async function expectRestored(): Promise<void> {
  await app.until(() => !app.inAlternateScreen, 'the main screen');
  expect(app.lastMode(25)).toBe('h');
  expect(app.lastMode(7)).toBe('h');
  expect(app.modes.bracketedPasteMode).toBe(false);
}

describe('the terminal is given back', () => {
  test('on q', async () => {
    app = App.start([run.dir]);
    await app.sees('h/l turn');
    expect(app.inAlternateScreen).toBe(true);
    expect(app.lastMode(25)).toBe('l');
    app.press('q');
    expect(await app.exits()).toEqual({ code: 0, signal: 0 });
    await expectRestored();
  });

  test.each([
    ['SIGTERM', 143],
    ['SIGHUP', 129],
    ['SIGINT', 130],
  ])('on %s', async (signal, code) => {
    app = App.start([run.dir]);
    await app.sees('h/l turn');
    app.kill(signal);
    expect((await app.exits()).code).toBe(code);
    await expectRestored();
  });

  test('on ^C twice', async () => {
    app = App.start([run.dir]);
    await app.sees('h/l turn');
    app.press('ctrl+c', 'ctrl+c');
    expect((await app.exits()).code).toBe(0);
    await expectRestored();
  });

  test('on a defect, which is then reported', async () => {
    const preload = `data:text/javascript,${encodeURIComponent(
      "process.on('SIGUSR2', () => { throw new Error('a defect for the test'); });",
    )}`;
    app = App.start([], { command: [process.execPath, '--import', preload, bin, run.dir] });
    await app.sees('h/l turn');
    app.kill('SIGUSR2');
    expect((await app.exits()).code).toBe(70);
    await expectRestored();
    await app.sees('a defect for the test');
  });

  test('across ^Z and fg', async () => {
    app = App.start([], { command: ['bash', '--norc', '-i'], env: { PS1: 'shell> ' } });
    await app.sees('shell>');
    app.type(`${process.execPath} ${bin} ${run.dir}\n`);
    await app.sees('h/l turn');
    app.press('ctrl+z');
    await app.sees('Stopped');
    await app.until(() => !app.inAlternateScreen && app.lastMode(25) === 'h', 'the main screen');
    app.type('echo "still $((40 + 2)) here"\n');
    await app.sees('still 42 here');
    app.type('fg\n');
    await app.sees('▌›assistant');
    expect(app.inAlternateScreen).toBe(true);
    app.press('J');
    await app.sees('2.jsonl:2');
    app.press('q');
    // The program reads the keys until it has ended.
    await app.until(() => !app.inAlternateScreen && /\nshell>\n*$/.test(app.screen()), 'the prompt of the shell');
    app.type('stty -a | grep -c " icanon"\n');
    await app.sees(/^1$/m);
  });
});

test('a part of the program gets the terminal once the last frame is out', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'lent-'));
  const path = join(folder, 'screen');
  const fd = openSync(path, 'w');
  const shown = () => readFileSync(path, 'utf8');
  const steps: string[] = [];
  let taken = () => {};
  const terminal = new Terminal(fd, {
    entered: () => steps.push('entered'),
    leaving: () => steps.push('leaving'),
    settled: () => new Promise((resolve) => (taken = resolve)),
  });
  try {
    terminal.start();
    const lent = terminal.lend(async () => {
      steps.push('used');
      expect(shown()).toMatch(/\x1b\[\?1049l$/);
    });
    await new Promise(setImmediate);
    expect(steps).toEqual(['entered', 'leaving']);
    expect(shown()).not.toContain('\x1b[?1049l');
    taken();
    await lent;
    expect(steps).toEqual(['entered', 'leaving', 'leaving', 'used', 'entered']);
  } finally {
    terminal.stop();
    closeSync(fd);
    rmSync(folder, { recursive: true });
  }
});

describe('what is sent to the terminal', () => {
  test('never clears the screen or the scrollback, and brackets each frame', async () => {
    app = App.start([run.dir]);
    await app.sees('▌›assistant');
    app.press(...'jjjkkJJKlh?'.split(''));
    await app.sees('next turn');
    app.press('?');
    app.resize(120, 40);
    await app.sees('2.jsonl:2');
    app.press('ctrl+l');
    app.press('q');
    await app.exits();
    expect(app.output).not.toMatch(/\x1b\[[23]J/);
    const begins = app.output.split('\x1b[?2026h').length;
    expect(app.output.split('\x1b[?2026l').length).toBeGreaterThanOrEqual(begins);
  });

  test('is nothing of what hostile text asks for: each control is a visible sign', async () => {
    const title = randomBytes(4).toString('hex');
    const evil = `\x1b]0;${title}\x07\x1b[2J\x1b[31mred\x9b1m \u202eesrever\u2066 bell\x07 \x1bc`;
    const dump = writeDump({ '1.jsonl': [{ ...toolRollout(1, 1, 1), output: `before ${evil} after` }] });
    try {
      app = App.start([dump.dir], { columns: 160 });
      await app.sees(`before ␛]0;${title}␇␛[2J␛[31mred<U+009B>1m <U+202E>esrever<U+2066> bell␇ ␛c after`);
      app.press('q');
      await app.exits();
      expect(app.output).not.toContain('\x07');
      expect(app.output).not.toMatch(/[\x80-\x9f\u202e\u2066]/);
      expect(app.output).not.toContain(`\x1b]0;`);
    } finally {
      dump.remove();
    }
  });

  test('is only what can be seen: frames are dropped while the terminal takes none', async () => {
    const dump = writeDump({ '1.jsonl': [{ ...toolRollout(1, 1, 1), output: 'line\n'.repeat(5000) }] });
    try {
      app = App.start([dump.dir]);
      await app.sees('▌›assistant');
      const before = app.output.split('\x1b[?2026h').length;
      app.pause();
      for (let i = 0; i < 40; i++) app.type('j'.repeat(25));
      app.resume();
      app.press('G');
      await app.sees('ground truth');
      // A thousand keys; one frame for each would be a thousand.
      expect(app.output.split('\x1b[?2026h').length - before).toBeLessThan(200);
    } finally {
      dump.remove();
    }
  });
});

const hasTmux = spawnSync('tmux', ['-V']).status === 0;

describe('inside tmux', () => {
  test.skipIf(!hasTmux)('opens, moves and quits (skipped where tmux is not installed)', async () => {
    const socket = `rollout-viewer-${randomBytes(4).toString('hex')}`;
    const tmux = (...args: string[]): string =>
      execFileSync('tmux', ['-L', socket, '-f', '/dev/null', ...args], {
        encoding: 'utf8',
        env: { ...process.env, TMUX: '' },
      });
    const sees = async (text: string): Promise<string> => {
      const end = Date.now() + 120_000;
      for (;;) {
        const screen = tmux('capture-pane', '-p', '-t', 'test');
        if (screen.includes(text)) return screen;
        if (Date.now() > end) throw new Error(`waited in vain for ${text}; the screen:\n${screen}`);
        await new Promise((resolve) => setTimeout(resolve, 30));
      }
    };
    try {
      tmux('new-session', '-d', '-s', 'test', '-x', '80', '-y', '24', 'bash --norc');
      tmux('send-keys', '-t', 'test', `${process.execPath} ${bin} ${run.dir}`, 'Enter');
      await sees('▌›assistant');
      tmux('send-keys', '-t', 'test', 'J');
      await sees('2.jsonl:2');
      tmux('send-keys', '-t', 'test', 'Escape');
      await sees('j/k sample');
      tmux('send-keys', '-t', 'test', 'Down', 'Down', 'Enter');
      expect(await sees('2.jsonl:4')).toContain('▌');
      tmux('send-keys', '-t', 'test', 'q');
      await sees('bash');
    } finally {
      tmux('kill-server');
    }
  });
});
