import { REPLY_LIMITS, type RolloutFormat } from '../format.ts';
import { exportMessages, isTrainedReply, toolsText } from '../openai-messages.ts';

/** Axolotl's chat_template type (067b021c8): it parses the arguments of calls and stops at broken ones; `train` masks a message. */
export const toAxolotl: RolloutFormat = {
  name: 'axolotl',
  about: 'Axolotl chat_template with message_field_training: train',
  takes: 'rollouts',
  file: 'jsonl',
  limits: [...REPLY_LIMITS, 'untrained', 'broken_calls'],
  tokens: { renders: 'whole', trains: 'flagged', parsesCalls: true },
  row: (one) => ({
    id: one.id,
    messages: exportMessages(one, one.messages).map((message, at) => ({
      ...message,
      train: isTrainedReply(one, at),
    })),
    ...toolsText(one),
  }),
};
