// Output that a busy server has not read yet when a program has ended.
import { writeSync } from 'node:fs';
import { expect, test } from 'vitest';
import { PipePool } from '../../src/sandbox/server/pipes.ts';

test('a cut pipe gives what was written, once, and never waits for its writer', async () => {
  const pool = new PipePool();
  const pipe = await pool.take();
  const chunks: Buffer[] = [];
  const closed = new Promise((resolve) => pipe.readable.on('close', resolve));
  writeSync(pipe.writeFd, 'x'.repeat(60_000));
  for (let times = 0; times < 2; times++) pipe.cut((chunk) => chunks.push(chunk));
  expect(Buffer.concat(chunks).toString()).toBe('x'.repeat(60_000));
  pipe.release();
  await closed;
  pool.close();
});
