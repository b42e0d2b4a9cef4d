import { type Message, messageText } from '../message.ts';

/** Writes one message as a model's template does; pieces put end to end are the conversation. */
export interface ChatParser {
  render(message: Message, options: { first: boolean; generation: boolean }): string;
  /** What `render` puts before an assistant's text. */
  assistantHeader: string;
}

const DEFAULT_SYSTEM = 'You are Qwen, created by Alibaba Cloud. You are a helpful assistant.';

/** Tunix's Qwen template (`tunix/rl/agentic/parser/chat_template_parser/parser.py`): a continuation begins with the line end before it. */
export const qwenChatParser: ChatParser = {
  assistantHeader: '\n<|im_start|>assistant\n',
  render(message, { first, generation }) {
    const isTool = message.role === 'tool';
    const content = withoutControlTokens(messageText(message));
    const body = isTool ? `<tool_response>\n${content}\n</tool_response>` : content;
    const turn = `<|im_start|>${isTool ? 'user' : message.role}\n${body}<|im_end|>`;
    const system = first && message.role !== 'system' ? `<|im_start|>system\n${DEFAULT_SYSTEM}<|im_end|>\n` : '';
    return `${first ? system : '\n'}${turn}${generation ? '\n<|im_start|>assistant\n' : ''}`;
  },
};

/** Removed until nothing is left to remove, so that no token is put together by removing another. */
function withoutControlTokens(text: string): string {
  for (let before = text; ; before = text) {
    text = before.replace(/<\|[a-z_]+\|>/g, '');
    if (text === before) return text;
  }
}

export interface TokenizedMessages {
  tokens: number[];
  /** 1 for the tokens of assistant messages. */
  masks: number[];
}

/** Ids and masks of messages: `first` when the conversation begins with them, `generation` when a reply is to follow. */
export type TokenizeMessages = (
  messages: readonly Message[],
  flags: { first: boolean; generation: boolean },
) => TokenizedMessages;

/** Tunix's tokenize_and_generate_masks: each message alone; an assistant's header was already written as the generation prompt before it. */
export function messagesTokenizer(
  encode: (text: string) => number[],
  parser: ChatParser = qwenChatParser,
): TokenizeMessages {
  return (messages, { first, generation }) => {
    const tokens: number[] = [];
    const masks: number[] = [];
    for (const [index, message] of messages.entries()) {
      const text = parser.render(message, {
        first: first && index === 0,
        generation: generation && index === messages.length - 1,
      });
      const isAssistant = message.role === 'assistant';
      const body =
        isAssistant && text.startsWith(parser.assistantHeader) ? text.slice(parser.assistantHeader.length) : text;
      const ids = encode(body);
      tokens.push(...ids);
      masks.push(...ids.map(() => (isAssistant ? 1 : 0)));
    }
    return { tokens, masks };
  };
}
