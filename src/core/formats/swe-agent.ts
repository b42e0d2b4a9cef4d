import { isJsonObject, type JsonObject, objectIn } from '../json/value.ts';
import { itemAt } from '../lists/at.ts';
import { commandOutcome } from '../rollout/framed-outcome.ts';
import { outcomeIn, type RecordedOutcome } from '../rollout/outcome.ts';
import type { Context } from '../rollout/rollout.ts';
import { type FoundMessage, messageFormat } from './build.ts';
import { contentText } from './content-text.ts';
import { type Format, NO_TRAINING } from './format.ts';
import { given } from './given.ts';
import { chatMessage } from './openai-message.ts';
import { responseMessages } from './responses.ts';
import { idOf, objectsOf } from './values.ts';

const KNOWN = new Set('trajectory history attempts messages'.split(' '));

/**
 * SWE-agent's `.traj` (`sweagent/types.py`): steps of thought, action and observation, and the history that the model
 * saw. Agents that retry keep each try in `attempts`; a demonstration has only a history.
 */
export const sweAgent: Format = messageFormat({
  name: 'swe-agent',
  ...NO_TRAINING,
  basis: 'files',
  mapping: {
    turns: 'the head of history, then trajectory[] (response, observation); else history[]',
    calls: 'trajectory[].action, one a step',
    contexts: 'attempts[]: all but the last were rejected',
    status: 'info.exit_status',
  },
  detects: (record) =>
    (Array.isArray(record.trajectory) &&
      objectsOf(record.trajectory).every((step) => step.action !== undefined || step.observation !== undefined) &&
      (record.info !== undefined || record.history !== undefined || record.environment !== undefined)) ||
    (Array.isArray(record.history) &&
      objectsOf(record.history).some((one) => one.agent !== undefined || one.message_type !== undefined)) ||
    objectsOf(record.attempts).some((one) => Array.isArray(one.trajectory)),
  find(record) {
    const attempts = objectsOf(record.attempts);
    const isWhole = Array.isArray(record.trajectory) || Array.isArray(record.history);
    const tries = isWhole
      ? [{ of: record, at: '' }]
      : attempts.map((of, i) => ({ of, at: `/attempts/${i}` })).reverse();
    const contexts: Context[] = tries.map((_, i) => ({
      kind: i === 0 ? 'main' : 'rejected',
      name: i === 0 ? null : `attempt ${tries.length - i}`,
      after: null,
    }));
    const messages = tries.flatMap(({ of, at }, place) =>
      triedMessages(of, at).map((message) => ({ ...message, context: place })),
    );
    const info = objectIn(record.info);
    return {
      known: KNOWN,
      messages,
      hasCallsApart: true,
      contexts,
      status: idOf(info.exit_status),
      uid: idOf(record.instance_id),
      extras: { info },
    };
  },
});

function triedMessages(record: JsonObject, at: string): FoundMessage[] {
  const history = objectsOf(record.history);
  const steps = objectsOf(record.trajectory);
  const isReply = (one: JsonObject) => one.role === 'assistant' && one.is_demo !== true;
  if (steps.length === 0) return history.map((one, i) => historyMessage(one, `${at}/history/${i}`));
  const end = history.findIndex(isReply);
  const head = history
    .slice(0, end === -1 ? history.length : end)
    .map((one, i) => given(historyMessage(one, `${at}/history/${i}`)));
  return [...head, ...steps.flatMap((step, i) => trajectoryMessages(step, `${at}/trajectory/${i}`))];
}

function historyMessage(one: JsonObject, place: string): FoundMessage {
  const message = chatMessage(one, place);
  const action = typeof one.action === 'string' ? one.action.trim() : '';
  // If the model wrote it as text, the action is the call; a demonstration is not a reply of this run.
  const isCall = message.calls === undefined && message.role === 'assistant' && action !== '';
  const whole = isCall ? { ...message, calls: [actionCall(action)] } : message;
  const texts = whole.texts.filter(({ pointer }) => !pointer.endsWith('/thought'));
  const shown = { ...whole, texts: texts.some(({ text }) => text !== '') ? texts : whole.texts };
  return one.is_demo === true ? given(shown) : shown;
}

function trajectoryMessages(step: JsonObject, place: string): FoundMessage[] {
  const action = typeof step.action === 'string' ? step.action.trim() : '';
  const key = typeof step.response === 'string' && step.response !== '' ? 'response' : 'thought';
  const text = typeof step[key] === 'string' ? step[key] : '';
  const observation = typeof step.observation === 'string' ? step.observation : '';
  // When the agent stops, its own message replaces the model's.
  const isExit = action === '' && step.response === step.thought && /^Exit(?:ing)? due to /.test(text);
  return [
    {
      role: 'assistant',
      ...(isExit ? { trained: false as const } : {}),
      texts: [{ pointer: `${place}/${key}`, text: text === '' ? action : text }],
      ...(action === '' ? {} : { calls: [actionCall(action)] }),
    },
    ...(action === '' && observation === ''
      ? []
      : [{ role: 'tool', trained: false as const, texts: [{ pointer: `${place}/observation`, text: observation }] }]),
  ];
}

/** An action is a line of SWE-agent's own shell; its first word is the command. */
const actionCall = (action: string) => ({
  id: null,
  name: /^[\w.-]+/.exec(action)?.[0] ?? 'action',
  arguments: { action },
  raw: action,
});

const RETURNED = /^\s*<returncode>-?\d+<\/returncode>/;

/** The command of a reply with a single command block, which is what the harness runs; null for any other reply. */
function onlyBlock(text: string): string | null {
  const blocks = [...text.matchAll(/```(?:bash|sh|mswea_bash_command)[ \t]*\n([\s\S]*?)\n```/g)];
  return blocks.length === 1 ? (itemAt(blocks, 0)[1] ?? '') : null;
}

/**
 * The outcome of a command: recorded beside the message, or in earlier versions in the template text around its output.
 */
function ranOutcome(extra: JsonObject, text: string): RecordedOutcome | undefined {
  return outcomeIn(extra, { error: extra.exception_info ?? null }) ?? commandOutcome(text);
}

/**
 * mini-swe-agent's trajectory (`minisweagent/agents/default.py`): messages whose `extra` records what was run and its
 * outcome.
 */
export const miniSweAgent: Format = messageFormat({
  name: 'mini-swe-agent',
  ...NO_TRAINING,
  basis: 'files',
  mapping: {
    turns: 'messages',
    calls: 'tool_calls, else extra.actions of a message',
    status: 'info.exit_status',
    ended: 'info.exit_status',
  },
  detects: (record) =>
    Array.isArray(record.messages) &&
    ((typeof record.trajectory_format === 'string' && record.trajectory_format.startsWith('mini-swe-agent')) ||
      (isJsonObject(record.info) &&
        (record.info.mini_version !== undefined || record.info.model_stats !== undefined)) ||
      objectsOf(record.messages).some(({ extra }) => isJsonObject(extra) && Array.isArray(extra.actions))),
  find(record) {
    const info = objectIn(record.info);
    const list = objectsOf(record.messages);
    const hasActions = list.some(({ extra }) => isJsonObject(extra) && Array.isArray(extra.actions));
    const messages = list.flatMap((one, at): FoundMessage | FoundMessage[] => {
      // A reply of OpenAI's Responses API is stored whole, and the results of its calls as items.
      if (Array.isArray(one.output)) return responseMessages(objectsOf(one.output), `/messages/${at}/output`);
      if (one.type === 'function_call_output') return responseMessages([one], `/messages/${at}`);
      const message = chatMessage(one, `/messages/${at}`);
      const extra = objectIn(one.extra);
      const actions = objectsOf(extra.actions);
      if (message.role === 'exit') return { ...message, trained: false };
      const outcome = message.role === 'assistant' ? undefined : ranOutcome(extra, message.texts.at(-1)?.text ?? '');
      if (extra.returncode !== undefined && message.role !== 'assistant')
        return { ...message, isResult: true, trained: false, outcome };
      if (outcome !== undefined) return { ...message, outcome, isResult: true, trained: false };
      const block = hasActions || message.role !== 'assistant' ? null : onlyBlock(message.texts.at(-1)?.text ?? '');
      if (block !== null && RETURNED.test(contentText(list[at + 1]?.content)))
        return { ...message, calls: [{ id: null, name: 'bash', arguments: { command: block }, raw: block }] };
      if (message.calls !== undefined || actions.length === 0 || message.role !== 'assistant') return message;
      const calls = actions.map(({ command, tool_call_id }) => ({
        id: idOf(tool_call_id),
        name: 'bash',
        arguments: { command: command ?? null },
        raw: typeof command === 'string' ? command : '',
      }));
      return { ...message, calls };
    });
    return {
      known: new Set(['messages', 'trajectory_format']),
      messages,
      hasCallsApart: true,
      status: idOf(info.exit_status),
      uid: idOf(record.instance_id),
    };
  },
});
