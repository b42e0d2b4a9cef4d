import { type ChatTemplate, endsWithHeader } from '../template.ts';

const ASKS = endsWithHeader('assistant\\n');

/** A prompt without a generation prompt, and a response that begins with its header. */
export const repeatsGlued = (prompt: string, response: string): boolean =>
  /[^\n]$/.test(prompt) && /^assistant(?:\n|$)/.test(response);

/** Stripped, the role word is glued to the previous text and ends its line. */
export const seed: ChatTemplate = {
  name: 'seed',
  models: 'Seed-OSS',
  marked: {
    special: true,
    detects: (prompt, response) => /^\s*<seed:bos>/.test(prompt === '' ? response : prompt),
    end: String.raw`(?:<seed:eos>)?`,
    headers: [{ open: String.raw`<seed:bos>([a-z]{1,20})(?:\n|$)` }],
  },
  stripped: {
    detects: (prompt, response) =>
      /^(?:system|user)\n/.test(prompt) && (ASKS.test(prompt) || repeatsGlued(prompt, response)),
    end: '',
    headers: [
      { open: String.raw`(?<=</(?:seed:)?tool_call>)tool\n`, role: 'tool', after: ['assistant'] },
      { open: String.raw`^(system|user)\n` },
      { open: String.raw`(?<=\S)tool\n`, role: 'tool', after: ['tool'], prose: true },
      { open: String.raw`(?<=\S|</seed:tool_call>\n)(system|user|assistant)\n` },
      { open: String.raw`(?<=\s)(system|user|assistant)\n`, weak: true },
    ],
  },
  class: 'exact',
};
