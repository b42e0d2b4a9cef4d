import type { RolloutFormat } from '../format.ts';
import { exportMessages, toolsText } from '../openai-messages.ts';

/** prime-rl's SFT (559b447): messages, with the loss by role. */
export const toPrimeRl: RolloutFormat = {
  name: 'prime-rl',
  about: "prime-rl SFT: trains the model's turns",
  takes: 'rollouts',
  file: 'jsonl',
  limits: ['empty', 'cut', 'inferred', 'split_mask', 'contexts', 'pictures', 'masked_turns'],
  tokens: null,
  row: (one) => ({
    prompt: exportMessages(one, one.messages.slice(0, one.response)),
    completion: exportMessages(one, one.messages.slice(one.response)),
    ...toolsText(one),
  }),
};
