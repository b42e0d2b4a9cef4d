import { type Printable, printJson } from '../../core/json/print.ts';
import type { ExportConversation } from './conversation.ts';
import type { ExportRow } from './format.ts';
import type { ExportMessage } from './message.ts';

export interface MessageStyle {
  /** Keep reasoning as `reasoning_content`. */
  reasoning: boolean;
}

/** Messages as OpenAI's chat API has them; arguments stay the text that the model wrote. */
export function structuredMessage(message: ExportMessage, { reasoning }: MessageStyle): ExportRow {
  const calls: Printable[] = message.calls.map((call) => ({
    ...(call.id === null ? {} : { id: call.id }),
    type: 'function',
    function: { name: call.name, arguments: call.arguments },
  }));
  return {
    role: message.role,
    content: message.content,
    ...(reasoning && message.reasoning !== null ? { reasoning_content: message.reasoning } : {}),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
    ...(message.answers === null ? {} : { tool_call_id: message.answers }),
    ...(message.name === null ? {} : { name: message.name }),
  };
}

/** A turn as its exact text: templates write it as it is, and no id changes. */
export const plainMessage = ({ role, text }: ExportMessage): ExportRow => ({ role, content: text });

/**
 * The messages of a conversation for loaders that render a chat template. Recorded messages go out with their parts.
 * Messages cut from text each go out as that text, because a template might write the parts differently.
 */
export const exportMessages = (
  { isRecorded }: Pick<ExportConversation, 'isRecorded'>,
  messages: readonly ExportMessage[],
): ExportRow[] =>
  messages.map((message) =>
    isRecorded || message.isApart ? structuredMessage(message, { reasoning: true }) : plainMessage(message),
  );

/** The content with its reasoning before it, for trainers that read reasoning from the text. */
export const withThinking = ({ reasoning, content }: ExportMessage): string =>
  reasoning === null ? content : `<think>\n${reasoning}\n</think>\n\n${content}`;

/** For rows that mark which messages are trained. */
export const isTrainedReply = (
  { messages, response }: Pick<ExportConversation, 'messages' | 'response'>,
  at: number,
): boolean => messages[at]?.role === 'assistant' && at >= response && messages[at].trained !== false;

/**
 * The schemas as one JSON string: in a column of objects every tool would get the parameters of all others as null. Every
 * row has the key, because `Dataset.from_list` drops keys that the first row lacks.
 */
export const toolsText = ({ tools }: ExportConversation): ExportRow => ({
  tools: tools === null || tools.length === 0 ? null : printJson(tools),
});
