import { isJsonObject, type JsonObject, type JsonValue, objectIn } from '../json/value.ts';
import { itemAt } from '../lists/at.ts';
import type { Ended } from '../rollout/ended.ts';
import { outcomeIn } from '../rollout/outcome.ts';
import type { Context, Rollout } from '../rollout/rollout.ts';
import { resultMessage } from './blocks.ts';
import { buildRollout, type FoundMessage, type MessageText } from './build.ts';
import { contentText } from './content-text.ts';
import type { Format, ReadContext } from './format.ts';
import { joinCalls, type SampledTokens } from './token-lists.ts';
import { idOf, idsOf, numberOf, numbersOf, objectsOf } from './values.ts';

/**
 * A trajectory in Harbor's ATIF 1.0 to 1.8 (rfcs/0001-trajectory-format.md). A subagent's trajectory is a separate
 * context, found inside the file, or next to it (`linked`, by the path that refers to it). A compaction begins another
 * history.
 */
export const atif: Format = {
  name: 'atif',
  isStepless: true,
  basis: 'files',
  mapping: {
    turns: 'steps[]; results of a step are tool turns',
    calls: 'steps[].tool_calls',
    contexts: 'subagent_trajectory_ref, subagent_trajectories, context_management',
    tokens: 'steps[].metrics.prompt_token_ids and completion_token_ids',
    score: 'extra.reward, if a producer set it',
  },
  detects: (record) =>
    typeof record.schema_version === 'string' && /^ATIF/i.test(record.schema_version) && Array.isArray(record.steps),
  read: (record, context) => readAtif(record, context, {}),
};

/** The keys that a trial adds to a trajectory. */
export interface AtifFrame {
  /** Before those of the steps. */
  messages?: FoundMessage[];
  format?: string;
  score?: number | null;
  named?: Record<string, number | null> | null;
  extras?: JsonObject;
  uid?: string | null;
  group?: string | null;
  status?: string | null;
  ended?: Ended | null;
}

export function readAtif(record: JsonObject, context: ReadContext, frame: AtifFrame): Rollout {
  const extra = objectIn(record.extra);
  const agent = objectIn(record.agent);
  const linked = objectIn(record.linked);
  const embedded = objectsOf(record.subagent_trajectories);
  const messages: FoundMessage[] = [...(frame.messages ?? [])];
  const contexts: Context[] = [{ kind: 'main', name: idOf(agent.name), after: null }];
  const own: Context[] = [];
  let place = 0;
  let calls: SampledTokens[] = [];
  const closeCalls = () => {
    const tokens = joinCalls(calls);
    if (tokens !== null) itemAt(contexts, place).tokens = tokens;
    calls = [];
  };
  const pieces = [{ record, at: '' }, ...continuedOf(record, linked)];
  for (const piece of pieces) {
    if (piece.at !== '') {
      closeCalls();
      place = contexts.length;
      contexts.push({ kind: 'compaction', name: 'continued', after: messages.length - 1 });
    }
    for (const [i, step] of objectsOf(piece.record.steps).entries()) {
      const stepExtra = objectIn(step.extra);
      const change = isJsonObject(stepExtra.context_management) ? stepExtra.context_management : null;
      if (change?.boundary === 'replace' && messages.length > 0) {
        closeCalls();
        place = contexts.length;
        contexts.push({ kind: 'compaction', name: idOf(change.type), after: messages.length - 1 });
      }
      const at = `${piece.at}/steps/${i}`;
      const sampled = stepTokens(step);
      if (sampled !== null) calls.push(sampled);
      messages.push(...atifMessages(step, at).map((message) => ({ ...message, context: place })));
      for (const reference of referencesOf(step)) {
        const found = subagentOf(reference, embedded, linked);
        const rollout = found === null ? null : readAtif(found, context, {});
        const name = idOf(reference.trajectory_path) ?? idOf(reference.trajectory_id) ?? idOf(reference.session_id);
        own.push({ kind: 'subagent', name, after: messages.length - 1, ...(rollout === null ? {} : { own: rollout }) });
      }
    }
  }
  closeCalls();
  // A continuation whose referenced file is missing is still a history of the record.
  const next = idOf(record.continued_trajectory_ref);
  if (next !== null && pieces.length === 1 && place === 0)
    own.push({ kind: 'compaction', name: next, after: messages.length - 1, ...ownRollout(linked[next], context) });
  return buildRollout(
    {
      format: frame.format ?? 'atif',
      record,
      known: new Set(['steps', 'subagent_trajectories', 'linked', 'follows']),
      messages,
      hasCallsApart: true,
      contexts: [...contexts, ...own],
      score: frame.score ?? numberOf(extra.reward ?? extra.score),
      named: frame.named ?? null,
      uid: frame.uid ?? idOf(record.trajectory_id) ?? idOf(record.session_id),
      status: frame.status ?? null,
      ended: frame.ended ?? null,
      group: frame.group ?? null,
      groundTruth: undefined,
      tools: Array.isArray(agent.tool_definitions) ? agent.tool_definitions : [],
      tokens: contexts[0]?.tokens ?? null,
      ...(frame.extras ? { extras: frame.extras } : {}),
    },
    // Ids are recorded for training; without them it is the trajectory of an evaluation, or of a session.
    contexts.some(({ tokens }) => tokens !== undefined) ? context : { ...context, validation: true },
  );
}

const ownRollout = (value: JsonValue | undefined, context: ReadContext): { own?: Rollout } =>
  isJsonObject(value) ? { own: readAtif({ ...value, linked: {} }, context, {}) } : {};

/** The files that continue this one: only a trial follows them (`follows`); a file opened directly is read alone. */
function continuedOf(record: JsonObject, linked: JsonObject): { record: JsonObject; at: string }[] {
  if (record.follows !== true) return [];
  const found: { record: JsonObject; at: string }[] = [];
  const seen = new Set<string>();
  for (let name = idOf(record.continued_trajectory_ref); name !== null && !seen.has(name); ) {
    seen.add(name);
    const next = linked[name];
    if (!isJsonObject(next)) break;
    found.push({ record: next, at: `/linked/${name.replaceAll('~', '~0').replaceAll('/', '~1')}` });
    name = idOf(next.continued_trajectory_ref);
  }
  return found;
}

function subagentOf(reference: JsonObject, embedded: readonly JsonObject[], linked: JsonObject): JsonObject | null {
  const path = idOf(reference.trajectory_path);
  const byPath = path === null ? undefined : linked[path];
  if (isJsonObject(byPath)) return byPath;
  const id = idOf(reference.trajectory_id) ?? idOf(reference.session_id);
  return embedded.find((one) => id !== null && (idOf(one.trajectory_id) === id || idOf(one.session_id) === id)) ?? null;
}

const referencesOf = (step: JsonObject): JsonObject[] =>
  observationResults(step).flatMap((result) =>
    isJsonObject(result.subagent_trajectory_ref)
      ? [result.subagent_trajectory_ref]
      : objectsOf(result.subagent_trajectory_ref),
  );

const observationResults = (step: JsonObject): JsonObject[] =>
  isJsonObject(step.observation) ? objectsOf(step.observation.results) : [];

const SOURCES: Record<string, string> = { agent: 'assistant', user: 'user', system: 'system' };

function atifMessages(step: JsonObject, at: string): FoundMessage[] {
  const source = idOf(step.source) ?? 'unknown';
  const texts: MessageText[] = [];
  if (typeof step.reasoning_content === 'string' && step.reasoning_content !== '')
    texts.push({ pointer: `${at}/reasoning_content`, text: step.reasoning_content, isThought: true });
  texts.push({ pointer: `${at}/message`, text: contentText(step.message) });
  const calls = objectsOf(step.tool_calls).map((call) => ({
    id: idOf(call.tool_call_id),
    name: idOf(call.function_name),
    arguments: call.arguments,
  }));
  // A copy from an earlier trajectory, or a reply without a model request, was not sampled here.
  const isSampled = source === 'agent' && step.is_copied_context !== true && step.llm_call_count !== 0;
  const results = observationResults(step).map((result, i): FoundMessage => {
    const names = (
      isJsonObject(result.subagent_trajectory_ref)
        ? [result.subagent_trajectory_ref]
        : objectsOf(result.subagent_trajectory_ref)
    ).map((one) => `[subagent ${idOf(one.trajectory_path) ?? idOf(one.trajectory_id) ?? idOf(one.session_id) ?? ''}]`);
    const text = [contentText(result.content), ...names].filter((piece) => piece !== '').join('\n');
    return resultMessage(
      idOf(result.source_call_id),
      `${at}/observation/results/${i}/content`,
      text,
      outcomeIn(result, result.extra),
    );
  });
  return [
    { role: SOURCES[source] ?? source, texts, trained: isSampled, ...(calls.length > 0 ? { calls } : {}) },
    ...results,
  ];
}

function stepTokens(step: JsonObject): SampledTokens | null {
  const metrics = objectIn(step.metrics);
  const prompt = idsOf(metrics.prompt_token_ids);
  const sampled = idsOf(metrics.completion_token_ids);
  return prompt === null || sampled === null
    ? null
    : { prompt, sampled, mask: null, logprobs: numbersOf(metrics.logprobs) };
}
