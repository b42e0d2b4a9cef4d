import type { RolloutFormat } from '../format.ts';
import { finite, recordedIds } from '../recorded-ids.ts';

/**
 * The micro batches of a step as prime-rl's trainer reads them from its file transport (559b447,
 * transports/rollouts/types.py): the values of a MicroBatch in the order of its fields, a rollout each.
 */
export const toPrimeRlBatch: RolloutFormat = {
  name: 'prime-rl-batch',
  about: 'prime-rl micro batches (rollouts/step_N/rank_0.bin): recorded ids, mask, log probabilities, advantages',
  takes: 'rollouts',
  file: 'bin',
  limits: ['empty', 'contexts', 'pictures', 'no_ids', 'no_logprobs', 'no_advantage', 'no_temperature'],
  tokens: 'recorded',
  row: (one) => {
    const { prompt, response, mask, logprobs } = recordedIds(one);
    const zeros = prompt.map(() => 0);
    const ids = [...prompt, ...response];
    const { advantages } = one;
    return {
      input_ids: ids,
      loss_mask: [...zeros, ...mask].map((bit) => bit === 1),
      advantages: [
        ...zeros,
        ...mask.map((bit, at) => (typeof advantages === 'number' ? bit * advantages : finite(advantages?.[at]))),
      ],
      inference_logprobs: [...zeros, ...mask.map((_, at) => logprobs?.[at] ?? 0)],
      position_ids: [...ids.keys()],
      sequence_lengths: [ids.length],
      temperatures: ids.map(() => one.temperature ?? 1),
      env_names: ids.map(() => one.dataSource ?? 'unknown'),
      seq_lens: [ids.length],
    };
  },
};
