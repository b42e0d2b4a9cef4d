// A Redis of a test's own, on loopback, whose file is kept over restarts.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { reachModel } from '../../src/core/http/reach.ts';
import { directoryWith } from '../program.ts';

export const hasRedis = spawnSync('redis-server', ['--version']).status === 0;
export const noRedis = hasRedis ? '' : ' (skipped: no redis-server here)';

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

export class TestRedis {
  readonly url: string;
  readonly #folder = directoryWith({});
  readonly #port: number;
  #process: ChildProcess | null = null;

  private constructor(port: number) {
    this.#port = port;
    this.url = `redis://127.0.0.1:${port}`;
  }

  /** @param settings more of its flags */
  static async start(...settings: string[]): Promise<TestRedis> {
    const redis = new TestRedis(await freePort());
    await redis.up(settings);
    return redis;
  }

  async up(settings: readonly string[] = []): Promise<void> {
    const flags = [
      '--port',
      String(this.#port),
      '--bind',
      '127.0.0.1',
      '--dir',
      this.#folder,
      '--save',
      '',
      ...settings,
    ];
    this.#process = spawn('redis-server', [...flags, '--appendonly', 'yes'], { stdio: 'ignore' });
    await reachModel(`http://127.0.0.1:${this.#port}`, { seconds: 120, onWait: () => {} });
  }

  /** Its processor time, in seconds. */
  processor(): number {
    const fields = readFileSync(`/proc/${this.#process!.pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
    return (Number(fields[11]) + Number(fields[12])) / 100;
  }

  /** Everything that it has written down. */
  content(): string {
    const folder = join(this.#folder, 'appendonlydir');
    return readdirSync(folder)
      .map((name) => readFileSync(join(folder, name), 'latin1'))
      .join('\n');
  }

  async down(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const ended = new Promise((resolve) => this.#process?.once('exit', resolve));
    this.#process?.kill(signal);
    if (this.#process) await ended;
    this.#process = null;
  }
}
