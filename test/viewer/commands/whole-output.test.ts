import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { bin, directoryWith } from '../../program.ts';

const kept = 'x'.repeat(1_000_000);
const lines = Array.from(
  { length: 50 },
  (_, i) => `{"input":"q${i}","output":"a","score":1,"step":1,"kept":"${kept}"}\n`,
);
const path = directoryWith({ '1.jsonl': lines.join('') });
const args = [bin, 'show', path, '--jsonl'];
const hashOf = (text: string | Uint8Array): string => createHash('sha256').update(text).digest('hex');
const whole = hashOf(lines.join(''));

describe('50 MB of output', () => {
  test('a pipe that is read slowly gets all of it', async () => {
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    const hash = createHash('sha256');
    for await (const chunk of child.stdout) {
      hash.update(chunk);
      for (let i = 0; i < 20; i++) await turn();
    }
    expect(hash.digest('hex')).toBe(whole);
  });

  test('a file gets all of it', async () => {
    const out = join(directoryWith({}), 'out');
    const file = openSync(out, 'w');
    const child = spawn(process.execPath, args, { stdio: ['ignore', file, 'inherit'] });
    const code = await new Promise((resolve) => child.on('close', resolve));
    closeSync(file);
    expect([code, hashOf(readFileSync(out))]).toEqual([0, whole]);
  });
});
