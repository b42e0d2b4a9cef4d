// Many instances, hanging code, a flood of output, and the end of this program.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as rest } from 'node:timers/promises';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { directoryWith } from '../../program.ts';
import { python, pythons, toolYaml } from './python.ts';
import { closeTools, executed, isAlive, toolOf, toolThat } from './tool-of.ts';

afterEach(() => {
  vi.useRealTimers();
  closeTools();
});

describe.skipIf(pythons().length === 0)('a tool class of the user (skipped without Python 3.9 to 3.13)', () => {
  test('keeps the state of 1,000 instances apart, and is called by all at once', async () => {
    const { tool } = await toolOf(
      {
        'mine.py': `import asyncio
class Mine:
    def __init__(self, config, tool_schema):
        self.seen = {}
    async def create(self, instance_id=None, **kwargs):
        self.seen[instance_id] = []
        return instance_id
    async def execute(self, instance_id, parameters, **kwargs):
        self.seen[instance_id].append(parameters["query"])
        await asyncio.sleep(0.01)
        return ",".join(self.seen[instance_id])
    async def release(self, instance_id, **kwargs):
        del self.seen[instance_id]
`,
      },
      toolYaml('mine.Mine'),
    );
    const ids = Array.from({ length: 1000 }, (_, index) => String(index));
    await Promise.all(ids.map((id) => tool.create(id)));
    for (const turn of ['x', 'y']) {
      const said = await Promise.all(ids.map((id) => tool.execute(id, { query: `${turn}${id}` })));
      expect(said.map(({ response }) => response.text)).toEqual(
        ids.map((id) => (turn === 'x' ? `x${id}` : `x${id},y${id}`)),
      );
    }
    await Promise.all(ids.map((id) => tool.release(id)));
    await expect(tool.execute('1', { query: '' })).rejects.toThrow('create it first');
  });

  test('that waits for ever is ended by its timeout alone, and the others go on', async () => {
    const { tool, printed } = await toolThat(
      'import asyncio\nif parameters["q"] == "wait":\n    print("waits", flush=True)\n    await asyncio.sleep(1000)\nreturn "ok"',
    );
    await Promise.all(['a', 'b'].map((id) => tool.create(id)));
    const stop = new AbortController();
    const waiting = tool.execute('a', { q: 'wait' }, {}, { signal: stop.signal }).catch((error) => error);
    await expect.poll(printed).toContain('waits');
    stop.abort(new Error('timed out after 1 s'));
    expect(await waiting).toMatchObject({ message: 'timed out after 1 s' });
    expect(await tool.execute('b', { q: '' })).toMatchObject({ response: { text: 'ok' } });
    expect(await tool.execute('a', { q: '' })).toMatchObject({ response: { text: 'ok' } });
  });

  test('that waits in a process which the machine does not run for a while is not taken for one that blocks it', async () => {
    const { tool, printed } = await toolThat(
      'import asyncio, os\nif parameters["q"] == "wait":\n    print("waits", flush=True)\n    await asyncio.sleep(1000)\nreturn str(os.getpid())',
    );
    await tool.create('a');
    const { response } = await tool.execute('a', { q: '' });
    const stop = new AbortController();
    const waiting = tool.execute('a', { q: 'wait' }, {}, { signal: stop.signal }).catch((error) => error);
    await expect.poll(printed).toContain('waits');
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    process.kill(Number(response.text), 'SIGSTOP');
    // As long as the process itself would take for a block.
    await rest(1500);
    stop.abort(new Error('timed out after 1 s'));
    vi.advanceTimersByTime(1000);
    process.kill(Number(response.text), 'SIGCONT');
    expect(await waiting).toMatchObject({ message: 'timed out after 1 s', endsProcess: false });
    expect(await tool.execute('a', { q: '' })).toMatchObject({ response });
  });

  test('that blocks everything costs its process; the work of others is the fault of the world, and a new instance is as good as new', async () => {
    const { tool, printed } = await toolThat(
      'import asyncio, time\nif parameters["q"] == "hang":\n    print("hangs", flush=True)\n    time.sleep(1000)\nif parameters["q"] == "wait":\n    await asyncio.sleep(1000)\nreturn "ok"',
    );
    await Promise.all(['a', 'b'].map((id) => tool.create(id)));
    const stop = new AbortController();
    const innocent = tool.execute('b', { q: 'wait' }).catch((error) => error);
    const guilty = tool.execute('a', { q: 'hang' }, {}, { signal: stop.signal }).catch((error) => error);
    await expect.poll(printed).toContain('hangs');
    stop.abort(new Error('timed out after 3 s'));
    expect(await guilty).toMatchObject({
      fault: 'tool',
      message: expect.stringMatching(/^timed out after 3 s, at .*mine\.py:7 in execute$/),
    });
    expect(await innocent).toMatchObject({
      fault: 'world',
      message: expect.stringContaining('another call did not come back'),
    });
    expect(await tool.execute('b', { q: '' }).catch((error) => error)).toMatchObject({
      fault: 'world',
      message: expect.stringContaining('the state of lookup was lost with its process'),
    });
    await tool.release('b');
    await tool.create('c');
    expect(await tool.execute('c', { q: '' })).toMatchObject({ response: { text: 'ok' } });
  });

  test('may close the low descriptors, fork, leave threads and print a million lines', async () => {
    const loaded = await toolThat(
      'import os, threading, time\nlines = 1000 if getattr(self, "closed", False) else 1_000_000\nif lines == 1_000_000:\n    self.closed = True\n    os.close(0)\nif os.fork() == 0:\n    return "of the copy"\nthreading.Thread(target=time.sleep, args=(1000,)).start()\nfor i in range(lines):\n    print(i)\nreturn "done"',
    );
    expect(await executed(loaded)).toMatchObject({ response: { text: 'done' } });
    expect(await executed(loaded)).toMatchObject({ response: { text: 'done' } });
    expect(loaded.printed()).toContain('999999\n');
  });

  test('leaves no child when this program is killed, nor when its code hangs', async () => {
    const folder = directoryWith({ 'mine.py': 'import time\nprint("imported", flush=True)\ntime.sleep(1000)\n' });
    const mark = join(folder, 'mine.py');
    const script = `
      const { spawn } = require('node:child_process');
      const child = spawn(${JSON.stringify(python())}, [${JSON.stringify(join(import.meta.dirname, '../../../src/engine/python/bridge.py'))}, ${JSON.stringify(mark)}],
        { stdio: ['ignore', 'inherit', 'inherit', 'pipe', 'pipe'], detached: true });
      child.stdio[3].write(JSON.stringify({ id: 1, op: 'load', as: 'x', kind: 'tool', target: { file: ${JSON.stringify(mark)}, attribute: 'Mine' } }) + '\\n');
    `;
    const parent = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
    await new Promise((resolve) => parent.stdout.once('data', resolve));
    expect(isAlive(mark)).toBe(true);
    parent.kill('SIGKILL');
    await expect.poll(() => isAlive(mark)).toBe(false);
  });
});
