import type { ExportConversation } from '../conversation.ts';
import { ANSWER_LIMITS, type ExportRow, type PairFormat, REPLY_LIMITS, type RolloutFormat } from '../format.ts';
import type { ExportMessage } from '../message.ts';
import { isTrainedReply, structuredMessage } from '../openai-messages.ts';

const message = (one: ExportMessage): ExportRow => structuredMessage(one, { reasoning: false });

/** OpenAI's API refuses these in messages, or has no field for them. */
const API_LIMITS = ['reasoning', 'broken_calls', 'loose_calls', 'call_names', 'open_end'] as const;

const toolKeys = ({ tools, messages }: ExportConversation): ExportRow =>
  tools === null || tools.length === 0
    ? {}
    : { tools, parallel_tool_calls: messages.some(({ calls }) => calls.length > 1) };

/**
 * OpenAI's fine-tuning file (types of openai 3.22.1): `weight` masks a turn of the model; there is no field for
 * reasoning.
 */
export const toOpenai: RolloutFormat = {
  name: 'openai',
  about: "OpenAI fine-tuning: trains the model's turns of weight 1; drops reasoning",
  takes: 'rollouts',
  file: 'jsonl',
  cutsText: true,
  limits: [...REPLY_LIMITS, 'untrained', ...API_LIMITS],
  tokens: null,
  row: (one) => ({
    messages: one.messages.map((turn, at) =>
      turn.role !== 'assistant' ? message(turn) : { ...message(turn), weight: isTrainedReply(one, at) ? 1 : 0 },
    ),
    ...toolKeys(one),
  }),
};

/** OpenAI's preference file: the input, and two answers. */
export const toOpenaiDpo: PairFormat = {
  name: 'openai-dpo',
  about: 'OpenAI preference fine-tuning; drops reasoning',
  takes: 'pairs',
  file: 'jsonl',
  cutsText: true,
  limits: [...ANSWER_LIMITS, ...API_LIMITS, 'masked_results'],
  tokens: null,
  row: ({ better, worse, shared, length }) => ({
    input: { messages: better.messages.slice(0, shared).map(message), ...toolKeys(better) },
    preferred_output: better.messages.slice(shared, shared + length).map(message),
    non_preferred_output: worse.messages.slice(shared, shared + length).map(message),
  }),
};
