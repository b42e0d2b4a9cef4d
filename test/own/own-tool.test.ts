import { execFileSync, spawn } from 'node:child_process';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { OwnCode } from '../../src/engine/own/own-code.ts';
import { loadTools } from '../../src/engine/tools/load-tools.ts';
import type { Tool } from '../../src/engine/tools/tool.ts';
import type { OwnCodeError } from '../../src/python/own-error.ts';
import { directoryWith } from '../program.ts';
import { GSM8K_TOOL, MY_TOOL, python, pythons, toolYaml } from './python.ts';

const open: OwnCode[] = [];
afterEach(() => {
  for (const code of open.splice(0)) code.close();
});

interface Loaded {
  tool: Tool;
  printed: () => string;
  folder: string;
}

async function toolOf(files: Record<string, string>, yaml: string, interpreter = python()): Promise<Loaded> {
  const folder = directoryWith({ ...files, 'tools.yaml': yaml });
  let printed = '';
  const own = new OwnCode({
    python: interpreter,
    log: (text) => {
      printed += text;
    },
  });
  open.push(own);
  const [tool] = await loadTools(join(folder, 'tools.yaml'), { own });
  return { tool: tool!, printed: () => printed, folder };
}

/** A tool of which only the body of `execute` is of interest. */
const toolThat = (body: string, before = '') => {
  const lines = body.split('\n').map((line) => `        ${line}`);
  return toolOf(
    {
      'mine.py': `${before}\nclass Mine:\n    async def execute(self, instance_id, parameters, **kwargs):\n${lines.join('\n')}\n`,
    },
    toolYaml('mine.Mine'),
  );
};

const executed = async ({ tool }: Loaded, parameters = {}): Promise<unknown> => {
  const { instanceId } = await tool.create('a');
  return tool.execute(instanceId, parameters).catch((error: OwnCodeError) => error);
};
const message = async (loaded: Promise<Loaded>): Promise<string> => ((await executed(await loaded)) as Error).message;

const isAlive = (pattern: string): boolean => {
  const { stdout } = { stdout: execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' }) };
  return stdout.split('\n').some((line) => line.includes(pattern));
};

describe.skipIf(pythons().length === 0)('a tool class of the user (skipped without Python 3.9 to 3.13)', () => {
  test.each(pythons().map(({ version, path }) => [version, path]))(
    'runs in Python %s without verl, by both of its signatures',
    async (_version, path) => {
      const { tool } = await toolOf({ 'my_tool.py': MY_TOOL }, toolYaml('my_tool.MyCustomTool'), path);
      await tool.create('a');
      expect(await tool.execute('a', { query: 'correct' })).toEqual({
        response: { text: 'Processed: correct' },
        reward: 1,
        metrics: { query_len: 7 },
      });
      expect(await tool.calcReward('a')).toBe(0);
      const gsm8k = await toolOf(
        { 'pkg/gsm8k_tool.py': GSM8K_TOOL, 'pkg/__init__.py': '' },
        toolYaml('pkg.gsm8k_tool.Gsm8kTool', 'calc', 'answer'),
        path,
      );
      expect(await gsm8k.tool.create('b', { ground_truth: '4' })).toMatchObject({ response: { text: '' } });
      expect(await gsm8k.tool.execute('b', { answer: '3' })).toMatchObject({
        response: { text: "Current parsed answer='3' reward=0.0" },
        reward: -0.05,
      });
      expect(await gsm8k.tool.execute('b', { answer: '4' })).toMatchObject({
        response: { text: "Current parsed answer='4' reward=1.0" },
        reward: 0,
      });
      expect(await gsm8k.tool.calcReward('b')).toBe(1);
      await gsm8k.tool.release('b');
    },
  );

  test('gets the verl that is installed where there is one, and stand-ins for what that lacks', async () => {
    const { tool } = await toolOf(
      {
        'verl/__init__.py': '',
        'verl/tools/__init__.py': '',
        'verl/tools/base_tool.py':
          'class BaseTool:\n    mark = "of the user"\n    def __init__(self, config, tool_schema):\n        self.tool_schema = tool_schema\n',
        'mine.py': `from verl.tools.base_tool import BaseTool
from verl.interactions.base import BaseInteraction
class Mine(BaseTool):
    async def execute(self, instance_id, parameters, **kwargs):
        return f"{self.mark}; {BaseInteraction.__name__}", 0.5, None
`,
      },
      toolYaml('mine.Mine'),
    );
    await tool.create('a');
    expect(await tool.execute('a', {})).toEqual({
      response: { text: 'of the user; BaseInteraction' },
      reward: 0.5,
      metrics: null,
    });
  });

  test('may give its schema itself, and its arguments come by their names', async () => {
    const { tool } = await toolOf(
      {
        'mine.py': `from verl.tools.schemas import OpenAIFunctionToolSchema
class Mine:
    def __init__(self, config):
        self.limit = config["limit"]
    def get_openai_tool_schema(self):
        return OpenAIFunctionToolSchema(type="function", function={"name": "own_name", "description": "d"})
    def execute(self, instance_id, parameters, limit=0, execute_kwargs=None):
        return f"{self.limit} {limit} {execute_kwargs}"
`,
      },
      'tools: [{class_name: mine.Mine, config: {limit: 3}}]',
    );
    expect(tool.name).toBe('own_name');
    expect(tool.getOpenAIToolSchema().function.parameters).toEqual({ type: 'object', properties: {}, required: [] });
    await tool.create('a');
    expect(await tool.execute('a', {}, { limit: 4 })).toMatchObject({ response: { text: "3 4 {'limit': 4}" } });
  });

  test('may be one of JavaScript, which runs in a thread', async () => {
    const { tool, printed } = await toolOf(
      {
        'tool.mjs': `export class Mine {
  #seen = new Map();
  create(id) { this.#seen.set(id, 0); return id; }
  async execute(id, { query }) {
    console.log('noise');
    if (query === 'raise') throw new RangeError('boom');
    if (query === 'shape') return 7;
    this.#seen.set(id, this.#seen.get(id) + 1);
    return [\`\${query} \${this.#seen.get(id)}\`, 1, { n: 1 }];
  }
}`,
      },
      toolYaml('./tool.mjs#Mine'),
    );
    await tool.create('a');
    await tool.create('b');
    await tool.execute('a', { query: 'x' });
    expect(await tool.execute('a', { query: 'x' })).toEqual({
      response: { text: 'x 2' },
      reward: 1,
      metrics: { n: 1 },
    });
    expect(await tool.execute('b', { query: 'x' })).toMatchObject({ response: { text: 'x 1' } });
    const raised = (await tool.execute('a', { query: 'raise' }).catch((error) => error)) as OwnCodeError;
    expect(raised.message).toBe('boom');
    expect(raised.trace).toMatch(/^RangeError: boom\n.*tool\.mjs:6:/);
    await expect(tool.execute('a', { query: 'shape' })).rejects.toThrow(
      "Mine.execute: it gave a number in the place of the tool's text",
    );
    expect(printed()).toContain('noise');
  });

  test('prints into the log, and raises with the frames of its own files alone', async () => {
    const loaded = await toolThat('print("noise")\nimport json\njson.loads("{")');
    const error = (await executed(loaded)) as OwnCodeError;
    expect(error.message).toBe('Expecting property name enclosed in double quotes: line 1 column 2 (char 1)');
    expect(error.trace).toMatch(
      /^Traceback \(most recent call last\):\n {2}File ".*mine\.py", line 6, in execute\n {4}json\.loads\("\{"\)\nJSONDecodeError: Expecting/,
    );
    expect(error.fault).toBe('tool');
    expect(loaded.printed()).toBe('noise\n');
  });

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
    const { tool } = await toolThat(
      'import asyncio\nif parameters["q"] == "wait":\n    await asyncio.sleep(1000)\nreturn "ok"',
    );
    await Promise.all(['a', 'b'].map((id) => tool.create(id)));
    const stop = new AbortController();
    const waiting = tool.execute('a', { q: 'wait' }, {}, { signal: stop.signal });
    setTimeout(() => stop.abort(new Error('timed out after 1 s')), 300);
    await expect(waiting).rejects.toThrow('timed out after 1 s');
    expect(await tool.execute('b', { q: '' })).toMatchObject({ response: { text: 'ok' } });
    expect(await tool.execute('a', { q: '' })).toMatchObject({ response: { text: 'ok' } });
  });

  test('that blocks everything costs its process; the work of others is the fault of the world, and a new instance is as good as new', async () => {
    const { tool } = await toolThat(
      'import asyncio, time\nif parameters["q"] == "hang":\n    time.sleep(1000)\nif parameters["q"] == "wait":\n    await asyncio.sleep(1000)\nreturn "ok"',
    );
    await Promise.all(['a', 'b'].map((id) => tool.create(id)));
    const stop = new AbortController();
    const innocent = tool.execute('b', { q: 'wait' }).catch((error) => error);
    const guilty = tool.execute('a', { q: 'hang' }, {}, { signal: stop.signal }).catch((error) => error);
    setTimeout(() => stop.abort(new Error('timed out after 3 s')), 2500);
    expect(await guilty).toMatchObject({
      fault: 'tool',
      message: expect.stringMatching(/^timed out after 3 s, at .*mine\.py:6 in execute$/),
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

  test.each([
    [
      'NaN as its reward',
      'return "x", float("nan"), {}',
      'Mine.execute (mine.py:3): the step reward is nan, not a number or None',
    ],
    [
      'bytes',
      'return b"x", 0.0, {}',
      "Mine.execute (mine.py:3): it gave bytes in the place of the tool's text; a text or a ToolResponse is expected",
    ],
    [
      'a coroutine',
      'async def later(): pass\nreturn later(), 0.0, {}',
      "Mine.execute (mine.py:3): it gave a coroutine (an await is missing) in the place of the tool's text; a text or a ToolResponse is expected",
    ],
    [
      'five values',
      'return 1, 2, 3, 4, 5',
      'Mine.execute (mine.py:3): it gave a tuple of 5; (text, reward, metrics) is expected',
    ],
    [
      'nothing',
      'pass',
      "Mine.execute (mine.py:3): it gave None in the place of the tool's text; a text or a ToolResponse is expected",
    ],
    [
      '100 MB',
      'return "x" * 100_000_000, 0.0, {}',
      'Mine.execute (mine.py:3): it gave 100 MB; an answer may have 67 MB',
    ],
    [
      'metrics that are no JSON',
      'return "x", 0.0, {"a": object()}',
      'Mine.execute (mine.py:3): it gave an object of the class object, which JSON cannot hold',
    ],
    ['its notice', 'raise SystemExit(3)', 'it wants to end the process (SystemExit: 3)'],
    ['no answer, for it ends its process', 'import os\nos._exit(3)', /^the process of .* ended with exit status 3$/],
    [
      'no answer, for it dies of a signal',
      'import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)',
      /ended with exit status 139$/,
    ],
    [
      'no answer, for it closes every descriptor',
      'import os\nos.closerange(0, 1024)\nreturn "x"',
      /^(the code closed the channel of its answers|the process of .* ended with)/,
    ],
  ])('that gives %s is told in a sentence', async (_what, body, says) => {
    expect(await message(toolThat(body))).toEqual(typeof says === 'string' ? says : expect.stringMatching(says));
  });

  test('may close the low descriptors, fork, leave threads and print a million lines', async () => {
    const loaded = await toolThat(
      'import os, threading, time\nif not getattr(self, "closed", False):\n    self.closed = True\n    os.close(0)\nif os.fork() == 0:\n    return "of the copy"\nthreading.Thread(target=time.sleep, args=(1000,)).start()\nfor i in range(1_000_000):\n    print(i)\nreturn "done"',
    );
    expect(await executed(loaded)).toMatchObject({ response: { text: 'done' } });
    expect(await executed(loaded)).toMatchObject({ response: { text: 'done' } });
    expect(loaded.printed()).toContain('999999\n');
  });

  test.each([
    [
      'is not there',
      {},
      'mine.Mine',
      /tools\.yaml:2 \(mine\.Mine\): no module named 'mine'; looked in .*rollout-viewer-test-/,
    ],
    [
      'ends the process',
      { 'mine.py': 'import sys\n\nsys.exit(4)' },
      'mine.Mine',
      /mine\.py:3: the module ends the process while it is imported \(SystemExit: 4\)/,
    ],
    [
      'ends it at once',
      { 'mine.py': 'import os\nprint("no licence")\nos._exit(4)' },
      'mine.Mine',
      /ended with exit status 4; it printed last: no licence/,
    ],
    ['does not compile', { 'mine.py': 'x = 1\nclass Mine(:\n' }, 'mine.Mine', /mine\.py:2: SyntaxError/],
    [
      'imports what is missing',
      { 'mine.py': '\nimport not_there_at_all' },
      'mine.Mine',
      /mine\.py:2: ModuleNotFoundError: No module named 'not_there_at_all'/,
    ],
    ['has no such class', { 'mine.py': 'class Other: pass' }, 'mine.Mine', /mine\.py: has no 'Mine'; it defines Other/],
    [
      'has a class without execute',
      { 'mine.py': 'class Mine: pass' },
      'mine.Mine',
      /mine\.py:1: Mine has no method execute/,
    ],
    [
      'cannot be constructed',
      { 'mine.py': 'class Mine:\n    def __init__(self, config, tool_schema):\n        config["k"]\n' },
      'mine.Mine',
      /mine\.py:3: KeyError: 'k'/,
    ],
    [
      'wants what nobody gives',
      { 'mine.py': 'class Mine:\n    def __init__(self, engine): pass\n    def execute(self): pass' },
      'mine.Mine',
      /mine\.py:1: the tool file has no value for the parameter 'engine' of Mine/,
    ],
    ['forks', { 'mine.py': 'import os\nos.fork()\nclass Mine: pass' }, 'mine.Mine', /Mine has no method execute/],
    ['is no Python name', {}, 'mine', /unknown class; known: .*or a class of your own/],
  ])('whose module %s is told at the start, with its file and line', async (_what, files, name, says) => {
    await expect(toolOf(files as Record<string, string>, toolYaml(name))).rejects.toThrow(says);
  });

  test('in an interpreter that is not there is told by its name', async () => {
    await expect(toolOf({ 'my_tool.py': MY_TOOL }, toolYaml('my_tool.MyCustomTool'), 'python9')).rejects.toThrow(
      'cannot start python9: spawn python9 ENOENT',
    );
  });

  test('leaves no child when this program is killed, nor when its code hangs', async () => {
    const folder = directoryWith({ 'mine.py': 'import time\nprint("imported", flush=True)\ntime.sleep(1000)\n' });
    const mark = join(folder, 'mine.py');
    const script = `
      const { spawn } = require('node:child_process');
      const child = spawn(${JSON.stringify(python())}, [${JSON.stringify(join(import.meta.dirname, '../../src/python/bridge.py'))}, ${JSON.stringify(mark)}],
        { stdio: ['ignore', 'inherit', 'inherit', 'pipe', 'pipe'], detached: true });
      child.stdio[3].write(JSON.stringify({ id: 1, op: 'load', as: 'x', kind: 'tool', target: { file: ${JSON.stringify(mark)}, attribute: 'Mine' } }) + '\\n');
    `;
    const parent = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
    await new Promise((resolve) => parent.stdout.once('data', resolve));
    expect(isAlive(mark)).toBe(true);
    parent.kill('SIGKILL');
    await expect.poll(() => isAlive(mark), { timeout: 5000 }).toBe(false);
  });
});
