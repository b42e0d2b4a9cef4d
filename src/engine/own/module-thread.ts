import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { JsonObject, JsonValue } from '../../core/json/value.ts';
import { itemAt } from '../../core/lists/at.ts';
import type { OwnProcess } from '../python/own-process.ts';
import { Requests } from '../python/requests.ts';

/** A thread that runs a user's JavaScript modules (src/engine/workers/own-module.ts), with the same requests as bridge.py. */
export class ModuleThread implements OwnProcess {
  readonly #worker: Worker;
  readonly #requests: Requests;

  constructor(log: (text: string) => void) {
    const worker = new Worker(fileOf('own-module'), { stdout: true, stderr: true });
    this.#worker = worker;
    worker.unref();
    this.#requests = new Requests(
      (body) => {
        worker.ref();
        worker.postMessage(body);
      },
      () => this.kill(),
    );
    worker.stdout.setEncoding('utf8').on('data', log);
    worker.stderr.setEncoding('utf8').on('data', log);
    worker.on('message', (message: JsonObject) => this.#requests.take(message));
    worker.on('error', (error: Error) => this.#requests.end(`the thread of the module ended: ${error.message}`));
    worker.on('exit', (code) => this.#requests.end(`the module ended its thread with exit status ${code}`));
  }

  get isDead(): boolean {
    return this.#requests.isDead;
  }

  get isTainted(): boolean {
    return this.#requests.isTainted;
  }

  async request(body: JsonObject, signal?: AbortSignal): Promise<JsonValue> {
    try {
      return await this.#requests.ask(body, signal);
    } finally {
      if (this.#requests.count === 0) this.#worker.unref();
    }
  }

  kill(): void {
    this.#requests.end('the thread was ended');
    void this.#worker.terminate();
  }
}

/** When built: a file beside the bundle. Tests run from the sources, with the built worker. */
function fileOf(name: string): string {
  const places = ['./workers', '../dist/workers', '../../dist/workers', '../../../dist/workers'];
  const files = places.map((place) => fileURLToPath(new URL(`${place}/${name}.js`, import.meta.url)));
  return files.find((file) => existsSync(file)) ?? itemAt(files, 0);
}
