import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { WorldImage } from '../../../src/sandbox/worlds/images.ts';
import { type LayerRecord, LayerStore, LayerWriter, removeTree } from '../../../src/sandbox/worlds/layers.ts';
import { statOf } from '../../../src/sandbox/worlds/tree.ts';
import { LiveWorld } from '../../../src/sandbox/worlds/world.ts';

/** The contract of a world of any image: it runs a command, its state is kept, and another world goes on from that state. */
export async function holdsContract(open: () => Promise<WorldImage>): Promise<void> {
  const [image, again] = [await open(), await open()];
  expect([again.key, again.root]).toEqual([image.key, image.root]);
  const store = new LayerStore(mkdtempSync(join(tmpdir(), 'contract-')), image.key);
  const folder = `/tmp/contract-${process.pid}-${Math.random().toString(36).slice(2)}`;
  const during = async <T>(before: LayerRecord[], use: (world: LiveWorld, live: string) => Promise<T>): Promise<T> => {
    const live = store.live();
    const world = new LiveWorld({
      lowers: [...store.lowersOf(before, live), image.root],
      folder: live,
      ...{ hostname: 'contract', env: { PATH: '/usr/bin:/bin', ...image.env }, workdir: '/tmp' },
      ...{ shell: 'persistent', network: false, hidden: image.hidden, captured: before.at(-1)?.captured ?? undefined },
    });
    try {
      await world.open();
      return await use(world, live);
    } finally {
      await world.close();
      removeTree(live);
    }
  };
  const run = (world: LiveWorld, command: string) => world.run(command, { timeLimit: 30, merged: true });

  const layer = await during([], async (world, live) => {
    const made = await run(world, `mkdir ${folder} && cd ${folder} && echo one > f && KEPT=two && (exit 3)`);
    expect([made.exit, made.stdout.toString()]).toEqual([3, '']);
    await world.capture();
    const told = { captured: world.captured ?? null, dir: world.dir, processes: [], tools: null, lost: [] };
    return new LayerWriter(store, image.root, live).freeze('a'.repeat(32), null, told, (path) => world.namesIn(path));
  });
  expect(layer.lost).toEqual([]);
  expect(layer.changed.filter(({ type }) => type === 'file')).toMatchObject([{ path: `${folder}/f`, change: 'added' }]);
  // The image is only read, and a kept layer can be read again.
  expect([statOf(join(image.root, folder)), store.read(layer.id)]).toEqual([null, layer]);

  const seen = await during([layer], (world) =>
    run(world, 'pwd; cat f; echo $KEPT; rm f; cat /proc/sys/kernel/hostname'),
  );
  expect(seen.stdout.toString()).toBe(`${folder}\none\ntwo\ncontract\n`);
  // A file that the copy removed is still there in the next one.
  const next = await during([layer], (world) => run(world, 'cat f'));
  expect(next.stdout.toString()).toBe('one\n');
}
