import { expect, test } from 'vitest';
import { Keyboard, type KeySource } from '../../../src/viewer/tui/screen/keyboard.ts';

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
