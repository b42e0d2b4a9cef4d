import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { rolloutsOf } from './rollouts-of.ts';

const folder = mkdtempSync(join(tmpdir(), 'benchmarks-'));
afterAll(() => rmSync(folder, { recursive: true }));

interface Row {
  format: string;
  roles: string;
  /** `name→turn of the result`, in their order. */
  calls: string;
  score: number | null;
  errors: string;
}

/** @param values one a line, or one document alone for a name that ends in .json */
async function read(name: string, ...values: object[]): Promise<Row[]> {
  const path = join(folder, name);
  const lines = values.map((value) => `${JSON.stringify(value)}\n`);
  writeFileSync(path, name.endsWith('.json') ? JSON.stringify(values[0]) : lines.join(''));
  return (await rolloutsOf(path)).map(({ format, turns, score, findings }) => ({
    format,
    roles: turns.map(({ role, context = 0 }) => (context === 0 ? role : `${role}@${context}`)).join(' '),
    calls: turns.flatMap(({ toolCalls }) => toolCalls.map((call) => `${call.name}→${call.resultTurn}`)).join(' '),
    score,
    errors: findings.flatMap(({ error }) => error?.kind ?? []).join(' '),
  }));
}

describe('results of benchmarks and of agents that few have heard of', () => {
  test('Moatless Tools', async () => {
    const action = (more: object, output: object) => ({ action: { thoughts: 'I look.', query: 'x', ...more }, output });
    const record = {
      name: 'AgenticLoop',
      initial_message: 'Fix it.',
      transitions: [
        { name: 'SearchCode', state: {}, actions: [action({}, { ranked_spans: [] })] },
        {
          name: 'EditCode',
          state: {},
          actions: [{ action: { thoughts: 'I edit.' }, output: null, retry_message: 'No.' }],
        },
      ],
      info: { instance_id: 'a__b-1', resolved: true },
    };
    expect(await read('moatless.json', record)).toEqual([
      {
        format: 'moatless',
        roles: 'user assistant tool assistant tool',
        calls: 'SearchCode→2 EditCode→4',
        score: 1,
        errors: 'other',
      },
    ]);
  });

  test('ToolBench: the way to the answer, and those that were given up', async () => {
    const node = (node_type: string, description: string, more: object, ...children: object[]): object => ({
      node_type,
      description,
      ...more,
      children,
    });
    const way = (tool: string, code: number, ...children: object[]) =>
      node(
        'Action',
        tool,
        {},
        node(
          'Action Input',
          '{"q": 1}',
          { observation: '{"error": "", "response": ""}', observation_code: code },
          ...children,
        ),
      );
    const finish = node(
      'Action',
      'Finish',
      {},
      node('Action Input', '{"return_type": "give_answer"}', { observation: '{}', observation_code: 3 }),
    );
    const tree = node(
      'Action Input',
      '',
      {},
      node('Thought', 'I search.', {}, way('search', 0, way('wrong', 1), node('Thought', 'Enough.', {}, finish))),
    );
    const record = {
      win: true,
      tree: { tree },
      forward_args: {},
      answer_generation: {
        query: 'Find it.',
        function: [],
        train_messages: [[{ role: 'user', content: 'Find it.' }]],
        finish_type: 'give_answer',
      },
    };
    expect(await read('toolbench.json', record)).toEqual([
      {
        format: 'toolbench',
        roles: 'user assistant tool assistant tool assistant@1 tool@1',
        calls: 'search→2 Finish→4 wrong→6',
        score: null,
        errors: 'unknown_tool',
      },
    ]);
  });

  test('BFCL: one turn, several, and a line of scores', async () => {
    const step = [
      { role: 'assistant', content: [{ cd: '{"folder": "a"}' }] },
      { role: 'handler_log', content: 'decoded', model_response_decoded: ["cd(folder='a')"] },
      { role: 'tool', content: '{"ok": true}' },
    ];
    const last = [{ role: 'assistant', content: 'Done.' }];
    const log = [
      [{ role: 'state_info', content: {} }],
      { begin_of_turn_query: [{ role: 'user', content: 'Go.' }], step_0: step, step_1: last },
    ];
    const rows = await read(
      'bfcl.jsonl',
      { id: 'simple_0', result: [{ area: '{"base": 1}' }], latency: 1 },
      { id: 'multi_turn_base_0', result: [[['cd']]], inference_log: log, input_token_count: 3 },
      {
        id: 'simple_1',
        valid: false,
        test_category: 'simple',
        prompt: { question: [[{ role: 'user', content: 'Go.' }]], function: [] },
        model_result_raw: 'area(1)',
      },
    );
    expect(rows).toEqual([
      { format: 'bfcl', roles: 'assistant', calls: 'area→null', score: null, errors: '' },
      { format: 'bfcl', roles: 'user assistant tool assistant', calls: 'cd→2', score: null, errors: '' },
      { format: 'bfcl', roles: 'user assistant', calls: '', score: 0, errors: '' },
    ]);
  });

  test('BFCL: calls that nobody runs lack no result, a server that failed ends the rollout, and figures are no rollout', async () => {
    const path = join(folder, 'BFCL_v4_simple_score.json');
    const asked = { question: [[{ role: 'user', content: 'Go.' }]], function: [] };
    const verdict = { valid: false, test_category: 'simple', prompt: asked };
    const records = [
      { accuracy: 0.5, correct_count: 2, total_count: 4 },
      { id: 'simple_0', ...verdict, model_result_raw: [{ area: '{"base": 1}' }] },
      { id: 'simple_1', result: 'Error during inference: Error code: 500', traceback: 'Traceback' },
    ];
    writeFileSync(path, records.map((record) => `${JSON.stringify(record)}\n`).join(''));
    const [called, failed, ...more] = await rolloutsOf(path);
    expect(more).toEqual([]);
    expect(called!.findings).toEqual([]);
    expect(failed).toMatchObject({ turns: [], ended: { how: 'aborted' } });
  });

  test('InterCode and MINT', async () => {
    const turn_history = {
      actions: ['ls', 'rm'],
      observations: ['a', [['row', 1]]],
      rewards: [0, 0.5],
      valid_action: [true, false],
    };
    const task = { task_id: 3, query: 'List.', turn_history, summary: { max_reward: 0.5 } };
    const twice = [0, 1].map(() => ({
      format: 'intercode',
      roles: 'user assistant tool assistant tool',
      calls: 'execute→2 execute→4',
      score: 0.5,
      errors: 'other',
    }));
    expect(await read('intercode.json', { 0: task, 1: task })).toEqual(twice);
    const planned = { ...task, turn_history: { ...turn_history, steps: ['Look.', 'Remove.'] } };
    expect(await read('planned.json', { meta: { env: 'bash' }, logs: { 0: planned, 1: planned } })).toEqual(twice);
    const history = [
      { role: 'user', content: 'Solve.' },
      { role: 'assistant', content: '<solution>2</solution>' },
    ];
    const line = {
      state: { history, success: true, terminate_reason: 'task_success' },
      task: { task_id: 'x', prompt: 'p', reference: '2' },
    };
    expect(await read('mint.jsonl', line)).toEqual([
      { format: 'mint', roles: 'user assistant', calls: '', score: 1, errors: '' },
    ]);
  });

  test('ToRA: the interpreter wrote the outputs', async () => {
    const code = 'I compute.\n```python\nprint(1+1)\n```\n```output\n2\n```\nIt is $2$.';
    const record = {
      idx: 1,
      question: 'What is 1+1?',
      gt: '2',
      code: [code, 'No.'],
      pred: ['2', ''],
      report: ['Done', 'Done'],
      score: [true, false],
    };
    expect(await read('tora.jsonl', record)).toEqual([
      { format: 'tora', roles: 'user assistant tool assistant', calls: 'python→2', score: 1, errors: '' },
      { format: 'tora', roles: 'user assistant', calls: '', score: 0, errors: '' },
    ]);
  });

  test('OWL and Reflexion have answers', async () => {
    const history = [
      { user: 'Look.', assistant: 'I did.', tool_calls: [{ func_name: 'search', args: { q: 1 }, result: 'found' }] },
    ];
    expect(
      await read('owl.json', { task_id: 't', question: 'Who?', ground_truth: 'me', score: true, history }),
    ).toEqual([
      { format: 'owl', roles: 'user user function_call tool assistant', calls: 'search→3', score: 1, errors: '' },
    ]);
    const rounds = history.map((one) => ({ ...one, tool_calls: JSON.stringify(one.tool_calls) }));
    expect(await read('chat_history.json', [...rounds, { user: 'Done?', assistant: 'Yes.', tool_calls: [] }])).toEqual([
      {
        format: 'owl',
        roles: 'user function_call tool assistant user assistant',
        calls: 'search→2',
        score: null,
        errors: '',
      },
    ]);
    const task = {
      task_id: 'h/1',
      prompt: 'def f():',
      implementations: ['a', 'b'],
      test_feedback: ['fails'],
      reflections: ['Hm.'],
      is_solved: true,
      solution: 'b',
    };
    expect(await read('reflexion.jsonl', task)).toEqual([
      { format: 'reflexion', roles: 'user assistant tool assistant assistant', calls: '', score: 1, errors: '' },
    ]);
  });

  test('SWE-smith: calls are XML in the text, and results come in the user’s name', async () => {
    const messages = [
      { role: 'user', content: 'Fix it. Write <function=bash></function>.' },
      { role: 'assistant', content: 'I look.\n<function=bash>\n<parameter=command>\nls\n</parameter>\n</function>' },
      { role: 'user', content: 'OBSERVATION:\nException: no' },
    ];
    expect(
      await read('smith.jsonl', { messages: JSON.stringify(messages), instance_id: 'x', resolved: false }),
    ).toEqual([{ format: 'messages', roles: 'user assistant user', calls: 'bash→2', score: 0, errors: '' }]);
    const talk = [
      messages[0]!,
      { role: 'assistant', content: 'As in <function=bash>\n</function>.' },
      { role: 'user', content: 'Thanks.' },
    ];
    expect((await read('talk.jsonl', { messages: talk }))[0]!.calls).toBe('');
  });

  test('Gemini CLI’s stream, a page of Prime’s hub, a table of Weights & Biases', async () => {
    const lines = [
      { type: 'init', session_id: 's', model: 'gemini' },
      { type: 'message', role: 'user', content: 'Go.' },
      { type: 'tool_use', tool_name: 'search', tool_id: '1', parameters: { q: 1 } },
      { type: 'tool_result', tool_id: '1', status: 'error', error: { type: 'x', message: 'no' } },
      { type: 'message', role: 'assistant', content: 'It ', delta: true },
      { type: 'message', role: 'assistant', content: 'failed.', delta: true },
      { type: 'result', status: 'success', stats: {} },
    ];
    expect(await read('gemini.jsonl', ...lines)).toEqual([
      {
        format: 'gemini-stream',
        roles: 'user function_call tool assistant',
        calls: 'search→2',
        score: null,
        errors: 'other',
      },
    ]);
    const sample = {
      prompt: '[{"role": "user", "content": "q"}]',
      completion: '[{"role": "assistant", "content": "a"}]',
      problem_id: 1,
      sample_id: 0,
      reward: 1,
      step: 0,
    };
    expect(await read('rollouts_raw.json', { page: 1, samples: [sample, sample] })).toEqual(
      [0, 1].map(() => ({ format: 'verifiers', roles: 'user assistant', calls: '', score: 1, errors: '' })),
    );
    const table = { columns: ['prompt', 'completion', 'reward', 'step'], data: [['q', 'a', 0.5, 1]] };
    expect((await read('rows.table.json', table)).map(({ score }) => score)).toEqual([0.5]);
  });
});

test('an export of Claude Code without the session’s id is one session', async () => {
  const path = join(folder, 'session.jsonl');
  const said = (type: string, content: unknown, at: number) => ({
    type,
    uuid: `u${at}`,
    ...(at === 0 ? {} : { parentUuid: `u${at - 1}` }),
    timestamp: `2026-01-01T00:00:0${at}Z`,
    message: { role: type, content },
  });
  const lines = [
    said('user', 'Read a.', 0),
    said('assistant', [{ type: 'tool_use', id: 't', name: 'Read', input: { file_path: 'a' } }], 1),
    said('user', [{ type: 'tool_result', tool_use_id: 't', content: 'Not there', is_error: true }], 2),
    { type: 'system', uuid: 'u3', parentUuid: 'u2', timestamp: '2026-01-01T00:00:03Z', content: 'note' },
    said('assistant', [{ type: 'text', text: 'It is not there.' }], 4),
  ];
  writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  const [rollout, ...more] = await rolloutsOf(path);
  expect(more).toEqual([]);
  expect(rollout!.format).toBe('claude-code');
  expect(rollout!.turns.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant']);
  expect(rollout!.findings.map(({ check }) => check)).toEqual(['tool_error']);
});
