import { isJsonObject, type JsonObject, objectIn } from '../json/value.ts';
import { buildRollout, type FoundMessage, messageFormat } from './build.ts';
import type { Format } from './format.ts';
import { idTurns } from './id-turns.ts';
import { splitSequence } from './token-lists.ts';
import { idOf, idsOf, numberOf, numbersOf } from './values.ts';

/** prime-rl's token export (`trainer/rl/token_export.py`): the trainer's numbers for each token, without text. */
export const primeTokens: Format = {
  name: 'prime-rl-tokens',
  basis: 'files',
  mapping: {
    tokens: 'token_ids',
    mask: 'loss_mask',
    step: 'step',
    'log probabilities': 'inference_logprobs',
    'per token': 'every other list of that length',
  },
  detects: (record) =>
    Array.isArray(record.token_ids) && Array.isArray(record.loss_mask) && record.mismatch_kl !== undefined,
  read(record, context) {
    const ids = idsOf(record.token_ids);
    const mask = idsOf(record.loss_mask);
    const lists = Object.entries(record).flatMap(([key, value]) => {
      const list = numbersOf(value);
      const isOther =
        !['token_ids', 'loss_mask', 'position_ids'].includes(key) && list !== null && list.length === ids?.length;
      return isOther && list.some((one) => one !== null)
        ? [[key === 'inference_logprobs' ? 'logprobs' : key, list] as const]
        : [];
    });
    const tokens =
      ids === null || mask?.length !== ids.length ? null : splitSequence(ids, mask, Object.fromEntries(lists));
    const scalars = Object.entries(record).filter(([, value]) => !Array.isArray(value));
    return buildRollout(
      {
        format: 'prime-rl-tokens',
        record: Object.fromEntries(scalars),
        known: new Set(['step', 'schema_version']),
        messages: tokens === null ? [] : idTurns(tokens, '/token_ids'),
        step: numberOf(record.step),
        tokens,
        mask: 'recorded',
      },
      context,
    );
  },
};

/**
 * open-instruct's rollouts (`open_instruct/rl_utils.py`): ids of prompt and response without text or mask; tool
 * activity is in `request_info`.
 */
export const openInstruct: Format = messageFormat({
  name: 'open-instruct',
  basis: 'files',
  mapping: {
    tokens: 'prompt_tokens, response_tokens',
    score: 'reward',
    advantage: 'advantage',
    step: 'step',
    group: 'step and prompt_idx',
    calls: 'request_info.tool_call_stats, without their text',
    results: 'request_info.tool_outputs, all in one',
    ended: 'finish_reason',
  },
  detects: (record) => Array.isArray(record.prompt_tokens) && Array.isArray(record.response_tokens),
  find(record) {
    const prompt = idsOf(record.prompt_tokens) ?? [];
    const response = idsOf(record.response_tokens) ?? [];
    const info = objectIn(record.request_info);
    const stats = Array.isArray(info.tool_call_stats) ? info.tool_call_stats.filter(isJsonObject) : [];
    const recorded = numberOf(info.num_calls) ?? 0;
    // More calls than tokens cannot be a call count.
    const count = Math.max(stats.length, recorded >= 0 && recorded <= response.length ? Math.trunc(recorded) : 0);
    const calls = Array.from({ length: count }, (_, at) => ({
      id: null,
      name: idOf(stats[at]?.tool_name),
      arguments: null,
      raw: '',
    }));
    const text = (length: number) => `[${length} token ids without text]`;
    return {
      known: new Set('prompt_tokens response_tokens reward advantage step ground_truth logprobs'.split(' ')),
      messages: [
        { role: 'prompt', trained: false, texts: [{ pointer: '/prompt_tokens', text: text(prompt.length) }] },
        // Whether tool outputs among them were masked is not recorded.
        {
          role: 'assistant',
          trained: count > 0 ? null : true,
          texts: [{ pointer: '/response_tokens', text: text(response.length) }],
          ...(calls.length > 0 ? { calls } : {}),
        },
        ...(calls.length > 0 ? [toolOutputs(info, stats)] : []),
      ],
      hasCallsApart: true,
      score: numberOf(record.reward),
      step: numberOf(record.step),
      advantage: numberOf(record.advantage),
      group: `${idOf(record.step) ?? ''}/${idOf(record.prompt_idx) ?? ''}`,
      groundTruth: record.ground_truth,
      ...(count > 0 ? { mask: 'unknown' as const } : {}),
      ...(count > 0
        ? {}
        : {
            tokens: {
              promptIds: prompt,
              responseIds: response,
              mask: response.map(() => 1),
              logprobs: sameLength(numbersOf(record.logprobs), response),
            },
          }),
    };
  },
});

/** The outputs of all calls, which the writer joins. */
function toolOutputs({ tool_outputs: text }: JsonObject, stats: readonly JsonObject[]): FoundMessage {
  const failed = stats.filter(({ success }) => success === false).length;
  return {
    role: 'tool',
    trained: false,
    answersAll: true,
    texts: typeof text === 'string' ? [{ pointer: '/request_info/tool_outputs', text }] : [],
    ...(failed === 0
      ? {}
      : { outcome: { isFailure: true, evidence: `success false for ${failed} of ${stats.length}` } }),
  };
}

const sameLength = (list: (number | null)[] | null, of: readonly number[]): (number | null)[] | null =>
  list?.length === of.length ? list : null;
