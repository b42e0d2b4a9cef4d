const indices = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

/** Steps of Tunix: the conversation is in the last, or each holds its part. */
function tunix(count: number, isBare: boolean): object {
  const said = (i: number): string =>
    `step ${i}: let me add.\n<tool_call>{"name": "calculator", "arguments": {"a": ${i}}}</tool_call>`;
  const all = indices(count).flatMap((i) => [
    { role: 'assistant', content: said(i) },
    { role: 'user', content: `Tool returned result: ${i}` },
  ]);
  const steps = indices(count).map((i) => ({
    ...(isBare ? {} : { chat_completions: i < count - 1 ? [] : all }),
    model_response: said(i),
    action: [{ id: `c${i}`, type: 'function', function: { name: 'calculator', arguments: JSON.stringify({ a: i }) } }],
    observation: { [`c${i}`]: `Tool returned result: ${i}` },
    reward: 0.5,
    mc_return: 0.5,
    thought: 'so',
    done: i === count - 1,
  }));
  return { task: { question: 'add' }, steps, reward: 1, status: 'SUCCEEDED', env_time: 1 };
}

const verl = (output: string, more: object = {}) => ({
  input: 'user\nHow many?\nassistant\n',
  output,
  gts: '1',
  score: 1,
  step: 1,
  ...more,
});

const call = (args: object): string =>
  `<tool_call>\n${JSON.stringify({ name: 'code_interpreter', arguments: args })}\n</tool_call>`;
const answered = (result: string): string =>
  `${call({ code: 'print(1)' })}\nuser\n<tool_response>\n${result}\n</tool_response>\nassistant\nso it is 1`;
const turn = (i: number): string =>
  `line ${i}: 计算 the rest.\n${'let me verify each step of it using python. '.repeat(40)}\n${call({ code: `print(${i})` })}\nuser\n<tool_response>\n${i}\n</tool_response>\nassistant\n`;

/** One call and its result, as a list of messages. */
const messages = (args: string, result: string) => ({
  messages: [
    { role: 'user', content: 'go' },
    {
      role: 'assistant',
      content: '',
      tool_calls: [{ id: '1', type: 'function', function: { name: 'f', arguments: args } }],
    },
    { role: 'tool', tool_call_id: '1', content: result },
    { role: 'assistant', content: 'done' },
  ],
  reward: 1,
});

const manyArguments = (): object => Object.fromEntries(indices(100_000).map((i) => [`argument_${i}`, i]));
const manyKeys = (count: number): object => Object.fromEntries(indices(count).map((i) => [`key_${i}`, `value ${i}`]));
const jsonOf = (bytes: number): string =>
  JSON.stringify(
    indices(Math.round(bytes / 75)).map((i) => ({ id: i, name: `row ${i}`, tags: ['a', 'b', 'c'], value: i / 7 })),
  );

/** Records, each long in a different way. */
export const LONG_RECORDS: Record<string, () => object> = {
  // What the start takes by itself.
  'a short text': () => verl('let me verify each step of it.\n'.repeat(100)),
  'one text of 45 MB': () => verl('let me verify each step of it.\n'.repeat(1_450_000)),
  'one line of 45 MB': () => verl('let me verify each step of it. '.repeat(1_450_000)),
  'one word of 45 MB': () => verl('letmeverify'.repeat(4_000_000)),
  'one text of 15 M wide characters': () => verl('计算剩下的部分，然后检查。\n'.repeat(1_100_000)),
  '20 MB of joined characters': () => verl('e\u0301 👩‍👩‍👧‍👦 각 é ก็ 1️⃣ 🇩🇪 '.repeat(300_000)),
  'turns of 50 MB': () => verl(indices(25_000).map(turn).join('')),
  '100,000 messages': () => ({
    messages: indices(100_000).map((i) => ({
      role: i % 2 === 0 ? 'user' : 'assistant',
      content: `message ${i}: ${'so the rest is computed. '.repeat(18)}`,
    })),
    reward: 1,
  }),
  'Tunix, 20,000 steps': () => tunix(20_000, false),
  'Tunix, 20,000 bare steps': () => tunix(20_000, true),
  'a uid of 10 MB': () => verl('fine', { uid: 'u'.repeat(10_000_000) }),
  'a call with 100,000 arguments': () => verl(`${call(manyArguments())}\n`),
  'a call with 100,000 arguments as messages': () => messages(JSON.stringify(manyArguments()), 'ok'),
  'an argument of 10 MB': () => verl(`${call({ code: 'print(1)  # and so on\n'.repeat(450_000) })}\n`),
  'an argument of 10 MB as messages': () => messages(JSON.stringify({ text: 'and so on '.repeat(1_000_000) }), 'ok'),
  'a result of 10 MB of JSON': () => verl(answered(jsonOf(10_000_000))),
  'a result of 10 MB of JSON as messages': () => messages('{"a": 1}', jsonOf(10_000_000)),
  'a result of 45 MB of JSON': () => verl(answered(jsonOf(45_000_000))),
  'a million numbers': () => verl('fine', { numbers: indices(1_000_000) }),
  'a record of 100,000 keys': () => verl('fine', manyKeys(100_000)),
  'an object of 100,000 keys': () => verl('fine', { extra: manyKeys(100_000) }),
  'nested 4,000 deep': () => verl('fine', { deep: JSON.parse(`${'[{"a":'.repeat(2000)}1${'}]'.repeat(2000)}`) }),
  '200,000 tokens': () =>
    verl(indices(200).map(turn).join(''), {
      prompt_ids: indices(1000),
      response_ids: indices(200_000).map((i) => i % 50_000),
      response_mask: indices(200_000).map((i) => Number(i % 1000 < 900)),
      rollout_log_probs: indices(200_000).map((i) => -(i % 97) / 20),
    }),
};
