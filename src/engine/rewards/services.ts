import { Limiter } from '../../async/limiter.ts';
import { exchange } from '../../http/client.ts';
import { parseJson } from '../../json/parse.ts';
import { type Printable, printJson } from '../../json/print.ts';
import type { JsonValue } from '../../json/value.ts';
import type { Run } from '../../sandbox/check-correctness.ts';
import { SandboxClient } from '../../sandbox/client.ts';
import { computeScore } from '../../sandbox/compute-score.ts';
import { calcReward } from '../../sandbox/sessions/client.ts';
import type { RewardFn } from './reward.ts';

export interface CodeRewardOptions {
  /** A SandboxFusion server, or `run` in its place. */
  sandbox_fusion_url?: string | undefined;
  run?: Run | undefined;
  /** verl's `reward_model.sandbox_fusion.max_concurrent`. */
  max_concurrent?: number;
  memory_limit_mb?: number;
  /** Seconds a case. */
  timeout?: number;
  /** The mean of the first ten cases instead of all. */
  continuous?: boolean;
}

/** The share of the task's test cases (`ground_truth`: `{inputs, outputs, …}` or that as JSON text) that the code of the action passes. */
export function codeReward(options: CodeRewardOptions): RewardFn {
  const client = options.run ? null : new SandboxClient({ endpoint: options.sandbox_fusion_url });
  const run: Run = options.run ?? ((request, call) => client!.runCode(request, call));
  const limiter = new Limiter(options.max_concurrent ?? 64);
  return async (task, action, signal) => {
    const { score, metadata } = await computeScore(run, action, task.ground_truth, {
      limiter,
      signal,
      timeout: options.timeout ?? 10,
      memoryLimitMb: options.memory_limit_mb ?? 1024,
      continuous: options.continuous ?? false,
    });
    // The whole answers of the sandbox would make a dump of them; status and output of each case say why.
    const cases = metadata.map((entry) =>
      'error' in entry
        ? { error: entry.error }
        : { status: entry.status, stdout: shorten(entry.stdout), stderr: shorten(entry.stderr) },
    );
    return { reward: score, metadata: { cases: cases as JsonValue } };
  };
}

const SHOWN = 500;
const shorten = (text: string | null): string | null =>
  text !== null && text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text;

export interface HttpRewardOptions {
  url: string;
  /** Seconds; verl's HTTP reward managers wait 300. */
  timeout?: number;
}

/**
 * Asks a reward service: POST of the task, the solution, and the session's `sid` where the rollout had one; the answer's `reward`, else
 * `f2p_count / f2p_total`. Anything wrong is 0, as in verl's HTTP reward managers, with the cause in the metadata.
 */
export function httpReward({ url, timeout = 300 }: HttpRewardOptions): RewardFn {
  return async (task, action, signal) => {
    try {
      const { status, text } = await exchange({
        url,
        method: 'POST',
        body: printJson({ ...task, solution_str: action } as Printable),
        timeoutMs: timeout * 1000,
        signal,
      });
      if (status < 200 || status > 299)
        return { reward: 0, metadata: { error: `HTTP ${status}: ${text.slice(0, 300)}` } };
      const body = parseJson(text);
      return { reward: calcReward(body), metadata: { response: body } };
    } catch (error) {
      signal?.throwIfAborted();
      return { reward: 0, metadata: { error: `${url}: ${(error as Error).message}` } };
    }
  };
}
