import type { ChatTemplate } from '../template.ts';

/** After a blank line, if a role word is set off by an indent. */
const printedHeader = (role: string): string => String.raw`(?<=\n)[ \t]*\n[ \t]+${role}\n`;

/** ChatML without its tokens as people print it in documents: role lines are indented and follow a blank line. */
export const printedChatml: ChatTemplate = {
  name: 'chatml-printed',
  models: 'ChatML as documents print it, role lines indented',
  marked: null,
  stripped: {
    detects: (prompt) => /^\s*\n[ \t]+(?:system|user)\n/.test(prompt) && /\n[ \t]+assistant\n\s*$/.test(prompt),
    end: String.raw`\s*`,
    judged: true,
    headers: [
      { open: String.raw`^\s*\n[ \t]+(system|user)\n` },
      // The response repeats the role with which the prompt ends.
      { open: String.raw`(?<=\n[ \t]+assistant\n)assistant\n`, role: 'assistant' },
      { open: printedHeader('tool'), role: 'tool', after: ['assistant', 'tool'] },
      { open: printedHeader('(system|user|assistant)') },
    ],
  },
  class: 'inferred',
};
