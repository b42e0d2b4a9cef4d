import { Limiter } from '../../core/async/limiter.ts';
import { exchange } from '../../core/http/client.ts';
import { refusalText } from '../../core/http/status.ts';
import { printJson } from '../../core/json/print.ts';
import { isJsonObject, type JsonValue } from '../../core/json/value.ts';
import { errorMessage } from '../../core/text/thrown.ts';
import type { Run } from '../../sandbox/check-correctness.ts';
import { SandboxClient } from '../../sandbox/client.ts';
import { computeScore } from '../../sandbox/compute-score.ts';
import { calcReward } from '../../sandbox/sessions/client.ts';
import { RolloutFault } from '../common/faults.ts';
import { jsonAnswer } from '../common/json-answer.ts';
import type { RewardFn } from './reward.ts';
import { troubleOf } from './trouble.ts';
import { primeCodeScore } from './verl/prime-code.ts';

export interface CodeRewardOptions {
  /** A SandboxFusion server, or `run` in its place. */
  sandbox_fusion_url?: string | undefined;
  run?: Run | undefined;
  /** verl's `reward_model.sandbox_fusion.max_concurrent`. */
  max_concurrent?: number;
  memory_limit_mb?: number;
  /** Seconds per case. */
  timeout?: number;
  /** The mean of the first ten cases instead of all. */
  continuous?: boolean;
  /** As verl scores without a sandbox (`prime_code`). */
  prime?: boolean;
}

/** The share of the task's test cases (`ground_truth`: `{inputs, outputs, …}` or that as JSON text) that the code of the action passes. */
export function codeReward(options: CodeRewardOptions): RewardFn {
  const client = options.run ? null : new SandboxClient({ endpoint: options.sandbox_fusion_url });
  const run: Run = options.run ?? ((request, call) => client!.runCode(request, call));
  const limiter = new Limiter(options.max_concurrent ?? 64);
  return async (task, action, signal) => {
    if (task.ground_truth === undefined || task.ground_truth === null)
      throw new RolloutFault('no_truth', 'no ground truth');
    if (options.prime) {
      const found = await primeCodeScore(run, action, task.ground_truth, {
        limiter,
        signal,
        timeout: options.timeout ?? 10,
      });
      if (found.error !== null) throw new RolloutFault('reward_fault', found.error);
      return { reward: found.score, metadata: { cases: found.cases } };
    }
    const { score, metadata } = await computeScore(run, action, task.ground_truth, {
      limiter,
      signal,
      timeout: options.timeout ?? 10,
      memoryLimitMb: options.memory_limit_mb ?? 1024,
      continuous: options.continuous ?? false,
    });
    const unusable = metadata.find((entry) => 'error' in entry && !entry.error.startsWith('Invalid completion'));
    if (unusable && 'error' in unusable) throw new RolloutFault('no_truth', `the test cases: ${unusable.error}`);
    const failed = metadata.find((entry) => 'status' in entry && WITHOUT_VERDICT.test(entry.status));
    if (failed && 'status' in failed)
      throw new RolloutFault('reward_fault', `the sandbox: ${failed.api_request_error ?? failed.status}`);
    // The sandbox's full answers would swamp a dump; status and output of each case explain enough.
    const cases = metadata.map((entry) =>
      'error' in entry
        ? { error: entry.error }
        : { status: entry.status, stdout: shorten(entry.stdout), stderr: shorten(entry.stderr) },
    );
    return { reward: score, metadata: { cases: cases } };
  };
}

/** A case that the sandbox did not judge says nothing about the code. */
const WITHOUT_VERDICT = /^(?:api_error|sandbox_error|internal_error|unknown_)/;

const SHOWN = 500;
const shorten = (text: string | null): string | null =>
  text !== null && text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text;

export interface HttpRewardOptions {
  url: string;
  /** Seconds; verl's HTTP reward managers wait 300. */
  timeout?: number;
  /** The keys to send; default: all. verl's managers send only `sid`. */
  keys?: readonly string[] | undefined;
}

/**
 * Calls a reward service: POST of the task, the solution, and the session's `sid` if there was one; reads the answer's `reward`, else
 * `f2p_count / f2p_total`. verl's HTTP reward managers give 0 for any failure; here it is a fault, since it says nothing about the answer.
 */
export function httpReward({ url, timeout = 300, keys }: HttpRewardOptions): RewardFn {
  return async ({ response_str: _text, num_turns: _count, ...task }, action, signal) => {
    const body: Record<string, unknown> = { ...task, solution_str: action };
    const missing = keys?.filter((key) => body[key] === undefined) ?? [];
    if (missing.length > 0)
      throw new RolloutFault('reward_fault', `--reward-keys: the rollout has no ${missing.join(', ')}`);
    const sent = keys === undefined ? body : Object.fromEntries(keys.map((key) => [key, body[key]]));
    try {
      const { status, headers, text } = await exchange({
        url,
        method: 'POST',
        body: printJson(sent),
        timeoutMs: timeout * 1000,
        signal,
      });
      if (status < 200 || status > 299) throw new Error(refusalText(status, headers.location, text, '--reward-url'));
      const answer = jsonAnswer(status, text);
      if (!saysReward(answer)) throw new Error(`no reward in the answer: ${text.slice(0, 300)}`);
      const reward = calcReward(answer);
      const trouble = status === 202 ? 'the answer is pending (HTTP 202)' : troubleOf(answer);
      // A 0 from a service that failed or has not finished is not a verdict.
      if (trouble !== null && reward === 0) throw new Error(`the service says: ${trouble.slice(0, 300)}`);
      return { reward, metadata: { response: answer } };
    } catch (error) {
      signal?.throwIfAborted();
      throw new RolloutFault('reward_fault', `${url}: ${errorMessage(error)}`, { cause: error });
    }
  };
}

/** The two answer forms of verl's HTTP reward managers, if they hold something readable as a number. */
function saysReward(body: JsonValue): boolean {
  if (!isJsonObject(body)) return false;
  const { reward, f2p_total } = body;
  if (reward === undefined) return isAnyNumber(f2p_total);
  return isAnyNumber(reward) || typeof reward === 'boolean' || (typeof reward === 'string' && reward.trim() !== '');
}

const isAnyNumber = (value: JsonValue | undefined): boolean => typeof value === 'number' || typeof value === 'bigint';
