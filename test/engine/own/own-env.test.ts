// Environments and agents: the document's Gsm8kEnv, the built-in ones, and a user's own agent, from the command line.
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { directoryWith, rolloutViewer } from '../../program.ts';
import { dumpLines } from '../../support/dump-lines.ts';
import { type ScriptedModel, scriptedModel } from '../scripted-model.ts';
import { GSM8K_TOOL, python, pythons, toolYaml } from './python.ts';

// biome-ignore lint/suspicious/noExplicitAny: lines of a dump, looked into freely.
type Line = any;

const BASE_ENV = `from abc import ABC, abstractmethod
from typing import Tuple

class BaseEnv(ABC):
    @abstractmethod
    def reset(self) -> str:
        pass

    @abstractmethod
    async def step(self, action: str) -> Tuple[str, float, bool, dict]:
        pass
`;

/** As the document prints it, its methods in the class. */
const GSM8K_ENV = `from envs.base_env import BaseEnv
from tools.gsm8k_tool import Gsm8kTool

class Gsm8kEnv(BaseEnv):
    def __init__(self, tool: Gsm8kTool, sample: dict):
        self.tool = tool
        self.sample = sample
        self.instance_id = None
        self.turns = []
        self.done = False

    async def reset(self) -> str:
        self.turns = [("user", self.sample["question"])]
        self.instance_id = await self.tool.create(ground_truth=self.sample["answer"])
        self.done = False
        return self._get_obs()

    async def step(self, action: str):
        self.turns.append(("assistant", action))
        result_str, reward, info = await self.tool.execute(
            self.instance_id,
            parameters={"answer": action}
        )
        self.turns.append(("tool", result_str))
        self.done = True
        return "", reward, True, info

    def _get_obs(self) -> str:
        return "\\n".join(f"{r}: {m}" for r, m in self.turns)
`;

/** Guesses until it is right; keeps its count, and reports it at its end. */
const COUNTING = `class Counting:
    max_steps = 3
    def __init__(self, task):
        self.answer = task["answer"]
        self.tries = 0
    def reset(self):
        return {"question": "a number?"}, {}
    def step(self, action):
        self.tries += 1
        done = action == self.answer
        return f"no, try {self.tries}", 0.0 if not done else 1.0, done, {"tries": self.tries}
    def final_reward_fn(self):
        return 0.5
class Shouting:
    """An agent of document 002's interface."""
    def __init__(self, system_prompt=""):
        self.messages = []
    @property
    def chat_completions(self):
        return self.messages
    def reset(self):
        self.messages = [{"role": "system", "content": "Shout."}]
    def update_from_env(self, observation, reward, done, info):
        text = observation["question"] if isinstance(observation, dict) else observation
        self.messages.append({"role": "user", "content": text.upper()})
    def update_from_model(self, response):
        self.messages.append({"role": "assistant", "content": response})
        return response.strip()
class Forgetting(Shouting):
    """Keeps the last line of what the model said."""
    def update_from_model(self, response):
        self.messages.append({"role": "assistant", "content": response.split("\\n")[-1]})
        return response.split("\\n")[-1].strip()
class Unjudged(Counting):
    def final_reward_fn(self):
        raise ValueError("no judge today")
class Broken:
    def reset(self): return "q"
    def step(self, action): return "only text"
`;

describe.skipIf(pythons().length === 0)('environments (skipped without Python)', () => {
  let model: ScriptedModel;
  let folder: string;
  let replies: string[] = [];

  beforeAll(async () => {
    model = await scriptedModel(({ messages }) => {
      const spoken = messages.filter(({ role }: { role: string }) => role === 'assistant').length;
      return { text: replies[Math.min(spoken, replies.length - 1)]! };
    });
    folder = directoryWith({
      'envs/base_env.py': BASE_ENV,
      'envs/gsm8k_env.py': GSM8K_ENV,
      'tools/gsm8k_tool.py': GSM8K_TOOL,
      'counting.py': COUNTING,
      'tools.yaml': toolYaml('tools.gsm8k_tool.Gsm8kTool', 'calc_gsm8k_reward', 'answer'),
      'calculator.yaml': 'tools: [{class_name: calculator}]',
      'gsm8k.yaml': toolYaml('verl.tools.gsm8k_tool.Gsm8kTool', 'calc_gsm8k_reward', 'answer'),
      'dead.yaml':
        'tools: [{class_name: code_interpreter, config: {sandbox_fusion_url: "http://127.0.0.1:9/run_code"}}]',
      'tasks.jsonl': '{"question": "What is 4 + 4?", "answer": "8", "data_source": "x"}\n',
    });
  });
  afterAll(() => model.close());

  async function play(name: string, args: readonly string[], said: string[]) {
    replies = said;
    const out = join(folder, name);
    const ended = await rolloutViewer([
      'rollout',
      ...(args[0]?.endsWith('.jsonl') ? [] : [join(folder, 'tasks.jsonl')]),
      ...['--model-url', model.url, '--model', 'm', '--out', out],
      ...['--python', python(), '--yes', ...args],
    ]);
    let records: Line[] = [];
    try {
      records = dumpLines(join(out, '1.jsonl'));
    } catch {
      // Nothing was kept.
    }
    return { ...ended, record: records[0] };
  }

  test("the document's Gsm8kEnv with a tool after verl's own", async () => {
    const env = ['--env', `${join(folder, 'envs/gsm8k_env.py')}:Gsm8kEnv`, '--tools', join(folder, 'tools.yaml')];
    const { record, code, stderr } = await play('gsm8k', env, ['8']);
    expect(stderr).toContain('1 of 1 rollouts');
    expect(code).toBe(0);
    expect(record).toMatchObject({ status: 'SUCCEEDED', score: 0, reward: { name: 'environment' } });
    expect(record.messages).toMatchObject([
      { role: 'user', content: 'user: What is 4 + 4?' },
      { role: 'assistant', content: '8' },
    ]);
    // verl's tool gives 0.0 for an answer that is better than the one before, and takes 0.05 for another.
    const wrong = await play('gsm8k-wrong', env, ['9']);
    expect(wrong.record.score).toBe(-0.05);
    expect(wrong.record.turn_rewards).toEqual([null, -0.05]);
  });

  test('several steps: observations are masked turns, the final reward is added once', async () => {
    const { record } = await play('counting', ['--env', `${join(folder, 'counting.py')}:Counting`], ['1', '8']);
    expect(record.messages.map(({ content }: Line) => content)).toEqual(['a number?', '1', 'no, try 1', '8']);
    expect(record).toMatchObject({
      score: 1.5,
      turn_rewards: [null, 0, null, 1.5],
      reward: { metadata: { tries: 2 } },
    });
    const other = await play('counting', ['--env', 'task', '--reward', 'dummy', '--resume'], ['1']);
    expect(other.code).toBe(2);
    expect(other.stderr).toMatch(/env: "task", was ".*counting\.py:Counting"/);
  });

  test('an agent of the user beside it', async () => {
    const own = join(folder, 'counting.py');
    const { record, stderr } = await play(
      'agent',
      ['--env', `${own}:Counting`, '--agent', `${own}:Shouting`],
      ['1', ' 8'],
    );
    expect(stderr).toContain('1 of 1 rollouts');
    expect(record.messages.map(({ content }: Line) => content)).toEqual([
      'Shout.',
      'A NUMBER?',
      '1',
      'NO, TRY 1',
      ' 8',
    ]);
    expect(record.score).toBe(1.5);
  });

  test('the built-in ones, by name', async () => {
    const call = '<tool_call>{"name": "calculator", "arguments": {"a": 4, "b": 4, "op": "+"}}</tool_call>';
    const args = ['--env', 'tool', '--agent', 'tool', '--tools', join(folder, 'calculator.yaml')];
    const { record, stderr } = await play('tool', [...args, '--reward', 'exact_match'], [call, '8']);
    expect(stderr).toContain('1 of 1 rollouts');
    expect(record.messages.map(({ role }: Line) => role)).toEqual(['system', 'user', 'assistant', 'tool', 'assistant']);
    expect(record.messages[3].content).toBe('Tool returned result: 8');
  });

  test('an agent that rewrites its messages is reported, and the conversation is the one that the model was shown', async () => {
    const own = join(folder, 'counting.py');
    const { record, stderr } = await play(
      'forgetting',
      ['--env', `${own}:Counting`, '--agent', `${own}:Forgetting`],
      ['let me think\n1', '8'],
    );
    const says = "the agent changed message 2 behind the model's back";
    expect(record.warnings).toEqual([expect.stringContaining(says)]);
    expect(stderr).toContain(says);
    expect(record.messages[2].content).toBe('let me think\n1');
    expect(record.score).toBe(1.5);
  });

  test('a final reward that raises is no score', async () => {
    const { record, stderr, code } = await play(
      'unjudged',
      ['--env', `${join(folder, 'counting.py')}:Unjudged`],
      ['8'],
    );
    expect(stderr).toContain('no judge today');
    expect(record).toBeUndefined();
    expect(code).toBe(1);
  });

  test('the built-in ones run tools as a rollout does: their kwargs, their reward, and no score where the world failed', async () => {
    const call = (name: string, args: object) => `<tool_call>${JSON.stringify({ name, arguments: args })}</tool_call>`;
    const task = { question: 'q', data_source: 'x' };
    const kwargs = { calc_gsm8k_reward: { create_kwargs: { ground_truth: '8' } } };
    const tasks = directoryWith({
      'tasks.jsonl': `${JSON.stringify({ ...task, answer: '8', extra_info: { tools_kwargs: kwargs } })}\n`,
    });
    const args = ['--env', 'tool', '--tools', join(folder, 'gsm8k.yaml'), '--reward', 'tool_reward'];
    const told = await play(
      'kwargs',
      [join(tasks, 'tasks.jsonl'), ...args],
      [call('calc_gsm8k_reward', { answer: '8' }), 'done'],
    );
    expect(told.record).toMatchObject({ score: 1, warnings: [] });
    expect(told.record.messages[3].content).toContain('reward=1.0');
    const dead = ['--env', 'tool', '--tools', join(folder, 'dead.yaml'), '--reward', 'exact_match'];
    const lost = await play('dead', dead, [call('code_interpreter', { code: 'print(1)' }), '8']);
    expect(lost.record).toBeUndefined();
    expect(lost.stderr).toContain("tool 'code_interpreter'");
    expect(lost.code).toBe(1);
  });

  test.each([
    [
      'a wrong shape',
      'Broken',
      'the environment: Broken.step (counting.py:39): it gave a str; (observation, reward, done, info) is expected',
    ],
  ])('%s is a failure with file and line, and no score', async (_what, name, says) => {
    const { record, stderr, code } = await play(name, ['--env', `${join(folder, 'counting.py')}:${name}`], ['1']);
    expect(stderr).toContain(says);
    expect(record).toBeUndefined();
    expect(code).toBe(1);
  });

  test('a missing class is reported before the first rollout', async () => {
    const { stderr, code } = await play('none', ['--env', 'nothing-of-the-kind'], ['1']);
    expect(stderr).toContain('--env nothing-of-the-kind: known: task, tool, or your own class');
    expect(code).toBe(2);
  });
});
