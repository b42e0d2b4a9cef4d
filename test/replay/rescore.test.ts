import { spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { rewardRouter } from '../../src/engine/index.ts';
import { type OwnReward, ownReward } from '../../src/engine/own/own-reward.ts';
import { overlongBuffer } from '../../src/engine/rewards/index.ts';
import { openRewards, rescoreRollout } from '../../src/replay/index.ts';
import { findOnPath } from '../../src/sandbox/server/backends/interpreters.ts';
import { verlLine } from '../program.ts';
import { scriptedServer } from '../sandbox/scripted-server.ts';
import { rowsOf } from './fixture.ts';

const open: OwnReward[] = [];
afterEach(() => {
  for (const reward of open.splice(0)) reward.close();
});

const rowOf = async (keys: Record<string, unknown>) => (await rowsOf([verlLine(keys).trim()])).rows[0]!;

function python(source: string, timeout = 20): OwnReward['fn'] {
  const path = join(mkdtempSync(join(tmpdir(), 'reward-')), 'reward.py');
  writeFileSync(path, source);
  const reward = ownReward({ path, timeout });
  open.push(reward);
  return reward.fn;
}
const only = (fn: OwnReward['fn']) => ({ for: () => ({ name: 'mine', fn }) });

describe('the built-in functions', () => {
  test('are chosen by data_source, and report a changed score', async () => {
    const rewards = rewardRouter();
    const gsm8k = { output: 'It is 4.\n#### 4', gts: '4', data_source: 'openai/gsm8k' };
    expect(await rescoreRollout(await rowOf({ ...gsm8k, score: 1 }), rewards)).toMatchObject({
      status: 'same',
      score: 1,
      reward: 'gsm8k',
    });
    expect(await rescoreRollout(await rowOf({ ...gsm8k, score: 0 }), rewards)).toMatchObject({
      status: 'drift',
      recorded: 0,
      score: 1,
    });
    expect(await rescoreRollout(await rowOf({ ...gsm8k, score: null }), rewards)).toMatchObject({
      status: 'unknown',
      score: 1,
    });
    expect(await rescoreRollout(await rowOf({ output: '4' }), rewards)).toMatchObject({
      status: 'unknown',
      reason: expect.stringContaining('no reward function for a task without data_source'),
    });
  });

  test('the reward of a session is the one that it gave', async () => {
    const { router } = openRewards({});
    const swedev = { output: 'done', data_source: 'swedev', score: 1 };
    const judged = await rescoreRollout(await rowOf({ ...swedev, reward_scores: { session: 1 } }), router);
    expect(judged).toMatchObject({ status: 'same', reward: 'tool_reward', score: 1 });
    expect(await rescoreRollout(await rowOf(swedev), router)).toMatchObject({ status: 'unknown', score: null });
  });

  test('where verl’s versions differ both are named', async () => {
    const { router } = openRewards({});
    const box = { output: '\\boxed{42}', gts: '42', data_source: 'math_dapo' };
    const judge = async (score: number | null) => rescoreRollout(await rowOf({ ...box, score }), router);
    expect(await judge(1)).toMatchObject({ score: 1, status: 'same', reason: 'verl of January 2026 gave -1' });
    expect(await judge(null)).toMatchObject({
      score: 1,
      reason: expect.stringContaining('verl of January 2026 gave -1'),
    });
    const reason = "as verl of January 2026 scored it; today's verl gives 1";
    expect(await judge(-1)).toMatchObject({ score: -1, status: 'same', reason });
  });

  test('verl’s overlong penalty is taken off, if requested or recorded', async () => {
    const { router } = openRewards({});
    const ids = Array.from({ length: 90 }, (_, at) => at);
    const tokens = { prompt_ids: [1], response_ids: ids, response_mask: ids.map(() => 1) };
    const long = { output: '#### 4', gts: '4', data_source: 'openai/gsm8k', ...tokens };
    const overlong = overlongBuffer({ len: 20, penalty_factor: 0.5 }, 100)!;
    const judge = async (keys: object, asked?: typeof overlong) =>
      rescoreRollout(await rowOf({ ...long, ...keys }), router, undefined, { overlong: asked ?? null });
    expect(await judge({ score: 0.75 }, overlong)).toMatchObject({
      score: 0.75,
      status: 'same',
      reason: '1 and an overlong penalty of -0.25 for 90 tokens',
      metadata: { overlong_reward: -0.25, overlong: true },
    });
    expect(await judge({ score: 1 }, overlong)).toMatchObject({
      score: 0.75,
      status: 'drift',
      reason: expect.stringContaining('the recorded score is the one without it'),
    });
    const short = { response_ids: [1], response_mask: [1] };
    expect(await judge({ ...short, score: 1 }, overlong)).toMatchObject({ score: 1, status: 'same', reason: null });
    expect(
      await rescoreRollout(
        await rowOf({ output: '#### 4', gts: '4', data_source: 'openai/gsm8k', score: 1 }),
        router,
        undefined,
        { overlong },
      ),
    ).toMatchObject({
      status: 'error',
      reason: 'the overlong penalty counts tokens of the response, and the record holds none',
    });
    // As verl's dapo manager logs it; of a function that gives more than a number its dump holds the score alone.
    expect(await judge({ score: 0.75, overlong_reward: -0.25 })).toMatchObject({ score: 0.75, status: 'same' });
    expect(await judge({ score: 1, overlong_reward: -0.25 })).toMatchObject({ score: 1, status: 'same', reason: null });
    expect(await judge({ score: 0, overlong_reward: -0.25 })).toMatchObject({ score: 1, status: 'drift' });
  });

  test('a second function shows where the two differ', async () => {
    const [gsm8k, math] = [openRewards({ reward: 'gsm8k' }), openRewards({ reward: 'math' })];
    const row = await rowOf({ output: '#### 4', gts: '4', score: 1 });
    const scored = await rescoreRollout(row, gsm8k.router, undefined, { against: math.router });
    expect(scored).toMatchObject({ score: 1, against: { reward: 'math', score: 0, parts: true } });
    const same = await rescoreRollout(row, gsm8k.router, undefined, { against: gsm8k.router });
    expect(same.against).toMatchObject({ score: 1, parts: false });
  });

  test('a function that says another thing each time wavers', async () => {
    const scores = [0, 1, 0.5];
    const judge = { for: () => ({ name: 'judge', fn: () => ({ reward: scores.shift()!, metadata: {} }) }) };
    const scored = await rescoreRollout(await rowOf({ output: 'x', score: 0.25 }), judge, undefined, { repeat: 3 });
    expect(scored).toMatchObject({ score: 0.5, status: 'same', reason: '0 to 1 in 3 runs' });
    expect(scored.repeats).toMatchObject({ runs: 3, min: 0, max: 1, wavers: true });
    expect(scored.repeats?.deviation).toBeCloseTo(Math.sqrt(1 / 6), 10);
    const { router } = openRewards({ reward: 'gsm8k' });
    const steady = await rescoreRollout(await rowOf({ output: '#### 4', gts: '4', score: 0 }), router, undefined, {
      repeat: 2,
    });
    expect(steady).toMatchObject({ score: 1, status: 'drift', repeats: { wavers: false, deviation: 0 } });
  });

  test.each(['exact_match', 'gsm8k', 'math', 'math_dapo'])(
    '%s gives no score without a ground truth',
    async (reward) => {
      const { router } = openRewards({ reward });
      expect(await rescoreRollout(await rowOf({ output: '', gts: null, score: 0 }), router)).toMatchObject({
        status: 'unknown',
        score: null,
        reason: 'no ground truth',
      });
    },
  );
});

const hasSympy = spawnSync('python3', ['-c', 'import sympy']).status === 0;

describe('formulas that only sympy decides', () => {
  const geo3k = { data_source: 'hiyouga/geometry3k', gts: '4!', score: 1 };
  const judge = async (python: string | undefined, boxed: string) =>
    rescoreRollout(
      await rowOf({ ...geo3k, output: `<think>x</think>\\boxed{${boxed}}` }),
      openRewards({ python }).router,
    );

  test('have no score without it, with a note on how to get one', async () => {
    expect(await judge(undefined, '2*3!*2')).toMatchObject({
      status: 'error',
      score: null,
      reason: expect.stringContaining('--python names an interpreter'),
    });
  });

  test.skipIf(!hasSympy)('have one with an interpreter that has it (skipped without sympy)', async () => {
    expect(await judge('python3', '2*3!*2')).toMatchObject({ status: 'same', score: 1 });
    expect(await judge('python3', '2*3!*3')).toMatchObject({ status: 'drift', score: 0.1 });
  });
});

describe.skipIf(findOnPath('python3') === null)('a Python file with compute_score (skipped without python3)', () => {
  const row = () =>
    rowOf({ output: 'user text #### 4', gts: '4', score: 0.5, data_source: 'mine', extra_info: { half: true } });

  test('gets what verl gives it, and its score and details come back', async () => {
    const fn = python(`
def compute_score(data_source, solution_str, ground_truth, extra_info=None):
    print("noise on stdout")
    return {"score": 0.5 if extra_info["half"] else 1.0, "seen": [data_source, solution_str, ground_truth]}
`);
    expect(await rescoreRollout(await row(), only(fn))).toMatchObject({
      status: 'same',
      score: 0.5,
      metadata: { seen: ['mine', 'user text #### 4', '4'] },
    });
  });

  test('may give a scalar of a library, which is no number to JSON', async () => {
    const fn = python(`
class Scalar:
    def __float__(self):
        return 0.5
def compute_score(**kwargs):
    return {"score": Scalar()}
`);
    expect(await rescoreRollout(await row(), only(fn))).toMatchObject({ score: 0.5 });
  });

  test('that cannot be loaded says so once, before anything is scored', async () => {
    const starting = (source: string) => {
      python(source);
      return open.at(-1)!.start();
    };
    await expect(starting('def compute_score(data_source:\n')).rejects.toThrow(
      /reward\.py cannot be loaded: .*reward\.py:1: SyntaxError/,
    );
    await expect(starting('def another():\n    pass\n')).rejects.toThrow(/compute_score/);
    await expect(starting('def compute_score(**kwargs):\n    return 1\n')).resolves.toBeUndefined();
  });

  test('is asked one rollout at a time by one process', async () => {
    const fn = python(`
count = 0
def compute_score(**kwargs):
    global count
    count += 1
    return count
`);
    const one = await row();
    const scored = await Promise.all([1, 2, 3].map(() => rescoreRollout(one, only(fn))));
    expect(scored.map(({ score }) => score)).toEqual([1, 2, 3]);
  });

  test.each([
    ['raises', 'def compute_score(**kwargs):\n    raise ValueError("no answer in it")', 'ValueError: no answer in it'],
    ['is not there', 'def other(): pass', "has no 'compute_score'; it defines other"],
    ['does not compile', 'def compute_score(', 'SyntaxError'],
    [
      'gives no number',
      'def compute_score(**kwargs):\n    return {"score": "good"}',
      'compute_score (reward.py:1): the score is a str, not a number',
    ],
    ['ends its process', 'import os\ndef compute_score(**kwargs):\n    os._exit(3)', 'ended with exit status 3'],
  ])('that %s is an error with its reason', async (_what, source, reason) => {
    expect(await rescoreRollout(await row(), only(python(source)))).toMatchObject({
      status: 'error',
      reason: expect.stringContaining(reason),
    });
  });

  test('that hangs costs its own rollout alone', async () => {
    const fn = python(
      'import time\ndef compute_score(solution_str, **kwargs):\n    time.sleep(60 if "hang" in solution_str else 0)\n    return 0.5',
      5,
    );
    const hanging = rescoreRollout(await rowOf({ output: 'hang', score: 0.5 }), only(fn));
    const next = rescoreRollout(await row(), only(fn));
    expect(await hanging).toMatchObject({ status: 'error', reason: 'no score after 5 s' });
    expect(await next).toMatchObject({ status: 'same' });
  });
});

test('a reward service is asked, and its failure is an error and no 0', async () => {
  const server = await scriptedServer((_, i) => (i === 0 ? { json: { reward: 0.25 } } : { status: 500, json: {} }));
  try {
    const rewards = rewardRouter({ fallback: 'http', http: { url: server.url } });
    const row = await rowOf({ output: '4', score: 0.25 });
    expect(await rescoreRollout(row, rewards)).toMatchObject({ status: 'same', score: 0.25 });
    expect(await rescoreRollout(row, rewards)).toMatchObject({
      status: 'error',
      score: null,
      reason: expect.stringContaining('HTTP 500'),
    });
  } finally {
    await server.close();
  }
});
