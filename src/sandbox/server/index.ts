// The embedded sandbox: in this process for callers that only want to run a program, or as a server for clients of
// SandboxFusion's API.

import type { AddressInfo } from 'node:net';
import { availableParallelism, freemem, totalmem } from 'node:os';
import { isLoopback, newToken } from '../../core/http/guard.ts';
import { errorCode } from '../../core/text/thrown.ts';
import type { RunCode } from '../protocol.ts';
import { type Backend, type BackendName, DEFAULT_RUN_LIMITS, type RunLimits } from './backends/backend.ts';
import type { CgroupVersions } from './backends/cgroups.ts';
import { type BackendChoice, type ChosenBackend, chooseBackend } from './backends/choose.ts';
import type { BackendUrl } from './backends/remote.ts';
import { Budget } from './budget.ts';
import { httpServer } from './http.ts';
import { type RunJupyter, runJupyterOn } from './jupyter.ts';
import { Places } from './places.ts';
import { RequestThreads } from './request-threads.ts';
import { DEFAULT_RUN_OPTIONS, type ProgramOptions, runCodeOn } from './runner.ts';

export { BACKEND_CHOICES, type BackendChoice } from './backends/choose.ts';
export type { BackendUrl } from './backends/remote.ts';

/** Programs that may wait for a place before the next one is rejected with a retry hint. */
const MAX_QUEUE = 1000;
/** Upstream takes 40 MB and more. */
const BODY_LIMIT = 128 * 1024 * 1024;
const DRAIN_MS = 50;
/** Concurrent programs per processor, most of them asleep. */
const MOST_A_PROCESSOR = 32;
const MB = 1024 * 1024;
const UNMEANT =
  'the backend unconfined runs every program as you, with your files and your network: say --yes-unconfined, too (yesUnconfined in a program)';

export interface SandboxRunnerOptions {
  /** A backend of this machine, or the address of a SandboxFusion that this server fronts. */
  backend?: BackendChoice | BackendUrl;
  /** Concurrent programs, asleep or not; default: as many as processors and memory allow. */
  maxConcurrency?: number;
  limits?: Partial<RunLimits>;
  /** In seconds. */
  maxRunTimeout?: number;
  /** In MB, for all programs together; default: three quarters of the free memory. */
  memoryBudgetMb?: number;
  /** Folders with toolchains outside the system's. */
  toolchains?: readonly string[];
  /** Versions of cgroups that may be used; if none is available, the fallback's limits hold. If omitted any, except version 1 for forks. */
  cgroups?: CgroupVersions;
  /** The interpreter for Python programs in bubblewrap, instead of the one on PATH. */
  python?: string;
  /** The user explicitly asked for the backend that confines nothing. */
  yesUnconfined?: boolean;
  /** The user explicitly asked for the pyodide backend even without a wall around it. */
  yesWeak?: boolean;
  log?: (line: string) => void;
}

interface BackendInfo {
  name: BackendName;
  /** There is no wall around it; the user explicitly asked for that. */
  weak: boolean;
  /** Why each preferred backend cannot be used here, one line each. */
  why: string[];
}

export interface SandboxRunner {
  backend: BackendInfo;
  run: RunCode;
  runJupyter: RunJupyter;
  close(): Promise<void>;
}

interface Engine extends SandboxRunner {
  places: Places;
  placed: ReturnType<Places['before']>;
  options: ProgramOptions;
}

async function openEngine(options: SandboxRunnerOptions, maxQueue: number): Promise<Engine> {
  if (options.backend === 'unconfined' && !options.yesUnconfined) throw new Error(UNMEANT);
  const processors = availableParallelism();
  const most = options.maxConcurrency ?? MOST_A_PROCESSOR * processors;
  const memoryMb = options.memoryBudgetMb ?? Math.max(1024, Math.floor((freemem() / MB) * 0.75));
  const { backend, why }: ChosenBackend = await chooseBackend(options.backend ?? 'auto', {
    concurrency: Math.min(most, processors),
    log: options.log ?? (() => {}),
    toolchains: options.toolchains ?? [],
    ...(options.cgroups !== undefined && { cgroups: options.cgroups }),
    ...(options.python !== undefined && { python: options.python }),
    yesWeak: options.yesWeak ?? false,
  });
  const weak = backend.isWeak ?? false;
  const places = new Places({ processors, most, memory: memoryMb * MB, maxQueue });
  const placed = places.before(backend);
  const run: ProgramOptions = {
    limits: { ...DEFAULT_RUN_LIMITS, ...options.limits },
    maxRunTimeout: options.maxRunTimeout ?? DEFAULT_RUN_OPTIONS.maxRunTimeout,
    ...(weak && { weak: `${backend.name}, weak: no wall` }),
  };
  return {
    backend: { name: backend.name, weak, why },
    run: runCodeOn(placed, run),
    runJupyter: runJupyterOn(placed, run),
    places,
    placed,
    options: run,
    close: () => backend.close(),
  };
}

/** @throws {Error} when no backend can be used, or an unconfined one was not explicitly requested; the message says why. */
export async function createRunner(options: SandboxRunnerOptions = {}): Promise<SandboxRunner> {
  return openEngine(options, Number.POSITIVE_INFINITY);
}

export interface SandboxOptions extends SandboxRunnerOptions {
  /** Default 127.0.0.1. */
  host?: string;
  /** Default 8080; 0 takes a free one. */
  port?: number;
  /** The token that clients must send; beyond loopback one is generated if none is given. */
  token?: string | null;
  /** Accepted Host names of a request, besides loopback. */
  allowHosts?: readonly string[];
  /** Problems that /submit and the prompt endpoints know: each NAME=FILE. */
  datasets?: readonly string[];
  /** Test cases of one submission that run at the same time; default 3. */
  casesAtOnce?: number;
  maxQueue?: number;
  /** Bytes of a request's body. */
  bodyLimit?: number;
}

export interface SandboxServer {
  url: string;
  backend: BackendInfo;
  token: string | null;
  /** Lets current runs finish or, with `now`, kills them; afterwards nothing of the server is left. */
  close(how?: 'drain' | 'now'): Promise<void>;
}

/** @throws {Error} for a port that is in use, a data set that cannot be read, or when no backend can be used. */
export async function startSandbox(options: SandboxOptions = {}): Promise<SandboxServer> {
  const { host = '127.0.0.1', port = 8080, log = () => {} } = options;
  const token = options.token ?? (isLoopback(host) ? null : newToken());
  if (options.backend === 'unconfined' && options.yesUnconfined && !isLoopback(host))
    throw new Error(`--backend unconfined never listens beyond loopback; --host ${host} is refused`);
  const engine = await openEngine(options, options.maxQueue ?? MAX_QUEUE);
  const { placed, places } = engine;
  let threads: RequestThreads | null = null;
  try {
    threads = await RequestThreads.open(threadData(placed, engine.options, options), {
      execute: placed.execute,
      log,
    });
    const server = httpServer({
      guard: { token, allowHosts: (options.allowHosts ?? []).map((name) => name.toLowerCase()) },
      threads,
      run: engine.run,
      budget: new Budget(Math.min(1024 * MB, totalmem() / 5)),
      places,
      bodyLimit: options.bodyLimit ?? BODY_LIMIT,
      weak: engine.backend.weak,
      log,
    });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, host, resolve);
    });
    return serving(server, engine, threads, token);
  } catch (error) {
    await threads?.close();
    await engine.close();
    if (errorCode(error) === 'EADDRINUSE')
      throw new Error(`port ${port} of ${host} is taken: choose another with --port`);
    throw error;
  }
}

function serving(server: ReturnType<typeof httpServer>, engine: Engine, threads: RequestThreads, token: string | null) {
  const { address, port } = server.address() as AddressInfo;
  const name = address.includes(':') ? `[${address}]` : address;
  return {
    url: `http://${name}:${port}`,
    backend: engine.backend,
    token,
    async close(how: 'drain' | 'now' = 'drain') {
      engine.places.drain();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      // Kept-alive connections become idle one by one, as their programs end.
      const sweep = setInterval(() => server.closeIdleConnections(), DRAIN_MS);
      if (how === 'now') server.closeAllConnections();
      await closed;
      clearInterval(sweep);
      await threads.close();
      await engine.close();
    },
  };
}

const threadData = (
  backend: Pick<Backend, 'name' | 'languages'>,
  options: ProgramOptions,
  { datasets = [], casesAtOnce }: SandboxOptions,
) => ({
  datasets,
  casesAtOnce,
  backend: { name: backend.name, languages: [...backend.languages] },
  options,
});
