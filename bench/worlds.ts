import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { rolloutFiles } from '../src/analysis/files/rollout-files.ts';
import { parseLine } from '../src/core/dump/parse-line.ts';
import { layerIds, openWorld, replayWorld, type WorldOptions } from '../src/replay/worlds/replay-world.ts';
import { planRollout } from '../src/replay/worlds/world-plan.ts';
import { rootfsImage } from '../src/sandbox/worlds/image.ts';
import { LayerStore } from '../src/sandbox/worlds/layers.ts';
import { worldProblem } from '../src/sandbox/worlds/problem.ts';
import { makeRootfs, missingPrograms } from '../test/sandbox/worlds/small-rootfs.ts';
import { bin, figure, median, residentMegabytes, root } from './support/measure.ts';

const CALLS = 100;
const ROLLOUTS = 100;
const AT_ONCE = 8;

const call = (id: string, command: string) => ({
  role: 'assistant',
  content: null,
  tool_calls: [{ id, type: 'function', function: { name: 'execute_bash', arguments: JSON.stringify({ command }) } }],
});
const recordOf = (commands: readonly string[]) => ({
  messages: [
    { role: 'user', content: 'go' },
    ...commands.flatMap((command, i) => [call(`c${i}`, command), { role: 'tool', tool_call_id: `c${i}`, content: '' }]),
  ],
});

function optionsOf(commands: readonly string[], rootfs: string, state: string): WorldOptions {
  const { rollout, json } = parseLine(JSON.stringify(recordOf(commands)), { validation: false });
  if (rollout === null) throw new Error('no rollout');
  const image = rootfsImage(rootfs);
  const plan = planRollout(rollout, json, image, { workdir: '/work', env: { PATH: '/bin' } });
  return { image, plan, store: new LayerStore(state, image.key), network: false };
}

/** The cost of a layer over the same commands in one shell, how long a state takes, and many rollouts at once. */
export async function run(): Promise<void> {
  const problem = await worldProblem();
  if (problem !== null || missingPrograms().length > 0)
    return console.log(problem ?? `this machine has no ${missingPrograms().join(', ')}`);
  const home = mkdtempSync(join(tmpdir(), 'worlds-bench-'));
  try {
    const rootfs = join(home, 'rootfs');
    makeRootfs(rootfs);
    await layers(rootfs, home);
    files();
    await many(rootfs, home);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

async function layers(rootfs: string, home: string): Promise<void> {
  const commands = Array.from({ length: CALLS }, (_, i) => `echo ${i} > f${i}; echo ${i} >> all`);
  const options = optionsOf(commands, rootfs, join(home, 'layers'));
  const live = options.store.live();
  const world = openWorld(options, live, []);
  await world.open();
  const alone: number[] = [];
  const before = processorMilliseconds();
  for (const command of commands) {
    const began = performance.now();
    await world.run(command, { timeLimit: 20, merged: true });
    alone.push(performance.now() - began);
  }
  const aloneProcessor = (processorMilliseconds() - before) / CALLS;
  await world.close();
  const withLayer: number[] = [];
  const middle = processorMilliseconds();
  let began = performance.now();
  for await (const _ of replayWorld(options)) {
    withLayer.push(performance.now() - began);
    began = performance.now();
  }
  const layerProcessor = (processorMilliseconds() - middle) / CALLS;
  const [bare, kept] = [median(alone), median(withLayer)];
  const load = `load ${loadavg()[0]?.toFixed(1)}`;
  figure(
    'a call with its layer',
    `${kept.toFixed(1)} ms`,
    `namespaces alone ${bare.toFixed(1)} ms, ${load}; of this program's processor time ${layerProcessor.toFixed(1)} ms, alone ${aloneProcessor.toFixed(1)} ms`,
    kept / bare,
    '≤ 10 ms more',
  );

  const entered: number[] = [];
  const started: number[] = [];
  for (let i = 0; i < 9; i++) {
    for (const [times, count] of [
      [entered, CALLS],
      [started, 0],
    ] as const) {
      const at = performance.now();
      const chain = options.store.chain(layerIds(options).slice(0, count)) ?? [];
      const folder = options.store.live();
      const state = openWorld(options, folder, chain);
      await state.open();
      times.push(performance.now() - at);
      await state.close();
    }
  }
  const [state, empty] = [median(entered), median(started)];
  figure(
    `the state after ${CALLS} layers`,
    `${state.toFixed(0)} ms`,
    `a world of the image alone ${empty.toFixed(0)} ms`,
    state / empty,
    '≤ 50 ms',
  );
}

/** The processor time of this program, without that of its shells, which is the same with and without layers. */
function processorMilliseconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

function files(): void {
  const commands = Array.from({ length: 500 }, (_, i) =>
    i % 3 === 0
      ? `cat > /work/f${i % 20} <<'EOF'\nline ${i}\n${'text\n'.repeat(60)}EOF`
      : `sed -n '1,20p' /work/f${i % 20}`,
  );
  const text = JSON.stringify(recordOf(commands));
  const { rollout, json } = parseLine(text, { validation: false });
  if (rollout === null) return;
  const times = [0, 1, 2, 3, 4].map(() => {
    const began = performance.now();
    rolloutFiles(rollout, json);
    return performance.now() - began;
  });
  const parse = [0, 1, 2, 3, 4].map(() => {
    const began = performance.now();
    parseLine(text, { validation: false });
    return performance.now() - began;
  });
  figure(
    'files of 500 calls',
    `${median(times).toFixed(0)} ms`,
    `reading the record ${median(parse).toFixed(0)} ms`,
    median(times) / median(parse),
    '≤ 300 ms',
  );
}

/** Rollouts of 30 calls in eight programs at once; then one of them is killed. */
async function many(rootfs: string, home: string): Promise<void> {
  const dump = join(home, 'dump');
  mkdirSync(dump);
  for (let part = 0; part < AT_ONCE; part++) {
    const lines = Array.from({ length: Math.ceil(ROLLOUTS / AT_ONCE) }, (_, i) =>
      JSON.stringify(recordOf(Array.from({ length: 30 }, (_, k) => `echo ${part} ${i} ${k} > f${k}`))),
    );
    writeFileSync(join(dump, `${part}.jsonl`), `${lines.join('\n')}\n`);
  }
  const journal = join(home, 'journal');
  const start = (part: number) =>
    spawn(
      'node',
      [
        bin,
        'replay',
        join(dump, `${part}.jsonl`),
        '--image',
        `rootfs:${rootfs}`,
        '--workdir',
        '/work',
        '--env',
        'PATH=/bin',
        '--journal',
        journal,
        '--yes',
        '--json',
      ],
      {
        cwd: root,
        stdio: 'ignore',
      },
    );
  const began = performance.now();
  const children = Array.from({ length: AT_ONCE }, (_, part) => start(part));
  const memory: number[] = [];
  const timer = setInterval(() => {
    for (const { pid } of children) {
      try {
        if (pid !== undefined) memory.push(residentMegabytes(pid));
      } catch {
        // It has ended.
      }
    }
  }, 500);
  await Promise.all(children.map((child) => new Promise((resolve) => child.on('close', resolve))));
  clearInterval(timer);
  const seconds = (performance.now() - began) / 1000;
  const [early, late] = [median(memory.slice(0, memory.length >> 2)), median(memory.slice(-(memory.length >> 2)))];
  figure(
    `${ROLLOUTS} rollouts of 30 calls, ${AT_ONCE} at once`,
    `${seconds.toFixed(0)} s`,
    `${((ROLLOUTS * 30) / seconds).toFixed(0)} calls a second`,
    null,
    'reported',
  );
  figure(
    'memory of a program, late against early',
    `${late.toFixed(0)} MB`,
    `${early.toFixed(0)} MB`,
    late / early,
    'flat',
  );

  const victim = start(0);
  await new Promise((resolve) => setTimeout(resolve, 2500));
  victim.kill('SIGKILL');
  await new Promise((resolve) => setTimeout(resolve, 1000));
  const left = worldsOf(home);
  await new Promise((resolve) => start(1).on('close', resolve));
  const images = readdirSync(join(journal, 'worlds')).filter((name) => /^[0-9a-f]{16}$/.test(name));
  const folders = images.flatMap((name) => readdirSync(join(journal, 'worlds', name, 'live')));
  figure(
    'left of a killed program',
    `${left} processes`,
    `${folders.length} folders after the next start`,
    null,
    '0 and 0',
  );
}

/** Processes whose mounts lie in a folder. */
const worldsOf = (home: string): number =>
  readdirSync('/proc').filter((name) => {
    try {
      return (
        /^\d+$/.test(name) &&
        readFileSync(`/proc/${name}/cmdline`, 'utf8').includes(home) &&
        Number(name) !== process.pid
      );
    } catch {
      return false;
    }
  }).length;
