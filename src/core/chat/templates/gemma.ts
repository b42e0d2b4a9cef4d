import { type ChatTemplate, endsWithHeader, type HeaderRule } from '../template.ts';

const ASKS = endsWithHeader('\\nmodel\\n');

/**
 * The message after one that announces a call, whose text is behind the call's results, or after a call in other
 * tags, whose result Gemma 4's template leaves out: only a line break is between them.
 */
const AFTER_ANNOUNCED: HeaderRule = {
  open: String.raw`(?<=(?:^|\n|>)(?![-*\d ])[^\n]{0,200}\b(?:Let me(?! know)|Let's|I'll|I will|I'm going to|Please (?:hold|wait|give))\b[^\n]{0,200}[.!…]\n|</(?:tool_call|function_calls)>\n)(?=[^\sa-z\d#<|>+\x60-]|<(?!tool_call>))`,
  role: 'assistant',
  after: ['assistant'],
  adjacent: true,
  weak: true,
  weight: 4,
};

export const gemma: ChatTemplate = {
  name: 'gemma',
  models: 'Gemma 2, Gemma 3',
  marked: {
    special: true,
    detects: (prompt, response) => /^\s*(?:<bos>)?<start_of_turn>/.test(prompt === '' ? response : prompt),
    end: String.raw`(?:<end_of_turn>\n?)?`,
    systemIn: 'first',
    headers: [{ open: String.raw`<start_of_turn>([a-z]{1,20})(?:\n|$)` }],
  },
  stripped: {
    detects: (prompt) => /^\s*(?:system|user)\n/.test(prompt) && ASKS.test(prompt) && !/<\|tool>/.test(prompt),
    end: String.raw`\n?`,
    systemIn: 'first',
    headers: [{ open: String.raw`(?<=^|\n)(system|user|model)\n` }, AFTER_ANNOUNCED],
  },
  class: 'exact',
};

/** Results are inside the model's turn, and consecutive call turns have no headers. */
const RESULT = [
  {
    open: String.raw`<\|tool_response>(?:response:[\w.-]{1,128})?`,
    role: 'tool' as const,
    after: ['assistant', 'tool'],
  },
  {
    open: String.raw`(?<=<tool_response\|>)(?!<\|tool_response>|<turn\|>\n<\|turn>)`,
    role: 'assistant' as const,
    after: ['tool'],
  },
];

export const gemma4: ChatTemplate = {
  name: 'gemma4',
  models: 'Gemma 4',
  marked: {
    special: true,
    detects: (prompt, response) => /^\s*(?:<bos>)?<\|turn>/.test(prompt === '' ? response : prompt),
    end: String.raw`(?:<turn\|>\n?)?`,
    headers: [
      { open: String.raw`<\|turn>([a-z]{1,20})(?:\n|$)` },
      ...RESULT,
      { open: String.raw`(?<=<turn\|>\n)(?!<\|turn>|$)`, role: 'assistant', after: ['assistant'] },
    ],
    resultEnd: String.raw`<tool_response\|>`,
  },
  stripped: {
    detects: (prompt) => /^\s*(?:system|user)\n/.test(prompt) && ASKS.test(prompt),
    end: String.raw`\n?`,
    headers: [
      ...RESULT,
      { open: String.raw`(?<=^|\n)(system|user|model)\n` },
      // A message with a call begins with it, since its text follows the results.
      { open: String.raw`(?<!(?:^|\n)model\n)(?<=[^\n]\n)(?=<\|tool_call>)`, role: 'assistant', after: ['assistant'] },
      AFTER_ANNOUNCED,
    ],
    resultEnd: String.raw`<tool_response\|>`,
    joins: true,
  },
  class: 'exact',
};
