import { linked } from '../../async/abort.ts';
import type { Generation, ModelRequest } from './model.ts';

/** A turn that a deadline ended. */
class Suspended extends Error {}

/** Milliseconds that a server has for giving what it sampled of an aborted turn. */
const GRACE_MS = 3000;

type Asking = (signal: AbortSignal | undefined) => Promise<{ value: Omit<Generation, 'retries'>; retries: number }>;

/**
 * Asks for a turn until it ends, or `request.suspend` does: then the server is asked to end it (`abort`), which gives what was sampled, or
 * its connection is closed, and `soFar` says what had come.
 */
export async function untilSuspended(
  { signal, suspend }: Pick<ModelRequest, 'signal' | 'suspend'>,
  asking: Asking,
  soFar: () => Omit<Generation, 'retries'>,
  abort?: () => Promise<unknown>,
): Promise<Generation> {
  if (suspend === undefined) {
    const { value, retries } = await asking(signal);
    return { ...value, retries };
  }
  if (suspend.aborted) return { ...soFar(), retries: 0 };
  const { abort: stop, unlink } = linked(signal);
  let timer: NodeJS.Timeout | undefined;
  const onSuspend = () => {
    if (abort === undefined) return stop.abort(new Suspended());
    timer = setTimeout(() => stop.abort(new Suspended()), GRACE_MS);
    void abort().catch(() => stop.abort(new Suspended()));
  };
  suspend.addEventListener('abort', onSuspend, { once: true });
  try {
    const { value, retries } = await asking(stop.signal);
    return { ...value, retries };
  } catch (error) {
    if (error instanceof Suspended || stop.signal.reason instanceof Suspended) return { ...soFar(), retries: 0 };
    throw error;
  } finally {
    clearTimeout(timer);
    suspend.removeEventListener('abort', onSuspend);
    unlink();
  }
}
