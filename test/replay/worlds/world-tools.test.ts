import { mkdtempSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { framedLike, seenResult } from '../../../src/analysis/actions/seen-result.ts';
import { parseLine } from '../../../src/core/dump/parse-line.ts';
import { type Generation, RolloutRequest } from '../../../src/engine/index.ts';
import { stateBefore } from '../../../src/replay/worlds/outcomes.ts';
import { replayWorld, type WorldOptions } from '../../../src/replay/worlds/replay-world.ts';
import { newWorldOptions, worldOptions } from '../../../src/replay/worlds/rollout-world.ts';
import { newTools, recordedTools, WorldTools } from '../../../src/replay/worlds/world-tools.ts';
import { hostImage } from '../../../src/sandbox/worlds/image.ts';
import { worldProblem } from '../../../src/sandbox/worlds/problem.ts';
import { fakeModel } from '../../engine/fake-model.ts';

const problem = await worldProblem();
const journal = () => mkdtempSync(join(tmpdir(), 'world-tools-'));

type Called = readonly [name: string, args: object];

/** A model that makes these calls, a turn each, and then ends. */
const caller = (turns: readonly (readonly Called[])[]) =>
  fakeModel(({ messages }): Partial<Generation> => {
    const turn = turns[messages.filter(({ role }) => role === 'assistant').length];
    const toolCalls = (turn ?? []).map(([name, args], i) => ({
      ...{ id: `${messages.length}-${i}`, type: 'function' as const },
      function: { name, arguments: JSON.stringify(args) },
    }));
    return { text: turn === undefined ? 'done' : '', toolCalls };
  }).model;

async function rolloutWith(tools: WorldTools, turns: readonly (readonly Called[])[]) {
  const request = new RolloutRequest({
    model: caller(turns),
    messages: [{ role: 'user', content: 'go' }],
    tools: tools.tools,
  });
  await request.run();
  return { request, results: request.calls.map(({ result }) => result), end: tools.endOf(request.requestId) };
}

const recordOf = (calls: readonly (readonly [...Called, string])[], tools: readonly unknown[] = []) => {
  const messages: object[] = [{ role: 'user', content: 'Go. Commands start in /tmp.' }];
  for (const [i, [name, args, result]] of calls.entries())
    messages.push(
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: `${i}`, type: 'function', function: { name, arguments: JSON.stringify(args) } }],
      },
      { role: 'tool', tool_call_id: `${i}`, content: result },
    );
  const { rollout, json } = parseLine(JSON.stringify({ messages, tools }), { validation: false });
  if (rollout === null) throw new Error('no rollout');
  return { rollout, json };
};

describe.skipIf(problem !== null)("the engine's tools in a world (skipped where no world can be made)", () => {
  const calls: (readonly Called[])[] = [
    [['bash', { command: 'mkdir -p /tmp/rvt && cd /tmp/rvt && export A=1 && ls none' }]],
    [
      ['str_replace_editor', { command: 'create', path: '/tmp/rvt/f', file_text: 'one\n' }],
      ['bash', { command: 'echo $A; cat f' }],
    ],
    [['bash', { command: 'sleep 60', timeout: 1 }]],
    [['bash', { command: 'cat /tmp/rvt/f' }]],
    [['bash', { command: 'echo bye; exit 3' }]],
    [['bash', { command: 'echo $A; pwd' }]],
  ];

  it('share one world a rollout, and what they record is the same when it runs again', async () => {
    const options: WorldOptions = newWorldOptions(hostImage(), { workdir: '/tmp', journal: journal() });
    const tools = new WorldTools(options, newTools(options), async () => []);
    const made = await Promise.all([rolloutWith(tools, calls), rolloutWith(tools, calls.slice(0, 2))]);
    for (const { results } of made) expect(results.slice(1, 3)[1]).toBe('1\none\n');
    const [{ request, results, end }] = made;
    expect([results[3], results[4]]).toEqual(['[Command timed out after 1 s]\n[exit -1]', 'one\n']);
    expect(end?.changed.map(({ path }) => path)).toEqual(['/tmp/rvt', '/tmp/rvt/f']);
    expect(readdirSync(join(options.store.folder, 'live'))).toEqual([]);
    const shown = request.calls.map(({ name, arguments: args, result }) => [name, args ?? {}, result ?? ''] as const);
    const record = recordOf(
      shown as never,
      tools.tools.map((tool) => tool.getOpenAIToolSchema()),
    );
    const again = worldOptions(record, record.rollout, hostImage(), { journal: journal() });
    expect(again.plan.workdir).toMatchObject({ path: '/tmp', how: 'recorded' });
    const verdicts: string[] = [];
    for await (const { verdict } of replayWorld(again)) verdicts.push(verdict);
    expect(verdicts).toEqual(Array(7).fill('same'));
  });

  it('begin in the state before a turn, in the form that the record has', async () => {
    const record = recordOf([
      ['bash', { command: 'echo one > /tmp/rvt1; echo $?' }, '{"returncode": 0, "output": "0\\n"}'],
      ['bash', { command: 'rm /tmp/rvt1; false' }, '{"returncode": 1, "output": ""}'],
    ]);
    const options = worldOptions(record, record.rollout, hostImage(), { journal: journal() });
    const { chain, drift } = await stateBefore(options, 3);
    expect([chain.length, drift]).toEqual([1, null]);
    const declared = recordedTools(record.rollout, options.plan.actions);
    expect(declared.map(({ schema }) => schema.function.parameters.required)).toEqual([['command']]);
    const tools = new WorldTools(options, declared, async () => chain);
    const { results } = await rolloutWith(tools, [[['bash', { command: 'cat /tmp/rvt1; (exit 3)' }]]]);
    expect(results).toEqual(['{"returncode": 3, "output": "one\\n"}']);
    await tools.close();
    expect(readdirSync(join(options.store.folder, 'live'))).toEqual([]);
  });

  it.each([0, 500])('a rollout that is interrupted after %d ms leaves no world', async (delay) => {
    const options = newWorldOptions(hostImage(), { workdir: '/tmp', journal: journal() });
    const tools = new WorldTools(options, newTools(options), async () => []);
    const stop = new AbortController();
    const request = new RolloutRequest({
      model: caller([[['bash', { command: 'sleep 60' }]]]),
      messages: [{ role: 'user', content: 'go' }],
      tools: tools.tools,
      signal: stop.signal,
    });
    const running = request.run();
    setTimeout(() => stop.abort(new Error('interrupted')), delay);
    await running;
    await tools.close();
    expect(readdirSync(join(options.store.folder, 'live'))).toEqual([]);
  });
});

const END = { stdout: 'a\nb\n', stderr: '', exit: 7, seconds: 1.25 };
it.each([
  ['<returncode>0</returncode>\n<output>\nx</output>', '<returncode>7</returncode>\n<output>\na\nb\n</output>'],
  ['Exit code: 0\nWall time: 0 seconds\nOutput:\nx', 'Exit code: 7\nWall time: 1.3 seconds\nOutput:\na\nb\n'],
  [
    '{"output":"x","metadata":{"exit_code":0,"duration_seconds":3}}',
    '{"output":"a\\nb\\n","metadata":{"exit_code":7,"duration_seconds":1.3}}',
  ],
  ['{"exit_code": 0, "stdout": "", "stderr": "e"}', '{"exit_code": 7, "stdout": "a\\nb\\n", "stderr": ""}'],
  ['x\n[The command completed with exit code 0.]', 'a\nb\n[The command completed with exit code 7.]'],
  ['x\n[exit 0]', 'a\nb\n[exit 7]'],
  ['Exit code 1\nx', 'Exit code 7\na\nb'],
  ['x', 'a\nb\n'],
])('a result like %j', (example, made) => {
  const text = framedLike(example, END);
  expect(text).toBe(made);
  if (seenResult(example).exit !== null) expect(seenResult(text).exit).toBe(7);
});
