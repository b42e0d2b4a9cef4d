import { afterEach, expect, test } from 'vitest';
import { App } from '../../support/driver/app.ts';
import { toolRollout, writeDump } from '../../support/dump.ts';

let app: App;
let run: ReturnType<typeof writeDump>;
afterEach(async () => {
  await app.stop();
  run.remove();
});

test('a filter over 80 MB shows its progress, keeps the keys alive, and ends by Esc', async () => {
  const long = { ...toolRollout(1, 1, 1), output: 'so the salary is more than before '.repeat(10_000) };
  const text = JSON.stringify(long);
  run = writeDump({ '1.jsonl': Array.from({ length: 240 }, () => text) });
  app = App.start([run.dir], { columns: 120 });
  await app.sees('▌›assistant');
  await app.until(() => !/indexing|checking/.test(app.screen()), 'the end of indexing');
  app.press('&');
  app.type('output ~ /z[a-z]+q$/i');
  app.press('Enter');
  await app.sees(/0 … +[\d.]+ %/);
  app.press('J');
  await app.sees('sample 2/240');
  app.press('Esc');
  await app.sees('cancelled; the list is unchanged');
  await app.seesNot('& output');
  app.press('J');
  await app.sees('sample 3/240');
  expect(app.inAlternateScreen).toBe(true);
});
