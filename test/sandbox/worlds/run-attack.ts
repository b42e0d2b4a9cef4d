import { lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rootfsImage } from '../../../src/sandbox/worlds/image.ts';
import { type LayerRecord, LayerStore, LayerWriter, layerId, removeTree } from '../../../src/sandbox/worlds/layers.ts';
import { LiveWorld, type WorldRun } from '../../../src/sandbox/worlds/world.ts';
import type { Attack } from './attack-table.ts';

const SECRET = 'a-secret-of-this-machine';
const LIMITS = { memoryMb: 400, processes: 60, diskMb: 120 };
const LIST =
  "set -o pipefail; export PATH=/bin; ulimit -v unlimited 2>/dev/null; cd /work && find . ! -name . \\( -type d -printf '%y %m %P\\0' -o -printf '%y %m %s %l %P\\0' \\) | sort -z | tr '\\0' '\\n'";

/** The forbidden things that an attack achieved. */
export async function faultsOf({ calls, seconds = 20 }: Attack, rootfs: string): Promise<string[]> {
  const home = mkdtempSync(join(tmpdir(), 'attack-'));
  const canary = join(home, 'canary');
  mkdirSync(canary);
  writeFileSync(join(canary, 'secret'), SECRET);
  const image = rootfsImage(rootfs);
  const store = new LayerStore(join(home, 'worlds'), image.key);
  const live = store.live();
  const open = async (folder: string, before: readonly LayerRecord[]) => {
    const world = new LiveWorld({
      ...{ lowers: [...before.map(({ id }) => store.fsOf(id)).reverse(), image.root], folder, hostname: 'small' },
      ...{ env: { PATH: '/bin', HOME: '/root' }, workdir: '/work', shell: 'persistent', network: false, hidden: [] },
      captured: before.at(-1)?.captured ?? undefined,
      limits: LIMITS,
    });
    await world.open();
    return world;
  };
  const faults: string[] = [];
  const textOf = ({ stdout, stderr }: WorldRun) => `${stdout.toString('latin1')}${stderr.toString('latin1')}`;
  const world = await open(live, []);
  const writer = new LayerWriter(store, image.root, live);
  const layers: LayerRecord[] = [];
  let listed: WorldRun;
  try {
    for (const [i, call] of calls.entries()) {
      const run = await world.run(call.replaceAll('CANARY', canary), { timeLimit: seconds, merged: true });
      if (/ESCAPED|a-secret-of/.test(textOf(run))) faults.push(`it got out: ${textOf(run).slice(0, 200)}`);
      await world.capture();
      const goOn = world.pause();
      const told = {
        captured: world.captured ?? null,
        dir: world.dir,
        processes: world.processes(),
        tools: null,
        lost: [],
      };
      const id = layerId(layers.at(-1)?.id ?? image.key, [i, call]);
      layers.push(writer.freeze(id, null, told, (path) => world.namesIn(path)));
      goOn();
    }
    const alive = await world.help('echo alive');
    if (!alive.stdout.includes('alive')) faults.push(`the world is dead: ${textOf(alive)}`);
    listed = await world.help(LIST);
  } finally {
    await world.close();
    removeTree(live);
  }
  if (readdirSync(canary).join() !== 'secret' || readFileSync(join(canary, 'secret'), 'utf8') !== SECRET)
    faults.push('a file of this machine was changed');
  if ((statSync(join(home, 'worlds')).mode & 0o077) !== 0) faults.push('others can read the layers');
  for (const { id, lost } of layers) {
    faults.push(...devicesIn(store.fsOf(id)));
    if (store.read(id) === null) faults.push(`the layer cannot be read${lost.join()}`);
  }
  // A layer without a loss holds the state. A shell that forbade itself to start programs cannot be asked.
  if (listed.exit === 0 && layers.every(({ lost }) => lost.length === 0)) {
    const second = store.live();
    const again = await open(second, layers);
    try {
      const relisted = await again.help(LIST);
      if (!relisted.stdout.equals(listed.stdout))
        faults.push(`the layers hold another state:\n${listed.stdout}\n---\n${relisted.stdout}`);
    } finally {
      await again.close();
      removeTree(second);
    }
  }
  if (readdirSync(join(store.folder, 'live')).length > 0) faults.push('its folder is left');
  removeTree(home);
  return faults;
}

/** Whiteouts are devices without a number. */
function devicesIn(folder: string): string[] {
  return readdirSync(Buffer.from(folder, 'latin1'), { encoding: 'latin1' }).flatMap((name) => {
    const path = `${folder}/${name}`;
    const stats = lstatSync(Buffer.from(path, 'latin1'));
    if (stats.isDirectory()) return devicesIn(path);
    return stats.isBlockDevice() || stats.isSocket() || (stats.isCharacterDevice() && stats.rdev !== 0)
      ? [`a device in a layer: ${path}`]
      : [];
  });
}
