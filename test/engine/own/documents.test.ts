// Whole paths of the design documents without a separate file: a task as printed, verl's shipped tool file, the online loop.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import {
  collectBatches,
  loadTools,
  OwnCode,
  registerTool,
  rewardRouter,
  runRequest,
} from '../../../src/engine/library.ts';
import { RunCodeRequest, run_code, run_concurrent, set_endpoint, startSandbox } from '../../../src/sandbox/library.ts';
import { directoryWith, rolloutViewer } from '../../program.ts';
import { dumpLines } from '../../support/dump-lines.ts';
import { truthData } from '../../support/shared-data.ts';
import { fakeTool } from '../fake-tool.ts';
import { scriptedModel } from '../scripted-model.ts';
import { MY_TOOL, python, pythons, toolYaml } from './python.ts';

// biome-ignore lint/suspicious/noExplicitAny: lines of a dump, looked into freely.
type Line = any;

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

const SHIPPED = join(
  truthData,
  'verl/configs/2026-01-29/examples/sglang_multiturn/config/tool_config/gsm8k_tool_config.yaml',
);

const WEATHER = `class Weather:
    def __init__(self, config, tool_schema):
        self.said = []
    async def create(self, instance_id, unit="C"):
        self.unit = unit
        return instance_id
    async def execute(self, instance_id, parameters, city=None, **kwargs):
        return f"{parameters['day']} in {city}: 20 {self.unit}", 0.25, {"city": city}
    async def calc_reward(self, instance_id, scale=1.0):
        return 2.0 * scale
    async def release(self, instance_id, note=""):
        print("released with", note)
`;

async function play(files: Record<string, string>, args: readonly string[], turns: readonly string[]) {
  const model = await scriptedModel(({ messages }) => {
    const spoken = messages.filter(({ role }: { role: string }) => role === 'assistant').length;
    return { text: turns[Math.min(spoken, turns.length - 1)]! };
  });
  closing.push(() => model.close());
  const folder = directoryWith(files);
  const out = join(folder, 'dump');
  const flags = ['--model-url', model.url, '--model', 'm', '--out', out, '--python', python(), '--yes'];
  const ended = await rolloutViewer(['rollout', join(folder, 'tasks.jsonl'), ...flags, ...args], { cwd: folder });
  const records: Line[] = dumpLines(join(out, '1.jsonl'));
  return { ...ended, record: records[0], folder };
}

describe.skipIf(pythons().length === 0)('document 002 (skipped without Python)', () => {
  test('its task as printed: every kind of kwargs reaches the tool', async () => {
    const task = {
      prompt: [{ role: 'user', content: 'the weather?' }],
      extra_info: {
        tools_kwargs: {
          get_weather: {
            create_kwargs: { unit: 'F' },
            execute_kwargs: { city: 'Beijing' },
            calc_reward_kwargs: { scale: 0.5 },
            release_kwargs: { note: 'thanks' },
          },
        },
        need_tools_kwargs: true,
        index: 123,
        data_source: 'my_dataset',
      },
    };
    const { record, stderr, folder } = await play(
      {
        'weather.py': WEATHER,
        'tools.yaml': toolYaml('weather.Weather', 'get_weather', 'day'),
        'tasks.jsonl': `${JSON.stringify(task)}\n`,
      },
      ['--tools', 'tools.yaml', '--reward', 'tool_reward'],
      ['<tool_call>\n{"name": "get_weather", "arguments": {"day": "Monday"}}\n</tool_call>', 'fine'],
    );
    expect(stderr).toContain('1 of 1 rollouts');
    expect(record.data_source).toBe('my_dataset');
    expect(record.tool_calls[0]).toMatchObject({
      result: 'Monday in Beijing: 20 F',
      reward: 0.25,
      metrics: { city: 'Beijing' },
    });
    expect(record).toMatchObject({ reward_scores: { get_weather: 1 }, score: 1 });
    expect(readFileSync(join(folder, 'dump/.rollout-viewer/own.log'), 'utf8')).toBe('released with thanks\n');
  });

  test('the online loop: actor, buffer, learner, over two batches with new weights between them', async () => {
    let weights = 0;
    const model = await scriptedModel(({ messages }) =>
      messages.some(({ role }: { role: string }) => role === 'tool')
        ? { text: weights === 0 ? 'wrong' : 'right' }
        : { text: '<tool_call>\n{"name": "lookup", "arguments": {"query": "correct"}}\n</tool_call>' },
    );
    closing.push(() => model.close());
    const folder = directoryWith({ 'my_tool.py': MY_TOOL, 'tools.yaml': toolYaml('my_tool.MyCustomTool') });
    const own = new OwnCode({ python: python() });
    closing.push(() => own.close());
    const { ChatCompletionsModel } = await import('../../../src/engine/library.ts');
    const tasks = [0, 1, 2, 3].map((index) => ({
      ...{ index, key: `task${index}`, messages: [{ role: 'user', content: 'q' }], groundTruth: 'right' },
      ...{ dataSource: undefined, extraInfo: {}, toolsKwargs: {}, needToolsKwargs: undefined },
      ...{ toolSelection: undefined, interactionKwargs: undefined },
    }));
    const learned: number[][] = [];
    const batches = collectBatches({
      tasks,
      model: new ChatCompletionsModel('m', { url: model.url }),
      rewards: rewardRouter({ fallback: 'exact_match' }),
      n: 2,
      concurrency: 1,
      batchTasks: 2,
      ahead: 1,
      request: { tools: await loadTools(join(folder, 'tools.yaml'), { own }) },
    });
    for await (const groups of batches) {
      learned.push(groups.flat().map(({ judgement }) => judgement.score!));
      for (const { request } of groups.flat())
        expect(request.calls[0]).toMatchObject({ reward: 1, metrics: { query_len: 7 } });
      weights++;
    }
    expect(learned).toHaveLength(2);
    expect(learned[0]).toEqual([0, 0, 0, 0]);
    expect(learned[1]!.at(-1)).toBe(1);
  });

  test('tools are registered by name, and a request is made of them', async () => {
    registerTool({
      classNames: ['test.Echo'],
      make: (_config, schema) => fakeTool(schema.function.name, ({ query }) => `said ${query}`),
    });
    const folder = directoryWith({ 'tools.yaml': toolYaml('test.Echo') });
    const model = await scriptedModel(({ messages }) => ({
      text: messages.length > 1 ? 'done' : '<tool_call>\n{"name": "lookup", "arguments": {"query": "x"}}\n</tool_call>',
    }));
    closing.push(() => model.close());
    const { ChatCompletionsModel } = await import('../../../src/engine/library.ts');
    const request = await runRequest({
      model: new ChatCompletionsModel('m', { url: model.url }),
      messages: [{ role: 'user', content: 'q' }],
      tools: await loadTools(join(folder, 'tools.yaml')),
    });
    expect(request.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant']);
    expect(request.calls[0]!.result).toBe('said x');
  });
});

describe.skipIf(!existsSync(SHIPPED))(`document 004: verl's shipped tool file (skipped without ${SHIPPED})`, () => {
  test('unchanged: the step rewards of the calls, and calc_reward at the end', async () => {
    const answer = (text: string) =>
      `<tool_call>\n{"name": "calc_gsm8k_reward", "arguments": {"answer": "${text}"}}\n</tool_call>`;
    const task = {
      prompt: [{ role: 'user', content: 'What is 4 + 4?' }],
      data_source: 'openai/gsm8k',
      reward_model: { style: 'rule', ground_truth: '8' },
      extra_info: {
        tools_kwargs: { calc_gsm8k_reward: { create_kwargs: { ground_truth: '8' } } },
        need_tools_kwargs: true,
      },
    };
    const { record } = await play(
      { 'tasks.jsonl': `${JSON.stringify(task)}\n` },
      ['--tools', SHIPPED],
      [answer('7'), answer('8'), 'It is 8.\n#### 8'],
    );
    expect(record.tool_calls.map(({ reward }: Line) => reward)).toEqual([-0.05, 0]);
    expect(record).toMatchObject({ score: 1, reward_scores: { calc_gsm8k_reward: 1 }, status: 'SUCCEEDED' });
    expect(record.messages.map(({ role }: Line) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'assistant',
      'tool',
      'assistant',
    ]);
  });
});

describe.skipIf(pythons().length === 0)(
  "document 004: its section of verl's configuration (skipped without Python)",
  () => {
    test('as printed, and a reward function with reward_kwargs beside it', async () => {
      const { record, stderr } = await play(
        {
          'weather.py': WEATHER,
          'tool_config.yaml': toolYaml('weather.Weather', 'get_weather', 'day'),
          'reward.py': 'def mine(data_source, solution_str, ground_truth, extra_info, bonus):\n    return bonus\n',
          'verl.yaml': `actor_rollout_ref:
  rollout:
    multi_turn:
      tool_config_path: tool_config.yaml
      format: chatml
custom_reward_function:
  path: reward.py
  name: mine
  reward_kwargs: {bonus: 0.25}
`,
          'tasks.jsonl': '{"prompt": "the weather?", "data_source": "mine"}\n',
        },
        ['--config', 'verl.yaml', '--max-seq-len', '4096'],
        ['<tool_call>\n{"name": "get_weather", "arguments": {"day": "Monday"}}\n</tool_call>', 'fine'],
      );
      expect(stderr).toContain('1 of 1 rollouts');
      expect(record).toMatchObject({ score: 0.25, reward: { name: 'reward.py' } });
      expect(record.tool_calls).toHaveLength(1);
    });
  },
);

describe('document 003: the package sandbox_fusion, by its names', () => {
  test('set_endpoint, run_code and run_concurrent against an embedded server', async () => {
    const server = await startSandbox({ port: 0, backend: 'auto' });
    closing.push(() => server.close('now'));
    set_endpoint(server.url);
    const one = await run_code(new RunCodeRequest({ code: 'print(123)', language: 'python' }));
    expect(one.run_result?.stdout).toBe('123\n');
    const codes = Array.from({ length: 20 }, (_, index) => `print(${index})`);
    const results = await run_concurrent(run_code, {
      args: codes.map((code) => [new RunCodeRequest({ code, language: 'python' })]),
    });
    expect(results.map(({ run_result }) => run_result?.stdout)).toEqual(codes.map((_, index) => `${index}\n`));
  });
});
