import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { bin, figure, percentile, residentMegabytes } from './measure.ts';

const AT_ONCE = 16;
const ATTACKS = 0.05;
const PING_MS = 50;
const agent = new Agent({ keepAlive: true });

const HONEST: [code: string, language: string, stdout: (n: number) => string][] = [
  ['print(N * 3)', 'python', (n) => `${n * 3}\n`],
  ['import json, re, collections\nprint(json.dumps({"n": N}))', 'python', (n) => `{"n": ${n}}\n`],
  ['print(sum(range(200000)) + N)', 'python', (n) => `${19999900000 + n}\n`],
  ['import time\ntime.sleep(0.3)\nprint(N)', 'python', (n) => `${n}\n`],
  ['import sys\nsys.stdout.write("x" * 300000 + str(N))', 'python', (n) => 'x'.repeat(300000) + n],
  ['echo $((N + 1))', 'bash', (n) => `${n + 1}\n`],
];
const HOSTILE = [
  'import os\nwhile True:\n    try: os.fork()\n    except OSError: pass',
  'held = []\nwhile True: held.append(bytearray(8 << 20))',
  'while True: print("x" * 1000)',
  'import os\nfor fd in range(3, 64):\n    try:\n        while True: os.write(fd, b"x" * 65536)\n    except OSError: pass',
  'import os, time\nif os.fork() == 0:\n    os.setsid()\n    time.sleep(999)\nos.kill(os.getpid(), 9)',
];

/** The sandbox server under mixed load with attacks in it, for as long as asked; then it is killed outright. */
export async function soakSandbox(seconds: number): Promise<void> {
  const server = spawn(process.execPath, [bin, 'sandbox', '--port', '0', '--backend', 'bubblewrap'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const url = await listening(server);
  const until = Date.now() + seconds * 1000;
  const pings: number[] = [];
  const memory: number[] = [];
  const descriptors: number[] = [];
  let [right, wrong, attacks] = [0, 0, 0];
  const client = async (seed: number) => {
    for (let n = seed; Date.now() < until; n += AT_ONCE) {
      if (Math.random() < ATTACKS) {
        attacks++;
        const code = HOSTILE[n % HOSTILE.length]!;
        await post(url, { code, language: 'python', run_timeout: 2, memory_limit_MB: 256 }).catch(() => {});
        continue;
      }
      const [code, language, stdout] = HONEST[n % HONEST.length]!;
      const answer = await post(url, { code: code.replaceAll('N', String(n)), language, run_timeout: 30 }).catch(
        () => null,
      );
      if (answer?.run_result?.stdout === stdout(n)) right++;
      else {
        wrong++;
        if (wrong < 5) console.log(`wrong: ${code}: ${JSON.stringify(answer).slice(0, 300)}`);
      }
    }
  };
  const ping = async () => {
    while (Date.now() < until) {
      const began = performance.now();
      await fetch(`${url}/v1/ping`).then((answer) => answer.text());
      pings.push(performance.now() - began);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  };
  const look = async () => {
    while (Date.now() < until) {
      await new Promise((resolve) => setTimeout(resolve, Math.max(500, seconds * 20)));
      memory.push(residentMegabytes(server.pid!));
      descriptors.push(readdirSync(`/proc/${server.pid}/fd`).length);
    }
  };
  await Promise.all([...Array.from({ length: AT_ONCE }, (_, seed) => client(seed)), ping(), look()]);
  const half = memory.length >> 1;
  figure('sandbox soak: honest answers', `${right} right`, `${wrong} wrong, ${attacks} attacks`, null, '0 wrong');
  figure(
    'sandbox soak: /v1/ping p99',
    `${percentile(pings, 0.99).toFixed(1)} ms`,
    `p50 ${percentile(pings, 0.5).toFixed(1)} ms`,
    null,
    `≤ ${PING_MS} ms`,
  );
  const [early, late] = [Math.max(...memory.slice(0, half)), Math.max(...memory.slice(half))];
  figure(
    'sandbox soak: memory, second half',
    `${late.toFixed(0)} MB`,
    `first half: ${early.toFixed(0)} MB`,
    late / early,
    'flat',
  );
  const [few, many] = [Math.max(...descriptors.slice(0, half)), Math.max(...descriptors.slice(half))];
  figure('sandbox soak: descriptors', String(many), `first half: ${few}`, many / few, 'flat');
  for (let seed = 0; seed < AT_ONCE; seed++) void post(url, { code: HOSTILE[4]!, language: 'python' }).catch(() => {});
  await new Promise((resolve) => setTimeout(resolve, 300));
  server.kill('SIGKILL');
  await new Promise((resolve) => setTimeout(resolve, 5000));
  const folders = readdirSync(tmpdir()).filter((name) => name.startsWith(`rollout-viewer-sandbox-${server.pid}-`));
  figure('sandbox soak: left after kill -9', `${left().length} processes`, `${folders.length} folders`, null, '0');
}

/** Processes that sleep as the last attack does. */
const left = (): string[] =>
  readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && /\/tmp\/tmp\w{8}\/tmp\w{8}\.py/.test(readFileSync(`/proc/${pid}/cmdline`, 'latin1'));
    } catch {
      return false;
    }
  });

const listening = (server: ChildProcess): Promise<string> =>
  new Promise((resolve, reject) => {
    let said = '';
    server.stderr!.on('data', (chunk: Buffer) => {
      said += chunk.toString();
      const url = /listening on (\S+)/.exec(said)?.[1];
      if (url) resolve(url);
    });
    server.on('exit', () => reject(new Error(said)));
  });

interface Answer {
  run_result: { stdout: string } | null;
}

const post = (url: string, body: object): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const sent = request(new URL('/run_code', url), {
      agent,
      method: 'POST',
      headers: { 'content-type': 'application/json' },
    });
    sent.on('response', (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('end', () => {
        try {
          resolve(JSON.parse(Buffer.concat(parts).toString()) as Answer);
        } catch (error) {
          reject(error);
        }
      });
    });
    sent.on('error', reject);
    sent.end(JSON.stringify(body));
  });
