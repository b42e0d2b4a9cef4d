import PQueue from 'p-queue';
import type { Journal } from './journal/journal.ts';
import type { ReplayOutcome } from './outcome.ts';
import type { PlannedCall } from './plan.ts';
import { type CallState, type ReplayOptions, replayCall } from './replay-call.ts';
import { howOf, keepOutcome, knownOutcome, staleParts } from './results.ts';
import { Notebooks } from './run-call.ts';

export interface BulkOptions extends Omit<ReplayOptions, 'onState' | 'notebooks'> {
  /** The calls of one rollout after another, planned only as needed. */
  rollouts: AsyncIterable<readonly PlannedCall[]> | Iterable<readonly PlannedCall[]>;
  /** Calls in flight; default: the backend's own concurrency. */
  concurrency?: number | undefined;
  /** The backend itself limits how many programs run, so submit as many as it accepts. */
  isQueued?: boolean;
  journal?: Journal | undefined;
  /** Skips calls that already have an answer in the journal. */
  resume?: boolean;
  onState?: ((plan: PlannedCall, state: CallState) => void) | undefined;
  /** Called for each call that was run, as soon as the journal has it: a slow call delays the yielded results, not this. */
  onOutcome?: ((plan: PlannedCall, outcome: ReplayOutcome) => void) | undefined;
  /** Ends one call alone; it then has no outcome, and the others continue. */
  signalOf?: ((plan: PlannedCall) => AbortSignal | undefined) | undefined;
}

export interface BulkResult {
  plan: PlannedCall;
  outcome: ReplayOutcome;
  /** It was run before and comes from the journal. */
  known: boolean;
  /** Why the journal's answer was not used, one entry per reason. */
  stale: readonly string[];
}

/** Calls planned ahead of the one being waited for, so that a slow call does not hold up the others. */
const AHEAD = 32;

/**
 * Replays many calls and yields each exactly once, in order. Each result is in the journal before it is yielded, so a killed run continues
 * where it was with `resume`. After an abort the generator ends with what was finished; a call that was cut off yields nothing.
 */
export async function* replayMany(options: BulkOptions): AsyncGenerator<BulkResult> {
  const { rollouts, backend, journal, resume = false, onState, onOutcome, signal, signalOf } = options;
  const concurrency = options.concurrency ?? backend.concurrency;
  const queue = new PQueue({ concurrency });
  const programs = options.isQueued ? new PQueue({ concurrency: backend.concurrency }) : queue;
  const waiting: Promise<BulkResult | null>[] = [];
  const start = (plan: PlannedCall, notebooks: Notebooks): Promise<BulkResult | null> => {
    const how = howOf(plan, options);
    const asks = resume && journal !== undefined && plan.skip === null;
    const known = asks ? knownOutcome(journal, plan, how) : null;
    const stale = asks && known === null ? staleParts(journal, plan, how) : [];
    if (known !== null) {
      onState?.(plan, { kind: 'done', outcome: known });
      onOutcome?.(plan, known);
      return Promise.resolve({ plan, outcome: known, known: true, stale });
    }
    onState?.(plan, { kind: 'queued' });
    const own = signalOf?.(plan) ?? signal;
    let isReported = false;
    const cancelled = () => {
      if (!isReported) onState?.(plan, { kind: 'cancelled' });
      isReported = true;
      return null;
    };
    // A call waiting for its slot is cancelled at once, not when its slot comes up.
    if (own !== signal) own?.addEventListener('abort', cancelled, { once: true });
    return (plan.code === null ? queue : programs).add(async () => {
      if (own?.aborted || signal?.aborted) return cancelled();
      const run = { ...options, signal: own, notebooks, onState: (state: CallState) => onState?.(plan, state) };
      try {
        const outcome = await replayCall(plan, run);
        if (journal !== undefined) keepOutcome(journal, plan, how, outcome);
        onOutcome?.(plan, outcome);
        return { plan, outcome, known: false, stale };
      } catch (error) {
        if (own?.aborted || signal?.aborted) return cancelled();
        throw error;
      }
    });
  };
  try {
    for await (const plans of rollouts) {
      if (signal?.aborted) break;
      const notebooks = new Notebooks();
      for (const plan of plans) notebooks.want(plan);
      for (const plan of plans) {
        waiting.push(start(plan, notebooks));
        waiting.at(-1)?.catch(() => {});
        while (waiting.length > Math.max(queue.concurrency, programs.concurrency) + AHEAD) {
          const result = await waiting.shift();
          if (result) yield result;
        }
      }
    }
    for (const one of waiting) {
      const result = await one;
      if (result) yield result;
    }
  } finally {
    queue.clear();
    programs.clear();
  }
}
