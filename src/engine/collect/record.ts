import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json/value.ts';
import { type Cause, outcomeOf } from '../common/faults.ts';
import { monteCarloReturns } from '../common/returns.ts';
import type { TrajectoryStatus } from '../common/status.ts';
import type { RolloutRequest } from '../request/request.ts';
import type { Transcript } from '../request/transcript.ts';
import type { Judgement } from './score.ts';
import type { Task } from './tasks.ts';

export interface RecordContext {
  task: Pick<Task, 'key' | 'groundTruth' | 'dataSource'> & { extraInfo?: JsonObject };
  /** Its number among the rollouts of the task, from 0. */
  rollout: number;
  step: number;
  model: string;
  /** Discount of the returns. */
  gamma: number;
  judgement: Judgement;
  /** The fault that ended or spoilt the rollout. */
  cause?: Cause | null;
}

/** Identifies the writer of a record, and so the format. Dump lines are packed (`formats/engine-line`). */
export const WRITER = 'rollout-viewer/1';

/** Whether this program wrote the line, in this version or an earlier one. */
export const isOwnLine = (record: JsonValue): record is JsonObject =>
  isJsonObject(record) && typeof record.writer === 'string' && record.writer.startsWith('rollout-viewer/');

/** verl's `{prompt_uid}_{session_id}_{output_index}` (V1 trainer), which readers group by. */
export const uidOf = (taskKey: string, rollout: number): string => `${taskKey}_${rollout}_0`;

/**
 * One line of the dump: verl's keys, plus the data that verl's dumps omit. The short keys come last, so that an index finds score and step
 * at the line's end. Indices count messages from 0; offsets count UTF-16 units of `input` and `output`; times are seconds.
 */
export function rolloutRecord(request: RolloutRequest, context: RecordContext): JsonObject {
  const { task, rollout, judgement, gamma, cause = request.cause } = context;
  const shown = shownTranscript(request);
  const { weightSpans: weights, promptLogprobs: judged } = request.transcript;
  const { turnRewards, returns } = rewardsOfTurns(request, judgement, gamma);
  const { promptIds, responseIds, responseMask, responseLogprobs } = shown;
  const record: JsonObject = {
    input: shown.input,
    output: shown.output,
    gts: task.groundTruth,
    messages: request.messages,
    tools: request.toolSchemas as unknown as JsonValue,
    tool_calls: request.calls.map(withRoundTimes),
    generations: request.generations.map(withRoundTimes),
    spans: shown.spans,
  };
  // Set one by one: keys behind a copied part of a literal make the object slow.
  if (responseIds) {
    record.prompt_ids = promptIds;
    record.response_ids = responseIds;
    record.response_mask = responseMask;
    if (judged) record.prompt_log_probs = judged;
    if (responseLogprobs) record.rollout_log_probs = responseLogprobs;
  }
  if (weights.length > 0) record.weight_versions = weights;
  // Rerunning a call or a score needs its original inputs.
  if (task.extraInfo !== undefined && Object.keys(task.extraInfo).length > 0) record.extra_info = task.extraInfo;
  record.turn_rewards = turnRewards;
  record.returns = returns;
  record.gamma = gamma;
  record.reward_scores = request.rewardScores;
  record.metrics = request.metrics;
  record.reward = { name: judgement.name, metadata: judgement.metadata, error: judgement.error };
  record.warnings = request.warnings.map(({ message }) => message);
  record.sampling_params = request.sampling as JsonObject;
  record.model = context.model;
  record.data_source = task.dataSource ?? null;
  record.mask_source = request.isRewritten ? 'rewritten' : 'recorded';
  record.prompt_turns = request.promptLength;
  if (request.startedAt !== null) record.started_at = rounded(request.startedAt);
  record.duration = rounded(request.duration);
  record.error = request.error ?? judgement.error;
  record.state = request.state;
  record.writer = WRITER;
  if (request.sid !== null) record.sid = request.sid;
  record.request_id = request.requestId;
  record.finish_reason = request.finishReason;
  record.cause = cause;
  record.status = statusOf(request, cause);
  record.score = judgement.score;
  record.step = context.step;
  record.uid = uidOf(task.key, rollout);
  return record;
}

/** Times are no more precise than milliseconds. */
const rounded = (seconds: number): number => Math.round(seconds * 1e3) / 1e3;

function withRoundTimes<T extends RoundTimes>(record: T): T {
  const own: { -readonly [key in keyof RoundTimes]: RoundTimes[key] } & T = { ...record };
  for (const key of TIMES) if (typeof own[key] === 'number') own[key] = rounded(own[key]);
  return own;
}
const TIMES = ['started', 'duration', 'waited'] as const;
type RoundTimes = { readonly [key in (typeof TIMES)[number]]?: number | null };

type ShownTranscript = Pick<
  Transcript,
  'input' | 'output' | 'spans' | 'promptIds' | 'responseIds' | 'responseMask' | 'responseLogprobs'
>;

/** verl takes the last `len(mask)` ids as the response, so for a response without tokens it is the whole prompt. */
function shownTranscript({ transcript, rules }: RolloutRequest): ShownTranscript {
  if (rules.version === null || transcript.responseTokens !== 0) return transcript;
  const { input, spans, promptIds } = transcript;
  const again = spans.filter(({ field }) => field === 'input').map((span) => ({ ...span, field: 'output' }));
  return {
    input,
    output: input,
    spans: [...spans, ...again],
    promptIds,
    responseIds: promptIds,
    responseMask: [],
    responseLogprobs: null,
  };
}

/** A rollout that ended well but could not be scored shows this in the field readers check first. */
const statusOf = ({ status }: RolloutRequest, cause: Cause | null): TrajectoryStatus =>
  status === 'SUCCEEDED' && outcomeOf(cause) === 'unscored' ? 'NOT_SCORED' : status;

/** Rewards per message: a turn earns the step rewards of its calls, and the last one also the score; null if nothing was earned. */
function rewardsOfTurns(
  request: RolloutRequest,
  { score, name }: Judgement,
  gamma: number,
): { turnRewards: (number | null)[]; returns: (number | null)[] } {
  const turnRewards = request.messages.map((): number | null => null);
  const earn = (turn: number, reward: number) => {
    turnRewards[turn] = (turnRewards[turn] ?? 0) + reward;
  };
  for (const { turn, reward } of request.calls) if (reward !== null) earn(turn, reward);
  for (const { turn, score: own } of request.turnScores) earn(turn, own);
  const turns = request.generations.map(({ turn }) => turn);
  const last = turns.at(-1);
  // The score of an environment is the sum of its steps' rewards, which are already at their turns.
  const isEnvironment = name === 'environment';
  const counted = isEnvironment ? request.turnScores.reduce((sum, { score: own }) => sum + own, 0) : 0;
  const isEarned = score !== null && !(isEnvironment && score === counted);
  if (isEarned && last !== undefined) earn(last, score - counted);
  const sums = monteCarloReturns(
    turns.map((turn) => turnRewards[turn] ?? 0),
    gamma,
  );
  const returns = request.messages.map((_, index) => sums[turns.indexOf(index)] ?? null);
  return { turnRewards, returns };
}
