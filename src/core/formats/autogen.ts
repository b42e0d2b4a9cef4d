import { isJsonObject, type JsonObject, type JsonValue, objectIn } from '../json/value.ts';
import { endedByReason } from '../rollout/ended.ts';
import { outcomeIn } from '../rollout/outcome.ts';
import type { Context } from '../rollout/rollout.ts';
import { resultMessage } from './blocks.ts';
import { type FoundMessage, type MessageText, messageFormat } from './build.ts';
import { contentText } from './content-text.ts';
import type { Format } from './format.ts';
import { summed } from './langchain.ts';
import { messageCall } from './openai-message.ts';
import { callUsage } from './payload.ts';
import { idOf, objectsOf } from './values.ts';

const EVENT = /^(?:\w+Message|\w+Event)$/;

const isAutogen = ({ type, source, content }: JsonObject): boolean =>
  typeof type === 'string' &&
  EVENT.test(type) &&
  content !== undefined &&
  (typeof source === 'string' || type === 'FunctionExecutionResultMessage' || type === 'SystemMessage');

const areAutogen = (value: JsonValue | undefined): boolean => {
  const list = objectsOf(value);
  return list.length > 0 && list.every(isAutogen);
};

/** Histories by agent: of a state, of each agent of a team, or the one thread of a result. */
function historiesOf(record: JsonObject): { name: string | null; list: JsonObject[]; at: string }[] {
  if (areAutogen(record.messages)) return [{ name: null, list: objectsOf(record.messages), at: '/messages' }];
  const own = stateMessages(record);
  if (own !== null) return [{ name: null, list: own, at: '/llm_context/messages' }];
  const states = objectIn(record.agent_states);
  return Object.entries(states).flatMap(([name, state]) => {
    const inner = isJsonObject(state) && isJsonObject(state.agent_state) ? state.agent_state : state;
    const list = isJsonObject(inner) ? stateMessages(inner) : null;
    return list === null ? [] : [{ name, list, at: `/agent_states/${name}/agent_state/llm_context/messages` }];
  });
}

function stateMessages({ llm_context: context }: JsonObject): JsonObject[] | null {
  return isJsonObject(context) && areAutogen(context.messages) ? objectsOf(context.messages) : null;
}

/** AutoGen AgentChat: results of tasks and teams, and saved states of agents and teams. */
export const autogen: Format = messageFormat({
  name: 'autogen',
  isUntrained: true,
  basis: 'files',
  mapping: {
    turns: 'messages of a result, or llm_context.messages of a state',
    reasoning: 'thought, and events of the type ThoughtEvent',
    contexts: 'the agents of a team',
    ended: 'stop_reason',
  },
  detects: (record) => historiesOf(record).length > 0,
  find(record) {
    const messages: FoundMessage[] = [];
    const contexts: Context[] = [];
    const histories = historiesOf(record);
    for (const { name, list, at } of histories) {
      contexts.push({ kind: contexts.length === 0 ? 'main' : 'subagent', name, after: null });
      messages.push(...readMessages(list, at).map((one) => ({ ...one, context: contexts.length - 1 })));
    }
    const reason = idOf(record.stop_reason ?? null);
    return {
      known: new Set(['messages', 'llm_context', 'agent_states', 'stop_reason']),
      messages,
      hasCallsApart: true,
      contexts,
      status: reason,
      ended:
        reason === null
          ? null
          : (endedByReason('stop_reason', reason) ??
            (/^Maximum number/.test(reason)
              ? { how: 'length', evidence: `stop_reason ${reason.slice(0, 60)}` }
              : null)),
      extras: summed(
        histories.flatMap(({ list }) => list.flatMap(({ models_usage: usage }) => callUsage(usage) ?? [])),
      ),
    };
  },
});

function readMessages(list: readonly JsonObject[], at: string): FoundMessage[] {
  const found: FoundMessage[] = [];
  let thoughts: MessageText[] = [];
  for (const [i, one] of list.entries()) {
    const place = `${at}/${i}`;
    const { type, content, source } = one;
    if (type === 'ThoughtEvent') {
      thoughts.push({ pointer: `${place}/content`, text: contentText(content), isThought: true });
      continue;
    }
    // Pieces of a message that follows whole.
    if (type === 'ModelClientStreamingChunkEvent') continue;
    const results = type === 'FunctionExecutionResultMessage' || type === 'ToolCallExecutionEvent';
    if (results) {
      for (const [j, result] of objectsOf(content).entries())
        found.push(
          resultMessage(
            idOf(result.call_id ?? null),
            `${place}/content/${j}/content`,
            contentText(result.content),
            outcomeIn(result),
          ),
        );
      continue;
    }
    const isSystem = type === 'SystemMessage';
    const isGiven =
      isSystem ||
      type === 'UserMessage' ||
      (source === 'user' && type !== 'AssistantMessage') ||
      type === 'UserInputRequestedEvent';
    // A summary repeats the results; the framework wrote it.
    const isOwn =
      type === 'ToolCallSummaryMessage' ||
      type === 'MemoryQueryEvent' ||
      type === 'HandoffMessage' ||
      type === 'StopMessage';
    const role = isSystem ? 'system' : isGiven ? 'user' : isOwn ? 'environment' : 'assistant';
    const calls =
      role === 'assistant' && Array.isArray(content)
        ? objectsOf(content)
            .filter((part) => part.arguments !== undefined && part.name !== undefined)
            .map(messageCall)
        : [];
    const thought: MessageText[] =
      typeof one.thought === 'string' && one.thought !== ''
        ? [{ pointer: `${place}/thought`, text: one.thought, isThought: true }]
        : [];
    const text = calls.length > 0 ? '' : isJsonObject(content) ? JSON.stringify(content) : contentText(content);
    found.push({
      role,
      ...(role === 'assistant' ? {} : { trained: false }),
      texts: [...(role === 'assistant' ? thoughts : []), ...thought, { pointer: `${place}/content`, text }],
      ...(calls.length > 0 ? { calls } : {}),
    });
    if (role === 'assistant') thoughts = [];
  }
  if (thoughts.length > 0) found.push({ role: 'assistant', texts: thoughts });
  return found;
}
