import { type RolloutFormat, SFT_LIMITS } from '../format.ts';
import { exportMessages } from '../openai-messages.ts';

/** NeMo-RL's get_formatted_message_log (RL 7ea279abf): trains whole messages of the model, header and line break included. */
export const toNemoRl: RolloutFormat = {
  name: 'nemo-rl',
  about: "NeMo-RL SFT: trains the model's messages with their headers",
  takes: 'rollouts',
  file: 'jsonl',
  limits: SFT_LIMITS,
  tokens: { renders: 'prefixes', trains: 'headers' },
  row: (one) => ({
    id: one.id,
    messages: exportMessages(one, one.messages),
    tools: one.tools,
  }),
};
