import { printJson } from '../../../core/json/print.ts';
import { isJsonObject, type JsonValue } from '../../../core/json/value.ts';
import { type ExportRow, PLACEHOLDERS, type RolloutFormat, SFT_LIMITS } from '../format.ts';
import type { ExportMessage } from '../message.ts';
import { withThinking } from '../openai-messages.ts';

/**
 * LLaMA-Factory's ShareGPT form (ff6d4d12e, data/converter.py): roles alternate, and a call is a separate turn. It parses
 * calls and writes them by its own templates; a turn that is only known as text goes out as that text.
 */
export const toLlamaFactory: RolloutFormat = {
  name: 'llama-factory',
  about: "LLaMA-Factory ShareGPT: trains the model's turns; writes tools by its own prompt",
  takes: 'rollouts',
  file: 'json',
  limits: [...SFT_LIMITS, 'broken_calls', 'parallel_calls', 'call_words', 'call_tags', 'order', ...PLACEHOLDERS],
  tokens: { renders: 'slots', trains: 'messages' },
  row: (one) => {
    const [first] = one.messages;
    const system = first?.role === 'system' ? first.content : '';
    const turns = first?.role === 'system' ? one.messages.slice(1) : one.messages;
    return {
      id: one.id,
      conversations: turns.map(turnRow),
      system: system === '' ? null : system,
      tools: one.tools === null ? null : printJson(one.tools.map(withoutWrapper)),
    };
  },
};

const FROM: Readonly<Record<string, string>> = { user: 'human', assistant: 'gpt', tool: 'observation' };

function turnRow(message: ExportMessage): ExportRow {
  const [call] = message.calls;
  if (call === undefined) return { from: FROM[message.role] ?? message.role, value: withThinking(message) };
  const content = `{"name": ${JSON.stringify(call.name)}, "arguments": ${call.arguments}}`;
  return { from: 'function_call', value: withThinking({ ...message, content }) };
}

/** Its loader takes the bare function object, not OpenAI's wrapper around it. */
const withoutWrapper = (tool: JsonValue): JsonValue => (isJsonObject(tool) ? (tool.function ?? tool) : tool);
