import { appendFileSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { pool } from '../../src/core/async/pool.ts';
import { checkTasks } from '../../src/engine/collect/check-tasks.ts';
import { progressLine } from '../../src/engine/collect/progress-line.ts';
import { settingsOfFlags } from '../../src/engine/collect/setting-flags.ts';
import {
  type CollectedRollout,
  collectBatches,
  collectRollouts,
  DumpWriter,
  GroupBuffer,
  isTaskError,
  type Model,
  parseSettings,
  parseTools,
  readTasks,
  rewardRouter,
  type Task,
} from '../../src/engine/index.ts';
import { directoryWith } from '../program.ts';
import { fakeModel } from './fake-model.ts';

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

const tick = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('tasks', () => {
  const read = async (text: string) => all(readTasks(join(directoryWith({ 't.jsonl': text }), 't.jsonl')));

  it('are rows of verl data sets, or as short as a prompt', async () => {
    const kwargs = { code_interpreter: { create_kwargs: { ground_truth: '4' } } };
    const tasks = (await read(
      [
        { prompt: '2+2?', ground_truth: '4' },
        {
          prompt: [{ role: 'user', content: '2+2?' }],
          data_source: 'openai/gsm8k',
          reward_model: { style: 'rule', ground_truth: '4' },
          extra_info: { index: 1, need_tools_kwargs: true, tools_kwargs: { ...kwargs, other: null } },
        },
      ]
        .map((task) => `${JSON.stringify(task)}\n`)
        .join('\n'),
    )) as Task[];
    expect(tasks).toMatchObject([
      { index: 0, messages: [{ role: 'user', content: '2+2?' }], groundTruth: '4', toolsKwargs: {} },
      { index: 1, groundTruth: '4', dataSource: 'openai/gsm8k', needToolsKwargs: true, toolsKwargs: kwargs },
    ]);
  });

  it('have a key that survives sorting, and distinguishes equal tasks', async () => {
    const a = '{"prompt": "a", "ground_truth": 1}';
    const b = '{"prompt": "b"}';
    const keys = ((await read([a, b, '{"ground_truth": 1, "prompt": "a"}'].join('\n'))) as Task[]).map(
      ({ key }) => key,
    );
    expect(new Set(keys).size).toBe(3);
    const turned = ((await read([b, a].join('\n'))) as Task[]).map(({ key }) => key);
    expect(turned).toEqual([keys[1], keys[0]]);
    expect(keys[2]).toBe(`${keys[0]}-2`);
    expect(keys.every((key) => !key.includes('_'))).toBe(true);
  });

  it('that are invalid are reported with their line', async () => {
    const entries = await read('\ufeff{"prompt": "a"}\n\n{"answer": "b"}\nnot json\n{"prompt": []}\n{"prompt": "c"}');
    expect(entries.map((entry) => (isTaskError(entry) ? entry.line : entry.index))).toEqual([0, 3, 4, 5, 1]);
    expect(entries[1]).toMatchObject({ message: expect.stringContaining('not a task') });
    expect(entries[2]).toMatchObject({ message: expect.stringContaining('not JSON') });
  });
});

describe('the pool', () => {
  const numbers = async function* (count: number) {
    for (let i = 0; i < count; i++) yield i;
  };

  it('runs so many at once, starts them in order, and loses none', async () => {
    let running = 0;
    let most = 0;
    const started: number[] = [];
    const results = await all(
      pool(numbers(50), 7, async (job) => {
        started.push(job);
        most = Math.max(most, ++running);
        for (let i = 0; i < job % 5; i++) await tick();
        running--;
        return job;
      }),
    );
    expect(most).toBe(7);
    expect(started).toEqual([...started].sort((a, b) => a - b));
    expect(results.sort((a, b) => a - b)).toEqual(Array.from({ length: 50 }, (_, i) => i));
  });

  it('does not run ahead of who takes the results', async () => {
    let started = 0;
    const results = pool(numbers(1000), 4, async () => ++started);
    await results.next();
    for (let i = 0; i < 20; i++) await tick();
    expect(started).toBeLessThanOrEqual(9);
    await results.return(undefined);
    for (let i = 0; i < 20; i++) await tick();
    expect(started).toBeLessThanOrEqual(9);
  });

  it('hands out what came before an error', async () => {
    const seen: number[] = [];
    const run = async () => {
      const results = pool(numbers(10), 1, async (job) => {
        if (job === 3) throw new Error('broken');
        return job;
      });
      for await (const result of results) seen.push(result);
    };
    await expect(run()).rejects.toThrow('broken');
    expect(seen).toEqual([0, 1, 2]);
  });
});

describe('groups for a learner', () => {
  it('a group is whole with its last member; a key of 0 is a key', async () => {
    const buffer = new GroupBuffer<number>(2);
    buffer.add('0', 1);
    expect(buffer.readyCount).toBe(0);
    buffer.add('0', 2);
    expect(await buffer.take(1)).toEqual([[1, 2]]);
  });

  it('leave in the order in which they were opened, however they end', async () => {
    const buffer = new GroupBuffer<string>(2);
    for (const key of ['a', 'b', 'c']) buffer.open(key);
    buffer.add('b', 'b1');
    buffer.add('b', 'b2');
    buffer.add('c', 'c1');
    buffer.add('c', 'c2');
    expect(buffer.readyCount).toBe(0);
    buffer.add('a', 'a1');
    buffer.add('a', 'a2');
    expect(await buffer.take(3)).toEqual([
      ['a1', 'a2'],
      ['b1', 'b2'],
      ['c1', 'c2'],
    ]);
  });

  it('who takes waits; two who take share', async () => {
    const buffer = new GroupBuffer<number>(1);
    const one = buffer.take(2);
    buffer.add('a', 1);
    buffer.add('b', 2);
    const two = buffer.take(1);
    buffer.add('c', 3);
    expect([await one, await two]).toEqual([[[1], [2]], [[3]]]);
  });

  it('a group that cannot become whole is reported and passed over', async () => {
    const told: unknown[] = [];
    const buffer = new GroupBuffer<number>(2, (group) => told.push(group));
    buffer.open('a');
    buffer.add('b', 3);
    buffer.add('b', 4);
    buffer.add('a', 1);
    expect(buffer.readyCount).toBe(0);
    buffer.miss('a', 'the model is gone');
    expect(told).toEqual([{ key: 'a', members: [1], missing: 1, errors: ['the model is gone'] }]);
    expect(await buffer.take(1)).toEqual([[3, 4]]);
  });

  it('at the end nothing is lost: whole groups are handed out, the others reported', async () => {
    const told: string[] = [];
    const buffer = new GroupBuffer<number>(1, ({ key }) => told.push(key));
    buffer.open('never');
    for (const key of ['a', 'b', 'c']) buffer.add(key, 1);
    buffer.end();
    expect(await all(buffer.batches(2))).toEqual([[[1], [1]], [[1]]]);
    expect(told).toEqual(['never']);
    expect(await buffer.take(1)).toEqual([]);
    expect(() => buffer.add('d', 1)).toThrow('was ended');
  });

  it('an error reaches who adds and who takes, after what was whole', async () => {
    const buffer = new GroupBuffer<number>(1);
    buffer.add('a', 1);
    buffer.fail(new Error('collector'));
    expect(await buffer.take(5)).toEqual([[1]]);
    await expect(buffer.take(1)).rejects.toThrow('collector');
    expect(() => buffer.add('b', 1)).toThrow('collector');
    expect(() => new GroupBuffer(0)).toThrow('groupSize');
  });
});

const tasksOf = (count: number): Task[] =>
  Array.from({ length: count }, (_, index) => ({
    index,
    key: `k${index}`,
    messages: [{ role: 'user', content: `${index}` }],
    groundTruth: String(index),
    dataSource: 'exact',
    extraInfo: {},
    toolsKwargs: {},
    needToolsKwargs: undefined,
    toolSelection: undefined,
    interactionKwargs: undefined,
  }));
const rewards = rewardRouter({ routes: { exact: 'exact_match' } });
/** Says the task's own number, after a while that differs. */
const echo = (fails: (question: string) => boolean = () => false): Model =>
  fakeModel(async ({ messages }) => {
    const question = String(messages[0]!.content);
    for (let i = 0; i < (Number(question) * 7) % 5; i++) await tick();
    if (fails(question)) throw new Error('no');
    return { text: question };
  }).model;

describe('collecting', () => {
  it('makes n rollouts of every task, judges each, and numbers the steps', async () => {
    const rollouts = await all(
      collectRollouts({ tasks: tasksOf(6), model: echo(), rewards, n: 2, concurrency: 3, step: 5, batchSize: 2 }),
    );
    expect(rollouts).toHaveLength(12);
    expect(rollouts.every(({ judgement }) => judgement.score === 1)).toBe(true);
    const places = rollouts.map(({ task, rollout, step }) => `${task.key} ${rollout} ${step}`).sort();
    expect(places.slice(0, 5)).toEqual(['k0 0 5', 'k0 1 5', 'k1 0 5', 'k1 1 5', 'k2 0 6']);
    expect(rollouts[0]!.record).toMatchObject({
      uid: expect.stringMatching(/^k\d_[01]_0$/),
      status: 'SUCCEEDED',
      finish_reason: 'stop',
    });
  });

  it('need_tools_kwargs sends the tools that the task has arguments for, and no other', async () => {
    const tools = parseTools(
      'tools: [{class_name: code_interpreter, config: {sandbox_fusion_url: "http://127.0.0.1:1"}}, {class_name: calculator}]',
      'tools.yaml',
    );
    const shown = async (more: Partial<Task>) => {
      const [task] = tasksOf(1);
      const made = await all(
        collectRollouts({ tasks: [{ ...(task as Task), ...more }], request: { tools }, model: echo(), rewards }),
      );
      return made[0]?.request.toolSchemas.map(({ function: { name } }) => name);
    };
    const toolsKwargs = { code_interpreter: {}, missing: {} };
    const [first, second] = tools.map(({ name }) => name);
    expect(await shown({ toolsKwargs, needToolsKwargs: true })).toEqual([first]);
    expect(await shown({ toolsKwargs })).toEqual([first, second]);
    expect(await shown({ toolsKwargs: {}, needToolsKwargs: true })).toEqual([first, second]);
    expect(await shown({ toolsKwargs, needToolsKwargs: true, toolSelection: [String(second)] })).toEqual([second]);
  });

  it('need_tools_kwargs under --verl-compat narrows nothing, as in verl, with a warning', async () => {
    const line = JSON.stringify({
      prompt: '?',
      extra_info: { need_tools_kwargs: true, tools_kwargs: { code_interpreter: { create_kwargs: {} } } },
    });
    const path = join(directoryWith({ 't.jsonl': `${line}\n` }), 't.jsonl');
    const toldFor = async (file: string, verlCompat: '2026-01-29' | null) => {
      const said: string[] = [];
      const tools = parseTools(file, 'tools.yaml');
      await checkTasks(path, { rewards: rewardRouter(), tools, users: [], verlCompat, say: (one) => said.push(one) });
      return said.filter((one) => one.includes('need_tools_kwargs'));
    };
    const one = '{class_name: code_interpreter, config: {sandbox_fusion_url: "http://127.0.0.1:1"}}';
    const both = `tools: [${one}, {class_name: calculator}]`;
    expect(await toldFor(both, '2026-01-29')).toEqual([
      'task 1 says need_tools_kwargs: verl of 2026-01-29 sends every tool nevertheless, and so does --verl-compat',
    ]);
    expect(await toldFor(`tools: [${one}]`, '2026-01-29')).toEqual([]);
    expect(await toldFor(both, null)).toEqual([]);
  });

  it('reports once that no video of its tasks reaches the model', async () => {
    const line = JSON.stringify({
      prompt: '?',
      ground_truth: '4',
      data_source: 'gsm8k',
      videos: ['a.mp4'],
      images: [],
    });
    const path = join(directoryWith({ 't.jsonl': `${line}\n${line}\n` }), 't.jsonl');
    const said: string[] = [];
    await checkTasks(path, { rewards: rewardRouter(), tools: [], users: [], say: (message) => said.push(message) });
    expect(said).toEqual(['task 1 has videos, which are not sent to the model: it is played without them']);
  });

  it.each([
    ['no tool', 'tools: []'],
    ['a tool that judges nothing', 'tools: [{class_name: calculator}]'],
  ])('without a reward, and with %s, a rollout has no score, and its cause', async (_, file) => {
    const tools = parseTools(file, 'tools.yaml');
    const [rollout] = await all(
      collectRollouts({ tasks: tasksOf(1), request: { tools }, model: echo(), rewards: rewardRouter() }),
    );
    expect(rollout!.judgement).toMatchObject({
      score: null,
      error: expect.stringContaining("data_source 'exact'"),
      cause: 'no_reward',
    });
    expect(rollout!.record).toMatchObject({ score: null, status: 'NOT_SCORED', cause: 'no_reward' });
  });

  it.each([
    [3, 1, 2],
    [4, 2, 2],
    [5, 1, 5],
    [6, 3, 3],
    [6, 2, 4],
  ])('the online loop: %d tasks, groups of %d, batches of %d', async (count, n, batchTasks) => {
    const batches = await all(
      collectBatches({ tasks: tasksOf(count), model: echo(), rewards, n, concurrency: 4, batchTasks }),
    );
    expect(batches.map((batch) => batch.length)).toEqual(
      Array.from({ length: Math.ceil(count / batchTasks) }, (_, at) => Math.min(batchTasks, count - at * batchTasks)),
    );
    const order = batches.flat().map((group) => group.map(({ task }) => task.index));
    expect(order).toEqual(Array.from({ length: count }, (_, index) => Array<number>(n).fill(index)));
  });

  it('reports incomplete groups, and the learner may stop', async () => {
    const told: string[] = [];
    const onIncomplete = ({ key, errors }: { key: string; errors: string[] }) => told.push(`${key} ${errors.join()}`);
    const model = echo((question) => question === '1');
    const batches = await all(collectBatches({ tasks: tasksOf(4), model, rewards, n: 2, batchTasks: 3, onIncomplete }));
    expect(batches.flat().map((group) => group[0]!.task.key)).toEqual(['k0', 'k2', 'k3']);
    expect(told).toEqual(['k1 no,no']);
    let made = 0;
    const endless = (async function* () {
      for (;;) yield tasksOf(1)[0]!;
    })();
    let at = 0;
    const unique = (async function* () {
      for await (const task of endless) yield { ...task, key: `k${at++}` };
    })();
    for await (const batch of collectBatches({
      tasks: unique,
      model: echo(),
      rewards,
      batchTasks: 2,
      concurrency: 2,
      onRollout: () => void made++,
    })) {
      expect(batch).toHaveLength(2);
      break;
    }
    expect(made).toBeLessThan(20);
  });
});

describe('the dump on disk', () => {
  const write = async (out: string, rollouts: readonly CollectedRollout[], resume: boolean) => {
    const writer = await DumpWriter.open(out, { resume });
    for (const { task, rollout, step, record } of rollouts)
      await writer.append(record!, { step, task: task.key, rollout });
    await writer.close();
  };
  const four = () => all(collectRollouts({ tasks: tasksOf(4), model: echo(), rewards }));

  it('knows what is done, from the notes or from the dump itself', async () => {
    const out = directoryWith({});
    await write(out, await four(), false);
    for (const forget of [false, true]) {
      if (forget) writeFileSync(join(out, '.rollout-viewer/done.jsonl'), '{"task":"k0","rol');
      const writer = await DumpWriter.open(out, { resume: true });
      expect(writer.state.doneCount).toBe(4);
      expect(writer.state.isDone('k3', 0, 1)).toBe(true);
      expect(writer.state.isDone('k3', 1, 1)).toBe(false);
      await writer.close();
    }
  });

  it('cuts off the half line of a killed run, and nothing else', async () => {
    const out = directoryWith({});
    await write(out, (await four()).slice(0, 2), false);
    const path = join(out, '1.jsonl');
    const whole = statSync(path).size;
    appendFileSync(path, '{"input": "user\\n2\\nassist');
    const writer = await DumpWriter.open(out, { resume: true });
    expect(writer.state.doneCount).toBe(2);
    await writer.close();
    expect(statSync(path).size).toBe(whole);
  });

  it('refuses a directory that holds a dump, and one in which another run is at work', async () => {
    const out = directoryWith({});
    await write(out, await four(), false);
    await expect(DumpWriter.open(out, { resume: false })).rejects.toThrow(
      'already holds 1.jsonl: --resume continues it',
    );
    const other = directoryWith({});
    mkdirSync(join(other, '.rollout-viewer'));
    writeFileSync(join(other, '.rollout-viewer/lock'), String(process.ppid));
    await expect(DumpWriter.open(other, { resume: true })).rejects.toThrow('another run');
    writeFileSync(join(other, '.rollout-viewer/lock'), '999999999');
    await (await DumpWriter.open(other, { resume: true })).close();
    expect(existsSync(join(other, '.rollout-viewer/lock'))).toBe(false);
  });

  it('has a line for each rollout, whole, whoever writes at the same time', async () => {
    const out = directoryWith({});
    const writer = await DumpWriter.open(out, { resume: false });
    const records = await all(collectRollouts({ tasks: tasksOf(50), model: echo(), rewards, batchSize: 20 }));
    await Promise.all(
      records.map(({ record, step, task, rollout }) => writer.append(record!, { step, task: task.key, rollout })),
    );
    await writer.close();
    const lines = [1, 2, 3].flatMap((step) =>
      readFileSync(join(out, `${step}.jsonl`), 'utf8')
        .trimEnd()
        .split('\n'),
    );
    expect(new Set(lines.map((line) => JSON.parse(line).uid)).size).toBe(50);
  });
});

describe('settings', () => {
  it('come from a file and from flags', () => {
    expect(
      parseSettings('n: 4\ntemperature: 0.7\nstop: END\nmax_parallel_calls: null\nrewards: {mine: math}', 'c.yaml'),
    ).toEqual({
      n: 4,
      temperature: 0.7,
      stop: ['END'],
      max_parallel_calls: null,
      rewards: { mine: 'math' },
    });
    expect(settingsOfFlags({ n: '8', top_p: '0.9', max_tool_response_length: 'none', stop: ['a', 'b'] })).toEqual({
      n: 8,
      top_p: 0.9,
      max_tool_response_length: null,
      stop: ['a', 'b'],
    });
  });

  it.each([
    ['temprature: 1', /c\.yaml:1: .*temprature/],
    ['n: many', /c\.yaml:1: n: expected a whole number from 1/],
    ['n: [', /c\.yaml:1: not YAML/],
    ['tool_response_truncate_side: top', /left.*right.*middle/],
  ])('%s is reported', (text, message) => expect(() => parseSettings(text, 'c.yaml')).toThrow(message));

  it('a flag that is no number is named', () => {
    expect(() => settingsOfFlags({ max_model_len: 'long' })).toThrow('--max-model-len long');
    expect(() => settingsOfFlags({ concurrency: '0' })).toThrow('--concurrency 0');
  });
});

describe('the progress line', () => {
  const progress = {
    total: 400,
    done: 120,
    resumed: 20,
    failed: 1,
    unscored: 0,
    elapsed: 50,
    tokens: 42_500,
    meanScore: 0.412,
  };
  it('says how far, how fast and how long', () => {
    expect(progressLine(progress, 100)).toBe(
      `${'▓'.repeat(9)}${'░'.repeat(21)} 120/400  2.0/s  850 tok/s  score 0.41  1 failed  ETA 2:20`,
    );
  });
  it('fits the terminal', () => {
    for (let width = 0; width < 120; width++) expect(progressLine(progress, width).length).toBeLessThanOrEqual(width);
  });
});
