import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { rewardRouter } from '../../src/engine/index.ts';
import { type OwnReward, ownReward } from '../../src/engine/own/own-reward.ts';
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
  test('are chosen by data_source, and tell a score that is another now', async () => {
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
      2,
    );
    const hanging = rescoreRollout(await rowOf({ output: 'hang', score: 0.5 }), only(fn));
    const next = rescoreRollout(await row(), only(fn));
    expect(await hanging).toMatchObject({ status: 'error', reason: 'no score after 2 s' });
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
