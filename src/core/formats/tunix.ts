import { isJsonObject, type JsonObject, type JsonValue, plainJson } from '../json/value.ts';
import { completeRollout } from '../rollout/complete.ts';
import { inferLossMask, type LossMask } from '../rollout/loss-mask.ts';
import type { Rollout, Span, Turn } from '../rollout/rollout.ts';
import { pairResults } from './build.ts';
import type { Format, ReadContext } from './format.ts';
import { parsePythonLiteral } from './python-literal.ts';
import { layRecordedCalls, messageContentText, turnOf } from './turns.ts';
import { idOf, numberOf, objectsOf } from './values.ts';

/** A message and the place of its text in the record. */
interface PlacedMessage {
  message: JsonObject;
  pointer: string;
}

/** The record of one reply in a trajectory. */
interface Reply {
  turn: number;
  reward: number | null;
  mcReturn: number | null;
  calls: JsonObject[];
  /** Reasoning that was removed from the message. */
  thought?: { text: string; pointer: string } | null;
}

const isStep = (step: JsonObject): boolean =>
  step.chat_completions !== undefined || (step.model_response !== undefined && step.action !== undefined);

/** Masks of sampled and given tokens, 1 = trained; null if not recorded. */
type TokenMask = number[] | null;

/**
 * A trajectory of Tunix: `Trajectory.to_dict()` as JSON, or the same as a row of a CSV, whose cells are Python `repr`s
 * (`tunix/utils/trajectory_logger.py`). The conversation is the last step's, which contains all earlier ones.
 */
export const tunixTrajectory: Format = {
  name: 'tunix',
  quickKeys: { score: 'reward', step: 'step' },
  basis: 'files',
  mapping: {
    turns: 'steps[-1].chat_completions',
    reasoning: 'steps[].thought, if the message does not hold it',
    score: 'reward',
    'reward of a turn': 'steps[].reward',
    returns: 'steps[].mc_return',
    mask: 'steps[].assistant_masks and env_masks',
  },
  // Older writers have neither a status nor a time.
  detects: ({ steps, status, reward, env_time, task }) =>
    reward !== undefined &&
    (typeof steps === 'string'
      ? status !== undefined || task !== undefined
      : Array.isArray(steps) &&
        (status !== undefined ||
          env_time !== undefined ||
          objectsOf(steps).some(isStep) ||
          (steps.length === 0 && task !== undefined))),
  read(record, context) {
    const steps = stepsOf(record.steps);
    const last = steps.length - 1;
    const messages = objectsOf(steps[last]?.chat_completions).map(
      (message, at): PlacedMessage => ({ message, pointer: `/steps/${last}/chat_completions/${at}/content` }),
    );
    if (steps.length === 0) messages.push(...taskMessages(literalValue(record.task)));
    // If steps kept no conversation, it is rebuilt from their observations and the model's replies.
    const isBare = steps.length > 0 && messages.length === 0;
    if (isBare) messages.push(...taskMessages(literalValue(record.task)));
    const replies = steps.map((step, at): Reply => {
      if (isBare) {
        const said = typeof step.model_response === 'string' ? step.model_response : '';
        messages.push({ message: { role: 'assistant', content: said }, pointer: `/steps/${at}/model_response` });
      }
      const turn = isBare ? messages.length - 1 : objectsOf(step.chat_completions).length - 1;
      if (isBare && at < last) messages.push(...observationMessages(step.observation, at));
      const thought = typeof step.thought === 'string' ? { text: step.thought, pointer: `/steps/${at}/thought` } : null;
      return {
        turn,
        reward: numberOf(step.reward),
        mcReturn: numberOf(step.mc_return),
        calls: actionCalls(step.action),
        thought,
      };
    });
    messages.push(...observationMessages(steps[last]?.observation, last));
    const masks = steps.flatMap((step) => [integers(step.assistant_masks), integers(step.env_masks)]);
    const mask = masks.every((one) => one === null) ? null : masks.flatMap((one) => one ?? []);
    return rolloutOf(record, context, { messages, replies, mask, score: numberOf(literalValue(record.reward)) });
  },
};

/** A row of Tunix's trajectory log: the whole conversation with its token masks, without rewards a step. */
export const tunixTokens: Format = {
  name: 'tunix',
  quickKeys: { score: 'trajectory_reward', step: 'step' },
  detects: (record) => record.conversation_text !== undefined && record.trajectory_reward !== undefined,
  read(record, context) {
    const messages = objectsOf(literalValue(record.conversation_text)).map(
      (message, at): PlacedMessage => ({ message, pointer: `/conversation_text/${at}/content` }),
    );
    const replies = messages.flatMap(({ message }, turn): Reply[] =>
      message.role === 'assistant' ? [{ turn, reward: null, mcReturn: null, calls: [] }] : [],
    );
    const mask = integers(literalValue(record.conversation_masks));
    const score = numberOf(literalValue(record.trajectory_reward));
    return rolloutOf(record, context, { messages, replies, mask, score });
  },
};

function rolloutOf(
  record: JsonObject,
  { validation, errors }: ReadContext,
  given: { messages: PlacedMessage[]; replies: Reply[]; mask: TokenMask; score: number | null },
): Rollout {
  const { messages, replies, mask, score } = given;
  // Nothing of a filtered trajectory is trained on: its whole mask is 0.
  const isTrained = !validation && !(mask !== null && mask.length > 0 && mask.every((bit) => bit === 0));
  // A step without its conversation has no turn.
  const firstReply = Math.min(messages.length, replies.find(({ turn }) => turn >= 0)?.turn ?? messages.length);
  const texts: Record<string, string> = {};
  const spans: Span[] = [];
  const turns: Turn[] = [];
  const results = resultsById(messages);
  const replyAt = new Map(replies.map((reply) => [reply.turn, reply]));
  let firstCall = 0;
  for (const [index, { message, pointer }] of messages.entries()) {
    const text = messageContentText(message.content);
    const reply = replyAt.get(index);
    const turn = turnOf(index, idOf(message.role) ?? 'unknown', text, firstCall);
    turn.trained = isTrained && reply !== undefined && text !== '';
    turn.reward = reply?.reward ?? null;
    layRecordedCalls(turn, callsWithResults(reply?.calls ?? [], index, results), firstCall, messages.length);
    firstCall += turn.toolCalls.length;
    turns.push(turn);
    const thought = reply?.thought ?? null;
    if (thought !== null && thought.text.trim() !== '' && !text.includes(thought.text.trim())) {
      addThought(turn, thought.text);
      texts[thought.pointer] = thought.text;
      spans.push({
        field: thought.pointer,
        start: 0,
        end: thought.text.length,
        turn: index,
        kind: 'text',
        trained: turn.trained,
      });
    }
    texts[pointer] = text;
    if (text !== '')
      spans.push({ field: pointer, start: 0, end: text.length, turn: index, kind: 'text', trained: turn.trained });
  }
  pairResults(
    turns,
    messages.map(({ message }) => {
      const answers = idOf(message.tool_call_id ?? null);
      return { answers, isResult: message.role === 'user' && answers !== null };
    }),
  );
  const perTurn = turns.map(({ reward }) => reward);
  const returns = turns.map(({ index }) => replyAt.get(index)?.mcReturn ?? null);
  const extras: JsonObject = Object.create(null);
  for (const key of Object.keys(record)) if (!HELD.has(key)) extras[key] = literalValue(record[key]) ?? null;
  const status = idOf(literalValue(record.status));
  return completeRollout(
    {
      format: 'tunix',
      step: numberOf(record.step),
      score,
      groundTruth: undefined,
      uid: null,
      requestId: null,
      status: status?.replace(/^TrajectoryStatus\./, '') ?? null,
      texts,
      turns,
      spans,
      responseTurn: firstReply,
      toolSchemas: [],
      extras,
      validation,
      lossMask: validation ? null : lossMaskOf(spans, messages.slice(firstReply), mask),
      rewards: {
        total: score,
        perTurn: noneAsNull(perTurn),
        returns: noneAsNull(returns),
        advantage: null,
        unaligned: [],
      },
    },
    errors,
  );
}

/** Reasoning comes before the message. */
function addThought(turn: Turn, thought: string): void {
  const head = turn.text === '' ? thought : `${thought}\n`;
  turn.text = head + turn.text;
  for (const part of turn.parts) {
    part.start += head.length;
    part.end += head.length;
  }
  turn.parts.unshift({ kind: 'think', start: 0, end: head.length, apart: true });
}

const HELD = new Set('steps reward status conversation_text trajectory_reward step'.split(' '));

function lossMaskOf(spans: Span[], response: PlacedMessage[], mask: TokenMask): LossMask {
  const inferred = inferLossMask(
    spans,
    response.map(({ pointer }) => pointer),
  );
  if (mask === null) return inferred;
  const trainedTokens = mask.filter((bit) => bit !== 0).length;
  return { ...inferred, source: 'recorded', trainedTokens, totalTokens: mask.length };
}

const noneAsNull = (values: (number | null)[]): (number | null)[] | null =>
  values.some((value) => value !== null) ? values : null;

/** A CSV cell is text that represents a value; anything else already is one. */
function literalValue(value: JsonValue | undefined): JsonValue | undefined {
  return typeof value === 'string' ? (parsePythonLiteral(value) ?? value) : value;
}

const integers = (value: JsonValue | undefined): TokenMask =>
  Array.isArray(value) && value.every((one) => typeof one === 'number') ? value : null;

/** The agent's request: `{"action": [calls]}`; the call of `finish` is how Tunix records an answer, not the model's. */
function actionCalls(action: JsonValue | undefined): JsonObject[] {
  const calls = isJsonObject(action) ? action.action : undefined;
  return objectsOf(calls).flatMap(({ id, function: fn }): JsonObject[] =>
    isJsonObject(fn) && fn.name !== 'finish'
      ? [
          {
            id: id ?? null,
            name: fn.name ?? null,
            arguments: literalJson(fn.arguments),
            raw: typeof fn.arguments === 'string' ? fn.arguments : '',
          },
        ]
      : [],
  );
}

function literalJson(value: JsonValue | undefined): JsonValue {
  if (typeof value !== 'string') return value ?? null;
  try {
    return plainJson(value);
  } catch {
    return null;
  }
}

/** Results are matched by call id among the tool messages after the reply. */
function callsWithResults(
  calls: JsonObject[],
  turn: number,
  results: ReadonlyMap<unknown, readonly number[]>,
): JsonObject[] {
  return calls.map((call) => ({ ...call, result_turn: results.get(call.id)?.find((at) => at > turn) ?? null }));
}

/** The results of each call id, in order; the design document writes them as the user. */
function resultsById(messages: readonly PlacedMessage[]): ReadonlyMap<unknown, readonly number[]> {
  const byId = new Map<unknown, number[]>();
  for (const [at, { message }] of messages.entries()) {
    if (message.role !== 'tool' && message.tool_call_id === undefined) continue;
    const known = byId.get(message.tool_call_id);
    if (known === undefined) byId.set(message.tool_call_id, [at]);
    else known.push(at);
  }
  return byId;
}

function taskMessages(task: JsonValue | undefined): PlacedMessage[] {
  const text = isJsonObject(task) ? (task.question ?? task.prompts) : task;
  const shown = Array.isArray(text) ? text[0] : text;
  return typeof shown === 'string' ? [{ message: { role: 'user', content: shown }, pointer: '/task' }] : [];
}

/** In a CSV cell, None inside a step is the text 'None'. */
function stepsOf(value: JsonValue | undefined): JsonObject[] {
  const steps = objectsOf(literalValue(value));
  if (typeof value !== 'string') return steps;
  return steps.map((step) =>
    Object.fromEntries(Object.entries(step).map(([key, held]) => [key, held === 'None' ? null : held])),
  );
}

/** The environment's answer to the last reply, which no model has seen. */
function observationMessages(observation: JsonValue | undefined, last: number): PlacedMessage[] {
  const pointer = `/steps/${last}/observation`;
  if (typeof observation === 'string' && observation !== '')
    return [{ message: { role: 'user', content: observation }, pointer }];
  if (!isJsonObject(observation) || !isJsonObject(observation.tool_outputs)) return [];
  return Object.entries(observation.tool_outputs).map(([id, text]) => ({
    message: { role: 'tool', tool_call_id: id, content: typeof text === 'string' ? text : '' },
    pointer: `${pointer}/tool_outputs/${id.replaceAll('~', '~0').replaceAll('/', '~1')}`,
  }));
}
