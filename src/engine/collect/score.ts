import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json/value.ts';
import { errorMessage } from '../../core/text/thrown.ts';
import { type Cause, RolloutFault } from '../common/faults.ts';
import { messageText } from '../common/message.ts';
import type { RolloutRequest } from '../request/request.ts';
import {
  type OverlongBuffer,
  type RewardFn,
  type RewardRouter,
  type RewardTask,
  rewardNumber,
  withOverlong,
} from '../rewards/index.ts';
import type { Task } from './tasks.ts';

/** The score of a rollout, and how it was obtained. */
export interface Judgement {
  /** The name of the reward function; '' if none was asked. */
  name: string;
  score: number | null;
  metadata: JsonObject;
  /** Why there is no score. */
  error: string | null;
  /** The same as an entry of the fault table. */
  cause?: Cause | null;
}

/** Functions that use only the answer, or their own ground truth. */
const WITHOUT_TRUTH = new Set([
  'dummy',
  'is_two',
  'calculate',
  'tool_reward',
  'http',
  'user_turns',
  'session',
  'environment',
]);

/** Runs the task's reward function on the last assistant turn; a rollout that ended neither by itself nor by a limit is not judged. */
export async function judgeRollout(
  task: Task,
  request: RolloutRequest,
  rewards: RewardRouter,
  signal: AbortSignal | undefined,
): Promise<Judgement> {
  const none = (cause: Cause | null, error: string | null, name = ''): Judgement => ({
    name,
    score: null,
    metadata: {},
    error,
    cause,
  });
  if (request.state !== 'completed') return none(request.cause, request.error);
  if (request.cause === 'content_filter') return none('content_filter', 'the server’s content filter stopped the turn');
  const found = requestReward(task, request, rewards);
  if (found === null) return none('no_reward', `no reward function for ${sourceText(task)}, and no tool gave a reward`);
  const { name, fn } = found;
  if (name === 'tool_reward' && request.rewardFailure !== null)
    return none('reward_fault', request.rewardFailure, name);
  if (task.groundTruth === null && !WITHOUT_TRUTH.has(name) && !isOwn(name))
    return none('no_truth', `reward '${name}' needs a ground truth, and the task has none`, name);
  try {
    const output = await fn(rewardTask(task, request), judgedText(request), signal);
    const reward = rewardNumber(output);
    if (!Number.isFinite(reward)) return none('reward_fault', `reward '${name}' gave ${reward}`, name);
    return { name, score: reward, metadata: output.metadata ?? {}, error: null, cause: null };
  } catch (error) {
    const cause = signal?.aborted ? 'interrupted' : error instanceof RolloutFault ? error.reason : 'reward_fault';
    return none(cause, errorMessage(error), name);
  }
}

/** The score minus the length penalty. */
export function withPenalty(judgement: Judgement, request: RolloutRequest, buffer: OverlongBuffer | null): Judgement {
  if (buffer === null || judgement.score === null) return judgement;
  const tokens = responseTokens(request);
  if (tokens === null) {
    const error = 'overlong_buffer counts tokens, and the server reports none: use an --api with token ids';
    return { ...judgement, score: null, error, cause: 'no_reward' };
  }
  const { score, penalty } = withOverlong(judgement.score, tokens, buffer);
  return { ...judgement, score, metadata: { ...judgement.metadata, overlong_reward: penalty, overlong: penalty < 0 } };
}

/** Counted by ids, else from the server's figures: everything before the last turn plus the turn itself, without the prompt. */
function responseTokens({ transcript, generations }: RolloutRequest): number | null {
  if (transcript.responseTokens !== null) return transcript.responseTokens;
  const [first, last] = [generations[0], generations.at(-1)];
  if (!first || !last || first.prompt_tokens === null || last.prompt_tokens === null || last.completion_tokens === null)
    return null;
  return last.prompt_tokens + last.completion_tokens - first.prompt_tokens;
}

/** A user's own file checks its inputs itself. */
const isOwn = (name: string): boolean => /[./\\]/.test(name);

const sourceText = ({ dataSource }: Task): string =>
  dataSource === undefined ? 'a task without data_source' : `data_source '${dataSource}'`;

/** The function for the data source; otherwise the reward of the tools or the simulated user. */
function requestReward(
  task: Task,
  request: RolloutRequest,
  rewards: RewardRouter,
): { name: string; fn: RewardFn } | null {
  const routed = routeOf(rewards, task.dataSource);
  if (routed !== null && routed.name !== 'tool_reward') return routed;
  if (Object.values(request.rewardScores).some((score) => typeof score === 'number') || request.rewardFailure !== null)
    return { name: 'tool_reward', fn: toolReward };
  const last = request.turnScores.at(-1);
  return last === undefined ? null : { name: 'user_turns', fn: () => ({ reward: last.score, metadata: {} }) };
}

/** Null if no function is named for the data source. */
export function routeOf(rewards: RewardRouter, dataSource: string | undefined): { name: string; fn: RewardFn } | null {
  try {
    return rewards.for(dataSource);
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

const toolReward: RewardFn = ({ reward_scores }) => {
  const scores = isJsonObject(reward_scores) ? Object.values(reward_scores) : [];
  return { reward: scores.reduce((sum: number, one) => sum + (typeof one === 'number' ? one : 0), 0), metadata: {} };
};

function rewardTask(task: Task, request: RolloutRequest): RewardTask {
  const question = task.messages.findLast(({ role }) => role === 'user');
  return {
    ground_truth: task.groundTruth,
    data_source: task.dataSource,
    question: question ? messageText(question) : '',
    extra_info: task.extraInfo,
    reward_scores: request.rewardScores as JsonValue,
    request_id: request.requestId,
    response_str: request.transcript.output,
    num_turns: request.assistantTurns + request.userTurns + 1,
    ...(request.sid === null ? {} : { sid: request.sid }),
  };
}

/** verl's naive manager reads the whole response, so a tool's `#### 42` scores for the model. */
function judgedText(request: RolloutRequest): string {
  if (request.rules.scoresWholeResponse) return request.transcript.output;
  const last = request.messages.slice(request.promptLength).findLast(({ role }) => role === 'assistant');
  return last ? messageText(last) : '';
}
