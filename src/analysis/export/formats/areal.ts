import type { RolloutFormat } from '../format.ts';
import { recordedIds } from '../recorded-ids.ts';

/** Token lists as AReaL keeps them: input ids with the mask over prompt and response. */
export const toAreal: RolloutFormat = {
  name: 'areal',
  about: 'AReaL token lists: input_ids, loss_mask, logprobs, reward as recorded',
  takes: 'rollouts',
  file: 'jsonl',
  limits: ['empty', 'contexts', 'pictures', 'no_ids', 'logprob_gaps', 'no_score'],
  tokens: 'recorded',
  row: (one) => {
    const { prompt, response, mask, logprobs } = recordedIds(one);
    const zeros = prompt.map(() => 0);
    return {
      id: one.id,
      input_ids: [...prompt, ...response],
      loss_mask: [...zeros, ...mask],
      ...(logprobs === null ? {} : { logprobs: [...zeros, ...logprobs] }),
      rewards: one.score,
    };
  },
};
