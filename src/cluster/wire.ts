import { z } from 'zod';
import { parseJson } from '../core/json/parse.ts';
import { printJson } from '../core/json/print.ts';
import { type JsonObject, keysIn, listIn } from '../core/json/value.ts';
import type { CollectedRollout, RolloutJob, RolloutOutcome } from '../engine/collect/collector.ts';
import type { Judgement } from '../engine/collect/score.ts';
import { type Cause, FAULT_TABLE } from '../engine/common/faults.ts';
import type { Message } from '../engine/common/message.ts';
import type { GenerationRecord, PartialRollout, RolloutWarning } from '../engine/request/records.ts';
import type { CallRecord } from '../engine/request/tool-calls.ts';

const CAUSES = keysIn(FAULT_TABLE);

/** A rollout to make, with any part left by an earlier run. */
export interface SentJob extends RolloutJob {
  partial?: PartialRollout | undefined;
}

export const encodeJob = (job: SentJob): string => printJson(job);

/** NaN and the infinities are sent as texts, large integers with all their digits. */
export const Numeric = z.union([z.number(), z.bigint(), z.enum(['NaN', 'Infinity', '-Infinity'])]);
const Objects = z.array(z.looseObject({}));
const Messages = z.array(z.looseObject({ role: z.string(), content: z.union([z.string(), Objects]) }));

const Job = z.object({
  step: z.number(),
  rollout: z.number(),
  task: z.looseObject({
    index: z.number(),
    key: z.string().max(1000),
    messages: Messages,
    dataSource: z.string().nullish(),
    extraInfo: z.looseObject({}),
    toolsKwargs: z.record(z.string(), z.looseObject({})),
    toolSelection: z.array(z.string()).nullish(),
    interactionKwargs: z.looseObject({}).nullish(),
  }),
  partial: z
    .looseObject({
      request_id: z.string(),
      messages: Messages,
      calls: Objects,
      generations: Objects,
      transcript: z.looseObject({}),
    })
    .nullish(),
});

const Outcome = z.object({
  state: z.string(),
  status: z.string(),
  finishReason: z.string().nullable(),
  error: z.string().nullable(),
  warnings: z.array(z.object({ kind: z.string(), message: z.string() })),
  duration: Numeric,
  messages: Messages.nullish(),
  generations: Objects.nullish(),
  calls: Objects.nullish(),
  partial: z.looseObject({ request_id: z.string(), messages: Messages, transcript: z.looseObject({}) }).nullish(),
  judgement: z.looseObject({
    name: z.string(),
    score: Numeric.nullable(),
    metadata: z.looseObject({}),
    error: z.string().nullable(),
  }),
  cause: z.enum(CAUSES).nullable(),
  record: z.looseObject({}).nullable(),
});

/** @throws Error for anything but a job of this version */
export const decodeJob = (text: string): SentJob => Job.parse(parseJson(text)) as unknown as SentJob;

/** The outcome of a rollout, as text. Values in its line are not repeated. */
export function encodeOutcome({ request, judgement, cause, record }: CollectedRollout<RolloutOutcome>): string {
  const { state, status, finishReason, error, warnings, duration } = request;
  const partial = state === 'suspended' ? { partial: request.partial() } : {};
  const own = { state, status, finishReason, error, warnings, duration, ...partial };
  const more =
    record === null ? { messages: request.messages, generations: request.generations, calls: request.calls } : {};
  return printJson({ ...own, ...more, judgement, cause, record });
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
  partial?: PartialRollout;
  judgement: Judgement;
  cause: Cause | null;
  record: JsonObject | null;
}

/** @throws Error for anything but an outcome from a worker of this version */
export function decodeOutcome(text: string, job: RolloutJob): CollectedRollout<RolloutOutcome> {
  const { judgement, cause, record, ...request } = Outcome.parse(parseJson(text)) as unknown as SentOutcome;
  const listOf = (key: string) => listIn(record?.[key]);
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
        if (request.partial === undefined) throw new Error('the rollout is not half-made');
        return request.partial;
      },
    },
  };
}

/** A rollout that failed outside of any engine. */
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
    }),
    job,
  );
