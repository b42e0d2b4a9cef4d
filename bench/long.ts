import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { spawn } from '@lydell/node-pty';
import { bin, figure, root } from './support/measure.ts';

const directory = join(root, '.bench/long');
const stalls = join(directory, 'stalls');
/** ms without a byte of output after which the program has nothing more to do. */
const QUIET = 600;
const GOAL = 100;
/** The views in the order in which `v` comes to them, and what a reader does in each. */
const VIEWS = ['chat', 'raw', 'json', 'fields', 'details', 'tokens', 'mapping'];
const PRESSES: readonly [name: string, keys: string][] = [
  ['a page down', ' '],
  ['the end', 'G'],
  ['the beginning', 'g'],
  ['the next turn', 'l'],
];

const only = process.env.ONLY?.split(';');

/** How long the screen answers no key at records that are long, each in its own way, in every view. */
export async function run(): Promise<void> {
  mkdirSync(directory, { recursive: true });
  for (const [name, record] of Object.entries(RECORDS)) {
    if (only !== undefined && !only.includes(name)) continue;
    const path = join(directory, `${name}.jsonl`);
    writeFileSync(
      path,
      `${JSON.stringify(record())}\n${JSON.stringify({ input: 'user\nhi\nassistant\n', output: 'hello', score: 1, step: 1, gts: '1' })}\n`,
    );
    const found = await held(path);
    const worst = found.reduce((most, one) => (one.ms > most.ms ? one : most));
    figure(`longest wait of a key: ${name}`, `${worst.ms} ms`, worst.step, worst.ms / GOAL, `≤ 1 × ${GOAL} ms`);
    for (const { step, ms } of found) if (ms > GOAL) console.log(`  ${step}: ${ms} ms`);
  }
}

interface Held {
  step: string;
  ms: number;
}

/** Walks through the views of the first record. @returns for each step how long the main thread was away at a stretch */
async function held(path: string): Promise<Held[]> {
  writeFileSync(stalls, '');
  const env = {
    ...process.env,
    NODE_OPTIONS: `--import=${join(root, 'bench/support/stalls.mjs')}`,
    STALLS_FILE: stalls,
  };
  const pty = spawn(process.execPath, [bin, path], { cols: 200, rows: 50, name: 'xterm-256color', env });
  let last = performance.now();
  pty.onData(() => {
    last = performance.now();
  });
  const settled = async (): Promise<void> => {
    do await new Promise((resolve) => setTimeout(resolve, 100));
    while (performance.now() - last < QUIET);
  };
  const found: Held[] = [];
  const step = async (name: string, keys: string): Promise<void> => {
    writeFileSync(stalls, '');
    last = performance.now();
    pty.write(keys);
    await settled();
    const all = readFileSync(stalls, 'utf8').split('\n').filter(Boolean).map(Number);
    found.push({ step: name, ms: Math.max(0, ...all) });
  };
  try {
    await step('opening', '');
    for (const [i, view] of VIEWS.entries()) {
      if (i > 0) await step(`to ${view}`, 'v');
      for (const [name, keys] of PRESSES) await step(`${view}: ${name}`, keys);
    }
    await step('the next rollout', 'J');
    await step('back', 'K');
    await step('a search', '/zebra\r');
    await step('copy as JSON', 'yj');
  } finally {
    pty.kill('SIGKILL');
  }
  return found;
}

/** Steps of Tunix: the conversation stands in the last, or each tells its own part. */
function tunix(count: number, isBare: boolean): object {
  const said = (i: number): string =>
    `step ${i}: let me add.\n<tool_call>{"name": "calculator", "arguments": {"a": ${i}}}</tool_call>`;
  const all = Array.from({ length: count }, (_, i) => [
    { role: 'assistant', content: said(i) },
    { role: 'user', content: `Tool returned result: ${i}` },
  ]).flat();
  const steps = Array.from({ length: count }, (_, i) => ({
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
const turn = (i: number): string =>
  `line ${i}: 计算 the rest.\n${'let me verify each step of it using python. '.repeat(40)}\n<tool_call>\n{"name": "code_interpreter", "arguments": {"code": "print(${i})"}}\n</tool_call>\nuser\n<tool_response>\n${i}\n</tool_response>\nassistant\n`;

/** Each is long in a way of its own. */
const RECORDS: Record<string, () => object> = {
  'one text of 45 MB': () => verl('let me verify each step of it.\n'.repeat(1_450_000)),
  'one line of 45 MB': () => verl('let me verify each step of it. '.repeat(1_450_000)),
  'one text of 15 M wide characters': () => verl('计算剩下的部分，然后检查。\n'.repeat(1_100_000)),
  'turns of 50 MB': () => verl(Array.from({ length: 25_000 }, (_, i) => turn(i)).join('')),
  'Tunix, 20,000 steps': () => tunix(20_000, false),
  'Tunix, 20,000 bare steps': () => tunix(20_000, true),
  'a uid of 10 MB': () => verl('fine', { uid: 'u'.repeat(10_000_000) }),
  'a call with 100,000 arguments': () =>
    verl(
      `<tool_call>\n${JSON.stringify({ name: 'f', arguments: Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`argument_${i}`, i])) })}\n</tool_call>\n`,
    ),
  'a call with 100,000 arguments as messages': () => ({
    messages: [
      { role: 'user', content: 'go' },
      {
        role: 'assistant',
        content: '',
        tool_calls: [
          {
            id: '1',
            type: 'function',
            function: {
              name: 'f',
              arguments: JSON.stringify(
                Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`argument_${i}`, i])),
              ),
            },
          },
        ],
      },
      { role: 'tool', tool_call_id: '1', content: 'ok' },
    ],
  }),
  'a million numbers': () => verl('fine', { numbers: Array.from({ length: 1_000_000 }, (_, i) => i) }),
  'a key of 100,000 keys': () =>
    verl('fine', Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`key_${i}`, `value ${i}`]))),
};
