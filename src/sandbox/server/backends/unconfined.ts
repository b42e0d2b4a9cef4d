// No sandbox at all: programs run as the user who started the server, with the user's files and network. Only ever
// used when requested by name; it exists for a throw-away container that is itself the sandbox.

import { type ChildProcess, spawn } from 'node:child_process';
import {
  closeSync,
  existsSync,
  constants as fileConstants,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { constants } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { itemAt } from '../../../core/lists/at.ts';
import type { CommandRunResult, Language } from '../../protocol.ts';
import { temporaryFolder } from '../leftovers.ts';
import { Output } from '../output.ts';
import { confine, confineFile } from '../paths.ts';
import { PipePool } from '../pipes.ts';
import { type Backend, type BackendDeclaration, type Job, type Limit, type Outcome, SandboxFault } from './backend.ts';
import { linkFlags, resolveInterpreters } from './interpreters.ts';
import { lackOfMachine, RUNNERS, temporaryName } from './languages.ts';
import { startTimer } from './timer.ts';
import { usageOfTree } from './usage.ts';
import { Warden } from './warden.ts';

const BANNER = [
  '*******************************************************************************',
  '* WARNING: the backend unconfined runs every program as you, with your files, *',
  '* your network and no limits but time. Only for a machine to throw away.      *',
  '*******************************************************************************',
];

export const unconfined: BackendDeclaration = {
  name: 'unconfined',
  confines: false,
  async open({ log }) {
    if (!existsSync('/bin/bash')) throw new Error('there is no /bin/bash');
    for (const line of BANNER) log(line);
    const folder = temporaryFolder();
    const { links, path } = await resolveInterpreters();
    const bin = join(folder, 'bin');
    mkdirSync(bin);
    for (const [target, link] of links) {
      const name = join(bin, link.slice(link.lastIndexOf('/') + 1));
      writeFileSync(name, `#!/bin/sh\nexec '${target}' "$@"\n`, { mode: 0o755 });
    }
    return new Unconfined(folder, `${bin}:${path}`, await linkFlags());
  },
};

const HELD_OPEN_MS = 200;

class Unconfined implements Backend {
  readonly name = 'unconfined';
  readonly languages = new Set(Object.keys(RUNNERS)) as Backend['languages'];
  readonly limits = new Set<Limit>(['time', 'output']);
  readonly #folder: string;
  readonly #path: string;
  readonly #linkFlags: string;
  readonly #pipes = new PipePool();
  readonly #warden: Warden;
  readonly #running = new Set<ChildProcess>();

  constructor(folder: string, path: string, flags: string) {
    this.#folder = folder;
    this.#path = path;
    this.#linkFlags = flags;
    this.#warden = new Warden(folder);
  }

  lacks(language: Language): string | null {
    return lackOfMachine(language, { linkFlags: this.#linkFlags, hasGpu: existsSync('/dev/nvidia0') });
  }

  async execute(job: Job, signal?: AbortSignal): Promise<Outcome> {
    signal?.throwIfAborted();
    const runner = RUNNERS[job.language];
    if (!runner) throw new SandboxFault(`'${job.language}'`);
    const directory = join(this.#folder, temporaryName());
    const source = runner.prepare(job.code, {
      fresh: (extension) => `${directory}/${temporaryName()}${extension}`,
      files: [...job.files.keys()],
      linkFlags: this.#linkFlags,
    });
    const inputs = [...job.files].map(([name, content]): [string, Buffer] => [
      confineFile(name, directory, false),
      content,
    ]);
    const wanted = job.fetchFiles.map((name): [string, string] => [name, confine(name, directory, false)]);
    if (source.file !== null) inputs.push([resolve(directory, source.file), Buffer.from(source.text)]);
    try {
      mkdirSync(directory);
      for (const [path, content] of inputs) {
        mkdirSync(dirname(path), { recursive: true });
        writeFileSync(path, content);
      }
      const compile =
        source.compile === null
          ? null
          : await this.#command(source.compile, directory, { ...job, stdin: null }, job.compileTimeout, signal);
      const run =
        compile && compile.return_code !== 0
          ? null
          : await this.#command(source.run, directory, job, job.runTimeout, signal);
      return { compile, run, files: collectFiles(wanted, directory, job.limits.fetchBytes) };
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  }

  async #command(
    command: string,
    directory: string,
    job: Job,
    timeout: number,
    signal?: AbortSignal,
  ): Promise<CommandRunResult> {
    const pipes = [await this.#pipes.take(), await this.#pipes.take()] as const;
    const child = spawn('/bin/bash', ['--norc', '-c', command], {
      cwd: directory,
      detached: true,
      env: { PATH: this.#path, HOME: directory, LANG: 'C.UTF-8' },
      stdio: ['pipe', pipes[0].writeFd, pipes[1].writeFd],
    });
    this.#running.add(child);
    job.metered?.(() => (child.pid === undefined ? null : usageOfTree(child.pid)));
    this.#warden.guard(child, true);
    const began = performance.now();
    let late = false;
    const kill = () => killGroup(child);
    const expire = () => {
      late = true;
      kill();
    };
    const outputs = pipes.map(() => new Output(job.limits.outputBytes));
    const watch = job.watch;
    const collected = pipes.map((pipe, index) => {
      pipe.release();
      return itemAt(outputs, index).collect(
        pipe.readable,
        watch && index === 0 ? (chunk) => watch(chunk, expire) : undefined,
      );
    });
    child.stdin!.on('error', () => {});
    child.stdin!.end(job.stdin ?? '');
    const stopTimer = startTimer(timeout, expire);
    signal?.addEventListener('abort', kill, { once: true });
    const [code, name] = await new Promise<[number | null, NodeJS.Signals | null]>((done, fail) => {
      child.on('error', fail);
      child.on('exit', (...status) => done(status));
    });
    const seconds = (performance.now() - began) / 1000;
    stopTimer();
    kill(); // its background processes
    this.#running.delete(child);
    signal?.removeEventListener('abort', kill);
    // A daemon may hold the streams open indefinitely. On a loaded machine this timer may come before the output is read.
    const cut = setTimeout(
      () => pipes.forEach((pipe, index) => void pipe.cut((chunk) => itemAt(outputs, index).push(chunk))),
      HELD_OPEN_MS,
    );
    await Promise.all(collected);
    clearTimeout(cut);
    signal?.throwIfAborted();
    return {
      status: late ? 'TimeLimitExceeded' : 'Finished',
      execution_time: seconds,
      return_code: late ? null : (code ?? -signalNumber(name)),
      stdout: itemAt(outputs, 0).text(),
      stderr: itemAt(outputs, 1).text(),
    };
  }

  async close(): Promise<void> {
    for (const child of this.#running) killGroup(child);
    this.#pipes.close();
    await this.#warden.close();
  }
}

function killGroup(child: ChildProcess): void {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  } catch {
    // everything has ended
  }
}

const signalNumber = (name: NodeJS.Signals | null): number => (name === null ? 9 : (constants.signals[name] ?? 9));

/** Follows no link out: the program may have put one in place of the requested file. Does not wait for a FIFO. */
function openWithin(path: string, directory: string): number | null {
  try {
    if (!`${realpathSync(dirname(path))}/`.startsWith(`${realpathSync(directory)}/`)) return null;
    return openSync(path, fileConstants.O_RDONLY | fileConstants.O_NOFOLLOW | fileConstants.O_NONBLOCK);
  } catch {
    return null;
  }
}

function collectFiles(wanted: readonly [string, string][], directory: string, limit: number): Map<string, Buffer> {
  const files = new Map<string, Buffer>();
  let total = 0;
  for (const [name, path] of wanted) {
    const fd = openWithin(path, directory);
    if (fd === null) continue;
    try {
      const status = fstatSync(fd);
      if (!status.isFile()) continue;
      total += status.size;
      if (total > limit) throw new SandboxFault(`fetch_files: ${name} is over ${limit} bytes`);
      files.set(name, readFileSync(fd));
    } finally {
      closeSync(fd);
    }
  }
  return files;
}
