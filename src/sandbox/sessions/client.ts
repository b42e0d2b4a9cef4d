// A client for verl's external environment protocol. If verl's client answers a failure with a word ("Error", 0.0), so does
// this one, and adds the cause.

import { z } from 'zod';
import { DEFAULT_RETRY, type RetryOptions } from '../../core/http/retry.ts';
import { callApi, SandboxApiError } from '../api.ts';
import { endpointOf } from '../endpoint.ts';
import { computeRewardResponse, processActionResponse, startInstanceResponse } from '../protocol.ts';
import { parseFloatText } from '../pydantic.ts';

/** Seconds, as verl waits; an action may take as long as it needs. */
const TIMEOUTS = {
  start_instance: 600,
  process_action: Number.POSITIVE_INFINITY,
  postprocess: 600,
  compute_reward: 300,
};

export interface SessionClientOptions {
  /** The base URL of the four endpoints. */
  endpoint: string;
  token?: string | undefined;
  retry?: Partial<RetryOptions>;
}

/** A sid or an instance hash; integers beyond 2^53 as text or bigint. */
export type SessionId = string | number | bigint;

export class SessionClient {
  readonly #base: string;
  readonly #query: string;
  readonly #headers: Record<string, string>;
  readonly #retry: RetryOptions;

  constructor({ endpoint, token, retry }: SessionClientOptions) {
    const { base, query, authorization } = endpointOf(endpoint);
    this.#base = base;
    this.#query = query;
    const credentials = token ? `Bearer ${token}` : authorization;
    this.#headers = credentials ? { authorization: credentials } : {};
    this.#retry = { ...DEFAULT_RETRY, ...retry };
  }

  /** The sid, in decimal digits. @throws {SandboxApiError} because an episode cannot start without a sid */
  async startInstance(instanceHash: SessionId, signal?: AbortSignal): Promise<string> {
    return (await this.#post('start_instance', { instance_hash: instanceHash }, startInstanceResponse, signal)).sid;
  }

  /** The observation; "Error" without one, since the episode continues. */
  async processAction(
    sid: SessionId,
    content: string,
    signal?: AbortSignal,
  ): Promise<{ content: string; error: SandboxApiError | null }> {
    return orElse(signal, { content: 'Error' }, async () => {
      // Never retried: the action may have been carried out.
      return this.#post('process_action', { sid, content }, processActionResponse, signal, true);
    });
  }

  /** Its answer does not affect the episode. */
  async postprocess(sid: SessionId, signal?: AbortSignal): Promise<{ answer: unknown; error: SandboxApiError | null }> {
    return orElse(signal, { answer: null }, async () => ({
      answer: await this.#post('postprocess', { sid }, z.unknown(), signal),
    }));
  }

  /** verl's reward of the session: 0 on every failure. */
  async computeReward(
    sid: SessionId,
    signal?: AbortSignal,
  ): Promise<{ reward: number; answer: unknown; error: SandboxApiError | null }> {
    return orElse(signal, { reward: 0, answer: null }, async () => {
      const answer = await this.#post('compute_reward', { sid }, z.unknown(), signal);
      return { reward: calcReward(answer), answer };
    });
  }

  #post<T extends z.ZodType>(
    path: keyof typeof TIMEOUTS,
    body: object,
    answer: T,
    signal: AbortSignal | undefined,
    once = false,
  ): Promise<z.output<T>> {
    return callApi({
      where: `${this.#base}/${path}`,
      query: this.#query,
      method: 'POST',
      body,
      headers: this.#headers,
      answer,
      retry: once ? { ...this.#retry, attempts: 1 } : this.#retry,
      fresh: once,
      timeoutSeconds: TIMEOUTS[path],
      signal,
    });
  }
}

async function orElse<T extends object>(
  signal: AbortSignal | undefined,
  instead: T,
  ask: () => Promise<T>,
): Promise<T & { error: SandboxApiError | null }> {
  try {
    return { ...(await ask()), error: null };
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof SandboxApiError) return { ...instead, error };
    throw error;
  }
}

/**
 * verl's calc_reward and the float() around it: `reward` if the key exists, even null (which is 0); else
 * f2p_count / f2p_total; 0 for anything Python could not divide or convert to float.
 */
export function calcReward(answer: unknown): number {
  const read = computeRewardResponse.safeParse(answer);
  if (!read.success) return 0;
  if (Object.hasOwn(read.data, 'reward')) return floatOrZero(read.data.reward);
  const [count, total] = [pythonNumber(read.data.f2p_count), pythonNumber(read.data.f2p_total)];
  return count === undefined || total === undefined || total === 0 ? 0 : count / total;
}

/** A bool is an int in Python. */
function pythonNumber(value: unknown): number | undefined {
  return typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean'
    ? Number(value)
    : undefined;
}

const floatOrZero = (value: unknown): number =>
  (typeof value === 'string' ? parseFloatText(value) : pythonNumber(value)) ?? 0;
