import { type ChatTemplate, GLUED } from '../template.ts';

/** The start of a result: the call that it answers. */
const RETURN = String.raw`(?:## Return of [^\n]{1,120}\n)?`;

export const kimi: ChatTemplate = {
  name: 'kimi',
  models: 'Kimi-K2, K2-Thinking',
  marked: {
    special: true,
    detects: (prompt, response) =>
      /^\s*(?:\[BOS\])?<\|im_(?:system|user|assistant)\|>/.test(prompt === '' ? response : prompt),
    end: String.raw`(?:<\|im_end\|>)?`,
    headers: [
      { open: String.raw`<\|im_user\|>[^<]{0,64}<\|im_middle\|>`, role: 'user' },
      { open: String.raw`<\|im_assistant\|>[^<]{0,64}<\|im_middle\|>`, role: 'assistant' },
      { open: String.raw`<\|im_system\|>(system|tool_declare)<\|im_middle\|>` },
      { open: String.raw`<\|im_system\|>[^<]{0,128}<\|im_middle\|>${RETURN}`, role: 'tool' },
    ],
  },
  stripped: {
    detects: (prompt) =>
      /^(?:tool_declare\[|system\S|user\S)/.test(prompt) &&
      /\S\s?assistant$/.test(prompt) &&
      !/\nassistant$/.test(prompt),
    end: '',
    headers: [
      { open: String.raw`^(tool_declare)(?=\[)` },
      { open: String.raw`^(system|user)(?=\S)` },
      { open: String.raw`(?<=[}\]])(system)(?=[^a-z\s])` },
      // The template's own system prompt ends in blanks that its author did not mean.
      { open: String.raw`(?<=systemYou are Kimi, an AI assistant created by Moonshot AI\.\s{1,8})(user)(?=\S)` },
      // Calls end the model's turn, so a name after them is the tool's.
      {
        open: String.raw`(?<=<\|tool_calls_section_end\|>|</tool_call>)[\w.-]{0,64}## Return of[^\n]{0,200}(?:\n|$)`,
        role: 'tool',
        after: ['assistant'],
      },
      {
        open: String.raw`(?<name>[\w.-]{1,64})## Return of (?:functions\.)?\k<name>:\d+\n`,
        role: 'tool',
        after: ['assistant', 'tool'],
      },
      {
        open: String.raw`(?<![\w.-])[\w.-]{1,64}## Return of[^\n]{0,200}\n`,
        role: 'tool',
        after: ['assistant', 'tool'],
        weak: true,
      },
      { open: String.raw`(?<=\S)${GLUED}(user|assistant)(?=[^a-z\s]|$)` },
      // A word of prose, or a header before text that begins with a lower-case letter or a blank: inferred.
      { open: String.raw`(?<=\S)${GLUED}(user|assistant)(?=[a-z\s])`, weak: true },
      { open: String.raw`(?<=["'\x60])(user|assistant)(?=["'\x60])`, weak: true },
      { open: String.raw`(?<=\s)(user|assistant)(?=[A-Z<])`, weak: true },
    ],
  },
  class: 'inferred',
};
