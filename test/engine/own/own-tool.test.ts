import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import type { OwnCodeError } from '../../../src/engine/python/own-error.ts';
import { GSM8K_TOOL, MY_TOOL, pythons, toolYaml } from './python.ts';
import { closeTools, executed, message, toolOf, toolThat } from './tool-of.ts';

afterEach(closeTools);

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
      // The 0.0 that it would inherit is not its judgement.
      const plain = MY_TOOL.replace(/ {4}async def calc_reward[^\n]*\n[^\n]*\n/, '');
      const silent = await toolOf({ 'my_tool.py': plain }, toolYaml('my_tool.MyCustomTool'), path);
      await silent.tool.create('a');
      expect(await silent.tool.calcReward('a')).toBeNull();
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

  test('gets the installed verl, if any, and substitutes for what that lacks', async () => {
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

  test.each([
    ['that is made after all is released', 'pass', 'create a\nrelease mine\n'],
    ['that is not made is not released', 'raise', 'create a\n'],
  ])('broken off while an instance is made: one %s', async (_, then, written) => {
    const { tool, folder } = await toolOf(
      {
        'mine.py': `import asyncio, os
class Mine:
    def note(self, text):
        with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "log"), "a") as file:
            file.write(text + "\\n")
    async def create(self, instance_id, **kwargs):
        self.note("create " + instance_id)
        try:
            await asyncio.sleep(1000)
        except asyncio.CancelledError:
            ${then}
        return "mine"
    async def execute(self, instance_id, parameters, **kwargs):
        return ""
    async def release(self, instance_id, **kwargs):
        self.note("release " + instance_id)
`,
      },
      toolYaml('mine.Mine'),
    );
    const log = () => (existsSync(join(folder, 'log')) ? readFileSync(join(folder, 'log'), 'utf8') : '');
    const stopped = new AbortController();
    const creating = tool.create('a', {}, { signal: stopped.signal }).catch((error: Error) => error.message);
    await expect.poll(log).toContain('create');
    stopped.abort(new Error('stopped'));
    // A rollout ends with a release, whatever became of its instance.
    await tool.release('a');
    expect(log()).toBe(written);
    expect(await creating).toBe('stopped');
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
      "Mine.execute (tool.mjs:4): it gave a number in the place of the tool's text",
    );
    await expect.poll(printed).toContain('noise');
  });

  test('an exception whose own text fails is still reported', async () => {
    for (const body of ['raise RuntimeError("no text")', 'return 3', 'import os; os._exit(1)']) {
      const loaded = await toolThat(`class Mute(Exception):\n    def __str__(self):\n        ${body}\nraise Mute()`);
      const error = (await executed(loaded)) as OwnCodeError;
      if (!body.startsWith('import')) expect(error.message).toMatch(/^<its __str__ failed: \w+>$/);
      else expect(error.message).toMatch(/ended/);
    }
  });

  test('prints into the log, and raises with the frames of its own files alone', async () => {
    const loaded = await toolThat('print("noise")\nimport json\njson.loads("{")');
    const error = (await executed(loaded)) as OwnCodeError;
    expect(error.message).toBe('Expecting property name enclosed in double quotes: line 1 column 2 (char 1)');
    expect(error.trace).toMatch(
      /^Traceback \(most recent call last\):\n {2}File ".*mine\.py", line 6, in execute\n {4}json\.loads\("\{"\)\nJSONDecodeError: Expecting/,
    );
    expect(error.fault).toBe('tool');
    // Its output comes on a separate descriptor, so it may arrive after the answer.
    await expect.poll(() => loaded.printed()).toBe('noise\n');
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
  ])('that gives %s is reported in a sentence', async (_what, body, says) => {
    expect(await message(toolThat(body))).toEqual(typeof says === 'string' ? says : expect.stringMatching(says));
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
      { 'mine.py': 'import os\nprint("no licence", flush=True)\nos._exit(4)' },
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
    ['is no Python name', {}, 'mine', /unknown class; known: .*or your own class/],
  ])('whose module %s is reported at the start, with its file and line', async (_what, files, name, says) => {
    await expect(toolOf(files as Record<string, string>, toolYaml(name))).rejects.toThrow(says);
  });

  test('in a missing interpreter is reported by its name', async () => {
    await expect(toolOf({ 'my_tool.py': MY_TOOL }, toolYaml('my_tool.MyCustomTool'), 'python9')).rejects.toThrow(
      'cannot start python9: spawn python9 ENOENT',
    );
  });
});
