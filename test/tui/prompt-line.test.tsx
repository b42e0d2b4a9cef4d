import { render } from 'ink-testing-library';
import { useState } from 'react';
import { afterEach, expect, test, vi } from 'vitest';
import { PromptLine } from '../../src/tui/views/PromptLine.tsx';

let shown: ReturnType<typeof render> | null = null;
afterEach(() => {
  shown?.unmount();
  shown = null;
});

function Typed({ first, width, onChange }: { first: string; width: number; onChange(value: string): void }) {
  const [value, setValue] = useState(first);
  const change = (next: string) => {
    onChange(next);
    setValue(next);
  };
  return <PromptLine sign="/" value={value} width={width} onChange={change} />;
}

const frame = (): string => (shown!.lastFrame() ?? '').replace(/\x1b\[[0-9;]*m/g, '').trimEnd();

/** Ink listens to keys from its first effect on; a key before that is lost. */
const press = async (key: string, becomes: string): Promise<void> => {
  await new Promise((resolve) => setImmediate(resolve));
  shown!.stdin.write(key);
  await vi.waitFor(() => expect(frame()).toBe(becomes));
};

test('the prompt line shows its sign and what is typed, and tells each change', async () => {
  const onChange = vi.fn();
  shown = render(<Typed first="" width={40} onChange={onChange} />);
  expect(frame()).toBe('/');
  await press('apples', '/apples');
  await press('\x7f', '/apple');
  expect(onChange.mock.calls).toEqual([['apples'], ['apple']]);
});

test('of a value that is too long the end is shown, on one line', () => {
  shown = render(<Typed first={`${'a long value '.repeat(10)}the end`} width={30} onChange={() => {}} />);
  expect(frame().split('\n')).toHaveLength(1);
  expect(frame()).toMatch(/^\/….*the end$/);
});
