import fc from 'fast-check';

/** A conversation whose truth is known, to be rendered as trainers render it. */
export interface Message {
  role: 'system' | 'user' | 'assistant' | 'tool';
  content: string;
}

export interface Style {
  /** Special tokens are kept. */
  marked: boolean;
  /** Results as `tool` turns, or as Qwen writes them: `user` + `<tool_response>`. */
  results: 'tool' | 'qwen';
  /** The newline behind the model's turn is missing, as agent loops lost it. */
  glued: boolean;
}

export const style: fc.Arbitrary<Style> = fc.record({
  marked: fc.boolean(),
  results: fc.constantFrom('tool' as const, 'qwen' as const),
  glued: fc.boolean(),
});

/** Prompt and response: the response starts behind the header of the first assistant turn after the first user turn. */
export function render(
  messages: readonly Message[],
  { marked, results, glued }: Style,
): { prompt: string; response: string } {
  const open = (role: string) => (marked ? `<|im_start|>${role}\n` : `${role}\n`);
  const end = marked ? '<|im_end|>' : '';
  const first = messages.findIndex((message) => message.role === 'assistant');
  const parts = { prompt: '', response: '' };
  let target: 'prompt' | 'response' = 'prompt';
  for (let i = 0; i < messages.length; i++) {
    const { role, content } = messages[i]!;
    if (role === 'tool' && results === 'qwen') {
      let body = '';
      let last = i;
      for (; messages[last]?.role === 'tool'; last++)
        body += `${last > i ? '\n' : ''}<tool_response>\n${messages[last]!.content}\n</tool_response>`;
      parts[target] += `${open('user')}${body}${end}\n`;
      i = last - 1;
      continue;
    }
    parts[target] += open(role);
    if (i === first) target = 'response';
    const isLast = i === messages.length - 1;
    // Agent loops wrote no newline behind what the model sampled; nobody writes one behind the last sampled turn.
    parts[target] +=
      content + (isLast && role === 'assistant' ? end : `${end}${role === 'assistant' && glued ? '' : '\n'}`);
  }
  return parts;
}

const word = fc.constantFrom(
  'so',
  'the',
  'answer',
  'is',
  '42',
  '让我们',
  'user',
  'tool',
  'x = 1',
  '🙂',
  '#### 7',
  'role:',
  'assistant',
);
const sentence = fc.array(word, { minLength: 2, maxLength: 6 }).map((words) => `${words.join(' ')}.`);
const roleLine = fc.constantFrom('user', 'tool', 'assistant', 'system');
const fenced = fc
  .tuple(fc.constantFrom('', 'python', 'text'), fc.array(fc.oneof(sentence, roleLine), { minLength: 1, maxLength: 5 }))
  .map(([language, lines]) => [`\`\`\`${language}`, ...lines, '```'].join('\n'));
const quoted = fc
  .array(fc.oneof(sentence, roleLine), { minLength: 1, maxLength: 4 })
  .map((lines) => lines.map((line) => `> ${line}`).join('\n'));
const thought = fc
  .array(fc.oneof(sentence, roleLine), { minLength: 1, maxLength: 4 })
  .map((lines) => `<think>\n${lines.join('\n')}\n</think>`);
const pasted = fc.array(fc.oneof(sentence, roleLine), { minLength: 1, maxLength: 6 }).map((lines) => lines.join('\n'));

const text = (pieces: fc.Arbitrary<string>[]) =>
  fc
    .tuple(sentence, fc.array(fc.oneof(sentence, ...pieces), { maxLength: 3 }))
    .map(([first, rest]) => [first, ...rest].join('\n'));

const call = sentence.map(
  (code) => `<tool_call>\n${JSON.stringify({ name: 'code_interpreter', arguments: { code } })}\n</tool_call>`,
);

/** Conversations whose texts hold role words: within a line, or anywhere. */
export function conversation(lines: 'none' | 'any'): fc.Arbitrary<Message[]> {
  const kinds = { none: [quoted], any: [quoted, fenced, pasted] }[lines];
  const body = text(kinds);
  const modelText = text(lines === 'none' ? kinds : [...kinds, thought]);
  const answered = fc
    .tuple(modelText, fc.array(call, { minLength: 1, maxLength: 2 }), fc.array(body, { minLength: 2, maxLength: 2 }))
    .map(([words, calls, results]): Message[] => [
      { role: 'assistant', content: [words, ...calls].join('\n') },
      ...calls.map((_, i): Message => ({ role: 'tool', content: results[i]! })),
    ]);
  const interaction = fc.tuple(modelText, body).map(([words, reply]): Message[] => [
    { role: 'assistant', content: words },
    { role: 'user', content: reply },
  ]);
  return fc
    .tuple(fc.option(body), body, fc.array(fc.oneof(answered, interaction), { maxLength: 4 }), modelText)
    .map(([system, question, rounds, last]) => [
      ...(system === null ? [] : [{ role: 'system' as const, content: system }]),
      { role: 'user' as const, content: question },
      ...rounds.flat(),
      { role: 'assistant' as const, content: last },
    ]);
}
