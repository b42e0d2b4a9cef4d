import { appendFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { ArrivalRate } from '../../src/analysis/arrival-rate.ts';
import { parseCondition } from '../../src/analysis/condition.ts';
import { LiveRun } from '../../src/analysis/live-run.ts';
import { Dump } from '../../src/core/dump/dump.ts';
import { QUIET } from '../../src/core/dump/dump-file.ts';
import { directoryWith, verlLine } from '../program.ts';

const MINUTE = 60_000;
let directory: string;
let dump: Dump;

beforeEach(() => {
  directory = directoryWith({});
});
afterEach(() => dump.close());

const score = (...scores: (number | string)[]): string =>
  scores.map((score) => verlLine().replace('"score":1', `"score":${score}`)).join('');

/** Writes a step that ended so many minutes ago. */
function step(name: string, minutesAgo: number, content: string): void {
  const path = join(directory, name);
  writeFileSync(path, content);
  const time = (Date.now() - minutesAgo * MINUTE) / 1000;
  utimesSync(path, time, time);
}

/** Opens the directory, all of it looked at. */
async function open(...conditions: string[]): Promise<LiveRun> {
  dump = Dump.open([directory], { waits: true, holdBack: 'while-arriving' });
  const live = new LiveRun(
    dump,
    conditions.map((text) => parseCondition(text)),
  );
  await dump.start();
  await looked();
  live.begin();
  return live;
}

async function looked(): Promise<void> {
  while (!dump.files.every((file) => dump.isLooked(file))) await new Promise((resolve) => setTimeout(resolve, 5));
}

/** Looks at the disk as a follower does. */
async function look(): Promise<void> {
  dump.rescan();
  for (const file of dump.files) await dump.refresh(file);
  await looked();
}

const later = (): number => Date.now() + QUIET + 100;

describe('a run from afar', () => {
  test('means are over the finite scores of complete train steps, with the NaN beside them', async () => {
    step('train/../1.jsonl', 30, score(1, 0, 'NaN', 'Infinity'));
    step('2.jsonl', 20, score(1, 1, 0, 0));
    const before = Date.now();
    writeFileSync(join(directory, '3.jsonl'), score(9));
    const live = await open();
    const stats = live.stats(null, before);
    expect(stats.last.map(({ mean }) => mean)).toEqual([0.5, 0.5]);
    expect(stats.notFinite).toBe(2);
    expect(stats.steps).toBe(3);
    expect(stats.rollouts).toBe(9);
    // It holds fewer than the steps before it: its writer may have stalled.
    expect(live.stats(null, later()).last.map(({ mean }) => mean)).toEqual([0.5, 0.5]);
    expect(live.stats(null, later() + MINUTE).last.map(({ mean }) => mean)).toEqual([0.5, 0.5, 9]);
  });

  test('validation steps are in no mean, whichever stream the cursor is in', async () => {
    dump?.close();
    directory = directoryWith({ 'train/1.jsonl': score(1), 'val/1.jsonl': score(0, 0) });
    const live = await open();
    for (const stream of ['train', 'val', null])
      expect(live.stats(stream, later())).toMatchObject({
        steps: 1,
        rollouts: 3,
        last: [{ mean: 1 }],
        validation: false,
      });
  });

  test('tool errors and cut responses are shares of the rollouts that were looked at', async () => {
    const cut = verlLine({ output: '<think>\nno end' });
    const failed = verlLine({
      output:
        'a\n<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>\nuser\n<tool_response>\nTraceback (most recent call last):\nValueError: x\n</tool_response>\nassistant\nb',
    });
    step('1.jsonl', 5, score(1, 1) + cut + failed);
    const live = await open();
    expect(live.stats(null)).toMatchObject({ toolErrorRate: 1, truncationRate: 0.25 });
  });

  test.each([
    // Steps every ten minutes.
    ['live', [40, 30, 20, 10]],
    ['live', [59, 49, 39, 29]],
    ['quiet', [62, 52, 42, 32]],
    ['quiet', [72, 62, 52, 42]],
    ['past', [72 + 1500, 62 + 1500, 52 + 1500, 42 + 1500]],
    // A step of before the pause of a resumed run is beside the new ones.
    ['quiet', [1000, 990, 980, 62, 52, 42]],
    // Copied files have one time, or times in no order: they give no interval.
    ['past', [42, 42, 42, 42]],
    ['past', [42, 45, 41, 46, 43, 44]],
    ['live', [4, 7, 3, 8, 5, 6]],
    // Two steps make one gap: that is no habit yet.
    ['past', [52, 42]],
  ])('is %s when its steps ended so many minutes ago: %s', async (status, minutes) => {
    minutes.forEach((ago, i) => {
      step(`${i + 1}.jsonl`, ago, score(1));
    });
    expect((await open()).stats(null).status).toBe(status);
  });

  test('nothing there yet, and all of it away', async () => {
    const live = await open();
    expect(live.stats(null).status).toBe('waiting');
    writeFileSync(join(directory, '1.jsonl'), score(1));
    await look();
    await vi.waitFor(() => expect(live.stats(null).status).toBe('live'), { timeout: 120_000 });
    rmSync(directory, { recursive: true });
    await look();
    await vi.waitFor(() => expect(live.stats(null).status).toBe('away'), { timeout: 120_000 });
    expect(live.stats(null).rollouts).toBe(1);
  });

  test('what came first counts at once, before listeners hear of it', async () => {
    step('1.jsonl', 5, score(1));
    dump = Dump.open([directory]);
    const live = new LiveRun(dump);
    expect(live.stats(null, 0)).toMatchObject({ rollouts: 0 });
    const counts: number[] = [];
    dump.onChange(() => counts.push(live.stats(null, 0).rollouts));
    await dump.index(dump.files[0]!);
    expect(counts).toEqual([1]);
  });

  test('a copy that keeps the times of its source is of then, though its bytes came now', async () => {
    for (const n of [1, 2, 3]) step(`${n}.jsonl`, 3000 - n, score(n));
    const live = await open();
    step('4.jsonl', 2000, score(4));
    await look();
    expect(live.stats(null)).toMatchObject({ status: 'past', rollouts: 4, perMinute: null });
    expect(dump.files.map((file) => file.isArriving())).toEqual([false, false, false, false]);
  });

  test('the newest step is the last one, or the one that a resumed run wrote again', async () => {
    for (const n of [1, 2, 3]) step(`${n}.jsonl`, 10 - n, score(n));
    const live = await open();
    expect(live.newest(null)?.step).toBe(3);
    const before = Date.now();
    writeFileSync(join(directory, '2.jsonl'), score(5, 5));
    await look();
    expect(live.newest(null, before)?.step).toBe(3);
    expect(live.newest(null, later())?.step).toBe(2);
    expect(live.stats(null, later()).last.map(({ mean }) => mean)).toEqual([1, 5]);
    writeFileSync(join(directory, '3.jsonl'), score(6, 6));
    await look();
    expect(live.newest(null, later())?.step).toBe(3);
  });
});

describe('a step is judged', () => {
  const texts = (live: LiveRun, now: number) => live.judge(now).map(({ text }) => text);

  test('once, when it is complete; those of the opening never', async () => {
    step('1.jsonl', 10, score(0));
    const live = await open('score<0.1', 'score>10');
    expect(texts(live, later())).toEqual([]);
    const before = Date.now();
    writeFileSync(join(directory, '2.jsonl'), score(0, 0));
    await look();
    expect(texts(live, before)).toEqual([]);
    expect(texts(live, later())).toEqual(['step 2: score 0.00 < 0.1']);
    expect(texts(live, later())).toEqual([]);
    appendFileSync(join(directory, '2.jsonl'), score(0));
    await look();
    expect(texts(live, later())).toEqual([]);
  });

  test('and says how many rollouts its mean leaves out', async () => {
    step('1.jsonl', 10, score(1));
    const live = await open('score<0.1');
    writeFileSync(join(directory, '2.jsonl'), score(0, 0) + verlLine().replace('"score":1', '"score":null'));
    await look();
    expect(texts(live, later())).toEqual(['step 2: score 0.00 < 0.1 (of 3 left out: 1 without a score)']);
  });

  test('one that is arriving at opening is judged when it is complete', async () => {
    writeFileSync(join(directory, '1.jsonl'), score(0));
    const live = await open('score<0.1');
    expect(texts(live, later())).toEqual(['step 1: score 0.00 < 0.1']);
  });

  test('again, when a resumed run writes it again, in place or as a new file', async () => {
    step('1.jsonl', 10, score(1, 1));
    const live = await open('score<0.1');
    writeFileSync(join(directory, '1.jsonl'), score(0, 0));
    await look();
    expect(texts(live, later())).toEqual(['step 1: score 0.00 < 0.1']);
    rmSync(join(directory, '1.jsonl'));
    step('0.jsonl', 20, score(1));
    await look();
    writeFileSync(join(directory, '1.jsonl'), score(0.05));
    await look();
    expect(texts(live, later())).toEqual(['step 1: score 0.05 < 0.1']);
  });

  test('never for a stream whose files went away and came back as they were', async () => {
    dump?.close();
    directory = directoryWith({ 'a/1.jsonl': score(0), 'b/1.jsonl': score(1) });
    const live = await open('score<0.1');
    live.judge(later());
    rmSync(join(directory, 'a/1.jsonl'));
    await look();
    expect(dump.files.length).toBe(1);
    writeFileSync(join(directory, 'a/1.jsonl'), score(0));
    await look();
    expect(texts(live, later())).toEqual([]);
  });

  test('validation steps are not judged', async () => {
    dump?.close();
    directory = directoryWith({ 'val/1.jsonl': score(0) });
    expect(texts(await open('score<0.1'), later())).toEqual([]);
  });
});

test('a rate is over the last minutes, and never over less than one', () => {
  const rate = new ArrivalRate(0);
  expect(rate.perMinute(0, null)).toBe(null);
  rate.add(10, 1000);
  expect(rate.perMinute(2000, null)).toBe(10);
  rate.add(10, 2 * MINUTE);
  expect(rate.perMinute(2 * MINUTE, null)).toBe(10);
  expect(rate.perMinute(6.5 * MINUTE, null)).toBe(2);
  expect(rate.perMinute(8 * MINUTE, null)).toBe(null);
  // A run that writes a step in one go every twenty minutes.
  const bursts = new ArrivalRate(0);
  for (let minute = 20; minute <= 80; minute += 20) bursts.add(1000, minute * MINUTE);
  expect(bursts.perMinute(99 * MINUTE, 20 * MINUTE)).toBe(50);
});
