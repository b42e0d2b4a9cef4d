import { connect } from 'node:net';
import { onAbort } from '../async/abort.ts';
import { pause } from '../async/timeout.ts';
import { reasonOfConnection } from './client.ts';

export interface ReachOptions {
  /** Seconds for which a server that does not listen yet is waited for: it may be starting beside this program. */
  seconds: number;
  signal?: AbortSignal | undefined;
  /** Called once, when the wait begins. */
  onWait: (reason: string) => void;
}

const FIRST_DELAY_MS = 250;
const LONGEST_DELAY_MS = 4000;
const CONNECT_MS = 5000;

/** Waits until something listens at the address of a model server. @throws Error that names the address and says what to do */
export async function reachModel(url: string, { seconds, signal, onWait }: ReachOptions): Promise<void> {
  const until = performance.now() + seconds * 1000;
  for (let delay = FIRST_DELAY_MS, hasSaid = false; ; delay = Math.min(2 * delay, LONGEST_DELAY_MS)) {
    signal?.throwIfAborted();
    const problem = await problemOf(url, signal);
    if (problem === null) return;
    if (performance.now() + delay > until)
      throw new Error(
        `--model-url ${url}: ${problem}; no model server answers there: start it, or name another address`,
      );
    if (!hasSaid) onWait(`${url}: ${problem}; waiting up to ${seconds} s for a model server there`);
    hasSaid = true;
    await pause(delay, signal);
  }
}

function problemOf(url: string, signal: AbortSignal | undefined): Promise<string | null> {
  const { hostname, port, protocol } = new URL(url);
  return new Promise((resolve) => {
    const socket = connect({
      host: hostname.replace(/^\[|\]$/g, ''),
      port: Number(port) || (protocol === 'https:' ? 443 : 80),
      timeout: CONNECT_MS,
    });
    const end = (problem: string | null) => {
      stopListening();
      socket.destroy();
      resolve(problem);
    };
    const stopListening = onAbort(signal, () => end('interrupted'));
    socket.once('connect', () => end(null));
    socket.once('timeout', () => end(`no connection in ${CONNECT_MS / 1000} s`));
    socket.once('error', (error) => end(reasonOfConnection(error)));
  });
}
