import { type RolloutFormat, SFT_LIMITS } from '../format.ts';
import { exportMessages, toolsText } from '../openai-messages.ts';

/** prime-rl's SFT (559b447): it joins prompt and completion, trains every reply in both, and parses the arguments of calls. */
export const toPrimeRl: RolloutFormat = {
  name: 'prime-rl',
  about: "prime-rl SFT: trains the model's turns",
  takes: 'rollouts',
  file: 'jsonl',
  limits: [...SFT_LIMITS, 'broken_calls'],
  tokens: null,
  row: (one) => ({
    prompt: exportMessages(one, one.messages.slice(0, one.response)),
    completion: exportMessages(one, one.messages.slice(one.response)),
    ...toolsText(one),
  }),
};
