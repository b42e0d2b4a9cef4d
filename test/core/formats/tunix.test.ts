import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { csvRows } from '../../../src/core/dump/containers/csv.ts';
import { parseLine } from '../../../src/core/dump/parse-line.ts';
import { parsePythonLiteral } from '../../../src/core/formats/python-literal.ts';
import {
  ModelAgent,
  parseTools,
  ToolAgent,
  ToolEnvironment,
  TrajectoryCollectEngine,
  trajectoryToDict,
} from '../../../src/engine/index.ts';
import { ask, directoryWith, jsonLines } from '../../program.ts';

async function trajectory() {
  const tools = parseTools('tools: [{class_name: calculator}]', 't.yaml');
  const replies = [
    '<tool_call>\n{"name": "calculator", "arguments": {"a": 2, "b": 2, "op": "+"}}\n</tool_call>',
    'It is 4.',
  ];
  let at = 0;
  const environment = new ToolEnvironment({ question: '2+2?' }, tools, {
    rewardFn: () => ({ reward: 1, metadata: {} }),
  });
  const modelCall = () => ({ text: replies[at]!, tokens: [1, 2, 3 + at++], logprobs: [-1, -1, -1] });
  return new TrajectoryCollectEngine(new ToolAgent('Be brief.', 'qwen', tools), environment, {
    modelCall,
    gamma: 0.5,
    tokenize: (messages) => ({ tokens: messages.map(() => 9), masks: messages.map(() => 0) }),
  }).collect('Trajectory');
}

const show = async (name: string, content: string) => {
  const directory = directoryWith({ [name]: content });
  const ended = await ask(['show', '--json', `${name}:1`], { cwd: directory });
  expect(ended.stderr).toBe('');
  return jsonLines(ended.stdout)[0] as never as {
    format: string;
    score: number;
    status: string;
    turns: { role: string; text: string; trained: boolean; reward: number | null; tool_calls: object[] }[];
    loss_mask: object;
    rewards: { returns: unknown };
  };
};

describe('Trajectory.to_dict() as JSON', () => {
  it('reads back what the engine held: turns, mask, rewards, returns, pairs', async () => {
    const held = await trajectory();
    const shown = await show('trajectory.json', JSON.stringify(trajectoryToDict(held), null, 2));
    expect(shown).toMatchObject({ format: 'tunix', score: 1, status: 'SUCCEEDED' });
    expect(shown.turns.map(({ role, trained, reward }) => [role, trained, reward])).toEqual([
      ['system', false, null],
      ['user', false, null],
      ['assistant', true, 0],
      ['tool', false, null],
      ['assistant', true, 1],
    ]);
    expect(shown.turns.map(({ text }) => text)).toEqual(held.steps[1]!.chatCompletions.map(({ content }) => content));
    expect(shown.turns[2]!.tool_calls).toMatchObject([
      { name: 'calculator', arguments: { a: 2, b: 2, op: '+' }, result_turn: 3 },
    ]);
    expect(shown.rewards.returns).toEqual([null, null, 0.5, null, 1]);
    expect(shown.loss_mask).toMatchObject({ source: 'recorded', trained_tokens: 6, total_tokens: 7 });
  });

  it('lies in an array, or a line each', async () => {
    const dict = trajectoryToDict(await trajectory());
    const directory = directoryWith({
      'all.json': JSON.stringify([dict, dict]),
      'lines.jsonl': `${JSON.stringify(dict)}\n`,
    });
    const rows = jsonLines((await ask(['ls', '--json', 'all.json', 'lines.jsonl'], { cwd: directory })).stdout);
    expect(rows.map(({ locator, format, turns }) => [locator, format, turns])).toEqual([
      ['all.json:1', 'tunix', 5],
      ['all.json:2', 'tunix', 5],
      ['lines.jsonl:1', 'tunix', 5],
    ]);
  });

  it('without steps shows its task; filtered, nothing of it is trained', async () => {
    const empty = {
      task: { question: 'q' },
      steps: [],
      reward: 0,
      status: 'MAX_STEPS_REACHED',
      env_time: {},
      reward_time: {},
    };
    const shown = await show('t.json', JSON.stringify(empty));
    expect(shown.turns).toMatchObject([{ role: 'user', text: 'q', trained: false }]);
    const dict = JSON.parse(JSON.stringify(trajectoryToDict(await trajectory())));
    for (const step of dict.steps) step.assistant_masks = [0, 0, 0];
    expect((await show('t.json', JSON.stringify(dict))).turns.some(({ trained }) => trained)).toBe(false);
  });
});

describe('the trajectory log as CSV', () => {
  const header =
    'conversation_text,prompt_tokens,conversation_tokens,conversation_masks,status,trajectory_reward,env_time,reward_time,old_logprobs,policy_version,original_input,group_id';
  const cell = (text: string) => `"${text.replaceAll('"', '""')}"`;

  it('has cells of Python values', async () => {
    const conversation = `[{'role': 'system', 'content': 'it\\'s "q"\\nline'}, {'role': 'user', 'content': "2+2?"}, {'role': 'assistant', 'content': '4 \\u00e9'}]`;
    const row = [
      cell(conversation),
      cell('[1, 2]'),
      cell('[3, 4]'),
      cell('[1, 0]'),
      'SUCCEEDED',
      '0.5',
      cell("{'reset_latency': 0.1, 'step_latency': [0.2]}"),
      '{}',
      'None',
      '3',
      cell("{'question': '2+2?'}"),
      '7',
    ];
    const shown = await show('trajectory_log.csv', `${header}\n${row.join(',')}\n`);
    expect(shown).toMatchObject({ format: 'tunix', score: 0.5, status: 'SUCCEEDED' });
    expect(shown.turns.map(({ role, text, trained }) => [role, text, trained])).toEqual([
      ['system', 'it\'s "q"\nline', false],
      ['user', '2+2?', false],
      ['assistant', '4 é', true],
    ]);
    expect(shown.loss_mask).toMatchObject({ source: 'recorded', trained_tokens: 1, total_tokens: 2 });
  });

  it('of trajectories has their steps in one cell', async () => {
    const messages = `[{'role': 'user', 'content': 'go'}, {'role': 'assistant', 'content': 'ab'}]`;
    const steps = `[{'chat_completions': ${messages}, 'thought': '', 'action': {'action': 'ab'}, 'observation': 'None', 'reward': 1.0, 'done': True, 'mc_return': 1.0, 'assistant_masks': [1, 1], 'env_masks': 'None'}]`;
    const row = [cell("{'prompts': ['go']}"), cell(steps), '1.0', 'TrajectoryStatus.SUCCEEDED', '{}', '{}'];
    const shown = await show('Trajectory.csv', `task,steps,reward,status,env_time,reward_time\r\n${row.join(',')}\r\n`);
    expect(shown).toMatchObject({
      score: 1,
      status: 'SUCCEEDED',
      loss_mask: { source: 'recorded', trained_tokens: 2 },
    });
    expect(shown.turns.map(({ role, text }) => [role, text])).toEqual([
      ['user', 'go'],
      ['assistant', 'ab'],
    ]);
  });

  it('rows survive commas, quotes and line ends', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.array(fc.string({ unit: fc.constantFrom('a', ',', '"', '\n', '\r', ' ') }), {
            minLength: 2,
            maxLength: 4,
          }),
          { minLength: 1 },
        ),
        (rows) => {
          const text = rows.map((row) => row.map(cell).join(',')).join('\r\n');
          expect([...csvRows(text)]).toEqual(rows);
        },
      ),
    );
    expect([...csvRows('a,b\n1,\n\n"x')]).toEqual([['a', 'b'], ['1', ''], ['x']]);
  });
});

describe('values as Python prints them', () => {
  it.each([
    ['None', null],
    ['[True, False]', [true, false]],
    ['(1, -2.5, 1e-05)', [1, -2.5, 0.00001]],
    ['(1,)', [1]],
    ['nan', Number.NaN],
    ['-inf', Number.NEGATIVE_INFINITY],
    ['12345678901234567890', 12345678901234567890n],
    [`"it's"`, "it's"],
    [`'a\\x41\\u00e9\\U0001f600\\\\\\'\\q'`, "aAé😀\\'\\q"],
    ["{'a': {1: [None]}}", { a: { 1: [null] } }],
    ['Status.DONE', 'Status.DONE'],
    ['[]', []],
    ['{}', {}],
  ])('%s', (text, value) => expect(parsePythonLiteral(text)).toEqual(value));

  it.each(['', '[1', "'a", '{1}', '1 2', 'array([1])', '[1 2]', "{'a' 1}", '['.repeat(100_000)])(
    '%s is no literal',
    (text) => {
      expect(parsePythonLiteral(text)).toBeUndefined();
    },
  );

  it('never throws', () => fc.assert(fc.property(fc.string(), (text) => void parsePythonLiteral(text))));
});

describe('results that the user role carries with a call id', () => {
  const CALL = '<tool_call>\n{"name": "calculator", "arguments": {"a": 1}}\n</tool_call>';
  const chat = [
    { role: 'user', content: '1+1=?' },
    { role: 'assistant', content: CALL },
    { role: 'user', tool_call_id: 'c1', content: 'Tool returned result: 2' },
    { role: 'assistant', content: '2' },
  ];
  it.each([
    ['a list of messages', { messages: chat, reward: 1 }],
    [
      'a trajectory',
      {
        task: { question: '1+1=?' },
        reward: 1,
        steps: [
          { chat_completions: chat.slice(0, 2), action: { action: [] }, model_response: CALL, reward: 0, done: false },
          { chat_completions: chat, action: { action: '2' }, model_response: '2', reward: 1, done: true },
        ],
      },
    ],
  ])('belong to the call in the text of %s', (_, record) => {
    const { turns, findings } = parseLine(JSON.stringify(record), { validation: false }).rollout!;
    expect(turns.flatMap(({ toolCalls }) => toolCalls.map(({ resultTurn }) => resultTurn))).toEqual([2]);
    expect(findings).toEqual([]);
  });
});

describe('a model agent', () => {
  it('is read back as one conversation', async () => {
    const env = new ToolEnvironment({ question: 'q' }, []);
    const engine = new TrajectoryCollectEngine(new ModelAgent(), env, { modelCall: () => ({ text: 'a' }) });
    const directory = directoryWith({ 't.json': JSON.stringify(trajectoryToDict(await engine.collect('Trajectory'))) });
    const plain = await ask(['show', join(directory, 't.json:1')]);
    expect(plain.stdout).toContain('[user]\n\nq\n\n[assistant]\n\na\n');
  });
});
