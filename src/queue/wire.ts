import { z } from 'zod';
import type { CollectedRollout, RolloutJob, RolloutOutcome } from '../engine/collect/collector.ts';
import type { Judgement } from '../engine/collect/score.ts';
import type { Settings } from '../engine/collect/settings.ts';
import type { Cause } from '../engine/faults.ts';
import type { Message } from '../engine/message.ts';
import type { GenerationRecord, RolloutWarning } from '../engine/request/records.ts';
import type { CallRecord } from '../engine/request/tool-calls.ts';
import { parseJson } from '../json/parse.ts';
import { type Printable, printJson } from '../json/print.ts';
import type { JsonObject, JsonValue } from '../json/value.ts';
import { TextPlace } from './texts.ts';

/** A file that a setting names: its content travels, for its path means nothing on another machine. */
const SentFile = z.object({ key: z.string(), name: z.string(), content: TextPlace });

/** What the rollouts of one run are made with. No secrets: a worker has its own. */
export const SentRun = z.object({
  version: z.string(),
  settings: z.record(z.string(), z.unknown()),
  files: z.array(SentFile),
  out: z.string(),
  host: z.string(),
  started: z.string(),
});
export type SentRun = Omit<z.infer<typeof SentRun>, 'settings'> & { settings: Settings };

/** The data of a job in the queue. */
export const JobData = z.object({ run: z.string(), job: TextPlace });
export type JobData = z.infer<typeof JobData>;

export const encodeJob = (job: RolloutJob): string => printJson(job as unknown as Printable);
export const decodeJob = (text: string): RolloutJob => parseJson(text) as unknown as RolloutJob;

/** What became of a rollout, as text. What its line says is not said twice. */
export function encodeOutcome({ request, judgement, cause, record }: CollectedRollout<RolloutOutcome>): string {
  const { state, status, finishReason, error, warnings, duration } = request;
  const own = { state, status, finishReason, error, warnings, duration };
  const more =
    record === null ? { messages: request.messages, generations: request.generations, calls: request.calls } : {};
  return printJson({ ...own, ...more, judgement, cause, record } as unknown as Printable);
}

interface SentOutcome {
  state: CollectedRollout['request']['state'];
  status: CollectedRollout['request']['status'];
  finishReason: CollectedRollout['request']['finishReason'];
  error: string | null;
  warnings: RolloutWarning[];
  duration: number;
  messages?: Message[];
  generations?: GenerationRecord[];
  calls?: CallRecord[];
  judgement: Judgement;
  cause: Cause | null;
  record: JsonObject | null;
}

export function decodeOutcome(text: string, job: RolloutJob): CollectedRollout<RolloutOutcome> {
  const { judgement, cause, record, ...request } = parseJson(text) as unknown as SentOutcome;
  const listOf = (key: string) => (record?.[key] ?? []) as JsonValue[];
  return {
    ...job,
    judgement,
    cause,
    record,
    request: {
      ...request,
      messages: request.messages ?? (listOf('messages') as unknown as Message[]),
      generations: request.generations ?? (listOf('generations') as unknown as GenerationRecord[]),
      calls: request.calls ?? (listOf('tool_calls') as unknown as CallRecord[]),
      partial: () => {
        throw new Error('a rollout of a worker is never half-made');
      },
    },
  };
}

/** A rollout that came to nothing outside of any engine. */
export const failedOutcome = (job: RolloutJob, cause: Cause, error: string): CollectedRollout<RolloutOutcome> =>
  decodeOutcome(
    printJson({
      state: 'failed',
      status: 'FAILED',
      finishReason: null,
      error,
      warnings: [],
      duration: 0,
      messages: job.task.messages,
      judgement: { name: '', score: null, metadata: {}, error },
      cause,
      record: null,
    } as unknown as Printable),
    job,
  );

/** What a worker returns: the place of the outcome. BullMQ's events give it as JSON. */
export const outcomePlace = (value: unknown): TextPlace =>
  z.object({ made: TextPlace }).parse(typeof value === 'string' ? JSON.parse(value) : value).made;
