import { printJson } from '../json/print.ts';
import { isJsonObject, type JsonObject, objectIn } from '../json/value.ts';
import { type FoundMessage, messageFormat } from './build.ts';
import { contentText } from './content-text.ts';
import { type Format, NO_TRAINING } from './format.ts';
import { chatMessage } from './openai-message.ts';
import { tauTimes } from './recorded-times.ts';
import { idOf, namedNumbers, numberOf, objectsOf, parsed, recordedReward } from './values.ts';

/** tau-bench's results, also as docent keeps them: `{task_id, reward, info, traj, trial}`. */
export const tau: Format = messageFormat({
  name: 'tau-bench',
  ...NO_TRAINING,
  basis: 'files',
  mapping: {
    turns: 'traj, or messages_display',
    score: 'reward',
    group: 'task_id',
    'ground truth': 'info.task.actions',
  },
  detects: (record) => record.task_id !== undefined && trajectoryKey(record) !== undefined,
  find(record) {
    const field = trajectoryKey(record) ?? 'traj';
    const held = record[field];
    const list = typeof held === 'string' ? (parsed(held) ?? spokenMessages(held)) : held;
    const info = objectIn(record.info);
    const task = objectIn(info.task);
    return {
      known: new Set([field, 'reward']),
      messages: objectsOf(list).map((message, at) => chatMessage(message, `/${field}/${at}`)),
      hasCallsApart: true,
      score: recordedReward(record.reward),
      group: idOf(record.task_id),
      groundTruth: task.actions ?? undefined,
    };
  },
});

const trajectoryKey = (record: JsonObject): string | undefined =>
  ['traj', 'messages_display'].find((key) => Array.isArray(record[key]) || typeof record[key] === 'string');

/** A conversation in printed form, `assistant: …`: a speaker's name at the start of a line begins a message. */
const spokenMessages = (text: string): JsonObject[] =>
  [...text.matchAll(/^(system|user|assistant|tool): ?(.*(?:\n(?!(?:system|user|assistant|tool): ).*)*)/gm)].map(
    ([, role, content]) => ({ role: role as string, content: content as string }),
  );

/** tau2-bench's results: a run with its simulations. */
export const tau2Run: Format = {
  name: 'tau2-run',
  ...NO_TRAINING,
  basis: 'files',
  mapping: { rollouts: 'simulations[]' },
  detects: (record) => Array.isArray(record.simulations) && (record.tasks !== undefined || record.info !== undefined),
  split(record) {
    const tasks = new Map(objectsOf(record.tasks).map((task) => [idOf(task.id), task]));
    return objectsOf(record.simulations).map((one): JsonObject => {
      const task = tasks.get(idOf(one.task_id));
      const truth = isJsonObject(task?.evaluation_criteria) ? task.evaluation_criteria : undefined;
      return { ...one, tau2: truth === undefined ? {} : { evaluation_criteria: truth } };
    });
  },
  read: (record, context) => tau2.read({ ...record, messages: [] }, context),
};

export const tau2: Format = messageFormat({
  name: 'tau2',
  ...NO_TRAINING,
  basis: 'files',
  mapping: {
    turns: 'messages, else the speech and calls of ticks',
    score: 'reward_info.reward',
    'named rewards': 'reward_info.reward_breakdown',
    group: 'task_id',
    ended: 'termination_reason',
  },
  detects: (record) =>
    (Array.isArray(record.messages) || Array.isArray(record.ticks)) &&
    record.task_id !== undefined &&
    (record.tau2 !== undefined || record.reward_info !== undefined || record.termination_reason !== undefined),
  times: tauTimes,
  find(record) {
    const reward = objectIn(record.reward_info);
    const messages = Array.isArray(record.messages)
      ? objectsOf(record.messages).flatMap(messagesOf)
      : spokenInTicks(objectsOf(record.ticks));
    const own = objectIn(record.tau2);
    return {
      known: new Set(['messages', 'ticks', 'tau2']),
      messages,
      hasCallsApart: true,
      score: numberOf(reward.reward),
      named: namedNumbers(reward.reward_breakdown),
      uid: idOf(record.id),
      group: idOf(record.task_id),
      status: idOf(record.termination_reason),
      groundTruth: own.evaluation_criteria,
    };
  },
});

/** One message may hold the results of several calls. */
function messagesOf(message: JsonObject, at: number): FoundMessage[] {
  const several = objectsOf(message.tool_messages);
  if (several.length > 0) return several.map((one, i) => result(one, `/messages/${at}/tool_messages/${i}`));
  return [message.role === 'tool' ? result(message, `/messages/${at}`) : tauMessage(message, `/messages/${at}`)];
}

/**
 * Turns of a simulation by voice, which is written in ticks of speech: both speak at once, and a tick holds a piece of
 * each one's speech. A speaker's turn lasts until the other has begun one and the speaker was silent.
 */
function spokenInTicks(ticks: readonly JsonObject[]): FoundMessage[] {
  const messages: FoundMessage[] = [];
  const open = new Map<string, { message: FoundMessage; tick: number }>();
  for (const [tick, one] of ticks.entries()) {
    for (const who of ['agent', 'user']) {
      const chunk = isJsonObject(one[`${who}_chunk`]) ? (one[`${who}_chunk`] as JsonObject) : {};
      const said = contentText(chunk.content);
      if (said !== '' || chunk.contains_speech === true) {
        const before = open.get(who);
        const goesOn = before !== undefined && (before.tick === tick - 1 || messages.at(-1) === before.message);
        const message = goesOn ? before.message : speech(who, tick);
        if (!goesOn) messages.push(message);
        const [text] = message.texts;
        if (text !== undefined && said !== '') text.text = text.text === WITHOUT_TEXT ? said : text.text + said;
        open.set(who, { message, tick });
      }
      const calls = objectsOf(one[`${who}_tool_calls`]);
      const role = who === 'agent' ? 'assistant' : 'user';
      if (calls.length > 0) messages.push(tauMessage({ role, tool_calls: calls }, `/ticks/${tick}/${who}`));
      for (const [at, given] of objectsOf(one[`${who}_tool_results`]).entries())
        messages.push(result({ requestor: who, ...given }, `/ticks/${tick}/${who}_tool_results/${at}`));
    }
  }
  return messages;
}

const WITHOUT_TEXT = '[speech without text]';

const speech = (who: string, tick: number): FoundMessage => ({
  role: who === 'agent' ? 'assistant' : 'user',
  trained: false,
  texts: [{ pointer: `/ticks/${tick}/${who}_chunk/content`, text: WITHOUT_TEXT }],
});

/** The user of tau2 also has tools; its calls are not the model's. */
function tauMessage(message: JsonObject, at: string): FoundMessage {
  const one = chatMessage(message, at);
  if (one.role === 'assistant' || one.calls === undefined) return one;
  const { calls, ...rest } = one;
  const shown = calls.map(({ name, arguments: args }, i) => ({
    pointer: `${at}/tool_calls/${i}`,
    text: `${name ?? 'a call'} ${printJson(args ?? null)}`,
  }));
  return { ...rest, texts: [...rest.texts, ...shown] };
}

const result = (message: JsonObject, at: string): FoundMessage => ({
  ...chatMessage({ ...message, role: message.requestor === 'user' ? 'user_tool' : 'tool' }, at),
  answers: idOf(message.tool_call_id ?? message.id ?? null),
});
