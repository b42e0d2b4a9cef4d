import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import type { Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { parseJson } from '../../core/json/parse.ts';
import { printJson } from '../../core/json/print.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json/value.ts';
import { itemAt } from '../../core/lists/at.ts';
import type { OwnProcess } from './own-process.ts';
import { Requests } from './requests.ts';

export interface PythonOptions {
  /** The interpreter, as typed. */
  python: string;
  /** Folders searched for imports before all others, and after them. */
  paths: readonly string[];
  lastPaths?: readonly string[];
  /** Those of them that interpreters which the code starts search, too. */
  passedPaths?: readonly string[];
  /** Receives the code's output. */
  log: (text: string) => void;
}

/** Characters of recent output, for the message when the process ends. */
const KEPT = 2000;

/** When built: a file beside the bundle. From the sources: the file beside this one. */
function bridgePath(): string {
  const places = ['./bridge.py', '../bridge.py'];
  const files = places.map((place) => fileURLToPath(new URL(place, import.meta.url)));
  return files.find((file) => existsSync(file)) ?? itemAt(files, 0);
}

/** Live children; killed on every exit path that runs our code. */
const alive = new Set<PythonProcess>();
let isWatching = false;

/**
 * One child of the user's interpreter that runs bridge.py. It has its own process group: the terminal's Ctrl-C does not reach it, its
 * children end with it, and when this process is killed its descriptor 4 ends, on which its guard ends the group.
 */
export class PythonProcess implements OwnProcess {
  readonly #child: ChildProcess;
  readonly #python: string;
  readonly #channel: Socket;
  readonly #requests: Requests;
  #printed = '';
  #parts: string[] = [];

  constructor({ python, paths, lastPaths = [], passedPaths = [], log }: PythonOptions) {
    this.#python = python;
    const child = spawn(python, [bridgePath()], {
      stdio: ['ignore', 'pipe', 'pipe', 'pipe', 'pipe'],
      detached: true,
    });
    this.#child = child;
    const channel = child.stdio[3] as Socket;
    this.#channel = channel;
    this.#requests = new Requests(
      (body) => {
        channel.ref();
        channel.write(`${printJson(body)}\n`);
      },
      () => this.kill(),
    );
    const printed = (text: string) => {
      this.#printed = (this.#printed + text).slice(-KEPT);
      log(text);
    };
    for (const stream of [child.stdout, child.stderr]) stream?.setEncoding('utf8').on('data', printed);
    channel.setEncoding('utf8').on('data', (text: string) => this.#read(text));
    for (const stream of child.stdio as unknown as (Socket | null)[]) stream?.on('error', () => {}).unref();
    child.unref();
    channel.on('end', () => this.#ended(null));
    child.on('error', (error) => this.#fail(`cannot start ${python}: ${error.message}`));
    // What it printed last may be read later than its end is told; a copy of it may hold the pipes open for ever.
    child.on('exit', (code, signal) => afterReading(() => this.#ended(signal ?? `exit status ${code}`)));
    alive.add(this);
    if (!isWatching) {
      isWatching = true;
      process.on('exit', () => {
        for (const one of alive) one.kill();
      });
    }
    if (paths.length + lastPaths.length > 0)
      this.request({ op: 'paths', first: [...paths], last: [...lastPaths], passed: [...passedPaths] }).catch(() => {});
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
      // An idle child does not keep the program alive.
      if (this.#requests.count === 0) this.#channel.unref();
    }
  }

  kill(): void {
    this.#fail('the process was ended');
    alive.delete(this);
    const { pid } = this.#child;
    if (pid === undefined) return;
    try {
      process.kill(-pid, 'SIGKILL');
    } catch {
      // It has ended already.
    }
  }

  #read(text: string): void {
    const end = text.indexOf('\n');
    this.#parts.push(text);
    if (end === -1) return;
    const lines = this.#parts.join('').split('\n');
    const rest = lines.pop() ?? '';
    this.#parts = rest === '' ? [] : [rest];
    for (const line of lines) {
      let message: JsonValue;
      try {
        message = parseJson(line);
      } catch {
        this.#fail(`${this.#python}: the code wrote into the channel of its answers: ${line.slice(0, 200)}`);
        this.kill();
        return;
      }
      if (isJsonObject(message)) this.#requests.take(message);
    }
  }

  /** @param how the process ended; null if only its channel has */
  #ended(how: string | null): void {
    if (how === null) {
      // The exit status says more, and arrives within a moment if there is one.
      setTimeout(() => {
        this.#fail('the code closed the channel of its answers');
        this.kill();
      }, 500).unref();
      return;
    }
    const last = this.#printed.trim().split('\n').at(-1);
    this.#fail(
      `the process of ${this.#python} ended with ${how}${last ? `; it printed last: ${last.slice(0, 500)}` : ''}`,
    );
    this.kill();
  }

  #fail(reason: string): void {
    this.#requests.end(reason);
  }
}

/** Calls it once everything that has arrived by now was read. */
const afterReading = (then: () => void): void => void setImmediate(() => setImmediate(then));
