import type { JsonObject, JsonValue } from '../../core/json/value.ts';

/** A reward function's answer for one rollout. Metadata is for the record: parsed answers, per-case verdicts, the cause of a 0. */
export class RewardOutput {
  reward: number;
  metadata: JsonObject;

  constructor(reward: number, metadata: JsonObject = {}) {
    if (typeof reward !== 'number')
      throw new TypeError(`new RewardOutput(reward, metadata): the reward is ${typeof reward}, not a number`);
    this.reward = reward;
    this.metadata = metadata;
  }
}

/** The number in what a reward function gave: itself, under `reward`, or under `score`, as verl's functions name it. @throws TypeError if it has none */
export function rewardNumber(given: unknown): number {
  const number =
    typeof given !== 'object' || given === null
      ? given
      : 'reward' in given
        ? given.reward
        : 'score' in given
          ? given.score
          : undefined;
  if (typeof number === 'number') return number;
  const shown =
    typeof given === 'object' && given !== null
      ? `an object of ${Object.keys(given).join(', ') || 'nothing'}`
      : String(given);
  throw new TypeError(`the reward function gave ${shown}: neither a number, nor one as reward or score`);
}

/** The task as reward functions see it, including all its other keys. */
export interface RewardTask {
  ground_truth?: JsonValue;
  data_source?: string | undefined;
  question?: JsonValue;
  extra_info?: JsonObject;
  /** The whole response without special tokens, including tool results: the text that verl's managers judge. */
  response_str?: string;
  /** verl's `__num_turns__`: the prompt, each turn of the model, and each answer to one. */
  num_turns?: number;
  [key: string]: JsonValue | undefined;
}

/** Judges `action`, the text of the last assistant turn. May throw: the rollout then has no score, and the cause is reported. */
export type RewardFn = (task: RewardTask, action: string, signal?: AbortSignal) => RewardOutput | Promise<RewardOutput>;

/** Named reward functions (`tunix/rl/agentic/rewards/reward.py`). */
export class RewardRegistry {
  readonly #fns = new Map<string, RewardFn>();

  /** @throws TypeError for a name already in use. */
  register(name: string, fn: RewardFn): RewardFn {
    if (this.#fns.has(name)) throw new TypeError(`reward function '${name}' is registered already`);
    this.#fns.set(name, fn);
    return fn;
  }

  /** Whether it existed. */
  unregister(name: string): boolean {
    return this.#fns.delete(name);
  }

  /** @throws RangeError listing the known names. */
  get(name: string): RewardFn {
    const fn = this.#fns.get(name);
    if (!fn) throw new RangeError(`unknown reward function '${name}'; known: ${this.names.join(', ')}`);
    return fn;
  }

  get names(): string[] {
    return [...this.#fns.keys()];
  }
}

const REGISTERED = new Map<string, RewardFn>();

/**
 * `register('mine')(fn)`, or `register('mine', fn)`: adds the function to `builtinRewards()`. @throws TypeError for a name already in use, and
 * for a value that is not a function
 */
export function register(name: string): (fn: RewardFn) => RewardFn;
export function register(name: string, fn: RewardFn): RewardFn;
export function register(name: string, fn?: RewardFn): RewardFn | ((fn: RewardFn) => RewardFn) {
  if (typeof name !== 'string' || name === '')
    throw new TypeError("register: expected a name, as in register('mine')(fn)");
  const add = (own: RewardFn): RewardFn => {
    if (typeof own !== 'function')
      throw new TypeError(`register('${name}'): expected a function (task, action) => RewardOutput`);
    if (REGISTERED.has(name)) throw new TypeError(`reward function '${name}' is registered already`);
    REGISTERED.set(name, own);
    return own;
  };
  return fn === undefined ? add : add(fn);
}

/** The functions passed to `register`, by name. */
export const registeredRewards = (): ReadonlyMap<string, RewardFn> => REGISTERED;

/** The weighted sum of rewards; for duplicate metadata keys the later one wins. */
export function combineRewards(weighted: readonly [RewardFn, number][]): RewardFn {
  return async (task, action, signal) => {
    let reward = 0;
    const metadata: JsonObject = {};
    for (const [fn, weight] of weighted) {
      const output = await fn(task, action, signal);
      reward += weight * rewardNumber(output);
      Object.assign(metadata, output.metadata);
    }
    return { reward, metadata };
  };
}
