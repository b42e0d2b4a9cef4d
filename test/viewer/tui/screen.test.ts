import { expect, test, vi } from 'vitest';
import { Screen } from '../../../src/viewer/tui/screen/screen.ts';

test('frames are 16 ms apart, but for the one that a key waits for', () => {
  vi.useFakeTimers({ toFake: ['setImmediate', 'setTimeout', 'clearTimeout', 'performance'] });
  try {
    let line = 'first';
    const frames: string[] = [];
    const rect = { x: 0, y: 0, width: 10, height: 1 };
    const screen = new Screen(
      {
        write(bytes, written) {
          frames.push(bytes);
          written();
        },
      },
      { chrome: () => [], regions: () => [{ id: 'pane', rect, lines: () => [line] }] },
      { columns: 10, rows: 1 },
      true,
    );
    const change = (to: string, isKey: boolean): number => {
      line = to;
      if (isKey) screen.hurry();
      screen.invalidate();
      vi.advanceTimersByTime(0);
      return frames.length;
    };
    expect(change('second', false)).toBe(1);
    expect(change('third', false)).toBe(1);
    screen.hurry();
    vi.advanceTimersByTime(0);
    expect(frames.at(-1)).toContain('third');
    expect(change('fourth', true)).toBe(3);
    expect(change('fifth', false)).toBe(3);
    vi.advanceTimersByTime(16);
    expect(frames.at(-1)).toContain('fifth');
  } finally {
    vi.useRealTimers();
  }
});
