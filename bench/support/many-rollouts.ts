import { type ChildProcess, fork } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { loadChatTokenizer, runCollection, type Settings } from '../../src/engine/index.ts';
import { type Reply, scriptedModel } from '../../test/engine/scripted-model.ts';
import { tokenizerFile } from '../../test/engine/verl-truth.ts';
import { bareRollouts } from './bare-rollouts.ts';
import { figure } from './measure.ts';

const TURNS = 3;
const AT_ONCE = 512;

const PROMPT =
  'A school has 152 students in three classes. How many are in the largest class if the others have 47 and 56?';
const THOUGHT =
  'The largest class has what is left when the two others are taken from all the students of the school. I take the first of them away with the calculator, and then the second, so that the number which is left is the one that was asked for. ';
const ANSWER = 'The two smaller classes have 103 students together, so the largest has 49. '.repeat(2);

/** Results differ from rollout to rollout, as in life: what was rendered before is of no use for them. */
const VARIANTS = 500;

const callOf = (turn: number, variant: number) => ({
  name: 'calculator',
  arguments: `{"a": 152, "b": ${47.5 + turn + 10 * variant}, "op": "-"}`,
});

/** The text of a turn as a model writes it, its call in it. */
function textOf(turn: number, variant: number): string {
  if (turn === TURNS - 1) return `${ANSWER}\n#### 49`;
  const { name, arguments: args } = callOf(turn, variant);
  return `${THOUGHT}\n<tool_call>\n{"name": "${name}", "arguments": ${args}}\n</tool_call>`;
}

/** Milliseconds, log-normal with a median of 300, from 50 to 2000: the same for the same number. */
function latency(number: number): number {
  const at = (salt: number) => ((Math.imul(number * 2654435761 + salt, 0x9e3779b1) >>> 0) + 1) / 2 ** 32;
  const normal = Math.sqrt(-2 * Math.log(at(1))) * Math.cos(2 * Math.PI * at(2));
  return Math.min(2000, Math.max(50, 300 * Math.exp(0.8 * normal)));
}

type ManyMode = 'chat' | 'generate';

/** The model server, in a separate process: `ids` are those of the turns, for a server that gives ids. */
export async function serveMany(ids: number[][][] | null): Promise<string> {
  const lengths: number[] = [];
  const server = await scriptedModel(
    (body, { number }): Reply => {
      const delay = latency(number);
      if (ids === null) {
        const turn = body.messages.filter(({ role }: { role: string }) => role === 'assistant').length;
        const call = { ...callOf(turn, number % VARIANTS), id: `call_${turn}` };
        return turn === TURNS - 1 ? { text: textOf(turn, 0), delay } : { text: THOUGHT, calls: [call], delay };
      }
      // The request shows the turn: a turn has a hundred tokens more than the one before.
      const asked = body.input_ids.length;
      lengths[0] ??= asked;
      const turn = Math.min(TURNS - 1, Math.round((asked - lengths[0]!) / ids[0]![0]!.length));
      const own = ids[number % VARIANTS]![turn]!;
      const logprobs = own.map((_, at) => Math.fround(-1 / (1 + ((number + at) % 97))));
      return { text: textOf(turn, number % VARIANTS), ids: own, logprobs, delay };
    },
    { keepRequests: false },
  );
  return server.url;
}

const TOOL_SCHEMA = {
  type: 'function',
  function: {
    name: 'calculator',
    description: 'A tool that takes two numbers and an operator.',
    parameters: {
      type: 'object',
      properties: {
        a: { type: 'number', description: 'The first number.' },
        b: { type: 'number', description: 'The second number.' },
        op: { type: 'string', description: 'One of + - * /.' },
      },
      required: ['a', 'b', 'op'],
    },
  },
};
const TOOL_FILE = JSON.stringify({
  tools: [
    {
      class_name: 'tunix.rl.agentic.tools.calculator_tool.CalculatorTool',
      config: { type: 'native' },
      tool_schema: TOOL_SCHEMA,
    },
  ],
});

interface Measured {
  cpuMs: number;
  /** Of requests alone; null for a server of ids. */
  bareMs: number | null;
  lagMs: number;
  bytes: number;
  textBytes: number;
  tokens: number;
}

async function measure(mode: ManyMode, rollouts: number, bundle: string): Promise<Measured> {
  const directory = mkdtempSync(join(tmpdir(), 'rv-many-'));
  const family = tokenizerFile('qwen2.5');
  let server: ChildProcess | null = null;
  try {
    const ids = mode === 'chat' ? null : await idsOfTurns(family!);
    server = fork(bundle, ['--serve-many']);
    const listening = new Promise<string>((resolve) => server!.once('message', (url) => resolve(String(url))));
    server.send({ ids });
    const url = await listening;
    writeFileSync(join(directory, 'tools.yaml'), TOOL_FILE);
    const task = (index: number) =>
      JSON.stringify({
        prompt: `${String(index).padStart(5, '0')} ${PROMPT}`,
        ground_truth: '49',
        data_source: 'gsm8k',
      });
    writeFileSync(
      join(directory, 'tasks.jsonl'),
      `${Array.from({ length: rollouts }, (_, i) => task(i)).join('\n')}\n`,
    );
    const settings = {
      model_url: url,
      model: 'm',
      out: join(directory, 'out'),
      concurrency: AT_ONCE,
      tools: join(directory, 'tools.yaml'),
      tokenization_check: 'disable',
      ...(mode === 'chat' ? {} : { api: 'generate', tokenizer: family! }),
    } as Settings;
    const lag = monitorEventLoopDelay({ resolution: 1 });
    lag.enable();
    const before = process.cpuUsage();
    const summary = await runCollection({
      tasksPath: join(directory, 'tasks.jsonl'),
      settings,
      resume: false,
      say: (message) => console.error(message),
    });
    const { user, system } = process.cpuUsage(before);
    lag.disable();
    if (summary.done !== rollouts || summary.meanScore !== 1)
      throw new Error(`${mode}: ${summary.done} of ${rollouts} done, mean score ${summary.meanScore}`);
    const cpuMs = (user + system) / 1000 / rollouts;
    const bare = {
      url,
      rollouts,
      atOnce: AT_ONCE,
      turns: TURNS,
      tools: [TOOL_SCHEMA],
      prompt: PROMPT,
      result: THOUGHT,
    };
    const bareMs = mode === 'chat' ? await bareRollouts(bare) : null;
    return { cpuMs, bareMs, lagMs: lag.percentile(99) / 1e6, ...sizes(settings.out!) };
  } finally {
    server?.kill();
    rmSync(directory, { recursive: true, force: true });
  }
}

/** For each variant, those of its turns. */
async function idsOfTurns(file: string): Promise<number[][][]> {
  const tokenizer = await loadChatTokenizer(file);
  return Array.from({ length: VARIANTS }, (_, variant) =>
    Array.from({ length: TURNS }, (_, turn) => tokenizer.encode(`${textOf(turn, variant)}<|im_end|>`)),
  );
}

/** Bytes of the dump, of the text in it, and its tokens. */
function sizes(out: string): Pick<Measured, 'bytes' | 'textBytes' | 'tokens'> {
  const sum = { bytes: 0, textBytes: 0, tokens: 0 };
  for (const name of readdirSync(out).filter((one) => one.endsWith('.jsonl'))) {
    const text = readFileSync(join(out, name), 'utf8');
    sum.bytes += Buffer.byteLength(text);
    for (const line of text.split('\n')) {
      if (line === '') continue;
      const { input, output, prompt_ids = [], response_ids = [] } = JSON.parse(line);
      sum.textBytes += Buffer.byteLength(input) + Buffer.byteLength(output);
      sum.tokens += prompt_ids.length + response_ids.length;
    }
  }
  return sum;
}

/** @param bundle the file that serves the model when it is started with --serve-many */
export async function manyRollouts(bundle: string, rollouts = 20_000): Promise<void> {
  const family = tokenizerFile('qwen2.5');
  const wanted = process.env.MODE?.split(',') ?? ['chat', 'generate'];
  const modes = (['chat', 'generate'] as const).filter((mode) => wanted.includes(mode) && (mode === 'chat' || family));
  if (family === null) console.log('exact ids: not measured, npm ci in bench/ brings the tokenizer');
  for (const mode of modes) {
    const { cpuMs, bareMs, lagMs, bytes, textBytes, tokens } = await measure(mode, rollouts, bundle);
    const what = `${rollouts.toLocaleString('en')} rollouts of ${TURNS} turns, ${AT_ONCE} at once, ${mode}`;
    const reference = bareMs === null ? 'processor time a rollout' : `requests alone: ${bareMs.toFixed(2)} ms`;
    figure(
      what,
      `${cpuMs.toFixed(2)} ms`,
      reference,
      bareMs && cpuMs / bareMs,
      mode === 'chat' ? '≤ 1.0 ms' : '≤ 1.2 ms',
    );
    figure('', `${lagMs.toFixed(1)} ms`, 'lag of the event loop, p99', null, '≤ 20 ms');
    if (mode === 'chat')
      figure(
        '',
        `${(bytes / rollouts).toFixed(0)} B`,
        `a line; its text: ${(textBytes / rollouts).toFixed(0)} B`,
        bytes / textBytes,
        '≤ 2 ×',
      );
    else
      figure(
        '',
        `${(bytes / tokens).toFixed(1)} B`,
        `a token of ${(tokens / rollouts).toFixed(0)} a line`,
        null,
        '≤ 30 B',
      );
  }
}
