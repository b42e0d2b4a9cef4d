import { isJsonObject, type JsonObject, type JsonValue } from '../json/value.ts';
import { endedByReason } from '../rollout/ended.ts';
import type { Context, RolloutTokens } from '../rollout/rollout.ts';
import { withResults } from './blocks.ts';
import { type FoundMessage, messageFormat } from './build.ts';
import type { Format, Session } from './format.ts';
import { given } from './given.ts';
import { idOf, numberOf, objectsOf } from './values.ts';

/** Output of `rollout-viewer record`: a file for each rollout, one event per line. */
export const recorder: Session = {
  name: 'recorder',
  isEvent: (record) => record.recorder === 1 && typeof record.type === 'string',
  keyOf: () => null,
};

const KINDS: readonly Context['kind'][] = ['main', 'branch', 'compaction', 'subagent'];

export const recorderFormat: Format = messageFormat({
  name: 'recorder',
  isStepless: true,
  basis: 'files',
  mapping: {
    turns: 'events of the type message',
    contexts: 'events of the type history',
    tools: 'the last request of the main history',
    score: 'the last event of the type reward: score, else reward',
    tokens: 'responses with token ids',
  },
  detects: (record) => record.session_of === recorder.name,
  find(record) {
    const events = objectsOf(record.events);
    const of = (type: string): JsonObject[] => events.filter((event) => event.type === type);
    const messages: FoundMessage[] = [];
    const contexts: Context[] = [];
    const turnOf = new Map<JsonValue | undefined, number>();
    for (const [at, event] of events.entries()) {
      if (event.type === 'history') {
        const kind = KINDS.find((one) => one === event.kind) ?? 'branch';
        const after = turnOf.get(event.after);
        contexts.push({ kind: contexts.length === 0 ? 'main' : kind, name: null, after: after ?? null });
      }
      if (event.type !== 'message' || !isJsonObject(event.message)) continue;
      const place = numberOf(event.history) ?? 0;
      // A model reply may be trained on by whoever runs the recorder; messages supplied by the client were not sampled
      // here.
      const isReply = event.request !== undefined;
      const retells = turnOf.get(event.retells);
      // A client's text after its own version of a reply answers the calls of that reply.
      const isAnswer = messages.at(-1)?.retells !== undefined;
      for (const found of withResults(event.message, `/events/${at}/message`))
        messages.push({
          ...(retells === undefined ? found : { ...given(found), retells }),
          context: Math.min(place, Math.max(contexts.length - 1, 0)),
          ...(found.role === 'assistant' ? { trained: isReply ? null : false } : {}),
          ...(isAnswer && found.role === 'user' ? { isResult: true } : {}),
        });
      turnOf.set(event.id, messages.length - 1);
    }
    const [head] = of('rollout');
    const requests = of('request');
    const main = mainHistory(contexts, requests);
    const responses = of('response');
    const reward = of('reward').at(-1);
    const last = responses.at(-1);
    const finish = idOf(last?.finish ?? null);
    const firstReply = messages.findIndex(({ trained }) => trained === null);
    return {
      known: new Set(['session_of', 'events']),
      messages: messages.map((one) => ({ ...one, context: exchanged(one.context ?? 0, main) })),
      hasCallsApart: true,
      contexts: mainFirst(contexts, main),
      uid: idOf(head?.id ?? null),
      score: numberOf(reward?.score ?? reward?.reward),
      groundTruth: reward?.ground_truth,
      tools: requests.findLast(({ history }) => (numberOf(history) ?? 0) === main)?.tools ?? undefined,
      ended:
        last?.cut === true
          ? { how: 'aborted', evidence: idOf(last.problem ?? null) ?? 'the answer broke off' }
          : finish === null
            ? null
            : endedByReason('finish', finish),
      ...(firstReply < 0 ? {} : { firstReply }),
      tokens: responseTokens(responses),
      extras: { ...extrasOf(requests, responses, reward), ...forkOf(of('fork')[0]) },
    };
  },
});

/** The first history without a parent that has tools: agents ask for a title, or for a summary, before they begin. */
function mainHistory(contexts: readonly Context[], requests: readonly JsonObject[]): number {
  const withTools = requests.find(({ history, tools }) => {
    const { kind, after } = contexts[numberOf(history) ?? 0] ?? {};
    return Array.isArray(tools) && tools.length > 0 && after === null && (kind === 'main' || kind === 'subagent');
  });
  return numberOf(withTools?.history) ?? 0;
}

/** The main history is the first of a rollout; it changes places with the one that was recorded first. */
const exchanged = (history: number, main: number): number => (history === main ? 0 : history === 0 ? main : history);

function mainFirst(contexts: readonly Context[], main: number): Context[] {
  const [first = { kind: 'main', name: null, after: null }, ...others] = contexts;
  if (main === 0) return [first, ...others];
  return contexts.map((context, at) =>
    at === 0 ? { ...context, kind: 'main' } : at === main ? { ...first, kind: 'subagent' } : context,
  );
}

/** The ids of a rollout with one answer; with more, the ids of the turns between them are unknown. */
function responseTokens(responses: readonly JsonObject[]): RolloutTokens | null {
  const [only] = responses;
  const tokens = responses.length === 1 ? only?.tokens : null;
  if (!isJsonObject(tokens)) return null;
  const ids = numbers(tokens.ids);
  const logprobs = Array.isArray(tokens.logprobs) ? tokens.logprobs.map((value) => numberOf(value)) : null;
  if (ids.length === 0) return null;
  const promptIds = Array.isArray(tokens.promptIds) ? numbers(tokens.promptIds) : null;
  return {
    promptIds,
    responseIds: ids,
    mask: ids.map(() => 1),
    logprobs: logprobs?.length === ids.length ? logprobs : null,
  };
}

const numbers = (value: JsonValue | undefined): number[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === 'number') : [];

/** The rollout that a branch leaves, and where. */
const forkOf = (event: JsonObject | undefined): JsonObject =>
  event === undefined ? {} : { fork: { of: event.of ?? null, turn: event.turn ?? null, edited: event.edited ?? null } };

function extrasOf(
  requests: readonly JsonObject[],
  responses: readonly JsonObject[],
  reward: JsonObject | undefined,
): JsonObject {
  const problems = responses.flatMap(({ problem }) => (typeof problem === 'string' ? [problem] : []));
  const [first] = requests;
  return {
    ...(typeof first?.model === 'string' ? { model: first.model } : {}),
    ...(typeof first?.protocol === 'string' ? { protocol: first.protocol } : {}),
    ...(isJsonObject(first?.settings) ? { settings: first.settings } : {}),
    requests: requests.length,
    ...(problems.length > 0 ? { problems } : {}),
    ...(requests.some(({ ambiguous }) => ambiguous === true) ? { ambiguous: true } : {}),
    ...(isJsonObject(reward) ? { reward } : {}),
  };
}
