// Every way out of a rollout that holds an instance of a user's own tool: it is released; what a call's hang costs others is not theirs.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { runRequest } from '../../../src/engine/index.ts';
import { bin, directoryWith, jsonLines, rolloutViewer } from '../../program.ts';
import { call, fakeModel, texts } from '../fake-model.ts';
import { fakeTool } from '../fake-tool.ts';
import { scriptedModel } from '../scripted-model.ts';
import { python, pythons, toolYaml } from './python.ts';
import { closeTools, toolOf } from './tool-of.ts';

afterEach(() => {
  vi.useRealTimers();
  closeTools();
});

const COUNTING = `import asyncio, os, time
class Mine:
    def __init__(self, config, tool_schema):
        self.file = os.path.join(os.path.dirname(os.path.abspath(__file__)), "log")
    def note(self, what, instance_id):
        with open(self.file, "a") as file:
            file.write(f"{what} {instance_id}\\n")
    async def create(self, instance_id, **kwargs):
        self.note("create", instance_id)
        return instance_id
    async def execute(self, instance_id, parameters, **kwargs):
        query = parameters["query"]
        if query == "raise":
            raise ValueError("boom")
        if query == "wait":
            self.note("wait", instance_id)
            await asyncio.sleep(1000)
        if query == "block":
            time.sleep(1000)
        return f"said {query}"
    async def release(self, instance_id, **kwargs):
        self.note("release", instance_id)
`;
const QUESTION = { role: 'user', content: 'q' } as const;

describe.skipIf(pythons().length === 0)('an instance of a tool (skipped without Python)', () => {
  const say = (query: string) => call('lookup', { query });
  const gone = fakeModel(() => {
    throw new Error('the server is gone');
  });

  test.each([
    ['its end', texts(say('x'), 'done'), {}, 'SUCCEEDED'],
    [
      'a limit of turns',
      texts(say('x'), say('y'), say('z')),
      { limits: { max_assistant_turns: 2 } },
      'MAX_STEPS_REACHED',
    ],
    ['a tool that raises', texts(say('raise'), 'done'), {}, 'SUCCEEDED'],
    ['a model that is gone', gone, {}, 'FAILED'],
  ])('is released after %s', async (_, { model }, more, status) => {
    const { tool, folder } = await toolOf({ 'mine.py': COUNTING }, toolYaml('mine.Mine'));
    const request = await runRequest({ model, messages: [QUESTION], tools: [tool], ...more });
    expect(request.status).toBe(status);
    expect(logOf(folder)).toBe(`create ${request.requestId}\nrelease ${request.requestId}\n`);
  });

  test.each([
    ['a tool that waits for ever', { tool_timeout: 5 }, 'SUCCEEDED'],
    ['the time limit of the rollout', { timeout: 5 }, 'TIMEOUT'],
    ['a person who breaks it off', {}, 'FAILED'],
  ])('is released after %s', async (_, limits, status) => {
    const { tool, folder } = await toolOf({ 'mine.py': COUNTING }, toolYaml('mine.Mine'));
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const stopped = new AbortController();
    const { model } = texts(say('wait'), 'done');
    const running = runRequest({ model, messages: [QUESTION], tools: [tool], limits, signal: stopped.signal });
    await expect.poll(() => logOf(folder)).toContain('wait');
    if (status === 'FAILED') stopped.abort();
    else vi.advanceTimersByTime(5000);
    const request = await running;
    expect(request.status).toBe(status);
    expect(logOf(folder)).toBe(['create', 'wait', 'release'].map((what) => `${what} ${request.requestId}\n`).join(''));
  });

  test('is released where another tool of the rollout cannot be made', async () => {
    const { tool, folder } = await toolOf({ 'mine.py': COUNTING }, toolYaml('mine.Mine'));
    const broken = fakeTool('broken', () => '', { create: () => Promise.reject(new Error('no room')) });
    const request = await runRequest({ ...texts('x'), messages: [QUESTION], tools: [tool, broken] });
    expect(request).toMatchObject({ cause: 'tool_unavailable', error: "tool 'broken' could not be created: no room" });
    const lines = readFileSync(join(folder, 'log'), 'utf8').trim().split('\n');
    expect(lines.map((line) => line.split(' ')[0])).toEqual(['create', 'release']);
  });
});

describe.skipIf(pythons().length === 0)('a run with a tool that blocks (skipped without Python)', () => {
  const files = {
    'mine.py': COUNTING,
    'tools.yaml': toolYaml('mine.Mine'),
    'tasks.jsonl': ['block', 'x', 'y', 'z'].map((prompt) => `${JSON.stringify({ prompt })}\n`).join(''),
  };

  test('scores its own rollout, and makes those again whose state it took with it', async () => {
    const model = await scriptedModel(({ messages }) => {
      const asked = messages[0].content;
      // Three calls a rollout: the state is needed after the hang, too.
      const turns = messages.filter(({ role }: { role: string }) => role === 'assistant').length;
      return turns < 3 ? { text: call('lookup', { query: asked }), delay: 700 } : { text: 'done' };
    });
    const folder = directoryWith(files);
    const { code, stderr } = await rolloutViewer(
      [
        ...['rollout', 'tasks.jsonl', '--model-url', model.url, '--model', 'm', '--out', 'dump', '--yes'],
        ...['--tools', 'tools.yaml', '--python', python(), '--reward', 'dummy', '--tool-timeout', '2'],
      ],
      { cwd: folder },
    );
    await model.close();
    expect(stderr).toContain('4 of 4 rollouts');
    expect(code).toBe(0);
    const records = jsonLines(readFileSync(join(folder, 'dump/1.jsonl'), 'utf8')) as {
      tool_calls: { fault: string; result: string }[];
    }[];
    const faults = records.map(({ tool_calls }) => tool_calls.map(({ fault }) => fault).join(' ')).sort();
    expect(faults[0]).toBe('  ');
    expect(records.filter(({ tool_calls }) => tool_calls.some(({ fault }) => fault === 'world'))).toEqual([]);
    expect(faults.filter((one) => one.includes('tool'))).toEqual(['tool tool tool']);
  });

  test('leaves no child when the program is killed', async () => {
    const model = await scriptedModel(() => ({ text: call('lookup', { query: 'block' }) }));
    const folder = directoryWith({
      ...files,
      'mine.py': COUNTING.replace('time.sleep(1000)', 'self.note("blocks", instance_id)\n            time.sleep(1000)'),
    });
    const args = ['rollout', 'tasks.jsonl', '--model-url', model.url, '--model', 'm', '--out', 'dump', '--yes'];
    const child = spawn(
      process.execPath,
      [bin, ...args, '--tools', 'tools.yaml', '--python', python(), '--reward', 'dummy'],
      { cwd: folder },
    );
    await expect.poll(() => logOf(folder)).toContain('blocks');
    const bridges = () => children(child.pid!);
    const living = bridges();
    expect(living.length).toBeGreaterThan(0);
    child.kill('SIGKILL');
    await expect.poll(() => living.filter(isRunning)).toEqual([]);
    await model.close();
  });
});

/** What COUNTING has noted. */
function logOf(folder: string): string {
  const path = join(folder, 'log');
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
}

/** All processes below one. */
function children(pid: number): number[] {
  const own = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number);
  return own.flatMap((child) => [child, ...children(child)]);
}

function isRunning(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('bridge.py');
  } catch {
    return false;
  }
}
