import { existsSync, mkdirSync, readdirSync, renameSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { isFolderRefusal, SharedFolder } from '../../src/cluster/folder-files.ts';
import { folderPlace } from '../../src/cluster/folder-place.ts';
import { FolderQueue, LEASE_MS } from '../../src/cluster/folder-queue.ts';
import { LeaseWatch } from '../../src/cluster/lease-watch.ts';
import { openPlace } from '../../src/cluster/open-place.ts';
import type { QueuePlace } from '../../src/cluster/place.ts';
import { directoryWith } from '../program.ts';

const stop: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const one of stop.splice(0)) await one();
});

async function jobsAt(place: QueuePlace, more: { most?: number; signal?: AbortSignal } = {}) {
  const { signal = new AbortController().signal, ...rest } = more;
  const options = { id: 'a-run', kind: 'rollouts', what: 'dump', data: { a: 1 }, texts: place.texts() } as const;
  const jobs = await place.jobs({ ...options, ...rest, say: () => {}, signal });
  stop.push(() => jobs.close(true));
  return jobs;
}

function work(place: QueuePlace, make: (text: string) => Promise<string>) {
  const consumer = place.hub().consume({
    run: 'a-run',
    worker: 'a-worker',
    places: 4,
    make: async (_, data) => ({ made: { text: await make((data as { text: { text: string } }).text.text) } }),
    done: () => {},
    failed: () => {},
  });
  stop.push(() => consumer.close());
}

const self = (text: string) => text;
const waitingIn = (root: string) => join(root, 'runs/a-run/waiting');

describe('the lease of a worker', () => {
  const watched = () => {
    const clock = { now: 0 };
    const watch = new LeaseWatch(20, () => clock.now);
    const at = (now: number, mark?: string) => {
      clock.now = now;
      watch.look(new Map(mark === undefined ? [] : [['w', mark]]));
    };
    return { watch, at };
  };

  it('holds as long as its file changes, whatever time the file names', () => {
    const { watch, at } = watched();
    for (let now = 0; now <= 100; now += 5) at(now, `${now % 2 === 0 ? '1970' : '2999'}-${now}`);
    expect([watch.isThere('w'), watch.isGone('w')]).toEqual([true, false]);
  });

  it('ends when the file did not change for its length, and begins again with a change', () => {
    const { watch, at } = watched();
    for (let now = 0; now <= 15; now += 5) at(now, 'same');
    expect(watch.isGone('w')).toBe(false);
    at(20, 'same');
    expect(watch.isGone('w')).toBe(true);
    at(25, 'other');
    expect([watch.isThere('w'), watch.isGone('w')]).toEqual([true, false]);
  });

  it('does not count time in which the observer was held up', () => {
    const { watch, at } = watched();
    at(0, 'same');
    at(1000, 'same');
    expect(watch.isGone('w')).toBe(false);
    for (let now = 1005; now <= 1020; now += 5) at(now, 'same');
    expect(watch.isGone('w')).toBe(true);
  });

  it('gives a worker whose file is shown late its whole time', () => {
    const { watch, at } = watched();
    watch.expect('w');
    for (let now = 5; now <= 15; now += 5) at(now);
    expect(watch.isGone('w')).toBe(false);
    at(20);
    expect(watch.isGone('w')).toBe(true);
  });

  it('is no sign of life before a change: a file may be left from a killed process', () => {
    const { watch, at } = watched();
    at(0, 'left');
    expect(watch.isThere('w')).toBe(false);
  });
});

describe('a queue in a folder', () => {
  it('does each job once, and leaves nothing of a run that is over', async () => {
    const root = directoryWith({});
    const place = await folderPlace(root, () => {});
    const jobs = await jobsAt(place);
    const made: string[] = [];
    work(place, async (text) => {
      made.push(text);
      return text.toUpperCase();
    });
    const ids = Array.from({ length: 100 }, (_, at) => `job ${at}/../..`);
    const ends = await Promise.all(ids.map((id) => jobs.ask(id, id, self)));
    expect(ends).toEqual(ids.map((id) => ({ made: id.toUpperCase() })));
    expect(made.toSorted()).toEqual(ids.toSorted());
    await jobs.close(true);
    expect(readdirSync(join(root, 'runs'))).toEqual([]);
  });

  it('gives up a job that failed three times, and lists it', async () => {
    const place = await folderPlace(directoryWith({}), () => {});
    const jobs = await jobsAt(place);
    let count = 0;
    work(place, async () => {
      count++;
      throw new Error('no memory');
    });
    expect(await jobs.ask('one', 'text', self)).toEqual({ lost: 'no memory' });
    expect(count).toBe(3);
    expect((await place.status()).poisoned).toMatchObject([{ run: 'a-run', id: 'one', reason: 'no memory' }]);
  });

  it('keeps no more jobs there than the run wants under way', async () => {
    const root = directoryWith({});
    const place = await folderPlace(root, () => {});
    const stopping = new AbortController();
    const jobs = await jobsAt(place, { most: 2, signal: stopping.signal });
    const ends = ['a', 'b', 'c'].map((id) => jobs.ask(id, id, self));
    while (readdirSync(waitingIn(root)).length < 2) await new Promise((resolve) => setImmediate(resolve));
    expect(readdirSync(waitingIn(root))).toHaveLength(2);
    stopping.abort();
    expect(await Promise.all(ends)).toEqual(['idle', 'idle', 'idle']);
  });

  it('takes results that workers left while the run was killed', async () => {
    const root = directoryWith({});
    const place = await folderPlace(root, () => {});
    const first = await jobsAt(place);
    void first.ask('one', 'text', self);
    while (readdirSync(waitingIn(root)).length === 0) await new Promise((resolve) => setImmediate(resolve));
    await first.close(false);
    work(place, async () => 'made meanwhile');
    while (readdirSync(join(root, 'runs/a-run/done')).length === 0)
      await new Promise((resolve) => setImmediate(resolve));
    const second = await jobsAt(place);
    expect(await second.ask('one', 'text', self)).toEqual({ made: 'made meanwhile' });
  });

  it('puts entries of strangers aside, and asks for the job once more', async () => {
    const root = directoryWith({ secret: 'of mine' });
    const place = await folderPlace(root, () => {});
    const jobs = await jobsAt(place);
    const end = jobs.ask('one', 'text', self);
    while (readdirSync(waitingIn(root)).length === 0) await new Promise((resolve) => setImmediate(resolve));
    const [name = ''] = readdirSync(waitingIn(root));
    symlinkSync(join(root, 'secret'), join(root, 'runs/a-run/done', name));
    writeFileSync(join(waitingIn(root), 'f'.repeat(32)), 'no json');
    while (readdirSync(join(root, 'aside')).length === 0) await new Promise((resolve) => setImmediate(resolve));
    work(place, async (text) => text);
    expect(await end).toEqual({ made: 'text' });
    while (readdirSync(join(root, 'aside')).length < 2) await new Promise((resolve) => setImmediate(resolve));
    expect(JSON.stringify((await place.status()).aside)).not.toContain('of mine');
  });

  it('follows no link', async () => {
    const root = directoryWith({ file: 'text' });
    const files = new SharedFolder(root);
    mkdirSync(join(root, 'real'));
    symlinkSync(join(root, 'real'), join(root, 'folder'));
    symlinkSync(join(root, 'file'), join(root, 'link'));
    await expect(files.read(['link'])).rejects.toThrow('is a link, and is not followed');
    await expect(files.overwrite(['link'], 'x')).rejects.toThrow();
    await expect(files.names(['folder'])).rejects.toThrow('is not followed');
    expect(await files.read(['file'])).toBe('text');
    expect(await files.read(['absent'])).toBeNull();
  });

  it('touches nothing elsewhere when a folder around its files becomes a link', async () => {
    const elsewhere = directoryWith({ 'waiting/of-mine': 'text', 'temporary/of-mine': 'text' });
    const root = directoryWith({});
    const queue = new FolderQueue(root, () => {});
    await queue.open();
    await queue.openRun('a-run', {});
    renameSync(join(root, 'runs/a-run'), join(root, 'runs/before'));
    symlinkSync(elsewhere, join(root, 'runs/a-run'));
    const path = queue.run('a-run', 'waiting', 'of-mine');
    const steps = [
      () => queue.files.read(path),
      () => queue.files.remove(path),
      () => queue.files.move(path, ['aside', 'x']),
      () => queue.files.move(['runs', 'before', 'data.json'], path),
      () => queue.files.names(queue.run('a-run', 'waiting')),
      () => queue.write('a-run', path, 'x'),
      () => queue.files.removeFolder(queue.run('a-run'), ['waiting']),
    ];
    for (const step of steps) await expect(step()).rejects.toThrow('is a link or no folder, and is not followed');
    await queue.dropRun('a-run');
    expect(readdirSync(elsewhere, { recursive: true }).toSorted()).toEqual([
      'temporary',
      'temporary/of-mine',
      'waiting',
      'waiting/of-mine',
    ]);
  });

  it('removes the file of a worker that is gone, and lists one that writes it again', async () => {
    const root = directoryWith({});
    const queue = new FolderQueue(root, () => {});
    await queue.open();
    const clock = { now: 0 };
    const watch = new LeaseWatch(LEASE_MS, () => clock.now);
    const word = { id: 'w', version: '1', host: 'h', pid: 1, started: '', concurrency: 1, done: 0, failed: 0 };
    const sign = () =>
      queue.signWorker({ ...word, perMinute: 0, runs: [], refused: [], inFlight: 0, stages: {}, at: [] });
    const seenAt = async (now: number) => {
      clock.now = now;
      return (await queue.workers(watch)).length;
    };
    await sign();
    expect(await seenAt(0)).toBe(0);
    await sign();
    expect(await seenAt(5000)).toBe(1);
    for (let now = 10_000; now < 5000 + LEASE_MS; now += 5000) await seenAt(now);
    expect(readdirSync(join(root, 'workers'))).toEqual(['w.json']);
    expect(await seenAt(5000 + LEASE_MS)).toBe(0);
    expect(readdirSync(join(root, 'workers'))).toEqual([]);
    await sign();
    expect(await seenAt(10_000 + LEASE_MS)).toBe(1);
  });

  it('removes what killed processes left more than a week ago, and nothing younger', async () => {
    const root = directoryWith({});
    const queue = new FolderQueue(root, () => {});
    await queue.open();
    const weeksAgo = new Date(Date.now() - 8 * 86_400_000);
    for (const id of ['old', 'young', 'running']) {
      await queue.openRun(id, {});
      writeFileSync(join(root, 'runs', id, 'run.json'), '{}');
    }
    for (const name of ['runs/old/data.json', 'runs/old/run.json', 'runs/running/data.json'])
      utimesSync(join(root, name), weeksAgo, weeksAgo);
    for (const name of ['aside/old', 'aside/young', 'poisoned/old.json']) writeFileSync(join(root, name), '{}');
    for (const name of ['aside/old', 'poisoned/old.json']) utimesSync(join(root, name), weeksAgo, weeksAgo);
    const jobs = await jobsAt(await folderPlace(root, () => {}));
    expect(readdirSync(join(root, 'runs')).toSorted()).toEqual(['a-run', 'running', 'young']);
    expect([readdirSync(join(root, 'aside')), readdirSync(join(root, 'poisoned'))]).toEqual([['young'], []]);
    await jobs.close(true);
  });

  it('waits for a full or read-only folder, and says so', async () => {
    const said: string[] = [];
    const { refusals } = new FolderQueue('/shared/queue', (text) => said.push(text));
    let tries = 0;
    const full = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
    await refusals.ask(async () => {
      if (++tries < 2) throw full;
    });
    expect(said).toEqual([
      '/shared/queue: the folder refuses: ENOSPC: no space left on device, write; waiting, nothing is given up',
      '/shared/queue: the folder serves again',
    ]);
    expect(isFolderRefusal(Object.assign(new Error(), { code: 'EROFS' }))).toBe(true);
    expect(isFolderRefusal(new Error('another'))).toBe(false);
  });

  it('is a folder that is there, or an error that says what is expected', async () => {
    const root = directoryWith({});
    expect((await openPlace(root, () => {})).name).toBe(root);
    await expect(openPlace(join(root, 'none'), () => {})).rejects.toThrow('or a folder that all machines see (mkdir');
    expect(existsSync(join(root, 'none'))).toBe(false);
    await expect(openPlace(root, () => {}, '/shared/texts')).rejects.toThrow(
      '--share /shared/texts: a queue in a folder',
    );
  });
});
