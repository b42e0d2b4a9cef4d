import type { RolloutFormat } from '../format.ts';
import { exportMessages, toolsText } from '../openai-messages.ts';

/** ms-swift (3602360a5): `loss` on a message says whether it is trained. */
export const toMsSwift: RolloutFormat = {
  name: 'ms-swift',
  about: "ms-swift: trains the model's turns whose `loss` is true",
  takes: 'rollouts',
  file: 'jsonl',
  limits: ['empty', 'cut', 'inferred', 'split_mask', 'contexts', 'pictures'],
  tokens: null,
  row: (one) => ({
    messages: exportMessages(one, one.messages).map((message, at) =>
      message.role !== 'assistant'
        ? message
        : { ...message, loss: at >= one.response && one.messages[at]?.trained !== false },
    ),
    ...toolsText(one),
  }),
};
