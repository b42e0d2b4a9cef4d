// A reward file or a JavaScript class that gives no score or text gets a sentence, and never a score of 0.
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { type OwnReward, ownReward } from '../../../src/engine/own/own-reward.ts';
import { directoryWith } from '../../program.ts';
import { python, pythons, toolYaml } from './python.ts';
import { closeTools, executed, toolOf } from './tool-of.ts';

const open: OwnReward[] = [];
afterEach(() => {
  for (const reward of open.splice(0)) reward.close();
  closeTools();
});

const scored = async (name: string, source: string, kwargs = {}) => {
  const path = join(directoryWith({ [name]: source }), name);
  const reward = ownReward({ path, python: python(), kwargs, timeout: 20 });
  open.push(reward);
  const task = { ground_truth: '4', data_source: 'x' };
  return Promise.resolve(reward.fn(task, '#### 4', undefined)).catch((error: Error) => error.message);
};

describe.skipIf(pythons().length === 0)('a reward file in Python (skipped without Python)', () => {
  test.each([
    ['NaN', 'return float("nan")', 'compute_score (reward.py:1): the score is nan, not a number'],
    [
      'an infinity in a dict',
      'return {"score": float("inf")}',
      'compute_score (reward.py:1): the score is inf, not a number',
    ],
    ['bytes', 'return b"1"', 'compute_score (reward.py:1): the score is bytes, not a number'],
    ['nothing', 'pass', 'compute_score (reward.py:1): the score is None, not a number'],
    [
      'a dict without a score',
      'return {"right": 1}',
      "compute_score (reward.py:1): it gave a dict without 'score' (right)",
    ],
    ['an empty tuple', 'return ()', 'compute_score (reward.py:1): it gave a tuple of 0; a number is expected'],
    [
      '100 MB',
      'return {"score": 1, "why": "x" * 100_000_000}',
      'compute_score (reward.py:1): it gave 100 MB; an answer may have 67 MB',
    ],
    ['its notice', 'raise SystemExit(2)', 'SystemExit: 2'],
    [
      'a closed channel',
      'import os\n    os.closerange(0, 1024)\n    return 1',
      /^(the code closed the channel of its answers|the process of .* ended with)/,
    ],
    ['a signal', 'import os\n    os.kill(os.getpid(), 9)', /ended with exit status 137$/],
    [
      'an argument that it does not take',
      'return 1',
      "TypeError: compute_score() got an unexpected keyword argument 'strict'",
    ],
  ])('that gives %s has no score', async (what, body, says) => {
    const kwargs = what.startsWith('an argument') ? { strict: true } : {};
    const parameters = what.startsWith('an argument')
      ? 'data_source, solution_str, ground_truth, extra_info'
      : '**kwargs';
    const told = await scored('reward.py', `def compute_score(${parameters}):\n    ${body}\n`, kwargs);
    expect(told).toEqual(typeof says === 'string' ? says : expect.stringMatching(says));
  });

  test('may be async, print, fork, leave threads, and take what verl calls reward_kwargs', async () => {
    const source = `import asyncio, os, threading, time
async def compute_score(data_source, solution_str, ground_truth, extra_info=None, bonus=0, **kwargs):
    for line in range(20_000):
        print(line)
    if os.fork() == 0:
        return 7
    threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()
    await asyncio.sleep(0)
    return {"score": 0.5 + bonus, "seen": [data_source, solution_str, ground_truth]}
`;
    expect(await scored('reward.py', source, { bonus: 0.25 })).toEqual({
      reward: 0.75,
      metadata: { seen: ['x', '#### 4', '4'] },
    });
  });
});

test.skipIf(pythons().length === 0)(
  'an interpreter that a reward file starts finds --python-path, too (skipped without Python)',
  async () => {
    const folder = directoryWith({ 'beside_it.py': 'SCORE = 0.25\n' });
    const body =
      'import subprocess, sys\n    return float(subprocess.check_output([sys.executable, "-c", "import beside_it; print(beside_it.SCORE)"]))';
    const path = join(directoryWith({ 'reward.py': `def compute_score(**kwargs):\n    ${body}\n` }), 'reward.py');
    const reward = ownReward({ path, python: python(), pythonPath: [folder], timeout: 20 });
    open.push(reward);
    expect(await reward.fn({ ground_truth: '4' }, '4', undefined)).toMatchObject({ reward: 0.25 });
  },
);

describe('a reward file in JavaScript', () => {
  test.each([
    ['NaN', 'return Number.NaN', 'compute_score (reward.mjs:1): the score is NaN, not a number or null'],
    ['nothing', '', 'compute_score (reward.mjs:1): it gave undefined, not a score'],
    ['a text', 'return "good"', 'compute_score (reward.mjs:1): the score is a string, not a number or null'],
    ['an exception', 'throw new RangeError("boom")', 'RangeError: boom'],
    ['its end', 'process.exit(3)', 'the module ended its thread with exit status 3'],
  ])('that gives %s has no score', async (_what, body, says) => {
    const told = await scored('reward.mjs', `export function compute_score() { ${body} }\n`);
    expect(told).toEqual(typeof says === 'string' ? says : expect.stringMatching(says));
  });

  test('takes what verl calls reward_kwargs behind the other arguments', async () => {
    const source =
      'export const compute_score = (source, said, truth, extra, { bonus }) => ({ score: 1 + bonus, said });';
    expect(await scored('reward.mjs', source, { bonus: 1 })).toEqual({ reward: 2, metadata: { said: '#### 4' } });
  });
});

describe('a tool class in JavaScript', () => {
  const toldBy = async (body: string) => {
    const source = `export class Mine {\n  async execute() {\n    ${body}\n  }\n}\n`;
    const loaded = await toolOf({ 'tool.mjs': source }, toolYaml('./tool.mjs#Mine'));
    return ((await executed(loaded)) as Error).message;
  };
  test.each([
    [
      'bytes',
      'return [Buffer.from("x"), 0]',
      "Mine.execute (tool.mjs:2): it gave bytes in the place of the tool's text",
    ],
    [
      'a promise',
      'return [Promise.resolve("x"), 0]',
      "Mine.execute (tool.mjs:2): it gave a promise (an await is missing) in the place of the tool's text",
    ],
    [
      'NaN as its reward',
      'return ["x", NaN]',
      'Mine.execute (tool.mjs:2): the step reward is NaN, not a number or null',
    ],
    [
      'metrics with NaN',
      'return ["x", 1, { n: NaN }]',
      'Mine.execute (tool.mjs:2): it gave NaN, which JSON cannot hold',
    ],
    [
      'metrics that are a Map',
      'return ["x", 1, new Map()]',
      'Mine.execute (tool.mjs:2): it gave a Map, which JSON cannot hold',
    ],
    [
      'a circle',
      'const a = {}; a.a = a; return ["x", 1, a]',
      'Mine.execute (tool.mjs:2): it gave a value that is nested too deep, which JSON cannot hold',
    ],
    ['100 MB', 'return "x".repeat(100e6)', 'Mine.execute (tool.mjs:2): it gave 100 MB; an answer may have 67 MB'],
    ['nothing', '', "Mine.execute (tool.mjs:2): it gave undefined in the place of the tool's text"],
  ])('that gives %s is reported in a sentence with its place', async (_what, body, says) => {
    expect(await toldBy(body)).toBe(says);
  });

  test.each([
    ['is not there', undefined, /no\.mjs: .*Cannot find module/],
    ['ends the process', 'process.exit(4)', /ended its thread with exit status 4/],
    ['throws', '\nthrow new Error("no licence")', /tool\.mjs: Error: no licence/],
    ['has no such class', 'export class Other {}', /tool\.mjs: exports no 'Mine'; it exports Other/],
    ['has a class without execute', 'export class Mine {}', /tool\.mjs: Mine has no method execute/],
  ])('whose module %s is reported at the start', async (_what, source, says) => {
    const files: Record<string, string> = source === undefined ? {} : { 'tool.mjs': source };
    const name = source === undefined ? './no.mjs#Mine' : './tool.mjs#Mine';
    await expect(toolOf(files, toolYaml(name))).rejects.toThrow(says);
  });
});
