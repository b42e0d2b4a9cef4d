import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';
import { UsageError } from '../../core/dump/paths.ts';
import { reasonOf } from '../../core/text/problems.ts';

/** An agent that was started with the address of a recorder. */
export interface AgentProcess {
  /** Its exit status; for a signal 128 plus its number, as in a shell. @throws UsageError if it cannot be started */
  status: Promise<number>;
  /** Ends it and all that it started. */
  stop(): void;
}

/** Variables in which agents look for a model server. */
const agentEnvironment = (address: string): Record<string, string> => ({
  OPENAI_BASE_URL: `${address}/v1`,
  OPENAI_API_BASE: `${address}/v1`,
  ANTHROPIC_BASE_URL: address,
  ROLLOUT_VIEWER_RECORD_URL: address,
});

/** SDKs refuse to begin without a key; nobody checks this one. */
const PLACEHOLDER_KEYS = { OPENAI_API_KEY: 'recorded', ANTHROPIC_API_KEY: 'recorded' };
const KEYS = Object.keys(PLACEHOLDER_KEYS);

/** All that an agent needs in an environment that has nothing of this one's. */
export const agentVariables = (address: string): Record<string, string> => ({
  ...PLACEHOLDER_KEYS,
  ...Object.fromEntries(KEYS.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]]))),
  ...agentEnvironment(address),
});

export interface AgentOptions {
  environment?: Record<string, string> | undefined;
  /** No model server will ask for a key. */
  needsKeys?: boolean | undefined;
  /** The longest time that it may take. */
  seconds?: number | undefined;
  /** It does not share the terminal: its input is empty, and its output is dropped. */
  isQuiet?: boolean | undefined;
  /** Takes what a quiet agent writes to stderr, which otherwise goes to this program's. */
  onError?: ((text: string) => void) | undefined;
}

/** An agent that is asked to end has this long until it is killed. */
const GRACE_MS = 3000;

export function startAgent(
  [program = '', ...args]: readonly string[],
  address: string,
  options: AgentOptions = {},
): AgentProcess {
  const keys = options.needsKeys ? PLACEHOLDER_KEYS : {};
  const env = { ...keys, ...process.env, ...agentEnvironment(address), ...options.environment };
  // A group of its own can be ended as a whole; one that shares the terminal keeps its keys.
  const isGroup = options.isQuiet === true;
  const child: ChildProcess = spawn(program, args, {
    env,
    stdio: isGroup ? ['ignore', 'ignore', options.onError === undefined ? 'inherit' : 'pipe'] : 'inherit',
    detached: isGroup,
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => options.onError?.(text));
  const kill = (signal: NodeJS.Signals): void => {
    try {
      if (isGroup && child.pid !== undefined) process.kill(-child.pid, signal);
      else child.kill(signal);
    } catch {
      // It has ended already.
    }
  };
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  const pass = (signal: NodeJS.Signals): void => kill(signal);
  for (const signal of signals) process.on(signal, pass);
  let grace: NodeJS.Timeout | undefined;
  const limit = options.seconds === undefined ? undefined : setTimeout(() => kill('SIGKILL'), options.seconds * 1000);
  const status = new Promise<number>((resolve, reject) => {
    child.on('error', (error) => reject(new UsageError(`${program}: ${reasonOf(error)}`)));
    child.on('close', (code, signal) => resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal])));
  }).finally(() => {
    clearTimeout(limit);
    clearTimeout(grace);
    for (const signal of signals) process.off(signal, pass);
  });
  const stop = (): void => {
    kill('SIGTERM');
    grace ??= setTimeout(() => kill('SIGKILL'), GRACE_MS);
  };
  return { status, stop };
}
