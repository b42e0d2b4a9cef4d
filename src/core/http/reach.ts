import { connect, isIP } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { onAbort } from '../async/abort.ts';
import { pause } from '../async/timeout.ts';
import { isCertificateTrouble, isNoTls, reasonOfConnection } from './connection-error.ts';

export interface ReachOptions {
  /** Seconds to wait for a server that does not listen yet: it may be starting at the same time. */
  seconds: number;
  signal?: AbortSignal | undefined;
  /** Called once, when the wait begins. */
  onWait: (reason: string) => void;
}

const FIRST_DELAY_MS = 250;
const LONGEST_DELAY_MS = 4000;
const CONNECT_MS = 5000;

/** Waits until a model server listens at its address. @throws Error that names the address and says what to do */
export async function reachModel(url: string, { seconds, signal, onWait }: ReachOptions): Promise<void> {
  const until = performance.now() + seconds * 1000;
  for (let delay = FIRST_DELAY_MS, hasSaid = false; ; delay = Math.min(2 * delay, LONGEST_DELAY_MS)) {
    signal?.throwIfAborted();
    const found = await reachProblem(url, signal);
    if (found === null) return;
    const { problem, isFinal } = found;
    if (isFinal) throw new Error(`--model-url ${url}: ${problem}`);
    if (performance.now() + delay > until)
      throw new Error(
        `--model-url ${url}: ${problem}; no model server answers there: start it, or name another address`,
      );
    if (!hasSaid) onWait(`${url}: ${problem}; waiting up to ${seconds} s for a model server there`);
    hasSaid = true;
    await pause(delay, signal);
  }
}

interface Problem {
  problem: string;
  /** Waiting does not help. */
  isFinal: boolean;
}

/** Uses TLS for https:// addresses, so that an untrusted certificate is reported before the first rollout. */
function reachProblem(url: string, signal: AbortSignal | undefined): Promise<Problem | null> {
  const { hostname, port, protocol } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, '');
  const isTls = protocol === 'https:';
  return new Promise((resolve) => {
    const place = { host, port: Number(port) || (isTls ? 443 : 80), timeout: CONNECT_MS };
    const socket = isTls ? connectTls({ ...place, ...(isIP(host) ? {} : { servername: host }) }) : connect(place);
    const end = (found: Problem | null) => {
      stopListening();
      socket.destroy();
      resolve(found);
    };
    const stopListening = onAbort(signal, () => end({ problem: 'interrupted', isFinal: false }));
    socket.once(isTls ? 'secureConnect' : 'connect', () => end(null));
    socket.once('timeout', () => end({ problem: `no connection in ${CONNECT_MS / 1000} s`, isFinal: false }));
    socket.once('error', (error) =>
      end({ problem: reasonOfConnection(error), isFinal: isCertificateTrouble(error) || isNoTls(error) }),
    );
  });
}
