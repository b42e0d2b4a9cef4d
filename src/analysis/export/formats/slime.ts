import { printJson } from '../../../core/json/print.ts';
import type { ExportConversation } from '../conversation.ts';
import type { RolloutFormat } from '../format.ts';
import { exportMessages } from '../openai-messages.ts';
import { recordedIds } from '../recorded-ids.ts';

/** The values of slime's Sample.Status. */
const STATUSES: readonly (string | null)[] = ['pending', 'completed', 'truncated', 'aborted', 'failed'];

const statusOf = ({ status, isCut }: ExportConversation): string =>
  status !== null && STATUSES.includes(status) ? status : isCut ? 'truncated' : 'completed';

/** slime's --load-debug-rollout-data (slime 624b824a8): a torch file of samples, with ids, mask, log probabilities and reward as recorded. */
export const toSlime: RolloutFormat = {
  name: 'slime',
  about: 'slime --load-debug-rollout-data: recorded ids, mask, log probabilities and reward',
  takes: 'rollouts',
  file: 'pt',
  limits: ['empty', 'contexts', 'pictures', 'half_characters', 'no_ids', 'logprob_gaps'],
  tokens: 'recorded',
  row: (one) => {
    const { prompt, response, mask, logprobs } = recordedIds(one);
    return {
      index: typeof one.id === 'number' ? one.id : null,
      prompt: exportMessages(one, one.messages.slice(0, one.response)),
      tokens: [...prompt, ...response],
      response: one.messages
        .slice(one.response)
        .map(({ text }) => text)
        .join('\n'),
      response_length: response.length,
      label:
        typeof one.groundTruth === 'string' || one.groundTruth == null ? one.groundTruth : printJson(one.groundTruth),
      reward: one.score,
      loss_mask: mask,
      ...(logprobs === null ? {} : { rollout_log_probs: logprobs }),
      status: statusOf(one),
      metadata: { locator: one.locator, source: one.source, id: one.id },
    };
  },
};
