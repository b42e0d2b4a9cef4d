// A byte-level tokenizer with ChatML's special tokens, and a chat template in Qwen's shape: small, and exact in both directions.

import type { JsonObject } from '../../src/core/json/value.ts';
import { ChatTokenizer } from '../../src/engine/index.ts';

/** GPT-2's printable characters for the 256 bytes. */
function byteAlphabet(): string[] {
  const printable = (byte: number) => (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
  let next = 256;
  return Array.from({ length: 256 }, (_, byte) => String.fromCodePoint(printable(byte) ? byte : next++));
}

export const IM_END = 257;

const alphabet = byteAlphabet();
export const TOKENIZER_JSON = {
  version: '1.0',
  added_tokens: ['<|im_start|>', '<|im_end|>', '<|endoftext|>'].map((content, index) => ({
    id: 256 + index,
    content,
    single_word: false,
    lstrip: false,
    rstrip: false,
    normalized: false,
    special: true,
  })),
  normalizer: null,
  pre_tokenizer: { type: 'ByteLevel', add_prefix_space: false, trim_offsets: false, use_regex: false },
  post_processor: null,
  decoder: { type: 'ByteLevel', add_prefix_space: false, trim_offsets: false, use_regex: false },
  // "ab" is one token, so that a text has more than one tokenisation, as with real vocabularies.
  model: {
    type: 'BPE',
    vocab: { ...Object.fromEntries(alphabet.map((char, byte) => [char, byte])), ab: 259 },
    merges: ['a b'],
  },
};

export const CHAT_TEMPLATE = [
  "{%- if tools %}{{ '<|im_start|>system\\n' }}",
  "{%- if messages[0].role == 'system' %}{{ messages[0].content + '\\n\\n' }}{%- endif %}",
  "{{ '# Tools\\n<tools>' }}{%- for tool in tools %}{{ '\\n' + (tool | tojson) }}{%- endfor %}{{ '\\n</tools><|im_end|>\\n' }}",
  "{%- elif messages[0].role == 'system' %}{{ '<|im_start|>system\\n' + messages[0].content + '<|im_end|>\\n' }}{%- endif %}",
  '{%- for message in messages %}',
  "{%- if message.role == 'user' %}{{ '<|im_start|>user\\n' + message.content + '<|im_end|>\\n' }}",
  "{%- elif message.role == 'assistant' %}{{ '<|im_start|>assistant\\n' + message.content }}",
  '{%- for call in message.tool_calls or [] %}{{ \'\\n<tool_call>\\n{"name": "\' + call.function.name + \'", "arguments": \' + (call.function.arguments | tojson) + \'}\\n</tool_call>\' }}{%- endfor %}',
  "{{ '<|im_end|>\\n' }}",
  "{%- elif message.role == 'tool' %}",
  "{%- if loop.first or messages[loop.index0 - 1].role != 'tool' %}{{ '<|im_start|>user' }}{%- endif %}",
  "{{ '\\n<tool_response>\\n' + message.content + '\\n</tool_response>' }}",
  "{%- if loop.last or messages[loop.index0 + 1].role != 'tool' %}{{ '<|im_end|>\\n' }}{%- endif %}",
  '{%- endif %}{%- endfor %}',
  "{%- if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{%- endif %}",
].join('');

export const byteTokenizer = (): ChatTokenizer =>
  new ChatTokenizer(TOKENIZER_JSON, { eos_token: '<|im_end|>' } as JsonObject, CHAT_TEMPLATE);
