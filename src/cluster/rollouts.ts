import { join } from 'node:path';
import type { JsonObject } from '../core/json/value.ts';
import type { MakeRollout, RolloutOutcome } from '../engine/collect/collector.ts';
import type { ElsewhereParts, MakeElsewhere } from '../engine/collect/run-options.ts';
import { STATE_DIRECTORY } from '../engine/collect/run-state.ts';
import type { Settings } from '../engine/collect/settings.ts';
import { SetupError } from '../engine/collect/setup-error.ts';
import type { RunJobs } from './jobs.ts';
import type { QueuePlace } from './place.ts';
import { runIn } from './run-id.ts';
import { runToSend } from './sent-run.ts';
import { decodeOutcome, encodeJob, failedOutcome } from './wire.ts';

export interface ProducerOptions {
  settings: Settings;
  /** A folder shared with workers, for texts that are too large for Redis. */
  share?: string | undefined;
  say: (message: string) => void;
}

/** The folder for the state of a run that writes a dump. */
export const stateOf = (out: string): string => join(out, STATE_DIRECTORY);

/** Has workers make rollouts. Only this process writes the dump; a restarted run picks up the results its workers made meanwhile. */
export class QueuedRollouts implements MakeElsewhere {
  readonly #jobs: RunJobs;
  readonly #partialOf: ElsewhereParts['partialOf'];

  private constructor(jobs: RunJobs, partialOf: ElsewhereParts['partialOf']) {
    this.#jobs = jobs;
    this.#partialOf = partialOf;
  }

  /** @throws SetupError for parts that cannot be sent */
  static async open(
    shared: QueuePlace,
    { settings, share, say }: ProducerOptions,
    { files, partialOf, signal, suspend }: ElsewhereParts,
  ): Promise<QueuedRollouts> {
    const texts = shared.texts(share);
    const data = await runToSend(settings, texts, files).catch((error: Error) => {
      throw new SetupError(`--queue: ${error.message}`);
    });
    const { run: id } = await runIn(stateOf(settings.out!));
    const what = settings.out!;
    const jobs = await shared.jobs({ id, kind: 'rollouts', what, data, texts, say, signal, suspend });
    return new QueuedRollouts(jobs, partialOf);
  }

  readonly make: MakeRollout<RolloutOutcome> = async (job) => {
    const { step, task, rollout } = job;
    const partial = this.#partialOf?.(task.key, rollout, step);
    const end = await this.#jobs.ask(`${step}.${task.key}.${rollout}`, encodeJob({ ...job, partial }), (text) =>
      decodeOutcome(text, job),
    );
    if (end === 'idle') return null;
    if ('made' in end) return end.made;
    return 'lost' in end ? failedOutcome(job, 'worker_lost', end.lost) : failedOutcome(job, 'own_fault', end.unsent);
  };

  status(): JsonObject {
    const { stages, ...queue } = this.#jobs.status;
    return { at: stages, queue: { ...queue } };
  }

  close(isOver: boolean): Promise<void> {
    return this.#jobs.close(isOver);
  }
}
