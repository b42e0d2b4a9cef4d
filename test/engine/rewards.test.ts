import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../../src/core/json/value.ts';
import {
  builtinRewards,
  combineRewards,
  httpReward,
  RewardRegistry,
  type RewardTask,
  RolloutFault,
  rewardRouter,
} from '../../src/engine/index.ts';
import { evaluate } from '../../src/engine/rewards/arithmetic.ts';
import { extractGsm8kAnswer, gsm8kScore } from '../../src/engine/rewards/gsm8k.ts';
import { troubleOf } from '../../src/engine/rewards/trouble.ts';
import { mathScore } from '../../src/engine/rewards/verl/math.ts';
import { primeCodeScore } from '../../src/engine/rewards/verl/prime-code.ts';
import type { Run } from '../../src/sandbox/check-correctness.ts';
import { runCodeRequest } from '../../src/sandbox/protocol.ts';
import { hasPython, plainPython } from '../sandbox/plain-python.ts';

const rewards = builtinRewards();
const scoreOf = async (name: string, task: RewardTask, action: string) =>
  (await rewards.get(name)(task, action)).reward;

describe('the registry', () => {
  it('registers a name once, forgets it once, and knows no other', () => {
    const registry = new RewardRegistry();
    const fn = () => ({ reward: 1, metadata: {} });
    registry.register('mine', fn);
    expect(registry.get('mine')).toBe(fn);
    expect(() => registry.register('mine', fn)).toThrow("'mine' is registered already");
    expect(registry.unregister('mine')).toBe(true);
    expect(registry.unregister('mine')).toBe(false);
    expect(() => registry.get('mine')).toThrow("unknown reward function 'mine'");
  });
});

describe('the rewards of Tunix', () => {
  it.each([
    ['exact_match', { ground_truth: 'a' }, 'a', 1],
    ['exact_match', { ground_truth: 'a' }, 'b', 0],
    ['exact_match', { ground_truth: ' a ' }, 'a\n', 1],
    ['is_two', {}, '2', 1],
    ['is_two', {}, '2.0', 1],
    ['is_two', {}, '  2 ', 1],
    ['is_two', {}, '3', 0],
    ['is_two', {}, 'two', 0],
    ['is_two', {}, '', 0],
    ['dummy', {}, 'x', 0],
    ['calculate', { question: '2 + 2 = ?' }, 'The answer is 4', 1],
    ['calculate', { question: '5 * 3 = ?' }, '14', 0],
    ['calculate', { question: '10 / 2 = ?' }, 'five', 0],
    ['calculate', { question: '10 / 0 = ?' }, '1', 0],
    ['calculate', { question: '2 ** 3 ** 2 = ?' }, '512.', 1],
  ])('%s %j %s → %d', async (name, task, action, score) => {
    expect(await scoreOf(name, task, action)).toBe(score);
  });

  it('are combined by weight', async () => {
    const combined = combineRewards([
      [rewards.get('exact_match'), 0.7],
      [rewards.get('dummy'), 0.3],
    ]);
    expect(await combined({ ground_truth: 'a' }, 'a')).toEqual({ reward: 0.7, metadata: { exact_match: 1 } });
    expect(await combined({ ground_truth: 'a' }, 'b')).toEqual({ reward: 0, metadata: { exact_match: 0 } });
  });

  it.each([
    ['-2 ** 2', -4],
    ['(1 + 2) * -3', -9],
    ['1.5e1 / .5', 30],
    ['1 +', null],
    ['1 1', null],
    ['__import__("os")', null],
    ['('.repeat(5000), null],
    ['1 / 0', null],
  ])('evaluates %s', (text, value) => expect(evaluate(text)).toBe(value));

  it('evaluates sums as JavaScript does', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -99, max: 99 }), { minLength: 1, maxLength: 6 }), (numbers) => {
        expect(evaluate(numbers.join(' + '))).toBe(numbers.reduce((a, b) => a + b));
      }),
    );
  });
});

describe('the scores of verl', () => {
  it.each([
    ['… so #### 1,234', 'strict', '1234'],
    ['#### 3 and then #### -4.5', 'strict', '-4.5'],
    ['the answer is 7', 'strict', null],
    ['first 3, then 42.', 'flexible', '42.'],
    ['no number .', 'flexible', null],
    [`#### 5${' '.repeat(400)}`, 'strict', null],
  ] as const)('gsm8k: %s (%s)', (text, method, answer) => expect(extractGsm8kAnswer(text, method)).toBe(answer));

  it('gsm8k compares text, as verl does', () => {
    expect(gsm8kScore('#### 220000.0', '220000')).toBe(0);
    expect(gsm8kScore('#### 220,000', '220000')).toBe(1);
  });

  it.each([
    ['\\boxed{3}', '3', 1],
    ['first \\boxed{2} then \\boxed{\\frac{1}{2}}', '1/2', 1],
    ['\\boxed{\\dfrac12}', '\\frac{1}{2}', 1],
    ['\\boxed{x = 5}', '5', 1],
    ['\\boxed{50\\%}', '50', 1],
    ['\\boxed{.5}', '0.5', 1],
    ['\\boxed{\\sqrt3}', '\\sqrt{3}', 1],
    ['\\boxed{12\\text{ cm}}', '12', 1],
    ['$\\boxed 7$', '7', 1],
    ['\\boxed{4', '4', 0],
    ['4', '4', 0],
  ])('math: %s against %s → %d', (text, truth, score) => expect(mathScore(text, truth).score).toBe(score));

  it('finds what is in the last box, whatever nests in it', () => {
    expect(mathScore('\\boxed{a{b}{c{d}}} tail', 'a{b}{c{d}}')).toEqual({ score: 1, answer: 'a{b}{c{d}}' });
    expect(mathScore('none', '1').answer).toBeNull();
  });
});

const SOLUTIONS = fileURLToPath(new URL('../../../shared/data/gsm8k/example_model_solutions.jsonl', import.meta.url));

describe('5,276 real solutions of GSM8K', () => {
  it.skipIf(!existsSync(SOLUTIONS))('are judged as their authors did (skipped where ../shared is not there)', () => {
    const answerOf = (text: string) => /A: (.*)$/.exec(text)?.[1] ?? '';
    let judged = 0;
    const differences: string[] = [];
    for (const line of readFileSync(SOLUTIONS, 'utf8').trim().split('\n')) {
      const { question: _question, ground_truth, ...models } = JSON.parse(line);
      const truth = answerOf(ground_truth).replaceAll(',', '');
      for (const { is_correct, solution } of Object.values(models) as { is_correct: boolean; solution: string }[]) {
        judged++;
        if ((gsm8kScore(`#### ${answerOf(solution)}`, truth) === 1) !== is_correct)
          differences.push(`${truth} | ${answerOf(solution)}`);
      }
    }
    expect(judged).toBe(5276);
    expect(differences).toEqual([]);
  });
});

describe('routing by data source', () => {
  it('knows the data sources of verl, takes others from the configuration, and names what is missing', () => {
    const router = rewardRouter({ routes: { mine: 'exact_match' } });
    expect(router.for('openai/gsm8k').name).toBe('gsm8k');
    expect(router.for('HuggingFaceH4/MATH-500').name).toBe('math');
    expect(router.for('mine').name).toBe('exact_match');
    expect(() => router.for('other')).toThrow("no reward function for data_source 'other'");
    expect(() => router.for(undefined)).toThrow('a task without data_source');
    expect(() => router.for('codecontests')).toThrow("unknown reward function 'code'");
    expect(rewardRouter({ fallback: 'dummy' }).for('other').name).toBe('dummy');
  });

  it('runs the code of the answer against the cases', async () => {
    const router = rewardRouter({
      code: {
        run: async ({ stdin }) => ({
          status: 'Success',
          message: '',
          compile_result: null,
          run_result: {
            status: 'Finished',
            execution_time: 0,
            return_code: 0,
            stdout: String(Number(stdin) * 2),
            stderr: '',
          },
          executor_pod_name: null,
          files: {},
        }),
      },
    });
    const { fn } = router.for('codecontests');
    const ground_truth = JSON.stringify({ inputs: ['1', '2'], outputs: ['2', '5'] });
    const output = await fn({ ground_truth }, 'so:\n```python\nprint(int(input()) * 2)\n```');
    expect(output.reward).toBe(0.5);
    expect(output.metadata.cases).toMatchObject([{ status: 'success' }, { status: 'wrong_answer', stdout: '4' }]);
    expect(await fn({ ground_truth }, 'no code')).toMatchObject({ reward: 0 });
  });
});

describe('a reward service', () => {
  it.each([
    [200, '{"reward": 0.9}', 0.9],
    [200, '{"reward": null, "f2p_count": 1, "f2p_total": 2}', 'no reward in the answer'],
    [200, '{"reward": 0, "error": "the judge is away"}', 'the service says: the judge is away'],
    [200, '{"reward": 0.5, "error": "half of the judges are away"}', 0.5],
    [200, '{"f2p_count": 1, "f2p_total": 2}', 0.5],
    [200, '{"f2p_count": 1, "f2p_total": 0}', 0],
    [200, '{}', 'no reward in the answer'],
    [200, 'no JSON', 'the answer is not JSON: no JSON'],
    [500, '{"reward": 1}', 'HTTP 500'],
  ])('%d %s → %d', async (status, body, reward) => {
    let asked: unknown;
    const server = createServer(async (request, response) => {
      const parts: Buffer[] = [];
      for await (const part of request) parts.push(part as Buffer);
      asked = JSON.parse(Buffer.concat(parts).toString());
      response.writeHead(status).end(body);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/compute_reward`;
    const asking = Promise.resolve(httpReward({ url })({ ground_truth: '4', data_source: 'd' }, '4'));
    const output = await asking.catch((error: unknown) => error as RolloutFault);
    server.close();
    server.closeAllConnections();
    if (output instanceof RolloutFault)
      expect([output.reason, output.message]).toEqual(['reward_fault', expect.stringContaining(String(reward))]);
    else expect(output.reward).toBe(reward);
    expect(asked).toEqual({ ground_truth: '4', data_source: 'd', solution_str: '4' });
  });

  it('is sent the keys that are named, and a rollout without one of them has no score', async () => {
    let asked = '';
    const server = createServer(async (request, response) => {
      for await (const part of request) asked += String(part);
      response.end('{"reward": 1}');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const fn = httpReward({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, keys: ['sid'] });
    try {
      expect(await fn({ ground_truth: '4', sid: '7', response_str: 'x' }, 'a')).toMatchObject({ reward: 1 });
      expect(asked).toBe('{"sid":"7"}');
      await expect(fn({ ground_truth: '4' }, 'a')).rejects.toThrow('the rollout has no sid');
    } finally {
      server.close();
      server.closeAllConnections();
    }
  });

  it('that cannot be reached, or is too slow, gives no score, and says why', async () => {
    await expect(httpReward({ url: 'http://127.0.0.1:9/x' })({}, 'a')).rejects.toMatchObject({
      reason: 'reward_fault',
    });
    const server = createServer(() => {});
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    await expect(httpReward({ url, timeout: 0.05 })({}, 'a')).rejects.toThrow(`${url}: no answer within 0.05 s`);
    server.close();
    server.closeAllConnections();
  });
});

describe('hotpotqa', () => {
  const scoreAt = async (action: string, truth: JsonValue) => {
    const { fn } = rewardRouter().for('hotpotqa');
    return (await fn({ ground_truth: truth }, action)).reward;
  };

  it.each([
    ['<answer>The Eiffel Tower</answer>', 'Eiffel tower', 1],
    ['<answer>Paris</answer> no, <answer>Tower of Eiffel</answer>', 'Eiffel Tower', 0.8],
    ['<answer>Rome</answer>', ['Paris', 'rome'], 1],
    ['<answer>Rome</answer>', { target: ['Paris'] }, 0],
    ['so it is\n#### Paris', 'Paris', 1],
    ['Paris', 'Paris', 0],
    ['<answer></answer>', 'Paris', 0],
  ])('%s for %j → %d', async (action, truth, score) => {
    expect(await scoreAt(action, truth)).toBeCloseTo(score, 10);
    expect(rewardRouter().for('hotpotQA').name).toBe('hotpotqa');
  });

  it('has no score without a truth', async () => {
    await expect(scoreAt('<answer>x</answer>', null)).rejects.toMatchObject({ reason: 'no_truth' });
    await expect(scoreAt('<answer>x</answer>', 7)).rejects.toMatchObject({ reason: 'no_truth' });
  });
});

describe('verl’s scores of numina and of code', () => {
  // As verl's own functions gave them: its time limit around sympy raises, so that formulas are never compared.
  it.each([
    ['\\boxed{1/3}', '0.3333', 0],
    ['\\boxed{a+b+c}', 'c+b+a', 0],
    ['\\boxed{2**10}', '1024', 0],
    ['\\boxed{x+1}', '1+x', 1],
    ['\\boxed{\\frac{1}{2}}', '0.5', 1],
    ['\\boxed{Point(1, 2)}', '(1,2)', 0],
    ['\\boxed{(1,2)}', '[1,2]', 0],
  ])('%s for %s → %d', async (action, truth, score) => {
    const { fn } = rewardRouter().for('numina_cn_k12');
    expect((await fn({ ground_truth: truth }, action)).reward).toBe(score);
  });

  const runPlain: Run = (request) => {
    const checked = runCodeRequest.check(request);
    if (!checked.ok) throw new Error(JSON.stringify(checked.detail));
    return plainPython(checked.value);
  };

  it.skipIf(!hasPython)('a function’s value is compared as Python does (skipped without python3)', async () => {
    const scoreFor = async (body: string, inputs: string[], outputs: string[]) => {
      const completion = `\`\`\`python\ndef f(*a):\n    ${body}\n\`\`\``;
      return (await primeCodeScore(runPlain, completion, { inputs, outputs, fn_name: 'f' }, {})).score;
    };
    expect(await scoreFor('return True', ['1'], ['1'])).toBe(1);
    expect(await scoreFor('return 1.0', ['1'], ['true'])).toBe(1);
    expect(await scoreFor('return "1"', ['1'], ['1'])).toBe(0);
    expect(await scoreFor('return (1, 2)', ['1'], ['[1, 2]'])).toBe(1);
    expect(await scoreFor('return ((1, 2),)', ['1'], ['[[1, 2]]'])).toBe(0);
    expect(await scoreFor('return {1}', ['1'], ['[1]'])).toBe(0);
    expect(await scoreFor('return 1', ['1', '2'], ['1'])).toBe(0);
  });

  it('an input without an output scores nothing at all', async () => {
    const run = async () => {
      throw new Error('not asked');
    };
    expect(await primeCodeScore(run, 'print(1)', { inputs: ['', ''], outputs: ['1'] }, {})).toMatchObject({ score: 0 });
  });
});

describe('a 0 of a service', () => {
  it.each([
    { errors: ['the judge is away'] },
    { errors: [{ code: 'E_JUDGE' }] },
    { error: true },
    { data: { state: 'FAILED' } },
    { result: { job: { status: 'Timed out' } } },
    { code: 503, message: 'no worker' },
    { metadata: { exception: 'KeyError' } },
    { detail: { ok: false } },
    { status: 'infra_error' },
    { status: 'Judge timed out' },
    { ready: false },
    { done: false },
    { is_complete: false },
    { scored: false },
    { status: { code: 'ERROR' } },
    { status: 'not_evaluated' },
    { status: 'skipped' },
    { code: -1, msg: 'model overloaded' },
  ])('is no verdict beside %j', (more) => {
    expect(troubleOf({ reward: 0, ...more })).not.toBeNull();
  });

  it.each([
    {},
    { errors: [], error: null, exception: '' },
    { errors: 3 },
    { result: 'failed', outcome: 'failed', failures: ['test_sum'] },
    { tests: { test_sum: { status: 'FAILED' } }, cases: [{ error: 'AssertionError' }] },
    { exec_info: { status: 'Failed', run_result: { status: 'Error' } } },
    { compile: { errors: ['line 2'] } },
    { status: 'runtime_error' },
    { correct: false, passed: false, valid: false },
    { code: 'print(1)', exit_code: -9 },
    { code: 0, status: 'ok', success: true, message: 'the answer is wrong' },
  ])('is one beside %j', (more) => {
    expect(troubleOf({ reward: 0, ...more })).toBeNull();
  });
});
