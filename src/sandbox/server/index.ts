// The embedded sandbox: in this process for whoever only wants to run a program, or as a server for all who speak
// SandboxFusion's API.
import type { AddressInfo } from 'node:net';
import { availableParallelism } from 'node:os';
import type { Table } from '../datasets/table.ts';
import type { RunCode } from '../protocol.ts';
import type { BackendName } from './backends/backend.ts';
import { type BackendChoice, type Chosen, chooseBackend } from './backends/choose.ts';
import { httpServer } from './http.ts';
import { type RunJupyter, runJupyterOn } from './jupyter.ts';
import { Places } from './places.ts';
import { routesOf } from './routes.ts';
import { runCodeOn } from './runner.ts';

export { BACKEND_CHOICES, type BackendChoice } from './backends/choose.ts';

/** Programs that may wait for a place before the next is told to come back later. */
const MAX_QUEUE = 1000;
/** Upstream takes 40 MB and more. */
const BODY_LIMIT = 128 * 1024 * 1024;
const DRAIN_MS = 50;

export interface RunnerOptions {
  backend?: BackendChoice;
  /** Programs at the same time; the number of cores where it is not said. */
  maxConcurrency?: number;
  log?: (line: string) => void;
}

export interface BackendInfo {
  name: BackendName;
  /** Why each backend that would have come before it cannot be used here, a line each. */
  why: string[];
}

export interface Runner {
  backend: BackendInfo;
  run: RunCode;
  runJupyter: RunJupyter;
  close(): Promise<void>;
}

interface Engine extends Runner {
  places: Places;
}

async function openEngine(options: RunnerOptions, maxQueue: number): Promise<Engine> {
  const concurrency = options.maxConcurrency ?? availableParallelism();
  const places = new Places(concurrency, maxQueue);
  const { backend, why }: Chosen = await chooseBackend(options.backend ?? 'auto', {
    concurrency,
    log: options.log ?? (() => {}),
  });
  return {
    backend: { name: backend.name, why },
    run: places.behind(runCodeOn(backend)),
    runJupyter: places.behind(runJupyterOn(backend)),
    places,
    close: () => backend.close(),
  };
}

/** @throws {Error} when no backend can be used; the message says why. */
export async function createRunner(options: RunnerOptions = {}): Promise<Runner> {
  return openEngine(options, Number.POSITIVE_INFINITY);
}

export interface SandboxOptions extends RunnerOptions {
  /** 127.0.0.1 where it is not said; another than loopback needs a token. */
  host?: string;
  /** 8080 where it is not said; 0 takes a free one. */
  port?: number;
  token?: string | null;
  /** Problems that /submit and the prompt endpoints know, by name. */
  datasets?: ReadonlyMap<string, Table>;
  maxQueue?: number;
  /** Bytes of a request's body. */
  bodyLimit?: number;
}

export interface SandboxServer {
  url: string;
  backend: BackendInfo;
  /** Lets what runs end, or, where it is `now`, kills it; then nothing of the server is left. */
  close(how?: 'drain' | 'now'): Promise<void>;
}

const isLoopback = (host: string): boolean => /^(?:127\.\d+\.\d+\.\d+|::1|localhost)$/.test(host);

/** @throws {Error} for a host without a token, a port that is taken, or when no backend can be used. */
export async function startSandbox(options: SandboxOptions = {}): Promise<SandboxServer> {
  const { host = '127.0.0.1', port = 8080, token = null, log = () => {} } = options;
  if (!isLoopback(host) && !token)
    throw new Error(`--host ${host} would let others run programs here: give --token TOKEN, too`);
  const engine = await openEngine(options, options.maxQueue ?? MAX_QUEUE);
  const server = httpServer({
    routes: routesOf({ run: engine.run, runJupyter: engine.runJupyter, tables: options.datasets ?? new Map() }),
    places: engine.places,
    token,
    bodyLimit: options.bodyLimit ?? BODY_LIMIT,
    log,
  });
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, host, resolve);
    });
  } catch (error) {
    await engine.close();
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE')
      throw new Error(`port ${port} of ${host} is taken: choose another with --port`);
    throw error;
  }
  const { address, port: bound } = server.address() as AddressInfo;
  const name = address.includes(':') ? `[${address}]` : address;
  return {
    url: `http://${name}:${bound}`,
    backend: engine.backend,
    async close(how = 'drain') {
      engine.places.drain();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      // Kept-alive connections become idle one by one, as their programs end.
      const sweep = setInterval(() => server.closeIdleConnections(), DRAIN_MS);
      if (how === 'now') server.closeAllConnections();
      await closed;
      clearInterval(sweep);
      await engine.close();
    },
  };
}
