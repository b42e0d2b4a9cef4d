import { PLACEHOLDERS, REPLY_LIMITS, type RolloutFormat } from '../format.ts';
import type { ExportMessage } from '../message.ts';
import { exportMessages, isTrainedReply, toolsText, withThinking } from '../openai-messages.ts';

/** Its loader drops every other key of a message, and its templates read reasoning from the text (swift/dataset/preprocessor/core.py). */
const withReasoning = (message: ExportMessage): ExportMessage => ({
  ...message,
  content: withThinking(message),
  reasoning: null,
});

/** ms-swift (3602360a5): `loss` on a message says whether it is trained. */
export const toMsSwift: RolloutFormat = {
  name: 'ms-swift',
  about: "ms-swift: trains the model's turns whose `loss` is true",
  takes: 'rollouts',
  file: 'jsonl',
  limits: [...REPLY_LIMITS, 'untrained', 'broken_calls', 'rounds', ...PLACEHOLDERS],
  tokens: { renders: 'slots', trains: 'marked', joinsResults: true },
  row: (one) => ({
    id: one.id,
    messages: exportMessages(one, one.messages.map(withReasoning)).map((message, at) =>
      message.role !== 'assistant' ? message : { ...message, loss: isTrainedReply(one, at) },
    ),
    ...toolsText(one),
  }),
};
