import type { RolloutFormat } from '../format.ts';
import { exportMessages } from '../openai-messages.ts';

/** Chat messages with the mask of each turn, for people and scripts. */
export const toMessages: RolloutFormat = {
  name: 'messages',
  about: 'chat messages as JSON lines, each with `trained`: true, false or null',
  takes: 'rollouts',
  file: 'jsonl',
  limits: [],
  tokens: null,
  row: (one) => ({
    id: one.id,
    messages: exportMessages(one, one.messages).map((message, at) => ({
      ...message,
      trained: one.messages[at]?.trained ?? null,
    })),
    ...(one.tools === null ? {} : { tools: one.tools }),
    score: one.score,
    source: one.locator,
  }),
};
