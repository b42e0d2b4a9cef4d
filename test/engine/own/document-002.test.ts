// The tool of the design document through rollout, replay and fork, as a user starts them.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { directoryWith, jsonLines, rolloutViewer } from '../../program.ts';
import { dumpLines } from '../../support/dump-lines.ts';
import { type ScriptedModel, scriptedModel } from '../scripted-model.ts';
import { MY_TOOL, python, pythons, toolYaml } from './python.ts';

// biome-ignore lint/suspicious/noExplicitAny: lines of a dump, looked into freely.
type Line = any;

const CALL = '<tool_call>\n{"name": "lookup", "arguments": {"query": "correct"}}\n</tool_call>';
const TASK = {
  prompt: [{ role: 'user', content: 'q' }],
  reward_model: { ground_truth: 'done' },
  data_source: 'x',
  extra_info: { index: 1, tools_kwargs: { lookup: { create_kwargs: { ground_truth: 'done' } } } },
};

describe.skipIf(pythons().length === 0)('MyCustomTool of the document (skipped without Python)', () => {
  let model: ScriptedModel;
  let folder: string;
  let out: string;
  const own = () => ['--tools', join(folder, 'tools.yaml'), '--python', python(), '--yes'];
  const live = () => ['--model-url', model.url, '--model', 'm'];

  beforeAll(async () => {
    model = await scriptedModel(({ messages }) =>
      messages.some(({ role }: { role: string }) => role === 'tool') ? { text: 'done' } : { text: CALL },
    );
    folder = directoryWith({
      'my_tool.py': MY_TOOL,
      'tools.yaml': toolYaml('my_tool.MyCustomTool'),
      'tasks.jsonl': `${JSON.stringify(TASK)}\n`,
      'reward.py':
        'def compute_score(data_source, solution_str, ground_truth, extra_info=None, **kwargs):\n    return {"score": 0.75, "seen": extra_info["index"]}\n',
    });
    out = join(folder, 'dump');
  });
  afterAll(() => model.close());

  test('is asked for once, and not run without a yes', async () => {
    const { code, stderr } = await rolloutViewer([
      ...['rollout', join(folder, 'tasks.jsonl'), ...live(), '--out', join(folder, 'none')],
      ...['--tools', join(folder, 'tools.yaml'), '--reward', 'exact_match'],
    ]);
    expect(code).toBe(2);
    expect(stderr).toContain('my_tool.MyCustomTool (');
    expect(stderr).toContain('tools.yaml:2) runs in python3, with your rights: give --yes to allow it');
  });

  test('rollout: the step reward and the metrics are in the dump, and a file scores it', async () => {
    const { code, stderr } = await rolloutViewer([
      ...['rollout', join(folder, 'tasks.jsonl'), ...live(), '--out', out, ...own()],
      ...['--reward', join(folder, 'reward.py')],
    ]);
    expect(stderr).toContain('1 of 1 rollouts');
    expect(code).toBe(0);
    const [record] = dumpLines(join(out, '1.jsonl')) as [Line];
    expect(record.score).toBe(0.75);
    expect(record.reward).toMatchObject({ metadata: { seen: 1 }, error: null });
    expect(record.tool_calls[0]).toMatchObject({
      result: 'Processed: correct',
      reward: 1,
      metrics: { query_len: 7 },
      error: null,
    });
    expect(record.reward_scores).toEqual({ lookup: 0 });
  });

  test('replay: the tool is created, and its text is the same', async () => {
    const { code, stdout } = await rolloutViewer([
      'replay',
      out,
      ...own(),
      '--journal',
      join(folder, 'journal'),
      '--json',
    ]);
    expect(jsonLines(stdout)).toMatchObject([{ name: 'lookup', backend: python(), status: 'same' }]);
    expect(code).toBe(0);
  });

  test('replay: a tool that says something else now has drifted', async () => {
    const changed = directoryWith({
      'my_tool.py': MY_TOOL.replace('Processed:', 'Done:'),
      'tools.yaml': toolYaml('my_tool.MyCustomTool'),
    });
    const { code, stdout } = await rolloutViewer([
      ...['replay', out, '--tools', join(changed, 'tools.yaml'), '--python', python(), '--yes'],
      ...['--journal', join(folder, 'journal-2'), '--json'],
    ]);
    expect(jsonLines(stdout)).toMatchObject([{ status: 'drift' }]);
    expect(code).toBe(1);
  });

  test('fork: the tool runs in the branch', async () => {
    const { code, stdout, stderr } = await rolloutViewer([
      ...['fork', `${join(out, '1.jsonl')}:1`, '--turn', '1', ...live(), ...own()],
      ...['--out', join(folder, 'branches'), '--journal', join(folder, 'journal'), '--json'],
      ...['--reward', join(folder, 'reward.py')],
    ]);
    expect(stderr).not.toContain('error');
    expect(code).toBe(0);
    const branch = jsonLines(stdout).find(({ event }) => event === 'branch') as Line;
    expect(branch).toMatchObject({ status: 'SUCCEEDED', score: 0.75 });
    const [line] = jsonLines(readFileSync(branch.path, 'utf8')) as [Line];
    expect(line.tool_calls[0]).toMatchObject({ result: 'Processed: correct', reward: 1, metrics: { query_len: 7 } });
  });

  test('a tool that raises is a tool error with its traceback, and what it prints is kept beside the dump', async () => {
    writeFileSync(
      join(folder, 'raises.py'),
      MY_TOOL.replace(
        'query = parameters',
        'print("looking")\n        raise KeyError("index")\n        query = parameters',
      ),
    );
    writeFileSync(join(folder, 'raises.yaml'), toolYaml('raises.MyCustomTool'));
    const to = join(folder, 'raised');
    await rolloutViewer([
      ...['rollout', join(folder, 'tasks.jsonl'), ...live(), '--out', to, '--reward', 'exact_match', '--yes'],
      ...['--tools', join(folder, 'raises.yaml'), '--python', python()],
    ]);
    const [record] = dumpLines(join(to, '1.jsonl')) as [Line];
    expect(record.tool_calls[0]).toMatchObject({ result: "Error executing tool 'lookup': 'index'", reward: null });
    expect(record.tool_calls[0].error).toMatch(
      /^Traceback .*\n {2}File ".*raises\.py", line 25, in execute\n.*\nKeyError: 'index'$/,
    );
    expect(readFileSync(join(to, '.rollout-viewer/own.log'), 'utf8')).toBe('looking\n');
  });
});
