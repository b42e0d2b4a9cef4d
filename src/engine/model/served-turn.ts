import type { z } from 'zod';
import type { JsonObject } from '../../core/json/value.ts';
import { shapeProblem } from '../../core/text/problems.ts';
import type { Generation, ModelRequest, SampledTurn, ServedFinish } from './model.ts';
import { type ModelServer, postWithRetry, RetryableError, type TurnReader } from './post-with-retry.ts';
import { untilSuspended } from './suspend.ts';

/** A server without streaming may be silent for this many ms: nothing arrives before the turn is complete. */
export const WHOLE_TURN_MS = 3_600_000;

export interface SampledTurnReader extends TurnReader<SampledTurn> {
  /** The part of the turn sampled so far. */
  soFar(): SampledTurn;
}

/**
 * Requests one turn, with a new reader for every attempt, until it ends or `request.suspend` fires.
 * @param abort asks the server to end the turn and return what it has; without it the connection is closed
 */
export function askForTurn(
  server: ModelServer,
  body: JsonObject,
  request: ModelRequest,
  reader: () => SampledTurnReader,
  abort?: () => Promise<unknown>,
): Promise<Generation> {
  let turn = reader();
  const nextReader = () => {
    turn = reader();
    return turn;
  };
  const onRetry = (reason: string) => {
    request.onTrouble?.(reason);
    request.onDelta?.({ kind: 'retry', reason });
  };
  const asking = (signal: AbortSignal | undefined) => postWithRetry(server, body, signal, nextReader, onRetry);
  return untilSuspended(request, asking, () => turn.soFar(), abort);
}

/**
 * A server's answer, or one event of it.
 * @param isUsual recognises the answers that arrive by the thousand: a quick check is cheaper than a schema, which copies its content
 */
export function parseAnswer<Answer extends { error?: unknown }>(
  data: string,
  schema: z.ZodType<Answer>,
  isUsual?: (value: unknown) => value is Answer,
): Answer {
  let value: unknown;
  try {
    value = JSON.parse(data);
  } catch {
    throw new RetryableError(`the server sent no JSON: ${data.slice(0, 200)}`);
  }
  if (isUsual?.(value)) return value;
  const answer = schema.safeParse(value);
  if (!answer.success)
    throw new RetryableError(`the server sent an unknown shape: ${shapeProblem(answer.error.issues)}`);
  if (answer.data.error)
    throw new RetryableError(`the server reports: ${JSON.stringify(answer.data.error).slice(0, 500)}`);
  return answer.data;
}

interface WithError {
  error?: unknown;
}

/**
 * OpenRouter and other gateways report a provider's failure in the choice or its message, next to a finish_reason.
 * @throws RetryableError
 */
export function checkChoice(
  choice: WithError & { message?: WithError | null | undefined; delta?: WithError | null | undefined },
): void {
  const error = choice.error || choice.message?.error || choice.delta?.error;
  if (error) throw new RetryableError(`the server reports: ${JSON.stringify(error).slice(0, 500)}`);
}

/**
 * How the turn ended, according to the server.
 * @param isEmpty no token arrived. A model that ends its turn at once has sampled the token that ends it.
 */
export function finishOf(reason: string | null | undefined, calls: number, isEmpty: boolean): ServedFinish {
  if (!reason) throw new RetryableError('the stream ended before the turn did');
  const finish = servedFinish(reason, calls);
  if (finish === null) throw new RetryableError(`the server ended the turn with finish_reason '${reason}'`);
  if (isEmpty && isTurnWhole(finish)) throw new RetryableError('the server ended the turn before a token was sampled');
  return finish;
}

const FINISHED = new Set(['stop', 'eos', 'eos_token', 'stop_sequence', 'end_turn']);
const CALLED = new Set(['tool_calls', 'function_call']);
const FILTERED = new Set(['content_filter', 'safety', 'recitation', 'blocked']);

/** Null for a word that no known server uses: anything indistinguishable from a failure is not trained on. */
function servedFinish(word: string, calls: number): ServedFinish | null {
  const reason = word.toLowerCase();
  if (reason === 'length' || reason === 'max_tokens') return 'length';
  if (CALLED.has(reason)) return 'tool_calls';
  if (FINISHED.has(reason)) return calls > 0 ? 'tool_calls' : 'stop';
  if (FILTERED.has(reason)) return 'content_filter';
  return reason === 'abort' || reason === 'aborted' || reason === 'cancelled' ? 'abort' : null;
}

/** The turn was neither broken off nor blocked. */
const isTurnWhole = (finish: ServedFinish): boolean => finish !== 'abort' && finish !== 'content_filter';

/** The smaller of two token limits, under the server's name for it; empty without a limit. */
export function tokenLimit(name: string, ...limits: readonly (number | null | undefined)[]): JsonObject {
  const given = limits.filter((limit) => limit !== undefined && limit !== null);
  return given.length > 0 ? { [name]: Math.min(...given) } : {};
}
