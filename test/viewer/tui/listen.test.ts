// A place that an agent points at comes to the person's screen.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { point } from '../../../src/viewer/listen/point.ts';
import { directoryWith, verlLine } from '../../program.ts';
import { App } from '../../support/driver/app.ts';

const before = process.env.XDG_RUNTIME_DIR;
let app: App | undefined;
afterEach(async () => {
  await app?.stop();
  if (before === undefined) delete process.env.XDG_RUNTIME_DIR;
  else process.env.XDG_RUNTIME_DIR = before;
});

test('a rollout, a turn, quotes; a quote that does not occur exactly once is reported as broken, on the screen too', async () => {
  const runtime = mkdtempSync(join(tmpdir(), 'rollout-viewer-runtime-'));
  process.env.XDG_RUNTIME_DIR = runtime;
  const output = `${'one line\n'.repeat(60)}the total is 54600.0\nagain again`;
  const dump = directoryWith({ '1.jsonl': verlLine({ uid: 'a_0_0' }) + verlLine({ output, uid: 'b_0_0' }) });
  app = App.start([dump, '--listen'], { env: { XDG_RUNTIME_DIR: runtime }, columns: 120 });
  await app.sees('1.jsonl:1');
  await app.idle();
  const locator = join(dump, '1.jsonl:2');
  const answer = await point({ locator, turn: 1, quotes: ['total is 54600.0', 'again'] });
  expect(answer).toEqual({ opened: true, problem: '', broken: ['again'] });
  await app.sees('1.jsonl:2');
  await app.sees('the total is 54600.0');
  await app.sees('broken: 1 of 2 quotes');

  const other = join(directoryWith({ '1.jsonl': verlLine() }), '1.jsonl:1');
  expect(await point({ locator: other, turn: null, quotes: [] })).toMatchObject({
    opened: false,
    problem: expect.stringContaining('not in the dump on this screen'),
  });
  expect((await point({ locator: join(dump, '1.jsonl:9'), turn: null, quotes: [] })).opened).toBe(false);
});
