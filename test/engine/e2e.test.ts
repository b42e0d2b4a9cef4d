// From tasks to a dump that reads back as what the engine held: a scripted model over HTTP, code in the embedded sandbox.
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Dump } from '../../src/core/dump/dump.ts';
import { groupAdvantages } from '../../src/core/rollout/advantage.ts';
import { type CollectedRollout, parseTools, runCollection, runRequest } from '../../src/engine/index.ts';
import { SandboxClient } from '../../src/sandbox/client.ts';
import { type SandboxServer, startSandbox } from '../../src/sandbox/server/index.ts';
import { directoryWith, jsonLines, rolloutViewer } from '../program.ts';
import { dumpLines } from '../support/dump-lines.ts';
import { byteTokenizer, CHAT_TEMPLATE, IM_END, TOKENIZER_JSON } from './byte-tokenizer.ts';
import { call } from './fake-model.ts';
import { type Body, type Reply, type ScriptedModel, scriptedModel } from './scripted-model.ts';

/** Word problems of the kind of GSM8K, with the sum that answers them. */
const PROBLEMS = [
  ['Ann has 3 bags of 4 apples. How many apples?', '3 * 4', '12'],
  ['A shop sells 152 pens on Monday and 149 on Tuesday. How many in all?', '152 + 149', '301'],
  ['Tom had 20 € and spent 7.50 €. How much is left?', '20 - 7.5', '12.5'],
  ['Half of 90 pupils wear glasses. How many?', '90 // 2', '45'],
  ['A train runs 80 km/h for 3 hours. How far?', '80 * 3', '240'],
] as const;

const TASKS = PROBLEMS.map(([question, , answer], index) =>
  JSON.stringify({
    data_source: 'openai/gsm8k',
    prompt: [
      { role: 'system', content: 'Use the tool, then answer with ####.' },
      { role: 'user', content: question },
    ],
    reward_model: { style: 'rule', ground_truth: answer },
    extra_info: {
      index,
      need_tools_kwargs: true,
      tools_kwargs: { code_interpreter: { create_kwargs: { ground_truth: answer } } },
    },
  }),
).join('\n');

const toolsYaml = (url: string) => `tools:
  - class_name: verl.tools.sandbox_fusion_tools.SandboxFusionTool
    config: {sandbox_fusion_url: "${url}/run_code", num_workers: 4, rate_limit: 10, default_timeout: 20, type: native}
    tool_schema:
      type: function
      function:
        name: code_interpreter
        description: A tool for executing code.
        parameters: {type: object, properties: {code: {type: string, description: The code to execute.}}, required: [code]}
`;

const errors = { drops: 0, refusals: 0 };
/** Calls the interpreter, then reads its output; every third rollout insists on another number. */
function reply(body: Body, { number }: { number: number }): Reply {
  if (number % 11 === 3) {
    errors.drops++;
    return { text: 'I think that', dropAfter: 1 };
  }
  if (number % 13 === 5) {
    errors.refusals++;
    return { status: 429, headers: { 'retry-after': '0' } };
  }
  const last = body.messages.at(-1);
  const usage = { prompt_tokens: 50 * body.messages.length, completion_tokens: 20 };
  if (last.role === 'tool') {
    const isWrong = body.seed % 3 === 2;
    return {
      reasoning: 'The output says it.',
      text: `So it is ${last.content.trim()}.\n#### ${isWrong ? '0' : last.content.trim()}`,
      usage,
    };
  }
  const code = `print(${PROBLEMS.find(([question]) => question === last.content)![1]})`;
  return body.seed % 2 === 0
    ? {
        text: 'I compute.',
        calls: [{ id: 'call_0', name: 'code_interpreter', arguments: JSON.stringify({ code }) }],
        usage,
      }
    : { text: `I compute.\n${call('code_interpreter', { code })}`, usage };
}

let sandbox: SandboxServer;
let model: ScriptedModel;
let directory: string;
const held: CollectedRollout[] = [];
const N = 4;

beforeAll(async () => {
  sandbox = await startSandbox({ port: 0 });
  model = await scriptedModel(reply);
  directory = directoryWith({ 'tasks.jsonl': TASKS, 'tools.yaml': toolsYaml(sandbox.url) });
  const told: string[] = [];
  const summary = await runCollection({
    tasksPath: join(directory, 'tasks.jsonl'),
    settings: {
      model_url: model.url,
      model: 'scripted',
      tools: join(directory, 'tools.yaml'),
      out: join(directory, 'dump'),
      n: N,
      seed: 0,
      gamma: 0.5,
      batch_size: 3,
      concurrency: 8,
    },
    resume: false,
    say: (message) => told.push(message),
    onRollout: (rollout) => void held.push(rollout as CollectedRollout),
  });
  expect(told).toEqual([]);
  expect(summary).toMatchObject({ total: 20, done: 20, failed: 0, ended: null });
});

afterAll(async () => {
  await model?.close();
  await sandbox?.close('now');
});

describe('from tasks to a dump', () => {
  it('the model dropped streams and refused requests, and no rollout shows it', () => {
    expect(errors.drops).toBeGreaterThan(0);
    expect(errors.refusals).toBeGreaterThan(0);
    for (const { request } of held)
      expect(request.messages.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'tool', 'assistant']);
  });

  it('the sandbox ran the code: outputs and scores are what they must be', () => {
    for (const { task, rollout, request, judgement } of held) {
      const [, , answer] = PROBLEMS[task.index]!;
      expect(request.messages[3]!.content).toBe(`${answer}\n`);
      expect(judgement.score).toBe(rollout % 3 === 2 ? 0 : 1);
    }
  });

  it('reads back equal to what the engine held', async () => {
    const dump = Dump.open([join(directory, 'dump')]);
    const read = new Map<string, NonNullable<ReturnType<(typeof dump.files)[0]['read']>['rollout']>>();
    for (const file of dump.files) {
      await file.buildIndex(() => true);
      for (let record = 0; record < file.count; record++) {
        const { rollout, error } = file.read(record);
        expect(error).toBeNull();
        expect(rollout!.step).toBe(file.step);
        expect(file.score(record)).toBe(rollout!.score);
        read.set(rollout!.uid!, rollout!);
      }
    }
    dump.close();
    expect(read.size).toBe(20);
    for (const { task, request, judgement, record } of held) {
      const rollout = read.get(record!.uid as string)!;
      expect(rollout).toMatchObject({
        format: 'rollout-viewer',
        status: 'SUCCEEDED',
        score: judgement.score,
        groundTruth: task.groundTruth,
        requestId: request.requestId,
      });
      expect(rollout.texts).toEqual({ input: request.transcript.input, output: request.transcript.output });
      expect(rollout.spans).toEqual(request.transcript.spans);
      expect(rollout.turns.map(({ role }) => role)).toEqual(request.messages.map(({ role }) => role));
      expect(rollout.turns.map(({ trained }) => trained)).toEqual([false, false, true, false, true]);
      expect(rollout.turns[4]!.text).toBe(`<think>\nThe output says it.\n</think>\n\n${request.messages[4]!.content}`);
      expect(rollout.turns[2]!.toolCalls).toMatchObject([
        {
          index: 0,
          id: request.calls[0]!.id,
          name: 'code_interpreter',
          arguments: request.calls[0]!.arguments,
          error: null,
          resultTurn: 3,
        },
      ]);
      expect(rollout.responseTurn).toBe(2);
      expect(rollout.lossMask).toMatchObject({
        source: request.isRewritten ? 'rewritten' : 'recorded',
        totalChars: request.transcript.output.length,
        trainedTokens: null,
      });
      expect(rollout.rewards.perTurn).toEqual([null, null, null, null, judgement.score]);
      expect(rollout.rewards.returns).toEqual([null, null, 0.5 * judgement.score!, null, judgement.score]);
      expect(rollout.toolSchemas).toEqual(request.toolSchemas);
      expect(rollout.findings).toEqual([]);
    }
  });

  it('`ls` and `show` print it, with groups and advantages', async () => {
    const ls = await rolloutViewer(['ls', '--json', 'dump'], { cwd: directory });
    const rows = jsonLines(ls.stdout);
    expect(rows).toHaveLength(20);
    expect(new Set(rows.map(({ step }) => step))).toEqual(new Set([1, 2]));
    expect(new Set(rows.map(({ group }) => group))).toEqual(new Set(held.map(({ task }) => task.key)));
    const locators = rows.map(({ locator }) => locator as string);
    const show = await rolloutViewer(['show', '--json', ...locators], { cwd: directory });
    const shown = jsonLines(show.stdout);
    for (const key of new Set(held.map(({ task }) => task.key))) {
      const members = shown.filter(({ group }) => group === key) as { score: number; rewards: { advantage: number } }[];
      expect(members).toHaveLength(N);
      const expected = groupAdvantages(members.map(({ score }) => score));
      expect(members.map(({ rewards }) => rewards.advantage)).toEqual(expected);
    }
    const line = (shown[0] as { loss_mask: object; rewards: object }).loss_mask;
    // Calls and reasoning that the server parsed were rewritten.
    expect(line).toMatchObject({ source: 'rewritten' });
    const plain = await rolloutViewer(['show', locators[0]!], { cwd: directory });
    expect(plain.stdout).toContain('[system]\n\nUse the tool, then answer with ####.\n\n[user]');
    expect(plain.stdout).toContain('[tool]');
  });

  it('the program continues it, and has nothing to do', async () => {
    const resumed = (name: string, ...more: string[]) =>
      rolloutViewer(
        [
          'rollout',
          'tasks.jsonl',
          '--model-url',
          model.url,
          '--model',
          name,
          '--tools',
          'tools.yaml',
          '--out',
          'dump',
          '-n',
          String(N),
          '--resume',
          '--batch-size',
          '3',
          ...more,
        ],
        { cwd: directory },
      );
    const other = await resumed('other');
    expect(other).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/other settings \(gamma: not set, was 0\.5; model: "other", was "scripted".*--mix/),
    });
    const again = await resumed('scripted', '--gamma', '0.5', '--seed', '0');
    expect(again.stderr).toMatch(/20 of 20 rollouts in dump, 20 of them from before/);
    expect(again.code).toBe(0);
    const twice = await rolloutViewer(
      ['rollout', 'tasks.jsonl', '--model-url', model.url, '--model', 'm', '--out', 'dump'],
      { cwd: directory },
    );
    expect(twice).toMatchObject({ code: 2, stderr: expect.stringContaining('already holds 1.jsonl') });
  });
});

describe('the embedded sandbox', () => {
  it('runs the code in the place of the server that the tool file names', async () => {
    const out = directoryWith({ 'tasks.jsonl': TASKS.split('\n')[0]!, 'tools.yaml': toolsYaml('http://127.0.0.1:9') });
    const ended = await rolloutViewer(
      [
        'rollout',
        'tasks.jsonl',
        '--model',
        'm',
        '--model-url',
        model.url,
        '--tools',
        'tools.yaml',
        '--out',
        'o',
        '--seed',
        '0',
        '--sandbox',
        'auto',
      ],
      { cwd: out },
    );
    expect(ended.code).toBe(0);
    expect(dumpLines(join(out, 'o/1.jsonl'))[0].messages[3].content).toBe('12\n');
    const unknown = await rolloutViewer(
      ['rollout', 'tasks.jsonl', '--model', 'm', '--model-url', model.url, '--out', 'p', '--sandbox', 'docker'],
      { cwd: out },
    );
    expect(unknown).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--sandbox docker: expected an address, or one of auto'),
    });
  });

  it('serves sessions as a tool: started, acted in, ended before its reward is asked, and once', async () => {
    const [tool] = parseTools(`tools: [{class_name: session, config: {session_url: "${sandbox.url}"}}]`, 't.yaml');
    const request = await runRequest({
      model: { name: 'm', exact: false, generate: sessionPlayer() },
      messages: [{ role: 'user', content: 'q' }],
      tools: [tool!],
      toolsKwargs: { session: { create_kwargs: { instance_hash: '5671949450826943757' } } },
    });
    expect(request.warnings).toEqual([]);
    expect(request.messages[2]!.content).toContain('7');
    expect(request.rewardScores.session).toBeTypeOf('number');
  });
});

/** One action, then an answer. */
const sessionPlayer = () => {
  let turn = 0;
  return async () => ({
    text: turn++ === 0 ? call('session', { content: 'print(3 + 4)' }) : 'done',
    reasoning: null,
    toolCalls: [],
    finishReason: 'stop' as const,
    ids: null,
    logprobs: null,
    promptTokens: null,
    completionTokens: null,
    retries: 0,
  });
};

describe('exact tokens', () => {
  it('ids, mask and log probabilities read back as the server gave them', async () => {
    const tokenizer = byteTokenizer();
    const exact = await scriptedModel(({ input_ids }: Body) => {
      const text = tokenizer.decode(input_ids, false).includes('<tool_response>')
        ? 'Yes.\n#### 12'
        : call('code_interpreter', { code: 'print(3 * 4)' });
      const ids = [...tokenizer.encode(text), IM_END];
      return { text, ids, logprobs: ids.map((id) => -id / 1000) };
    });
    const out = directoryWith({
      'tasks.jsonl': TASKS.split('\n')[0]!,
      'tools.yaml': toolsYaml(sandbox.url),
      'tokenizer.json': JSON.stringify(TOKENIZER_JSON),
      'template.jinja': CHAT_TEMPLATE,
    });
    const run = await rolloutViewer(
      'rollout tasks.jsonl --api generate --tokenizer tokenizer.json --chat-template template.jinja --model m --tools tools.yaml --out dump --model-url'
        .split(' ')
        .concat(exact.url),
      { cwd: out },
    );
    await exact.close();
    expect(run).toMatchObject({ code: 0, stdout: '' });
    const record = dumpLines(join(out, 'dump/1.jsonl'))[0];
    const { prompt_ids, response_ids, response_mask, rollout_log_probs } = record;
    expect(tokenizer.decode(prompt_ids, true)).toBe(record.input);
    expect(tokenizer.decode(response_ids, true)).toBe(record.output);
    expect(rollout_log_probs).toEqual(
      response_ids.map((id: number, at: number) => (response_mask[at] === 1 ? -id / 1000 : 0)),
    );
    const dump = Dump.open([join(out, 'dump')]);
    await dump.files[0]!.buildIndex(() => true);
    const { rollout } = dump.files[0]!.read(0);
    dump.close();
    expect(rollout!.tokens).toEqual({
      promptIds: prompt_ids,
      responseIds: response_ids,
      mask: response_mask,
      logprobs: rollout_log_probs,
    });
    expect(rollout!.lossMask).toMatchObject({
      source: 'recorded',
      trainedTokens: response_mask.filter((bit: number) => bit === 1).length,
      totalTokens: response_ids.length,
    });
    expect(rollout!.score).toBe(1);
    expect(rollout!.turns.map(({ role, trained }) => [role, trained])).toEqual([
      ['system', false],
      ['user', false],
      ['assistant', true],
      ['tool', false],
      ['assistant', true],
    ]);
  });
});

it('code is scored as without a sandbox if no address of one was given', async () => {
  const code = '```python\ndef f(x):\n    return True\n```';
  const coder = await scriptedModel(() => ({ text: code }));
  const client = new SandboxClient({ endpoint: sandbox.url });
  const folder = directoryWith({
    'tasks.jsonl': JSON.stringify({
      data_source: 'codecontests',
      prompt: [{ role: 'user', content: 'Write f.' }],
      ground_truth: JSON.stringify({ fn_name: 'f', inputs: ['2'], outputs: ['1'] }),
    }),
  });
  const scoreWith = async (settings: { sandbox_fusion_url?: string; reward?: string }, out: string) => {
    const scores: (number | null)[] = [];
    await runCollection({
      tasksPath: join(folder, 'tasks.jsonl'),
      settings: { model_url: coder.url, model: 'scripted', out: join(folder, out), ...settings },
      resume: false,
      runCode: (request, call) => client.runCode(request, call),
      say: () => {},
      onRollout: ({ judgement }) => void scores.push(judgement?.score ?? null),
    });
    return scores;
  };
  // Python holds True for 1; a sandbox compares what is printed.
  expect(await scoreWith({}, 'plain')).toEqual([1]);
  expect(await scoreWith({ reward: 'code' }, 'named')).toEqual([0]);
  expect(await scoreWith({ sandbox_fusion_url: sandbox.url }, 'sandbox')).toEqual([0]);
  await coder.close();
});
