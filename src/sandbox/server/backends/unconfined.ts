// No sandbox at all: programs run as the user who started the server, with the user's files and network. Only ever
// used when its name was typed out; it exists for a throw-away container that is itself the sandbox.
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import type { CommandRunResult } from '../../protocol.ts';
import { temporaryFolder } from '../leftovers.ts';
import { Output } from '../output.ts';
import { confine } from '../paths.ts';
import { PipePool } from '../pipes.ts';
import { type Backend, type BackendDeclaration, type Job, type Limit, type Outcome, SandboxFault } from './backend.ts';
import { linkFlags, resolveInterpreters } from './interpreters.ts';
import { RUNNERS, temporaryName } from './languages.ts';
import { startTimer } from './timer.ts';
import { Warden } from './warden.ts';

export const unconfined: BackendDeclaration = {
  name: 'unconfined',
  confines: false,
  async open({ log }) {
    if (!existsSync('/bin/bash')) throw new Error('there is no /bin/bash');
    log(
      'WARNING: --backend unconfined runs every program as you, with your files, your network and no limits but time.',
    );
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
      confine(name, directory, false),
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
      return { compile, run, files: collect(wanted, job.limits.fetchBytes) };
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
      return outputs[index]!.collect(pipe.readable, watch && index === 0 ? (chunk) => watch(chunk, expire) : undefined);
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
    kill(); // what it left in the background
    this.#running.delete(child);
    signal?.removeEventListener('abort', kill);
    await Promise.all(collected);
    signal?.throwIfAborted();
    return {
      status: late ? 'TimeLimitExceeded' : 'Finished',
      execution_time: seconds,
      return_code: late ? null : (code ?? -signalNumber(name)),
      stdout: outputs[0]!.text(),
      stderr: outputs[1]!.text(),
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
    // all of it has ended
  }
}

const signalNumber = (name: NodeJS.Signals | null): number => (name === null ? 9 : (constants.signals[name] ?? 9));

function collect(wanted: readonly [string, string][], limit: number): Map<string, Buffer> {
  const files = new Map<string, Buffer>();
  let total = 0;
  for (const [name, path] of wanted) {
    const status = statSync(path, { throwIfNoEntry: false });
    if (!status?.isFile()) continue;
    total += status.size;
    if (total > limit) throw new SandboxFault(`fetch_files: ${name} is over ${limit} bytes`);
    files.set(name, readFileSync(path));
  }
  return files;
}
