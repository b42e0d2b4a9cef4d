import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, watch, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { bin, directoryWith, rolloutViewer } from '../../program.ts';

const IM = (role: string, text: string): string => `<|im_start|>${role}\n${text}<|im_end|>\n`;

const DUMP = Array.from({ length: 10_000 }, (_, at) =>
  JSON.stringify({
    input: `${IM('user', `What is ${at}+2?`)}<|im_start|>assistant\n`,
    output: `${'It is a sum. '.repeat(300)}${at + 2}<|im_end|>`,
    gts: `${at + 2}`,
    score: 1,
    step: 1,
  }),
).join('\n');

/** Kills the program as soon as it has written a first piece of its file. */
async function killed(cwd: string, args: readonly string[]): Promise<NodeJS.Signals | null> {
  const child = spawn(process.execPath, [bin, ...args], { cwd, stdio: 'ignore' });
  const watcher = watch(cwd, (event, name) => {
    if (event === 'change' && name?.endsWith('.part')) child.kill('SIGKILL');
  });
  const [, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
  watcher.close();
  return signal;
}

describe.each([
  ['trl', 'a.jsonl'],
  ['verl', 'a.parquet'],
])('an export to %s that is killed', (format, name) => {
  const args = ['export', '1.jsonl', '--to', format, '--inferred', '--force', '--out', name];

  test('leaves the old file or none, and the next run removes its traces', async () => {
    const cwd = directoryWith({ '1.jsonl': DUMP });
    const names = () => readdirSync(cwd).filter((one) => one.startsWith('a.'));
    expect(await killed(cwd, args)).toBe('SIGKILL');
    expect(names().filter((one) => !one.endsWith('.part'))).toEqual([]);
    writeFileSync(join(cwd, name), 'the old one');
    expect(await killed(cwd, args)).toBe('SIGKILL');
    expect(readFileSync(join(cwd, name), 'utf8')).toBe('the old one');
    expect(names().length).toBe(2);
    const whole = await rolloutViewer(args, { cwd });
    expect(whole.stderr).toBe('');
    expect(whole.code).toBe(0);
    expect(names()).toEqual([name, `${name}.card.json`, `${name}.card.md`]);
  });
});
