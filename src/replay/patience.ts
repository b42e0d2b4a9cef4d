import { setTimeout as sleep } from 'node:timers/promises';
import { SandboxApiError } from '../sandbox/client.ts';

/** Why calls are waiting for a server, and until when (ms since the epoch). */
export interface WaitReason {
  reason: string;
  until: number;
}

export interface PatienceOptions {
  /** How long to wait for a server that answered before, from its first failure on. After that, each call tries once. */
  seconds: number;
  onWait: (reason: WaitReason | null) => void;
}

const BUSY = new Set([429, 502, 503, 504]);
const FIRST_DELAY_MS = 250;
const LONGEST_DELAY_MS = 10_000;
/** A server that has never answered is more likely a wrong address than a restart. */
const STRANGER_SECONDS = 5;

/**
 * Sends requests to a server that may be away or busy, until it answers or patience runs out. All calls share one pause: clients that each
 * retry on their own keep an overloaded server overloaded. A run is repeated only if no answer came, which is harmless here.
 */
export function patiently({ seconds, onWait }: PatienceOptions) {
  let pausedUntil = 0;
  let delay = FIRST_DELAY_MS;
  let hasAnswered = false;
  let outage: number | null = null;
  return async <T>(ask: () => Promise<T>, signal?: AbortSignal): Promise<T> => {
    for (;;) {
      const now = performance.now();
      if (pausedUntil > now) await sleep(pausedUntil - now, undefined, signal ? { signal } : {}).catch(rethrow(signal));
      try {
        const answer = await ask();
        if (outage !== null) onWait(null);
        hasAnswered = true;
        outage = null;
        delay = FIRST_DELAY_MS;
        return answer;
      } catch (error) {
        if (!(error instanceof SandboxApiError) || !isPassing(error)) throw error;
        const failed = performance.now();
        outage ??= failed;
        const waited = (failed - outage) / 1000;
        const left = (hasAnswered ? seconds : Math.min(seconds, STRANGER_SECONDS)) - waited;
        if (left <= 0) {
          const wait = waited < 1 ? '' : ` (waited ${Math.round(waited)} s)`;
          throw new SandboxApiError(error.kind, `${error.message}${wait}`, { cause: error });
        }
        // The first failure sets the pause; concurrent failures keep it.
        if (pausedUntil <= failed) {
          pausedUntil = failed + Math.min(delay * (0.75 + Math.random() / 2), left * 1000);
          delay = Math.min(delay * 2, LONGEST_DELAY_MS);
          onWait({ reason: shortly(error), until: Date.now() + (pausedUntil - failed) });
        }
      }
    }
  };
}

/** A restarting server refuses and resets, a busy one says so. A wrong answer or a permanent refusal is not retried. */
const isPassing = ({ kind, status }: SandboxApiError): boolean =>
  kind === 'connection' || (kind === 'http' && status !== undefined && BUSY.has(status));

const shortly = ({ kind, status }: SandboxApiError): string =>
  kind === 'connection'
    ? 'the sandbox cannot be reached'
    : status === 429
      ? 'the sandbox is busy (429)'
      : `the sandbox answered ${status}`;

const rethrow = (signal: AbortSignal | undefined) => (error: unknown) => {
  throw signal?.aborted ? signal.reason : error;
};
