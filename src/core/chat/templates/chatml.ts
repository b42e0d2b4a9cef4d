import { type ChatTemplate, endsWithHeader, type Shape } from '../template.ts';
import { repeatsGlued } from './seed.ts';

const IM_START = ['<|im_start|>'];
const RESULT = ['<tool_response>'];
const RESULT_END = String.raw`\n?</tool_response>\s*`;

const marked: Shape = {
  special: true,
  detects: (prompt, response) =>
    /^\s*(?:<\|(?:endoftext|begin_of_text)\|>\s*)*<\|im_start\|>[^\n<|]{0,64}(?: name=<\|\w+\|>)?(?:\n|$)/.test(
      prompt === '' ? response : prompt,
    ),
  end: String.raw`(?:<\|im_end\|>\s*)?(?:<\|endoftext\|>\s*)*`,
  headers: [
    { open: String.raw`<\|im_start\|>user\n<tool_response>\n?`, begins: IM_START, role: 'tool' },
    { open: String.raw`<\|im_start\|>tool\n<tool_response>\n?`, begins: IM_START, role: 'tool' },
    {
      open: String.raw`<\|im_start\|>tool\nFunction [^\n]{1,80} returned:\n`,
      begins: IM_START,
      role: 'tool',
      bare: true,
    },
    { open: String.raw`<tool_response>\n?`, begins: RESULT, role: 'tool', after: ['tool'] },
    {
      open: String.raw`<\|im_start\|>environment name=[^\n]{0,40}\n`,
      begins: IM_START,
      role: 'tool',
      bare: true,
      answers: String.raw`<\|action_end\|>`,
    },
    { open: String.raw`<\|im_start\|>([^\n<|]{1,64}?)(?: name=(?:<\|\w+\|>|[^\n<|]*))?(?:\n|$)`, begins: IM_START },
  ],
  resultEnd: RESULT_END,
};

const ASKS = endsWithHeader('(?:^|\\n|</tool_response>)assistant\\n');

/** A system text that another's words follow. */
const GIVEN_AGAIN = String.raw`(?=(?:(?!(?:user|assistant|system|tool)\n)[^\n]*\n){1,40}?user\n)`;

const stripped: Shape = {
  detects: (prompt, response) =>
    // The start of an overlong prompt was cut off.
    (/^\s*(?:system|user|assistant|tool)(?: name=[^\n]*)?\n/.test(prompt === '' ? response : prompt) ||
      /\S\nassistant\n$/.test(prompt)) &&
    !/^(?:system|user)\n\n[\s\S]*\S?assistant\n\n$/.test(prompt) &&
    (!/(?:assistant|model|ai)(?: name=[^\n]*)?\n$/.test(prompt) || ASKS.test(prompt)) &&
    !repeatsGlued(prompt, response),
  end: String.raw`\n?`,
  headers: [
    { open: String.raw`(?<=</tool_call>\s{0,4})user\n<tool_response>\n?`, begins: ['user\n'], role: 'tool' },
    {
      open: String.raw`(?<=^|\n|</tool_call>)(?:user|tool)\n<tool_response>\n?`,
      begins: ['user\n', 'tool\n'],
      role: 'tool',
    },
    { open: String.raw`(?<=</tool_response>\n?)<tool_response>\n?`, begins: RESULT, role: 'tool', after: ['tool'] },
    {
      open: String.raw`(?<=^|\n|</function_calls>)tool\nFunction [^\n]{1,80} returned:\n`,
      begins: ['tool\n'],
      role: 'tool',
      bare: true,
      after: ['assistant', 'tool'],
    },
    {
      open: String.raw`(?<=</(?:tool_call|function_calls)>\s{0,4})tool\n`,
      begins: ['tool\n'],
      role: 'tool',
      after: ['assistant'],
      bare: true,
    },
    { open: String.raw`(?<=\n)tool\n`, begins: ['tool\n'], role: 'tool', after: ['tool'], prose: true, bare: true },
    {
      open: String.raw`(?<=^|\n)environment name=[^\n]{0,40}\n`,
      begins: ['environment name='],
      role: 'tool',
      bare: true,
      answers: String.raw`\{"name": "[^"\n]{1,80}", "arguments": \{[^\n]{0,4000}\}\}`,
    },
    { open: String.raw`(?<=^|\n)system name=[^\n]{0,40}\n`, begins: ['system name='], role: 'system' },
    // A loop that renders each observation separately writes the template's system prompt before it.
    {
      open: String.raw`(?<=^|\n|[^\w\s])system\n${GIVEN_AGAIN}`,
      begins: ['system\n'],
      role: 'system',
      after: ['assistant', 'tool'],
      leads: ['tool'],
      weak: true,
    },
    {
      open: String.raw`(?<=^|\n|[^\w\s])assistant\nsystem\n${GIVEN_AGAIN}`,
      begins: ['assistant\nsystem\n'],
      role: 'system',
      after: ['assistant', 'tool', 'user'],
      leads: ['tool'],
      weak: true,
    },
    { open: String.raw`(?<=^|\n|</tool_response>)assistant(?:\n|$)`, begins: ['assistant\n'], role: 'assistant' },
    // Hermes-3 writes two: one for the tools, and the user's.
    { open: String.raw`(?:(?<=^\s{0,9})|(?<=</tool_call>\n?))system\n`, begins: ['system\n'], role: 'system' },
    { open: String.raw`(?<=^|\n)user(?:\n|$)`, begins: ['user\n'], role: 'user' },
    { open: String.raw`(?<=\S)user\n`, begins: ['user\n'], role: 'user', weak: true, after: ['assistant'] },
  ],
  resultEnd: RESULT_END,
};

export const chatml: ChatTemplate = {
  name: 'chatml',
  models: 'Qwen2.5, Qwen3, QwQ, Qwen3-Coder, Qwen3.5, Hermes-3, Nemotron-3, OLMo 3, SmolLM3, InternLM2.5',
  marked,
  stripped,
  class: 'exact',
};
