import { printJson } from '../json/print.ts';
import { isJsonObject, type JsonObject, type JsonValue, objectIn } from '../json/value.ts';
import { type TimeSpan, timesOf } from '../rollout/times.ts';
import { anyMessages, resultText } from './any-message.ts';
import { type FoundMessage, type MessageText, messageFormat } from './build.ts';
import { contentText } from './content-text.ts';
import type { Format } from './format.ts';
import { summed } from './langchain.ts';
import { messageCall } from './openai-message.ts';
import { callUsage } from './payload.ts';
import { traceSeconds } from './spans.ts';
import { idOf, numberOf, objectsOf } from './values.ts';

/** Whether an object is a step of an agent's memory. */
export const isSmolStep = (step: JsonObject): boolean =>
  (step.step_number !== undefined &&
    (step.model_output_message !== undefined ||
      step.model_input_messages !== undefined ||
      step.observations !== undefined)) ||
  (typeof step.task === 'string' && (step.task_images !== undefined || Object.keys(step).length === 1)) ||
  (typeof step.system_prompt === 'string' && Object.keys(step).length === 1) ||
  (typeof step.plan === 'string' && step.model_input_messages !== undefined);

/** The memory of a smolagents agent: `get_full_steps()`, alone or beside its task. */
export const smolagents: Format = messageFormat({
  name: 'smolagents',
  isUntrained: true,
  basis: 'files',
  mapping: {
    turns: 'model_output_message of each step, else model_output',
    calls: 'tool_calls of a step: those that were carried out; others are text',
    'results of tools': 'observations, else error',
    system: 'system_prompt, else the first input',
    times: 'timing',
  },
  detects: (record) => {
    const steps = objectsOf(record.steps);
    return steps.length > 0 && steps.every(isSmolStep);
  },
  find(record) {
    const steps = objectsOf(record.steps);
    const messages: FoundMessage[] = [];
    const spans: TimeSpan[] = [];
    const system = systemOf(record, steps);
    if (system !== null) messages.push(system);
    const starts = steps.flatMap(({ timing }) => (isJsonObject(timing) ? (traceSeconds(timing.start_time) ?? []) : []));
    const start = starts.length === 0 ? null : Math.min(...starts.slice(0, 1));
    const errors: JsonValue[] = [];
    for (const [i, step] of steps.entries()) {
      const at = `/steps/${i}`;
      if (typeof step.task === 'string') {
        messages.push({ role: 'user', trained: false, texts: [{ pointer: `${at}/task`, text: step.task }] });
        continue;
      }
      const reply = replyOf(step, at);
      if (reply !== null) {
        const timing = objectIn(step.timing);
        const [from, to] = [traceSeconds(timing.start_time), traceSeconds(timing.end_time)];
        // The time of a step is that of the model and of its tools.
        if (
          start !== null &&
          from !== null &&
          to !== null &&
          (reply.calls ?? []).length === 0 &&
          isBlank(step.code_action)
        )
          spans.push({ kind: 'model', start: from - start, end: to - start, turn: messages.length });
        messages.push(reply);
      }
      messages.push(...resultsOf(step, reply, at));
      if (isJsonObject(step.error)) errors.push({ step: numberOf(step.step_number), ...step.error });
    }
    const final = steps.findLast(({ action_output: output }) => !isBlank(output));
    const ends = steps.flatMap(({ timing }) => (isJsonObject(timing) ? (traceSeconds(timing.end_time) ?? []) : []));
    const times =
      start === null || ends.length === 0 ? null : timesOf(start, Math.max(...ends.slice(-1)) - start, spans);
    const last = errors.at(-1);
    const isOver = isJsonObject(last) && last.type === 'AgentMaxStepsError';
    const models = [...new Set(steps.flatMap((step) => stepModel(step) ?? []))];
    return {
      known: new Set(['steps', 'task', 'system_prompt']),
      messages,
      hasCallsApart: true,
      ended: isOver
        ? { how: 'length', evidence: 'AgentMaxStepsError' }
        : final?.is_final_answer === true
          ? { how: 'stop', evidence: 'is_final_answer' }
          : null,
      extras: {
        ...(models.length === 0 ? {} : { model: models[0] }),
        ...summed(steps.flatMap(({ token_usage: usage }) => callUsage(usage) ?? [])),
        ...(final === undefined ? {} : { final_answer: final.action_output ?? null }),
        ...(errors.length > 0 ? { errors } : {}),
      },
      times,
    };
  },
});

const isBlank = (value: JsonValue | undefined): boolean => value === undefined || value === null || value === '';

function systemOf(record: JsonObject, steps: readonly JsonObject[]): FoundMessage | null {
  const held = isJsonObject(record.system_prompt) ? record.system_prompt.system_prompt : record.system_prompt;
  const own = steps.findIndex((step) => typeof step.system_prompt === 'string');
  const given = steps.findIndex((step) => objectsOf(step.model_input_messages)[0]?.role === 'system');
  const [pointer, value] = !isBlank(held)
    ? ['/system_prompt', held]
    : own >= 0
      ? [`/steps/${own}/system_prompt`, steps[own]?.system_prompt]
      : [`/steps/${given}/model_input_messages/0/content`, objectsOf(steps[given]?.model_input_messages)[0]?.content];
  const text = contentText(value);
  return text === '' ? null : { role: 'system', trained: false, texts: [{ pointer, text }] };
}

function replyOf(step: JsonObject, at: string): FoundMessage | null {
  const said = isJsonObject(step.model_output_message) ? step.model_output_message : null;
  const [message] = said === null ? [] : anyMessages({ ...said, role: 'assistant' }, `${at}/model_output_message`);
  const plain =
    typeof step.model_output === 'string' ? step.model_output : typeof step.plan === 'string' ? step.plan : '';
  if (message === undefined && plain === '') return null;
  const texts: MessageText[] = message?.texts ?? [{ pointer: `${at}/model_output`, text: plain }];
  const done = objectsOf(step.tool_calls).map(messageCall);
  const ids = new Set(done.map(({ id }) => id));
  // A call that failed before it ran, or stood beside one that did, was asked for and not carried out.
  const asked = (message?.calls ?? []).filter(({ id }) => id === null || !ids.has(id));
  const left = done.some(({ name }) => name === 'python_interpreter') ? [] : asked;
  return {
    role: 'assistant',
    texts: [
      ...texts,
      ...left.map(({ name, arguments: args }, i) => ({
        pointer: `${at}/model_output_message/tool_calls#${i}`,
        text: `${name ?? 'a call'} ${typeof args === 'string' ? args : printJson(args ?? null)}`,
      })),
    ],
    ...(done.length > 0 ? { calls: done } : {}),
  };
}

function resultsOf(step: JsonObject, reply: FoundMessage | null, at: string): FoundMessage[] {
  const answers = reply?.calls?.[0]?.id ?? null;
  const error = isJsonObject(step.error) ? contentText(step.error.message) : '';
  const found: FoundMessage[] = [];
  const isAnswered = (reply?.calls ?? []).length > 0;
  if (!isBlank(step.observations))
    found.push({
      role: isAnswered ? 'tool' : 'user',
      trained: false,
      answers,
      texts: [{ pointer: `${at}/observations`, text: resultText(step.observations ?? null) }],
    });
  if (error !== '' && reply !== null)
    found.push({
      role: isAnswered && found.length === 0 ? 'tool' : 'user',
      trained: false,
      ...(isAnswered && found.length === 0
        ? { answers, outcome: { isFailure: true, evidence: `error ${error.slice(0, 80)}` } }
        : {}),
      texts: [{ pointer: `${at}/error/message`, text: error }],
    });
  return found;
}

function stepModel({ model_output_message: message }: JsonObject): string | null {
  const raw = objectIn(objectIn(message).raw);
  return idOf(raw.model ?? null);
}
