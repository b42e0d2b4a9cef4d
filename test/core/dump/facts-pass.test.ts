import { appendFileSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { Dump } from '../../../src/core/dump/dump.ts';
import { FactsPass } from '../../../src/core/dump/facts-pass.ts';
import { RecordWorker } from '../../../src/core/dump/record-worker-client.ts';

const line = (i: number): string =>
  `${JSON.stringify({ input: 'user\nhi\nassistant\n', output: `${i}`, score: i, step: 1 })}\n`;

/** Counts how often each record is requested, by its offset. */
function countRequests(): Map<number, number> {
  const { ask } = RecordWorker.prototype;
  const counts = new Map<number, number>();
  vi.spyOn(RecordWorker.prototype, 'ask').mockImplementation(function (this: RecordWorker, request, transfer) {
    for (const [i, offset] of request.places.entries())
      if (i % 2 === 0) counts.set(offset, (counts.get(offset) ?? 0) + 1);
    return ask.call(this, request, transfer);
  });
  return counts;
}

test('a record that is visible and in the queue is read once, and its file is done once', async () => {
  const path = join(mkdtempSync(join(tmpdir(), 'facts-pass-')), '1.jsonl');
  writeFileSync(path, Array.from({ length: 300 }, (_, i) => line(i)).join(''));
  const dump = Dump.open([path]);
  const file = dump.files[0]!;
  await file.buildIndex(() => true);
  const counts = countRequests();
  const done: string[] = [];
  const pass = new FactsPass(
    () => {},
    ({ path: own }) => done.push(own),
    true,
  );
  pass.want([0, 1, 2, 299].map((record) => ({ file, record })));
  pass.background([file]);
  pass.want([1, 5].map((record) => ({ file, record })));
  await pass.whenDone();
  expect([...counts.values()]).toEqual(Array.from({ length: 300 }, () => 1));
  expect(done).toEqual([path]);
  expect(pass.isDone(file)).toBe(true);

  // More records come, and are read once too.
  appendFileSync(path, line(300) + line(301));
  await file.update({ holdBack: false });
  pass.add(file);
  pass.want([{ file, record: 300 }]);
  await pass.whenDone();
  expect(counts.size).toBe(302);
  expect([...counts.values()].every((count) => count === 1)).toBe(true);
  expect(file.index.looked).toBe(302);
  pass.close();
  dump.close();
  vi.restoreAllMocks();
});

test('a heavy record is read once for its facts and its group, which are those of any other', async () => {
  const path = join(mkdtempSync(join(tmpdir(), 'facts-heavy-')), '1.jsonl');
  const heavy = (i: number): string =>
    `${JSON.stringify({ input: `user\n${i}\nassistant\n`, output: 'some words. '.repeat(750_000), score: i, step: 1 })}\n`;
  writeFileSync(path, line(0) + heavy(1) + line(2) + line(3) + heavy(4));
  const dump = Dump.open([path]);
  const file = dump.files[0]!;
  await file.buildIndex(() => true);
  const counts = countRequests();
  const pass = new FactsPass(
    () => {},
    () => {},
    true,
  );
  pass.want([0, 1, 4].map((record) => ({ file, record })));
  pass.background([file]);
  const keys = await pass.groupKeys(file);
  await pass.whenDone();
  expect([...[1, 4].map((record) => counts.get(file.index.offset(record)))]).toEqual([1, 1]);
  expect(pass.isDone(file)).toBe(true);
  pass.close();
  vi.restoreAllMocks();
  const plain = new FactsPass(
    () => {},
    () => {},
    false,
  );
  expect(keys).toEqual(await plain.groupKeys(file));
  plain.close();
  dump.close();
});
