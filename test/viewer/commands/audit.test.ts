import { expect, test } from 'vitest';
import { ask, directoryWith, jsonLines, verlLine } from '../../program.ts';

const call = '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>';
const result = (text: string): string => `user\n<tool_response>\n${text}\n</tool_response>\nassistant\n`;
const failed = verlLine({ output: `${call}${result('Traceback (most recent call last):\nValueError: x')}it broke.` });
const fine = verlLine({ output: `${call}${result('5')}it is 5.` });
const silent = verlLine({ output: 'it is 5.' });

const dump = (): string => directoryWith({ '1.jsonl': failed + fine + silent, '2.jsonl': fine + silent });

test('a check is counted over what it could see, and a condition fails by the exit status', async () => {
  const { code, stdout } = await ask(['audit', dump(), '--fail-on', 'finding:tool_error', '--json']);
  const lines = jsonLines(stdout);
  expect(lines.find(({ check }) => check === 'tool_error')).toMatchObject({ found: 1, observed: 3, unobserved: 2 });
  expect(lines.find(({ check }) => check === 'mask_zero')).toMatchObject({ found: 0, observed: 0, rate: null });
  expect(lines.at(-1)).toMatchObject({ fail_on: 'finding:tool_error', matched: 1, observed: 3, status: 'failed' });
  expect(code).toBe(1);
});

test('so many may match as are allowed, and what nobody could see fails nothing', async () => {
  const run = (...args: string[]) => ask(['audit', dump(), ...args]);
  expect((await run('--fail-on', 'finding:tool_error', '--allow', '1')).code).toBe(0);
  expect((await run('--fail-on', 'finding:tool_error', '--allow', '30%')).code).toBe(1);
  const blind = await run('--fail-on', 'finding:mask_zero');
  expect(blind.code).toBe(0);
  expect(blind.stdout).toContain('skipped  finding:mask_zero: no rollout has what it checks');
  expect((await run('--fail-on', 'score <')).code).toBe(2);
  expect((await run('--fail-on', 'score < 1', '--allow', 'few')).code).toBe(2);
});

test('JUnit has a test for each condition, its text escaped', async () => {
  const { stdout } = await ask([
    'audit',
    dump(),
    '--junit',
    '--fail-on',
    'finding:tool_error',
    '--fail-on',
    'output ~ /<&"/',
  ]);
  expect(stdout).toContain('<testsuite name="rollout-viewer audit" tests="2" failures="1" skipped="0">');
  expect(stdout).toMatch(/name="finding:tool_error"><failure message="1 of 3 rollouts">\S+1\.jsonl:1<\/failure>/);
  expect(stdout).toContain('name="output ~ /&lt;&amp;&quot;/"></testcase>');
});

test('errors are by tool and step, with their kind, fault and the calls beside them', async () => {
  const { stdout } = await ask(['errors', dump(), '--json']);
  expect(jsonLines(stdout)).toEqual([
    {
      tool: 'f',
      step: 1,
      kind: 'exception',
      fault: 'model',
      exception: 'ValueError',
      count: 1,
      calls: 3,
      share: 1 / 3,
      first: expect.stringMatching(/1\.jsonl:1#t2$/),
    },
  ]);
  const none = await ask(['errors', directoryWith({ '1.jsonl': silent })]);
  expect([none.stdout, none.stderr]).toEqual(['', 'rollout-viewer: no call of a tool is recorded\n']);
});

test('a failed call without a text is counted once, and a failed result of no call, too', async () => {
  const asked = {
    role: 'assistant',
    tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }],
  };
  const lost = (id: string) => ({ role: 'tool', tool_call_id: id, content: '', is_error: true });
  const of = (...messages: object[]) =>
    `${JSON.stringify({ messages: [{ role: 'user', content: 'Go.' }, ...messages] })}\n`;
  const done = { role: 'assistant', content: 'Done.' };
  const path = directoryWith({ 'a.jsonl': of(asked, lost('a'), done), 'b.jsonl': of(lost('b'), done) });
  const { stdout } = await ask(['errors', path, '--no-step', '--json']);
  expect(jsonLines(stdout)).toMatchObject([
    { tool: '?', count: 1, calls: 0 },
    { tool: 'f', count: 1, calls: 1 },
  ]);
});

test('calls are counted by tool, whether they failed or not', async () => {
  const { stdout } = await ask(['stats', dump(), '--by', 'tool', '--json']);
  expect(jsonLines(stdout)).toEqual([
    {
      tool: 'f',
      rollouts: 3,
      calls: 3,
      failed: 1,
      faults: { model: 1, tool: 0, world: 0, ours: 0, unknown: 0 },
      kinds: { exception: 1 },
      empty: 0,
      cut: 0,
      first: expect.stringMatching(/1\.jsonl:1#t2$/),
    },
  ]);
  const table = await ask(['stats', dump(), '--by', 'tool']);
  expect(table.stdout.split('\n')[1]).toMatch(/^f +3 +3 +1 +1 +0 +0 +0 +0 +0 +0 +exception +\S+:1#t2$/);
  const mixed = await ask(['stats', dump(), '--by', 'tool', '--of', 'score']);
  expect([mixed.code, mixed.stderr]).toEqual([2, expect.stringContaining('it takes no --of')]);
});

test('what the gradient could not see is audited by step, and may fail the run', async () => {
  const line = (reward: number, mask: number[], i: number) => ({
    input: 'user\nq\nassistant\n',
    output: 'a b',
    uid: `p_${i}_0`,
    step: 1,
    score: reward,
    response_mask: mask,
    token_level_rewards: [0, reward],
  });
  const lines = [line(1, [0, 0], 0), line(0, [1, 1], 1), line(1, [1, 1], 2)];
  const dir = directoryWith({ '1.jsonl': lines.map((one) => `${JSON.stringify(one)}\n`).join('') });
  const { stdout } = await ask(['audit', dir, '--json']);
  expect(jsonLines(stdout).find(({ check }) => check === 'baseline_untrained')).toMatchObject({
    found: 1,
    observed: 1,
    unobserved: 0,
    first: expect.stringMatching(/1\.jsonl:1$/),
  });
  expect((await ask(['audit', dir, '--fail-on', 'signal'])).code).toBe(1);
  expect((await ask(['audit', dir, '--fail-on', 'signal:reward_masked'])).code).toBe(0);
  expect((await ask(['audit', dir, '--fail-on', 'signal:nothing'])).code).toBe(2);
  const masked = directoryWith({
    '1.jsonl': `${JSON.stringify(line(1, [1, 0], 0))}\n${JSON.stringify(line(0, [1, 1], 1))}\n`,
  });
  expect((await ask(['audit', masked, '--fail-on', 'signal'])).code).toBe(1);
  expect((await ask(['audit', masked, '--fail-on', 'signal:error'])).code).toBe(0);
  expect((await ask(['audit', dir, '--fail-on', 'signal', '--no-signal'])).code).toBe(2);
});
