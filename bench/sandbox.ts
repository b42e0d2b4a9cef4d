import { spawn, spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CgroupVersions } from '../src/sandbox/server/backends/cgroups.ts';
import { hasSeccomp, seccompFilter } from '../src/sandbox/server/backends/seccomp.ts';
import { createRunner, startSandbox } from '../src/sandbox/server/index.ts';
import { TakenMemory } from '../test/sandbox/attacks/taken-memory.ts';
import { figure, interleaved, median } from './support/measure.ts';

const PRINT = JSON.stringify({ code: 'print(1)', language: 'python' });
const agent = new Agent({ keepAlive: true });

/** A warm print(1) through the embedded server against the bare interpreter, and requests per second. */
export async function run(): Promise<void> {
  const only = process.argv.find((one) => one.startsWith('--only='))?.slice('--only='.length);
  if (only === 'bursts') return bursts();
  for (const backend of ['bubblewrap', 'pyodide'] as const) {
    const server = await startSandbox({ port: 0, backend }).catch((error: Error) => {
      console.log(`${backend} is skipped: ${error.message}`);
      return null;
    });
    if (server === null) continue;
    await print(server.url);
    if (backend === 'bubblewrap') await againstPython(server.url);
    else await pooled(server.url);
    await server.close();
    if (backend === 'bubblewrap') await protection();
    await throughput(backend);
  }
  await bursts();
}

async function againstPython(url: string): Promise<void> {
  const [sandboxed, bare] = await interleaved(
    RUNS,
    () => timed(() => print(url)),
    () => timed(() => void spawnSync('/usr/bin/python3', ['-I', '-c', 'print(1)'])),
  );
  const reference = `python3 -I -c: ${bare.toFixed(1)} ms`;
  figure('print(1), warm, bubblewrap', `${sandboxed.toFixed(1)} ms`, reference, sandboxed / bare, '≤ 0.35 ×');
  const ratios: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const ours = await rate(() => print(url));
    const loop = await rate(bareRun);
    ratios.push(ours / loop);
    if (round === ROUNDS - 1)
      figure(
        'print(1), 8 at once',
        `${ours.toFixed(0)}/s`,
        `a bare loop of 8: ${loop.toFixed(0)}/s`,
        median(ratios),
        '≥ 1.8 ×',
      );
  }
}

/** The cost that the filter of system calls and a cgroup add to print(1), each with and without in turns. */
async function protection(): Promise<void> {
  if (hasSeccomp()) {
    const folder = mkdtempSync(join(tmpdir(), 'rollout-viewer-bench-'));
    const path = join(folder, 'filter');
    writeFileSync(path, seccompFilter(false));
    const started = (filtered: boolean) => () => {
      const filter = openSync(path, 'r');
      const python = ['/usr/bin/python3', '-I', '-c', 'print(1)'];
      const seccomp = filtered ? ['--seccomp', '3'] : [];
      spawnSync('bwrap', ['--dev-bind', '/', '/', ...seccomp, ...python], {
        stdio: ['ignore', 'pipe', 'pipe', filter],
      });
      closeSync(filter);
    };
    const [filtered, open] = await interleaved(
      RUNS,
      () => timed(started(true)),
      () => timed(started(false)),
    );
    cost('seccomp: bwrap python3 -I -c print(1)', filtered, open);
    rmSync(folder, { recursive: true });
  }
  const server = (cgroups: CgroupVersions, lines: string[] = []) =>
    startSandbox({ port: 0, backend: 'bubblewrap', cgroups, log: (line) => lines.push(line) });
  const lines: string[] = [];
  const [grouped, plain] = [await server([2, 1], lines), await server([])];
  const version = /cgroup \(version (\d)\)/.exec(lines.join('\n'))?.[1];
  if (version === undefined) console.log(`cgroups are skipped: ${lines.find((line) => line.startsWith('limits: '))}`);
  else {
    await Promise.all([print(grouped.url), print(plain.url)]);
    const [held, free] = await interleaved(
      RUNS,
      () => timed(() => print(grouped.url)),
      () => timed(() => print(plain.url)),
    );
    cost(`cgroup of version ${version}: print(1)`, held, free);
  }
  await Promise.all([grouped.close(), plain.close()]);
}

const cost = (what: string, having: number, lacking: number): void =>
  figure(
    what,
    `${(having - lacking).toFixed(2)} ms`,
    `${having.toFixed(1)} with, ${lacking.toFixed(1)} without`,
    null,
    '≤ 2 ms',
  );

const RUNS = 500;
const ROUNDS = 5;
const AT_ONCE = 8;
const A_ROUND = 160;

const bareRun = (): Promise<void> =>
  new Promise((resolve) => {
    spawn('/usr/bin/python3', ['-I', '-c', 'print(1)'], { stdio: 'ignore' }).once('exit', () => resolve());
  });

/** A second, 8 at once. */
async function rate(one: () => Promise<void>): Promise<number> {
  let left = A_ROUND;
  const began = performance.now();
  const client = async () => {
    while (left-- > 0) await one();
  };
  await Promise.all(Array.from({ length: AT_ONCE }, client));
  return (A_ROUND / (performance.now() - began)) * 1000;
}

/** A child is warmed again after each run; only one that had time for it is found warm. */
async function pooled(url: string): Promise<void> {
  const latencies: number[] = [];
  for (let index = 0; index < 9; index++) {
    await new Promise((resolve) => setTimeout(resolve, 1500));
    latencies.push(await timed(() => print(url)));
  }
  console.log(`print(1), pyodide, a child is warm: ${median(latencies).toFixed(1)} ms`);
  const rushed: number[] = [];
  for (let index = 0; index < 9; index++) rushed.push(await timed(() => print(url)));
  console.log(`print(1), pyodide, one after the other: ${median(rushed).toFixed(1)} ms`);
}

const BURST_MB = 100;
const BURSTS: Readonly<Record<string, string>> = {
  '32 children at one word': `import mmap, os, time
go = mmap.mmap(-1, 4096)
for _ in range(32):
    if os.fork() == 0:
        while not go[0]: time.sleep(0.002)
        held = [b'x' * (1 << 20) for _ in range(20)]
        time.sleep(5)
time.sleep(0.3)
go[0] = 1
time.sleep(3)`,
  'a file in memory, 8 writers': `import os, time
for number in range(8):
    if os.fork() == 0:
        with open(f'/dev/shm/{number}', 'wb') as file:
            for _ in range(60): file.write(bytes(1 << 20))
        time.sleep(5)
time.sleep(3)`,
  '24 children as they are forked': `import os, time
for _ in range(24):
    if os.fork() == 0:
        held = bytearray(60 << 20)
        time.sleep(9)
time.sleep(2)`,
  'one process': "held = [b'x' * (1 << 20) for _ in range(400)]",
};

/** The most that the kernel counts of the server and its programs beyond what was there before, where no run has a cgroup. */
async function bursts(): Promise<void> {
  const taken = new TakenMemory();
  const server = await startSandbox({ port: 0, backend: 'bubblewrap', cgroups: [] });
  try {
    for (const [what, code] of Object.entries(BURSTS)) {
      const most: number[] = [];
      for (let round = 0; round < 5; round++) {
        await print(server.url);
        await new Promise((resolve) => setTimeout(resolve, 500));
        taken.forget();
        const before = taken.most();
        await print(
          server.url,
          JSON.stringify({ code, language: 'python', memory_limit_MB: BURST_MB, run_timeout: 8 }),
        );
        most.push(taken.most() - before);
      }
      const shown = most.map((megabytes) => megabytes.toFixed(0)).join(' ');
      figure(`memory: ${what}`, `${median(most).toFixed(0)} MB`, `limit ${BURST_MB} MB: ${shown}`, null, '≤ 120 MB');
    }
  } finally {
    await server.close();
    taken.leave();
  }
}

async function throughput(backend: 'bubblewrap' | 'pyodide'): Promise<void> {
  for (const concurrency of [1, 8, 32]) {
    const server = await startSandbox({ port: 0, backend, maxConcurrency: concurrency });
    const count = backend === 'bubblewrap' ? 200 : Math.max(16, concurrency);
    await print(server.url);
    const latencies: number[] = [];
    let left = count;
    const began = performance.now();
    const client = async () => {
      while (left-- > 0) latencies.push(await timed(() => print(server.url)));
    };
    await Promise.all(Array.from({ length: concurrency }, client));
    const seconds = (performance.now() - began) / 1000;
    latencies.sort((a, b) => a - b);
    const p99 = latencies[Math.floor(latencies.length * 0.99)] ?? Number.NaN;
    console.log(
      `${backend}, concurrency ${concurrency}: ${(count / seconds).toFixed(0)} requests/s, ` +
        `median ${median(latencies).toFixed(0)} ms, p99 ${p99.toFixed(0)} ms`,
    );
    await server.close();
  }
  if (backend === 'bubblewrap') await inProcess();
}

async function inProcess(): Promise<void> {
  const runner = await createRunner({ backend: 'bubblewrap' });
  const program = {
    code: 'print(1)',
    language: 'python' as const,
    compile_timeout: 10,
    run_timeout: 10,
    memory_limit_MB: -1,
    stdin: null,
    files: {},
    fetch_files: [],
  };
  const times: number[] = [];
  for (let index = 0; index < 41; index++) times.push(await timed(() => runner.run(program)));
  console.log(`print(1), bubblewrap, in this process without HTTP: ${median(times).toFixed(1)} ms`);
  await runner.close();
}

async function timed(work: () => unknown): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

const print = (url: string, body = PRINT): Promise<void> =>
  new Promise((resolve, reject) => {
    const sent = request(new URL('/run_code', url), {
      agent,
      method: 'POST',
      headers: { 'content-type': 'application/json', 'content-length': String(body.length) },
    });
    sent.on('response', (response) => {
      response.resume();
      response.on('end', resolve);
    });
    sent.on('error', reject);
    sent.end(body);
  });
