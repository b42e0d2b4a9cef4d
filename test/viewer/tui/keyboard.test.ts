import { spawn } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Keyboard, type KeySource } from '../../../src/viewer/tui/screen/keyboard.ts';
import { directoryWith } from '../../program.ts';

/** A terminal whose mode can be set once, and not again. */
function closing(code: string): KeySource {
  const none = () => undefined;
  const setRawMode = (raw: boolean) => {
    if (!raw) throw Object.assign(new Error(`setRawMode ${code}`), { code });
  };
  return { setRawMode, on: none, off: none, resume: none, pause: none };
}

test('a window that was closed is no defect, and any other failure of the terminal is', () => {
  const keyboard = (code: string) => new Keyboard(closing(code), () => {});
  for (const code of ['EIO', 'EBADF']) {
    const gone = keyboard(code);
    gone.start();
    expect(() => gone.stop()).not.toThrow();
  }
  expect(() => keyboard('EINVAL').stop()).toThrow('EINVAL');
});

test('a key whose second half came while the program stood still is one key', async () => {
  const [goOn, done] = ['go-on', 'done'].map((name) => join(directoryWith({}), name)) as [string, string];
  const halves = `printf '\\033['; until [ -e ${goOn} ]; do :; done; printf A; : > ${done}`;
  const terminal = spawn('sh', ['-c', halves], { stdio: ['ignore', 'pipe', 'inherit'] }).stdout;
  const source = Object.assign(terminal, { setRawMode: () => {} });
  const names: string[] = [];
  const keyboard = new Keyboard(source as KeySource, (keys) => names.push(...keys.map(({ name }) => name)));
  keyboard.start();
  terminal.once('data', () => {
    writeFileSync(goOn, '');
    // Longer than a half of a key is waited for.
    const end = performance.now() + 400;
    while (!existsSync(done) || performance.now() < end);
  });
  await new Promise((resolve) => terminal.once('close', resolve));
  expect(names).toEqual(['up']);
});
