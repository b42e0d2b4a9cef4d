import { printJson } from '../json/print.ts';
import { isJsonObject, type JsonObject, type JsonValue, objectIn } from '../json/value.ts';
import type { Ended } from '../rollout/ended.ts';
import type { Context } from '../rollout/rollout.ts';
import { messageFormat } from './build.ts';
import type { Format } from './format.ts';
import { given } from './given.ts';
import { chatMessage } from './openai-message.ts';
import { responseMessages } from './responses.ts';
import { joinCalls, type SampledTokens } from './token-lists.ts';
import { idOf, idsOf, numberOf, numbersOf, objectsOf, recordedReward } from './values.ts';

const KNOWN = new Set('responses_create_params response reward _ng_task_index expected_answer'.split(' '));

/** NeMo-Gym's rollouts: request and response as in OpenAI's Responses API, plus the reward and the verifier's keys. */
export const nemoGym: Format = messageFormat({
  name: 'nemo-gym',
  basis: 'files',
  mapping: {
    turns: 'responses_create_params.input, then response.output',
    calls: 'items of the type function_call',
    score: 'reward',
    group: '_ng_task_index',
    contexts: 'lists in response.output: one that repeats and continues the list before it counts once',
    tokens: 'prompt_token_ids and generation_token_ids of the items, if not empty',
  },
  detects: (record) => isJsonObject(record.responses_create_params),
  find(record) {
    const asked = objectIn(record.responses_create_params);
    const response = objectIn(record.response);
    const input = asked.input;
    const at = '/responses_create_params';
    const prompt = [
      ...(typeof asked.instructions === 'string' && asked.instructions !== ''
        ? [chatMessage({ role: 'system', content: asked.instructions }, `${at}/instructions`)]
        : []),
      ...(typeof input === 'string'
        ? [chatMessage({ role: 'user', content: input }, `${at}/input`)]
        : responseMessages(objectsOf(input), `${at}/input`)),
    ].map(given);
    const nested = nestedHistories(response.output);
    const repeated = nested === null ? 0 : (response.output as JsonValue[]).length - nested.length;
    const items = nested === null ? objectsOf(response.output) : nested.flatMap(({ items: own }) => own);
    const reply =
      nested === null
        ? responseMessages(items, '/response/output')
        : nested.flatMap(({ items: own, at }, context) =>
            responseMessages(own, `/response/output/${at}`).map((one) => ({ ...one, context })),
          );
    const contexts = (nested ?? []).map(
      (_, at): Context => ({ kind: at === 0 ? 'main' : 'branch', name: null, after: null }),
    );
    // Nested histories begin with the question.
    const sampled = reply.findIndex(({ role }) => role === 'assistant' || role === 'function_call');
    const firstReply = prompt.length + (nested === null ? 0 : sampled === -1 ? reply.length : sampled);
    const tokens = joinCalls(items.map(itemTokens).filter((one) => one !== null));
    const incomplete = isJsonObject(response.incomplete_details) ? idOf(response.incomplete_details.reason) : null;
    const { usage, model, error } = response;
    return {
      known: KNOWN,
      messages: [...prompt, ...reply],
      hasCallsApart: true,
      firstReply,
      contexts,
      score: recordedReward(record.reward),
      group: idOf(record._ng_task_index),
      uid: idOf(response.id),
      status: idOf(response.status),
      ended: incomplete === null && response.incomplete_details === null ? unusedBudget(asked, usage) : null,
      groundTruth: record.expected_answer ?? record.answer,
      tools: asked.tools ?? [],
      tokens,
      ...(tokens === null ? {} : { mask: 'recorded' as const }),
      extras: {
        ...(usage ? { usage } : {}),
        ...(model ? { model } : {}),
        ...(error ? { error } : {}),
        // A count of the file's items counts the calls of these more than once.
        ...(repeated === 0
          ? {}
          : {
              repeated_histories: `${repeated} of ${repeated + (nested?.length ?? 0)} lists, each continued by the next`,
            }),
        ...(incomplete === null ? {} : { finish_reason: incomplete }),
      },
      // A trainer needs the ids of what was sampled: without them the rollouts were collected or evaluated.
      isValidation: tokens === null,
    };
  },
});

/** Gym notes an answer that was cut, and one that used less than its tokens was not. */
function unusedBudget(asked: JsonObject, usage: JsonValue | undefined): Ended | null {
  const most = numberOf(asked.max_output_tokens);
  const used = isJsonObject(usage) ? numberOf(usage.output_tokens) : null;
  if (most === null || used === null || used === 0 || used >= most) return null;
  return { how: 'stop', evidence: `${used} of ${most} tokens were used, and incomplete_details is null` };
}

/**
 * Histories of an output that is a list of lists: each step writes the whole history that its model saw (aviary's
 * agent). A step that extends the previous history belongs to it; otherwise it begins another. null for an output of
 * items.
 */
function nestedHistories(output: JsonValue | undefined): { items: JsonObject[]; at: number }[] | null {
  if (!Array.isArray(output) || output.length === 0 || !output.every((one) => Array.isArray(one))) return null;
  const histories: { items: JsonObject[]; at: number }[] = [];
  for (const [at, list] of output.entries()) {
    const items = objectsOf(list);
    const before = histories.at(-1);
    const goesOn = before?.items.every((item, i) => printJson(item) === printJson(items[i] ?? null)) === true;
    if (goesOn) histories.pop();
    histories.push({ items, at });
  }
  return histories;
}

function itemTokens(item: JsonObject): SampledTokens | null {
  const prompt = idsOf(item.prompt_token_ids);
  const sampled = idsOf(item.generation_token_ids);
  return prompt === null || sampled === null
    ? null
    : { prompt, sampled, mask: null, logprobs: numbersOf(item.generation_log_probs) };
}
