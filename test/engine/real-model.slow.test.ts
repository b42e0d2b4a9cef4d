// Rollouts and branches of a real model: llama.cpp with random weights, its calls forced by a grammar, behind a server on loopback.
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { directoryWith, jsonLines, rolloutViewer, root } from '../program.ts';
import { dumpLines } from '../support/dump-lines.ts';
import { byteTokenizer, CHAT_TEMPLATE, TOKENIZER_JSON } from './byte-tokenizer.ts';

const isThere = existsSync(join(root, 'bench/node_modules/node-llama-cpp'));
const why = isThere ? '' : ' (skipped: npm ci in bench/ brings llama.cpp)';

const TOOLS = 'tools: [{class_name: tunix.rl.agentic.tools.calculator_tool.CalculatorTool, config: {type: native}}]\n';
const files = {
  'tokenizer.json': JSON.stringify(TOKENIZER_JSON),
  'tokenizer_config.json': JSON.stringify({ eos_token: '<|im_end|>', chat_template: CHAT_TEMPLATE }),
  'tools.yaml': TOOLS,
  'tasks.jsonl': Array.from({ length: 3 }, (_, task) =>
    JSON.stringify({ prompt: `What is ${task} and 2?`, ground_truth: '5', data_source: 'gsm8k' }),
  ).join('\n'),
};

let folder: string;
let server: ChildProcess | null = null;
let url = '';

beforeAll(async () => {
  if (!isThere) return;
  folder = directoryWith(files);
  server = spawn(process.execPath, [join(root, 'bench/support/tiny-model.mjs'), folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [said] = await new Promise<Buffer[]>((resolve) => server!.stdout!.once('data', (...data) => resolve(data)));
  url = said!.toString().trim();
});
afterAll(() => {
  server?.kill();
});

interface Line {
  messages: { role: string; content: string; tool_calls?: { function: { name: string; arguments: string } }[] }[];
  tool_calls: { name: string; arguments: { a: number; b: number; op: string }; result: string; error: null }[];
  output: string;
  mask_source: string;
  score: number | null;
  status: string;
  prompt_ids: number[];
  response_ids: number[];
  response_mask: number[];
  rollout_log_probs: number[];
}

async function rollout(name: string, path: string, ...flags: string[]) {
  const args = ['rollout', 'tasks.jsonl', '--tools', 'tools.yaml', '--model', 'tiny', '--out', name];
  const ended = await rolloutViewer([...args, '--model-url', `${url}${path}`, '-n', '2', '--seed', '7', ...flags], {
    cwd: folder,
  });
  expect(ended.stderr).toContain('6 of 6 rollouts');
  return dumpLines(join(folder, name, '1.jsonl')) as unknown as Line[];
}

const solved = ({ a, b, op }: { a: number; b: number; op: string }) =>
  String(op === '+' ? a + b : op === '-' ? a - b : a * b);

describe(`a model of llama.cpp${why}`, () => {
  it.skipIf(!isThere).each([
    ['hermes', '/v1', 'recorded'],
    ['native', '/native/v1', 'rewritten'],
  ])('calls the calculator and answers, its calls %s', async (name, path, mask) => {
    const lines = await rollout(name, path);
    expect(lines).toHaveLength(6);
    for (const { messages, tool_calls, output, mask_source, status, score } of lines) {
      expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant']);
      expect(tool_calls).toHaveLength(1);
      const [call] = tool_calls;
      expect(call).toMatchObject({ name: 'calculator', error: null, result: solved(call!.arguments) });
      expect(messages[2]!.content).toBe(call!.result);
      expect(messages[3]!.content).toMatch(/^#### -?[1-9]\d?\d?$/);
      expect(output).toContain(`<tool_response>\n${call!.result}\n</tool_response>`);
      expect([mask_source, status]).toEqual([mask, 'SUCCEEDED']);
      expect([0, 1]).toContain(score);
    }
    // Each rollout has a different seed.
    expect(new Set(lines.map(({ output }) => output)).size).toBeGreaterThan(1);
  });

  it.skipIf(!isThere)('gives ids and log probabilities, which are kept as they came', async () => {
    const lines = await rollout('exact', '/v1', '--api', 'completions', '--tokenizer', folder);
    const tokenizer = byteTokenizer();
    for (const { prompt_ids, response_ids, response_mask, rollout_log_probs, output, tool_calls } of lines) {
      expect(tokenizer.decode(prompt_ids, false)).toContain('<tools>');
      expect(tokenizer.decode(response_ids, true)).toBe(output);
      expect(response_mask).toHaveLength(response_ids.length);
      const sampled = response_ids.filter((_, at) => response_mask[at] === 1);
      // llama.cpp takes either as the end of a turn.
      const turns = tokenizer.decode(sampled, false).split(/<\|im_end\|>|<\|endoftext\|>/);
      expect(turns).toHaveLength(3);
      expect(turns[0]).toMatch(/^<tool_call>\n\{"name": "calculator"/);
      expect(turns[1]).toMatch(/^#### /);
      expect(rollout_log_probs.every((one, at) => (response_mask[at] === 1 ? one <= 0 : one === 0))).toBe(true);
      expect(rollout_log_probs.some((one) => one < 0)).toBe(true);
      expect(tool_calls[0]).toMatchObject({ error: null, result: solved(tool_calls[0]!.arguments) });
    }
  });

  it.skipIf(!isThere).each([
    ['hermes', '/v1', []],
    ['native', '/native/v1', []],
    ['exact', '/v1', ['--api', 'completions', '--tokenizer', '.']],
  ])('goes on from a turn of a recorded rollout (%s)', async (name, path, flags) => {
    if (!existsSync(join(folder, name)))
      await rollout(name, path, ...flags.map((flag) => (flag === '.' ? folder : flag)));
    const ended = await rolloutViewer(
      [
        ...['fork', `${name}/1.jsonl:1`, '--turn', '1', '-n', '3', '--model', 'tiny', '--model-url', `${url}${path}`],
        ...['--tools', 'tools.yaml', '--yes', '--seed', '11', '--json', '--out', `${name}-branches`, ...flags],
      ],
      { cwd: folder },
    );
    expect(ended.stderr).not.toContain('Error');
    const branches = jsonLines(ended.stdout).filter(({ event }) => event === 'branch');
    expect(branches).toHaveLength(3);
    for (const branch of branches) {
      expect(branch).toMatchObject({ turn: 1, status: 'SUCCEEDED' });
      const [line] = dumpLines(String(branch.path)).slice(-1) as unknown as Line[];
      expect(line!.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant']);
      expect(line!.tool_calls[0]).toMatchObject({ error: null, result: solved(line!.tool_calls[0]!.arguments) });
    }
  });
});
