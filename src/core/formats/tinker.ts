import { isJsonObject, type JsonObject, type JsonValue, objectIn, stringIn } from '../json/value.ts';
import { type FoundMessage, messageFormat } from './build.ts';
import { contentText } from './content-text.ts';
import type { Format } from './format.ts';
import { chatMessage } from './openai-message.ts';
import { idOf, namedNumbers, numberOf, objectsOf } from './values.ts';

/** A stored trajectory of tinker-cookbook's evaluations (`eval/benchmarks/_types.py`). */
export const tinkerTrajectory: Format = messageFormat({
  name: 'tinker',
  isUntrained: true,
  basis: 'files',
  mapping: { turns: 'turns', score: 'reward', 'named rewards': 'metrics', group: 'example_id' },
  detects: (record) =>
    Array.isArray(record.turns) && (record.benchmark !== undefined || record.example_id !== undefined),
  find(record) {
    const error = contentText(record.error);
    return {
      known: new Set(['turns', 'reward', 'metrics']),
      messages: objectsOf(record.turns).map((turn, at) => chatMessage(turn, `/turns/${at}`)),
      score: numberOf(record.reward),
      named: namedNumbers(record.metrics),
      group: idOf(record.example_id),
      uid: idOf(record.idx),
      groundTruth: isJsonObject(record.logs) ? record.logs.expected : undefined,
      ended: error === '' ? null : { how: 'aborted', evidence: `error ${error.slice(0, 60)}` },
      extras: { metrics: record.metrics ?? null },
    };
  },
});

/**
 * A rollout summary of tinker-cookbook's training (`rl/rollout_logging.py`): lengths and rewards of the steps, and the
 * environment's logs; with the conversation of `…_logtree.json` (`messages`) if that file is next to it.
 */
export const tinkerSummary: Format = messageFormat({
  name: 'tinker-summary',
  basis: 'files',
  mapping: {
    turns: 'the conversation of the logtree beside it, else steps[].logs.response',
    score: 'total_reward',
    step: 'iteration',
    group: 'group_idx',
    'reward of a turn': 'steps[].reward',
  },
  detects: (record) => Array.isArray(record.steps) && record.traj_idx !== undefined && record.group_idx !== undefined,
  find(record) {
    const steps = objectsOf(record.steps);
    const own = objectsOf(record.messages).map((message, at) => chatMessage(message, `/messages/${at}`));
    const messages = own.length > 0 ? own : steps.flatMap(tinkerMessages);
    const replies = messages.filter(({ role }) => role === 'assistant');
    if (replies.length === steps.length)
      for (const [at, reply] of replies.entries()) reply.reward = numberOf(steps[at]?.reward);
    return {
      known: new Set(['messages', 'total_reward', 'schema_version']),
      messages,
      hasCallsApart: true,
      score: numberOf(record.total_reward),
      named: namedNumbers(record.trajectory_metrics),
      step: numberOf(record.iteration),
      group: idOf(record.group_idx),
    };
  },
});

function tinkerMessages(step: JsonObject, at: number): FoundMessage[] {
  const logs = objectIn(step.logs);
  const key = ['response', 'completion', 'output'].find((name) => typeof logs[name] === 'string');
  const text = key === undefined ? '' : stringIn(logs[key]);
  const shown = text === '' ? `[${numberOf(step.ac_len) ?? '?'} tokens without text]` : text;
  return [
    {
      role: 'observation',
      trained: false,
      texts: [{ pointer: `/steps/${at}/ob_len`, text: `[${numberOf(step.ob_len) ?? '?'} tokens without text]` }],
    },
    { role: 'assistant', texts: [{ pointer: `/steps/${at}/logs/${key ?? 'response'}`, text: shown }] },
  ];
}

/** tinker-cookbook's log as a tree of HTML nodes (`utils/logtree.py`): the conversations in it, without calls and rewards. */
export const tinkerTree: Format = {
  name: 'tinker-logtree',
  basis: 'files',
  mapping: { rollouts: 'nodes with data of the type conversation, at any depth' },
  detects: (record) => isJsonObject(record.root) && record.title !== undefined && record.started_at !== undefined,
  split(record) {
    const { root, ...rest } = record;
    return conversationsIn(root ?? null).map((messages) => ({ logtree: rest, messages }));
  },
  read: (record, context) => tinkerConversation.read({ logtree: record, messages: [] }, context),
};

export const tinkerConversation: Format = messageFormat({
  name: 'tinker-logtree',
  basis: 'files',
  mapping: { turns: 'data.messages', step: 'the number in the title' },
  detects: (record) => isJsonObject(record.logtree) && Array.isArray(record.messages),
  find(record) {
    const log = objectIn(record.logtree);
    const step = /\b(\d+)\s*$/.exec(idOf(log.title) ?? '')?.[1];
    return {
      known: new Set(['messages']),
      messages: objectsOf(record.messages).map((message, at) => chatMessage(message, `/messages/${at}`)),
      hasCallsApart: true,
      step: step === undefined ? null : Number(step),
    };
  },
});

/** Depth first, in page order. Iterative, because the tree of a corrupt file may be deep. */
export function conversationsIn(root: JsonValue): JsonValue[] {
  const found: JsonValue[] = [];
  const open: JsonValue[] = [root];
  while (open.length > 0) {
    const value = open.pop();
    if (isJsonObject(value) && value.type === 'conversation' && Array.isArray(value.messages)) {
      found.push(value.messages);
      continue;
    }
    const inner = Array.isArray(value) ? value : isJsonObject(value) ? Object.values(value) : [];
    for (let at = inner.length - 1; at >= 0; at--) if (typeof inner[at] === 'object') open.push(inner[at] ?? null);
  }
  return found;
}
