import type { ChatTemplate } from '../template.ts';

/** Only the end of a turn is a special token; its other markers remain. */
export const commandR: ChatTemplate = {
  name: 'command-r',
  models: 'Command-R7B, Command-A',
  marked: {
    special: true,
    detects: (prompt, response) =>
      /^\s*(?:<BOS_TOKEN>)?<\|START_OF_TURN_TOKEN\|>/.test(prompt === '' ? response : prompt),
    end: String.raw`(?:<\|END_OF_TURN_TOKEN\|>)?`,
    headers: [
      {
        open: String.raw`<\|START_OF_TURN_TOKEN\|><\|SYSTEM_TOKEN\|><\|START_TOOL_RESULT\|>(?:\[\n(?=    \{\n        "tool_call_id"))?`,
        role: 'tool',
      },
      // The results of one turn are a list; line breaks of their texts are escaped.
      { open: String.raw`(?<=\n    \},\n)(?=    \{\n        "tool_call_id": )`, role: 'tool', after: ['tool'] },
      { open: String.raw`<\|START_OF_TURN_TOKEN\|><\|SYSTEM_TOKEN\|>`, role: 'system' },
      { open: String.raw`<\|START_OF_TURN_TOKEN\|><\|USER_TOKEN\|>`, role: 'user' },
      { open: String.raw`<\|START_OF_TURN_TOKEN\|><\|CHATBOT_TOKEN\|>`, role: 'assistant' },
    ],
    resultEnd: String.raw`(?:\n\])?<\|END_TOOL_RESULT\|>|(?<=\n    \}),\n`,
  },
  stripped: null,
  class: 'exact',
};
