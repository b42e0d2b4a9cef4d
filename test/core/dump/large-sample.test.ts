import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { largeLogSamples } from '../../../src/core/dump/containers/inspect-log.ts';
import { LargeSamples } from '../../../src/core/dump/containers/large-sample.ts';

const sample = (id: number) => ({
  id,
  epoch: 1,
  messages: [{ role: 'assistant', content: 'says "events": [ and \\ } { "samples": ', events: 'of a message' }],
  scores: { match: { value: 'C' } },
});
const withEvents = (id: number) => ({ ...sample(id), events: [{ event: 'model', events: '}]"\\"' }], attachments: {} });
const LOG = {
  version: 2,
  status: 'success',
  eval: { task: 'samples' },
  samples: [withEvents(1), sample(2), withEvents(3)],
};

/** The samples of a text that comes in chunks of the size. */
function found(whole: string, isLog: boolean, size: number): { samples: unknown[]; head: unknown } {
  const samples = new LargeSamples(isLog);
  const bytes = Buffer.from(whole);
  const texts: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += size)
    texts.push(...samples.feed(bytes.subarray(at, at + size)).map(({ text }) => text));
  return {
    samples: texts.map((one) => JSON.parse(one.toString())),
    head: samples.head === null ? null : JSON.parse(samples.head.toString()),
  };
}

test.each([1, 2, 3, 7, 64, 100_000])('samples of a log up to their events, in chunks of %i bytes', (size) => {
  for (const text of [JSON.stringify(LOG), JSON.stringify(LOG, null, 2)]) {
    const { samples, head } = found(text, true, size);
    expect(samples).toEqual([sample(1), sample(2), sample(3)]);
    expect(head).toEqual({ version: 2, status: 'success', eval: { task: 'samples' } });
  }
  expect(found(JSON.stringify(withEvents(1), null, 1), false, size).samples).toEqual([sample(1)]);
});

test('a log that ends in a sample gives what stood before its events', () => {
  const text = JSON.stringify(LOG);
  expect(found(text.slice(0, text.lastIndexOf('"event":')), true, 50).samples).toEqual([
    sample(1),
    sample(2),
    sample(3),
  ]);
  expect(found(text.slice(0, 100), true, 50).samples).toEqual([]);
});

test('each sample of such a log says what was left out', async () => {
  const path = join(mkdtempSync(join(tmpdir(), 'large-log-')), 'log.json');
  writeFileSync(path, JSON.stringify(LOG));
  const lines = [];
  for await (const line of largeLogSamples(path)) lines.push(line);
  expect(lines.map(({ place }) => place)).toEqual([':1.1', ':1.2', ':1.3']);
  const first = JSON.parse(String(lines[0]?.text));
  expect(first).toMatchObject({ ...sample(1), eval_log: { version: 2, from: 'the log' } });
  expect(lines.map(({ text }) => JSON.parse(String(text)).left_out)).toEqual([
    'events and what is behind them, of 0 MB',
    undefined,
    'events and what is behind them, of 0 MB',
  ]);
  writeFileSync(path, '{"version": 2, "eval": {');
  await expect(async () => {
    for await (const _ of largeLogSamples(path));
  }).rejects.toThrow('ends before its first sample');
});
