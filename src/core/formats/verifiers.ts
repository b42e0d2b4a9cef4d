import { isJsonObject, type JsonObject, type JsonValue } from '../json/value.ts';
import type { RolloutTokens } from '../rollout/rollout.ts';
import { type FoundMessage, messageFormat } from './build.ts';
import type { Format } from './format.ts';
import { given } from './given.ts';
import { chatMessage } from './openai-message.ts';
import { verifiersTimes } from './recorded-times.ts';
import { joinCalls, type SampledTokens } from './token-lists.ts';
import { idOf, idsOf, namedNumbers, numberOf, numbersOf, objectsOf, parsed } from './values.ts';

const KNOWN = new Set('prompt completion reward answer trajectory advantage step tool_defs oai_tools'.split(' '));

/**
 * A row of verifiers' `results.jsonl` (`verifiers/legacy/types.py`, and `vf-eval` before it), of prime-rl's first `train_rollouts.jsonl`, and of Prime's hosted
 * export, where messages, metrics and times are JSON texts. Calls are JSON texts inside a list.
 */
export const verifiers: Format = messageFormat({
  name: 'verifiers',
  basis: 'files',
  mapping: {
    turns: 'prompt, then completion (lists of messages, JSON texts of them, or one text)',
    calls: 'tool_calls[], a JSON text each',
    score: 'reward',
    'named rewards': 'metrics',
    group: 'example_id, else problem_id',
    tokens: 'trajectory[].tokens',
    advantage: 'advantage, else that of trajectory',
  },
  detects: (record) =>
    record.completion !== undefined &&
    record.prompt !== undefined &&
    (record.example_id !== undefined ||
      (record.problem_id !== undefined && record.sample_id !== undefined) ||
      (record.id !== undefined && record.generation_ms !== undefined) ||
      (record.task !== undefined && record.reward !== undefined && record.input === undefined)),
  times: verifiersTimes,
  find(record) {
    const prompt = messagesIn(record.prompt, 'prompt', 'user').map(given);
    const completion = messagesIn(record.completion, 'completion', 'assistant');
    const info = parsedContainer(record.info);
    const steps = objectsOf(parsedContainer(record.trajectory));
    const calls = steps.map(callTokens).filter((one) => one !== null);
    const tokens: RolloutTokens | null = calls.length === steps.length ? joinCalls(calls) : null;
    const hasMask = steps.some((step) => isJsonObject(step.tokens) && idsOf(step.tokens.completion_mask) !== null);
    const advantage = numberOf(record.advantage) ?? numberOf(steps.at(-1)?.advantage);
    // `vf-eval` records neither ids nor advantages, nor a step.
    const isEvaluation = tokens === null && advantage === null && numberOf(record.step) === null;
    const stepRewards = steps.map((step) => numberOf(step.reward));
    return {
      known: KNOWN,
      messages: rewarded([...prompt, ...completion], stepRewards),
      hasCallsApart: true,
      firstReply: prompt.length,
      score: numberOf(record.reward),
      step: numberOf(record.step),
      named: namedNumbers(parsedContainer(record.metrics)),
      uid: idOf(record.trajectory_id ?? record.rollout_id ?? null),
      group: groupOf(record),
      groundTruth: record.answer,
      status: idOf(record.stop_condition),
      tools: toolsOf(record, info),
      tokens,
      advantage,
      ...(hasMask ? { mask: 'recorded' as const } : {}),
      ...(record.is_truncated === true ? { ended: { how: 'length' as const, evidence: 'is_truncated is true' } } : {}),
      isValidation: isEvaluation,
    };
  },
});

/** A page of rollouts from Prime's hub (`rollouts_raw.json`): rows of its hosted export. */
export const verifiersPage: Format = {
  name: 'verifiers-page',
  basis: 'files',
  mapping: { rollouts: 'samples[]' },
  detects: (record) => objectsOf(record.samples).length > 0 && objectsOf(record.samples).every(verifiers.detects),
  split: (record) => objectsOf(record.samples),
  read: (record, context) => verifiers.read(record, context),
};

/** The prompt of one row is sampled several times under one number; the hosted export numbers within a step. */
function groupOf(record: JsonObject): string | null {
  const own = idOf(record.example_id);
  if (own !== null) return own;
  const problem = idOf(record.problem_id);
  return problem === null ? null : `${idOf(record.step) ?? ''}/${problem}`;
}

function messagesIn(value: JsonValue | undefined, field: string, role: string): FoundMessage[] {
  const list = parsedContainer(value);
  if (Array.isArray(list)) return objectsOf(list).map((message, at) => chatMessage(message, `/${field}/${at}`));
  if (isJsonObject(list)) return [chatMessage(list, `/${field}`)];
  return typeof value === 'string' && value !== '' ? [{ role, texts: [{ pointer: `/${field}`, text: value }] }] : [];
}

/** A list or an object, given directly or as JSON text; any other text does not count. */
function parsedContainer(value: JsonValue | undefined): JsonValue | undefined {
  if (typeof value !== 'string') return value;
  const text = value.trim();
  return text.startsWith('[') || text.startsWith('{') ? parsed(text) : undefined;
}

function toolsOf(record: JsonObject, info: JsonValue | undefined): JsonValue[] {
  const held = [record.tool_defs, record.oai_tools, isJsonObject(info) ? info.oai_tools : undefined].map(
    parsedContainer,
  );
  return held.find((one) => Array.isArray(one)) ?? [];
}

/** Step rewards belong to the replies, if there are as many. */
function rewarded(messages: FoundMessage[], rewards: readonly (number | null)[]): FoundMessage[] {
  const replies = messages.filter(({ role }) => role === 'assistant');
  if (replies.length === rewards.length) for (const [i, reply] of replies.entries()) reply.reward = rewards[i] ?? null;
  return messages;
}

function callTokens(step: JsonObject): SampledTokens | null {
  const { tokens } = step;
  if (!isJsonObject(tokens)) return null;
  const prompt = idsOf(tokens.prompt_ids);
  const sampled = idsOf(tokens.completion_ids);
  if (prompt === null || sampled === null) return null;
  return { prompt, sampled, mask: idsOf(tokens.completion_mask), logprobs: numbersOf(tokens.completion_logprobs) };
}
