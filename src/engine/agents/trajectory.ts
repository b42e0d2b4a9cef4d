import type { JsonObject, JsonValue } from '../../core/json/value.ts';
import type { Message } from '../common/message.ts';
import type { TrajectoryStatus } from '../common/status.ts';

/** The agent's action on the environment; the two agree on its shape. Null: the agent has no action. */
export type AgentAction = JsonValue;
export type Observation = JsonValue;

/** One model turn with the environment's answer: Tunix's Step (`tunix/rl/agentic/agents/agent_types.py`). Omitted fields are empty. */
export class AgentStep {
  /** The messages up to and including this step's reply. */
  chatCompletions: Message[] = [];
  thought = '';
  action: AgentAction | null = null;
  observation: Observation = null;
  modelResponse = '';
  info: JsonObject = {};
  reward = 0;
  done = false;
  /** The discounted sum of rewards from this step on. */
  mcReturn = 0;
  assistantTokens: number[] | null = null;
  /** 1 = sampled. */
  assistantMasks: number[] | null = null;
  envTokens: number[] | null = null;
  envMasks: number[] | null = null;
  /** The mask of the assistant tokens. */
  logprobs: number[] | null = null;

  constructor(given: Partial<AgentStep> = {}) {
    Object.assign(this, given);
  }
}

/** An agent's steps and rewards. Omitted fields are empty. */
export class Trajectory {
  task: JsonValue = null;
  steps: AgentStep[] = [];
  /** The undiscounted sum of the steps' rewards. */
  reward = 0;
  status: TrajectoryStatus = 'RUNNING';
  /** Seconds. */
  envTime: { reset_latency?: number; step_latency?: number[]; close_latency?: number } = {};
  rewardTime: { reward_latency?: number } = {};
  /** Ids of everything before the first reply; null without a tokenizer. */
  promptTokens: number[] | null = null;
  /** Why it FAILED; not part of the dictionary. */
  error: string | null = null;

  constructor(given: Partial<Trajectory> = {}) {
    Object.assign(this, given);
  }
}

/** `Trajectory.to_dict()`: the same keys in the same order, safe to write as JSON. */
export function trajectoryToDict(trajectory: Trajectory): JsonObject {
  return {
    task: trajectory.task,
    steps: trajectory.steps.map((step) => ({
      chat_completions: step.chatCompletions,
      thought: step.thought,
      action: step.action === null ? null : { action: step.action },
      observation: step.observation,
      model_response: step.modelResponse,
      info: step.info,
      reward: step.reward,
      done: step.done,
      mc_return: step.mcReturn,
      assistant_tokens: step.assistantTokens,
      assistant_masks: step.assistantMasks,
      env_tokens: step.envTokens,
      env_masks: step.envMasks,
      logprobs: step.logprobs,
    })),
    reward: trajectory.reward,
    status: trajectory.status,
    env_time: { ...trajectory.envTime },
    reward_time: { ...trajectory.rewardTime },
  };
}
