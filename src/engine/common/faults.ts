import type { Fault } from '../../core/rollout/error-kind.ts';

/**
 * The fate of a rollout: a line with its score; a line with a null score, which no group counts; or no line: it is noted
 * as a failure, and `--resume` retries it.
 */
export type FaultOutcome = 'scored' | 'unscored' | 'again';

interface Rule {
  fault: Fault;
  outcome: FaultOutcome;
  /** A phrase for people, printed after the number of affected rollouts. */
  says: string;
  /** Whether one trivial request can show that the server as a whole has this problem. Only such evidence ends a run. */
  probes?: boolean;
  /** The same run retries the rollout a few times before it counts as a failure. */
  remade?: boolean;
}

/**
 * The single failure policy: what ended a rollout early, or spoilt it, and what becomes of it. A model should learn from its own actions,
 * never from failures around it, so no fault of the world results in a score.
 */
export const FAULT_TABLE = {
  cut_by_length: { fault: 'model', outcome: 'scored', says: 'cut by length' },
  context_full: { fault: 'model', outcome: 'scored', says: 'ended with a full context' },
  turn_limit: { fault: 'model', outcome: 'scored', says: 'ended by the limit of turns' },
  /** Unknown tools, undecodable arguments, failing programs: the model reads the error, and is judged as usual. */
  tool_error_of_model: { fault: 'model', outcome: 'scored', says: 'had a tool error of the model’s making' },
  /** A tool that throws, or takes too long, cannot say whose fault it was; verl lets the model read it. */
  tool_raised: {
    fault: 'tool',
    outcome: 'scored',
    says: 'called a tool that raised an exception, or did not answer in time',
  },
  prompt_too_long: { fault: 'ours', outcome: 'again', says: 'had a prompt that is longer than the window' },
  prompt_not_rendered: { fault: 'ours', outcome: 'again', says: 'could not be rendered by the chat template' },
  model_refused: { fault: 'ours', outcome: 'again', says: 'refused by the model server', probes: true },
  model_gone: { fault: 'world', outcome: 'again', says: 'failed by the model server', probes: true },
  model_hung: { fault: 'world', outcome: 'again', says: 'left waiting by the model server', probes: true },
  model_aborted: { fault: 'world', outcome: 'again', says: 'aborted by the model server', probes: true },
  content_filter: { fault: 'world', outcome: 'unscored', says: 'stopped by the content filter of the server' },
  timeout: { fault: 'ours', outcome: 'unscored', says: 'over the time limit of a rollout' },
  sandbox_fault: { fault: 'world', outcome: 'again', says: 'failed by the sandbox' },
  toolchain_missing: { fault: 'ours', outcome: 'again', says: 'in need of a toolchain that the sandbox does not have' },
  tool_unavailable: { fault: 'world', outcome: 'again', says: 'failed by a tool' },
  /** The session's server restarted, or the instance's process was ended for another's call: not this rollout's fault. */
  state_lost: {
    fault: 'world',
    outcome: 'again',
    says: 'lost with the session or the process that held its state',
    remade: true,
  },
  user_fault: { fault: 'world', outcome: 'again', says: 'failed by the simulated user' },
  reward_fault: { fault: 'world', outcome: 'again', says: 'not scored: the reward could not be asked' },
  no_truth: { fault: 'ours', outcome: 'unscored', says: 'not scored: the task has no ground truth' },
  no_reward: { fault: 'ours', outcome: 'unscored', says: 'not scored: no reward function is named for the task' },
  worker_lost: { fault: 'world', outcome: 'again', says: 'lost with the workers that were at it' },
  /** The user's own doing: nothing is reported, and the run resumes from here. */
  interrupted: { fault: 'ours', outcome: 'again', says: 'broken off' },
  own_fault: { fault: 'ours', outcome: 'again', says: 'failed by an error of this program' },
} as const satisfies Record<string, Rule>;

export type Cause = keyof typeof FAULT_TABLE;

export const ruleOf = (cause: Cause): Rule => FAULT_TABLE[cause];

/** A rollout without a fault gets a score. */
export const outcomeOf = (cause: Cause | null): FaultOutcome =>
  cause === null ? 'scored' : FAULT_TABLE[cause].outcome;

/** A fault whose cause is known where it occurs; thrown, it ends the rollout. */
export class RolloutFault extends Error {
  override name = 'RolloutFault';
  readonly reason: Cause;
  constructor(reason: Cause, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}
