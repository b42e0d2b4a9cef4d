import type { JsonObject } from '../../core/json/value.ts';

/** A tool call in the form of OpenAI's chat API. `arguments` is JSON text as the model wrote it, which may not be valid JSON. */
export type MessageToolCall = {
  id: string;
  type: 'function';
  function: { name: string; arguments: string };
};

/** A picture that a task or a tool shows: a data URL, or an address. */
export type Picture = {
  url: string;
};

/** A chat message. `content` is text, or a list of parts (text, images) that is passed on unchanged. */
export type Message = {
  role: string;
  content: string | JsonObject[];
  /** The reasoning that the server's parser split off the content. */
  reasoning_content?: string;
  tool_calls?: MessageToolCall[];
  /** On a tool message: the call that it answers. */
  tool_call_id?: string;
  name?: string;
};

/** The text of a message; for a list, its text parts joined, with `<image>` for a picture. */
export function messageText(message: Message): string {
  if (typeof message.content === 'string') return message.content;
  return message.content.map(partText).join('');
}

const partText = (part: JsonObject): string => {
  if (typeof part.text === 'string') return part.text;
  return part.type === 'image_url' || part.type === 'image' ? '<image>' : '';
};

/** The text of the last message, or ''. */
export const textOfLast = (messages: readonly Message[]): string => {
  const last = messages.at(-1);
  return last === undefined ? '' : messageText(last);
};
