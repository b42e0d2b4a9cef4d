import { describe, expect, it } from 'vitest';
import { ConversationAgent } from '../../src/engine/agents/agents.ts';
import type { AgentAction } from '../../src/engine/agents/trajectory.ts';
import {
  ChatTemplateParser,
  type CollectOptions,
  collectMultiple,
  type Environment,
  type EnvStepResult,
  getToolParser,
  ModelAgent,
  type ModelCall,
  messagesTokenizer,
  monteCarloReturns,
  parseTools,
  TaskEnvironment,
  ToolAgent,
  ToolEnvironment,
  TrajectoryCollectEngine,
  toolByName,
  trajectoryToDict,
} from '../../src/engine/index.ts';
import { byteTokenizer, IM_END } from './byte-tokenizer.ts';
import { fakeTool } from './fake-tool.ts';

const calculator = () => toolByName(parseTools('tools: [{class_name: calculator}]', 't.yaml'), 'calculator')!;

/** An environment that answers from a list, and counts what is asked of it. */
function scriptedEnv(
  steps: readonly (readonly [unknown, number, boolean])[],
  more: Partial<Environment> & { maxSteps?: number } = {},
) {
  const counts = { reset: 0, step: 0, close: 0, final: 0 };
  const env: Environment & { counts: typeof counts } = {
    counts,
    task: {},
    extra: {},
    maxSteps: 10,
    reset() {
      counts.reset++;
      return { observation: 'initial_obs', info: {} };
    },
    step(): EnvStepResult | Promise<EnvStepResult> {
      const [observation, reward, done] = steps[counts.step++]!;
      return { observation: observation as string, reward, done, info: {} };
    },
    close() {
      counts.close++;
    },
    ...more,
  };
  return env;
}
const qwen = (encode: (text: string) => number[]) => new ChatTemplateParser('qwen', { encode });
const TWO_STEPS = [
  ['obs1', 1, false],
  ['obs2', 2, true],
] as const;

/** No system message, as the mocks of Tunix's own tests. */
class PlainAgent extends ConversationAgent {
  override get chatCompletions() {
    return super.chatCompletions.slice(1);
  }
  updateFromModel(response: string): AgentAction {
    return this.record(response, response)!;
  }
}

const replies = (
  ...given: (string | { text: string; tokens?: number[]; logprobs?: number[] | null; promptTokens?: number[] })[]
) => {
  const asked: { messages: number; budget: number | null }[] = [];
  const modelCall: ModelCall = (messages, { maxGenerationSteps }) => {
    const reply = given[asked.length]!;
    asked.push({ messages: messages.length, budget: maxGenerationSteps });
    return typeof reply === 'string' ? { text: reply } : reply;
  };
  return { modelCall, asked };
};

describe('TrajectoryCollectEngine', () => {
  const withFinal = () => {
    const env = scriptedEnv(TWO_STEPS);
    env.finalReward = () => {
      env.counts.final++;
      return 0.5;
    };
    return env;
  };

  it('fills rewards and returns, with gamma 0.9', async () => {
    const env = withFinal();
    const { modelCall, asked } = replies('response1', 'response2');
    const trajectory = await new TrajectoryCollectEngine(new PlainAgent(), env, { modelCall, gamma: 0.9 }).collect(
      'Trajectory',
    );
    expect(env.counts).toEqual({ reset: 1, step: 2, close: 1, final: 1 });
    expect(asked).toHaveLength(2);
    expect(trajectory.steps.map(({ reward }) => reward)).toEqual([1, 2.5]);
    expect(trajectory.steps.map(({ mcReturn }) => mcReturn)).toEqual([3.25, 2.5]);
    expect(trajectory).toMatchObject({ reward: 3.5, status: 'SUCCEEDED' });
    expect(Object.keys(trajectory.envTime)).toEqual(['reset_latency', 'step_latency', 'close_latency']);
    expect(trajectory.envTime.step_latency).toHaveLength(2);
    expect(trajectory.rewardTime.reward_latency).toBeTypeOf('number');
  });

  it('gives the conversation', async () => {
    const { modelCall } = replies('response1', 'response2');
    const messages = await new TrajectoryCollectEngine(new PlainAgent(), withFinal(), { modelCall }).collect();
    expect(messages).toEqual([
      { role: 'user', content: 'initial_obs' },
      { role: 'assistant', content: 'response1' },
      { role: 'user', content: 'obs1' },
      { role: 'assistant', content: 'response2' },
      { role: 'user', content: 'obs2' },
    ]);
  });

  it('gives tokens, masks and log probabilities in lockstep; what comes after the last reply is not among them', async () => {
    const flags: object[] = [];
    const { modelCall } = replies(
      { text: 'response1', tokens: [201, 202], logprobs: [1, 1] },
      { text: 'response2', tokens: [203, 204], logprobs: [1, 1] },
    );
    const token = await new TrajectoryCollectEngine(new PlainAgent(), withFinal(), {
      modelCall,
      tokenize: (_, flag) => {
        flags.push(flag);
        return flag.first ? { tokens: [101], masks: [0] } : { tokens: [301, 302], masks: [1, 1] };
      },
    }).collect('Token');
    expect(token).toMatchObject({
      prompt_tokens: [101],
      conversation_tokens: [201, 202, 301, 302, 203, 204],
      conversation_masks: [1, 1, 1, 1, 1, 1],
      old_logprobs: [1, 1, 0, 0, 1, 1],
      trajectory_reward: 3.5,
      status: 'SUCCEEDED',
      policy_version: null,
      group_id: null,
      original_input: { prompts: ['initial_obs'] },
    });
    expect(flags).toMatchObject([
      { first: true, generation: true },
      { first: false, generation: true },
    ]);
  });

  it('reproduces the measured token example of the Qwen template, and the budgets that the model is told', async () => {
    const chars = (text: string) => [...text].map((char) => char.codePointAt(0)!);
    const tokenize = messagesTokenizer({ encode: chars }, qwen(chars));
    const env = scriptedEnv(
      [
        ['obs', 0, false],
        ['', 0, true],
      ],
      { reset: () => ({ observation: 'go', info: {} }) },
    );
    const sampled = (text: string) => ({ text, tokens: chars(text), logprobs: chars(text).map(() => -0.5) });
    const { modelCall, asked } = replies(sampled('ab'), sampled('end'));
    const token = await new TrajectoryCollectEngine(new ModelAgent('S'), env, {
      modelCall,
      tokenize,
      maxResponseLength: 200,
    }).collect('Token');
    const read = (ids: number[]) => String.fromCodePoint(...ids);
    expect(read(token.prompt_tokens)).toBe(
      '<|im_start|>system\nS<|im_end|>\n<|im_start|>user\ngo<|im_end|>\n<|im_start|>assistant\n',
    );
    expect(read(token.conversation_tokens)).toBe('ab\n<|im_start|>user\nobs<|im_end|>\n<|im_start|>assistant\nend');
    expect(token.conversation_masks).toEqual([1, 1, ...Array<number>(54).fill(0), 1, 1, 1]);
    expect(token.old_logprobs).toEqual([-0.5, -0.5, ...Array<number>(54).fill(0), -0.5, -0.5, -0.5]);
    expect(asked.map(({ budget }) => budget)).toEqual([200, 144]);
  });

  it("with a model's own tokenizer the tokens are those of the conversation rendered whole", async () => {
    const tokenizer = byteTokenizer();
    const env = scriptedEnv(
      [
        ['obs', 0, false],
        ['', 0, true],
      ],
      { reset: () => ({ observation: 'go', info: {} }) },
    );
    const sampled = (text: string) => ({ text, tokens: [...tokenizer.encode(text), IM_END] });
    const { modelCall } = replies(sampled('one'), sampled('end'));
    const tokenize = messagesTokenizer(tokenizer);
    const token = await new TrajectoryCollectEngine(new ModelAgent('S'), env, { modelCall, tokenize }).collect('Token');
    // No model sees the environment's text after the last reply.
    const whole = tokenizer.render(token.conversation_text.slice(0, -1), [], false);
    expect(`${tokenizer.decode([...token.prompt_tokens, ...token.conversation_tokens], false)}\n`).toBe(whole);
    const trained = token.conversation_tokens.filter((_, at) => token.conversation_masks[at] === 1);
    expect(tokenizer.decode(trained, false)).toBe('one<|im_end|>end<|im_end|>');
  });

  it('ends at the token budget before the next reply', async () => {
    const env = scriptedEnv([
      ['obs', 0, false],
      ['obs', 0, false],
    ]);
    const { modelCall } = replies({ text: 'r', tokens: Array<number>(100).fill(1) });
    const trajectory = await new TrajectoryCollectEngine(new PlainAgent(), env, {
      modelCall,
      maxResponseLength: 150,
      tokenize: () => ({ tokens: Array<number>(100).fill(2), masks: Array<number>(100).fill(0) }),
    }).collect('Trajectory');
    expect(trajectory.status).toBe('MAX_CONTEXT_LIMIT_REACHED');
    expect(trajectory.steps).toHaveLength(1);
  });

  it.each([
    [
      'an environment that ends by itself at its last step',
      scriptedEnv([['o', 0, true]], { maxSteps: 1 }),
      'SUCCEEDED',
      1,
    ],
    ['one that does not', scriptedEnv([['o', 0, false]], { maxSteps: 1 }), 'MAX_STEPS_REACHED', 1],
    ['no steps at all', scriptedEnv([], { maxSteps: 0 }), 'MAX_STEPS_REACHED', 0],
  ])('%s', async (_, env, status, steps) => {
    const engine = new TrajectoryCollectEngine(new PlainAgent(), env, { modelCall: replies('r', 'r').modelCall });
    const token = await engine.collect('Token');
    expect(token.status).toBe(status);
    expect(env.counts).toMatchObject({ step: steps, close: 1 });
    if (steps === 0)
      expect(token).toMatchObject({ conversation_tokens: [], conversation_masks: [], old_logprobs: null });
  });

  describe('time', () => {
    const timed = (more: Partial<Environment>, options: Partial<CollectOptions> = {}) => {
      let now = 0;
      const env = scriptedEnv(TWO_STEPS, more);
      const engine = new TrajectoryCollectEngine(new PlainAgent(), env, {
        modelCall: () => {
          now += 0.2;
          return { text: 'r' };
        },
        timeout: 0.1,
        clock: () => now,
        ...options,
      });
      return { env, engine };
    };

    it('a reply that comes too late ends it as TIMEOUT; its step is done and was not played', async () => {
      const { engine, env } = timed({});
      const trajectory = await engine.collect('Trajectory');
      expect(trajectory.status).toBe('TIMEOUT');
      expect(trajectory.steps.at(-1)!.done).toBe(true);
      expect(env.counts).toMatchObject({ step: 0, close: 1 });
    });

    it('a model that does not answer is a TIMEOUT, an environment that does not an ENV_TIMEOUT', async () => {
      const never = () => new Promise<never>(() => {});
      const model = new TrajectoryCollectEngine(new PlainAgent(), scriptedEnv(TWO_STEPS), {
        modelCall: never,
        timeout: 0.02,
      });
      expect((await model.collect('Trajectory')).status).toBe('TIMEOUT');
      const env = scriptedEnv(TWO_STEPS, { step: never });
      const world = new TrajectoryCollectEngine(new PlainAgent(), env, {
        modelCall: replies('r').modelCall,
        timeout: 1,
      });
      const trajectory = await world.collect('Trajectory');
      expect(trajectory).toMatchObject({ status: 'ENV_TIMEOUT', steps: [{ done: true }] });
      expect(env.counts.close).toBe(1);
    });
  });

  it.each([
    [true, 'MAX_STEPS_REACHED', 0, [0, 0, 0, 0]],
    [false, 'MAX_STEPS_REACHED', 1, [1, 1, 1, 0]],
  ] as const)('overlongFilter %s', async (overlongFilter, status, finals, masks) => {
    let asked = 0;
    const env = scriptedEnv([['o', 0, false]], { maxSteps: 1, finalReward: () => ++asked });
    const { modelCall } = replies({ text: 'r', tokens: [1, 2, 3] });
    const tokenize = messagesTokenizer(
      { encode: () => [9] },
      qwen(() => [9]),
    );
    const token = await new TrajectoryCollectEngine(new PlainAgent(), env, {
      modelCall,
      overlongFilter,
      tokenize,
    }).collect('Token');
    expect(token.status).toBe(status);
    expect(asked).toBe(finals);
    expect(token.conversation_masks).toEqual(masks);
  });

  it('what throws makes it FAILED, and the environment is closed', async () => {
    const env = scriptedEnv(TWO_STEPS);
    const broken = new TrajectoryCollectEngine(new PlainAgent(), env, {
      modelCall: () => {
        throw new Error('no model');
      },
    });
    expect(await broken.collect('Trajectory')).toMatchObject({ status: 'FAILED', error: 'no model', steps: [] });
    expect(env.counts.close).toBe(1);
    await expect(broken.collect('Everything' as 'Token')).rejects.toThrow("unknown mode 'Everything'");
  });

  it('collects many at once, each under its index', async () => {
    const pairs = [1, 2].map((steps) => [new PlainAgent(), scriptedEnv(TWO_STEPS.slice(2 - steps))] as const);
    const found = new Map<number, number>();
    for await (const [index, messages] of collectMultiple(pairs, {
      modelCall: () => ({ text: 'r' }),
      mode: 'Conversation',
    })) {
      found.set(index, messages.length);
    }
    expect([...found].sort()).toEqual([
      [0, 3],
      [1, 5],
    ]);
  });

  it('writes a trajectory as the dictionary that Tunix writes', async () => {
    const { modelCall } = replies('response1', 'response2');
    const trajectory = await new TrajectoryCollectEngine(new PlainAgent(), withFinal(), { modelCall }).collect(
      'Trajectory',
    );
    const dict = trajectoryToDict(trajectory);
    expect(Object.keys(dict)).toEqual(['task', 'steps', 'reward', 'status', 'env_time', 'reward_time']);
    expect(JSON.parse(JSON.stringify(dict))).toMatchObject({
      task: { prompts: ['initial_obs'] },
      reward: 3.5,
      status: 'SUCCEEDED',
      steps: [
        { action: { action: 'response1' }, observation: 'obs1', model_response: 'response1', reward: 1, done: false },
        { done: true },
      ],
    });
  });

  it('returns are the recursion over the rewards', () => {
    expect(monteCarloReturns([1, 2.5], 0.9)).toEqual([3.25, 2.5]);
    expect(monteCarloReturns([], 1)).toEqual([]);
    expect(monteCarloReturns([0, 0, 1], 0.5)).toEqual([0.25, 0.5, 1]);
  });
});

describe('the Qwen tool parser', () => {
  const { parse } = getToolParser('qwen');
  const one = '{"name":"calculator","arguments":{"a":1,"b":2,"op":"+"}}';
  it.each([
    ['no call', []],
    [`<tool_call>${one}</tool_call>`, [{ name: 'calculator', arguments: { a: 1, b: 2, op: '+' } }]],
    [
      `text <tool_call>\n${one}\n</tool_call> x <tool_call>{"name":"b","arguments":{}}</tool_call>`,
      [
        { name: 'calculator', arguments: { a: 1, b: 2, op: '+' } },
        { name: 'b', arguments: {} },
      ],
    ],
    ['<tool_call>{"name":"a","arguments":{}}', []],
    ['<tool_call>{bad}</tool_call><tool_call>{"name":"b","arguments":{}}</tool_call>', [{ name: 'b', arguments: {} }]],
    ['<tool_call></tool_call>', []],
    ['<tool_call>{"name":"a","arguments":"{\\"x\\":1}"}</tool_call>', [{ name: 'a', arguments: '{"x":1}' }]],
    [`</tool_call><tool_call>${one}</tool_call>`, [{ name: 'calculator', arguments: { a: 1, b: 2, op: '+' } }]],
    [`<tool_call><tool_call>${one}</tool_call></tool_call>`, []],
  ])('%s', (text, calls) => expect(parse(text)).toEqual(calls));

  it.each([
    '<tool_call>{"name":"a"}</tool_call>',
    '<tool_call>{"name":"a","parameters":{}}</tool_call>',
    '<tool_call>[1,2]</tool_call>',
  ])('throws for %s', (text) => expect(() => parse(text)).toThrow(SyntaxError));

  it('is known by name', () => expect(() => getToolParser('x')).toThrow('Unknown parser: x'));
});

describe('ToolAgent', () => {
  it('describes its tools right after the system prompt', () => {
    const [system] = new ToolAgent('SYS', 'qwen', [calculator()]).chatCompletions;
    expect(system!.content).toMatch(
      /^SYSYou are provided with function signatures within <tools><\/tools> XML tags:\n<tools>\n\[/,
    );
  });

  it('turns calls into an action with ids and argument text, and keeps the reply as it was', () => {
    const agent = new ToolAgent('');
    const reply = '<tool_call>{"name":"f","arguments":{"a":1}}</tool_call>';
    expect(agent.updateFromModel(reply)).toEqual([
      { id: expect.any(String), type: 'function', function: { name: 'f', arguments: '{"a": 1}' } },
    ]);
    expect(agent.chatCompletions.at(-1)).toEqual({ role: 'assistant', content: reply });
  });

  it.each(['The answer is 4', '<tool_call>{"name":"f"}</tool_call>'])('takes %s as the answer', (reply) => {
    expect(new ToolAgent('').updateFromModel(reply)).toEqual([
      { id: expect.any(String), type: 'function', function: { name: 'finish', arguments: { response: reply } } },
    ]);
  });

  it('makes tool messages of tool outputs, in the order of the calls', () => {
    const agent = new ToolAgent('');
    agent.updateFromEnv({ question: 'q?' }, 0, false, {});
    agent.updateFromModel('<tool_call>{"name":"f","arguments":{}}</tool_call>');
    const [{ id }] = agent.currentStep!.action as [{ id: string }];
    agent.updateFromEnv({ tool_outputs: { 7: 'other', [id]: '3' } }, 0.5, false, { a: 1 });
    expect(agent.chatCompletions.slice(1)).toEqual([
      { role: 'user', content: 'q?' },
      { role: 'assistant', content: expect.any(String) },
      { role: 'tool', tool_call_id: id, content: 'Tool returned result: 3' },
      { role: 'tool', tool_call_id: '7', content: 'Tool returned result: other' },
    ]);
    expect(agent.currentStep).toMatchObject({ reward: 0.5, done: false, info: { a: 1 } });
    expect(agent.trajectory.task).toEqual({ question: 'q?' });
    agent.reset();
    expect(agent.chatCompletions).toHaveLength(1);
    expect(agent.currentStep).toBeNull();
  });
});

describe('environments', () => {
  const finish = (args: unknown) =>
    [{ id: 'f', type: 'function', function: { name: 'finish', arguments: args } }] as AgentAction;
  const callOf = (id: string, name: string, args: unknown) => ({
    id,
    type: 'function',
    function: { name, arguments: args },
  });
  const rewardFn = (_: object, action: string) => ({ reward: action === '4' ? 1 : 0, metadata: {} });
  const env = (maxSteps = 10) => new ToolEnvironment({ question: '2+2' }, [calculator()], { maxSteps, rewardFn });

  it('a task environment judges one reply', async () => {
    const task = new TaskEnvironment({ question: 'q' }, { rewardFn });
    expect(await task.reset()).toEqual({ observation: { question: 'q' }, info: {} });
    expect(await task.step('4')).toEqual({ observation: {}, reward: 1, done: true, info: { response: '4' } });
  });

  it.each([
    ['null', null, {}],
    ['an unknown tool', [callOf('a', 'nope', '{}')], { a: "Error: Tool 'nope' not registered." }],
    [
      'a division by zero',
      [callOf('a', 'calculator', '{"a":1,"b":0,"op":"/"}')],
      { a: 'Error: Division by zero is not allowed' },
    ],
    ['arguments as an object', [callOf('a', 'calculator', { a: 2, b: 2, op: '+' })], { a: '4' }],
    ['one call without a list', callOf('a', 'calculator', '{"a":2,"b":3,"op":"*"}'), { a: '6' }],
    ['arguments that are no JSON', [callOf('a', 'calculator', '{')], { a: expect.stringMatching(/^Error: /) }],
    [
      'a JSON list as arguments',
      [callOf('a', 'calculator', '[1]')],
      { a: 'Error: the arguments are a list, not an object' },
    ],
    ['a call without a function', [{ id: 'a' }], { a: 'Error: the call has no function' }],
  ])('%s is an observation', async (_, action, outputs) => {
    const result = await env().step(action as AgentAction);
    expect(result).toMatchObject({ observation: { tool_outputs: outputs }, reward: 0, done: false });
  });

  it('a number as an action is an observation too', async () => {
    const { observation, done } = await env().step(5);
    expect(done).toBe(false);
    expect(Object.values((observation as { tool_outputs: object }).tool_outputs)).toEqual([
      'Error: the call has no function',
    ]);
  });

  it.each([
    ['a text', '4'],
    ['finish with an object', finish({ response: '4' })],
    ['finish with JSON text', finish('{"response": "4"}')],
    [
      'finish beside another call',
      [callOf('x', 'calculator', '{'), ...(finish({ response: '4' }) as object[])] as AgentAction,
    ],
  ])('%s ends it, judged', async (_, action) => {
    expect(await env().step(action)).toEqual({ observation: {}, reward: 1, done: true, info: { response: action } });
  });

  it('the last step still runs its tools, earns nothing, and says that it was cut', async () => {
    const short = env(1);
    expect(await short.step([callOf('a', 'calculator', '{"a":1,"b":1,"op":"+"}')] as AgentAction)).toMatchObject({
      observation: { tool_outputs: { a: '2' } },
      reward: 0,
      done: true,
      info: { truncated: true },
    });
  });

  it('keeps the order of parallel calls, and releases its tools when it is closed', async () => {
    // Each waits for the one behind it.
    const ends = new Map<number, () => void>();
    const tool = fakeTool('wait', async ({ ms }) => {
      if (ms !== 1) await new Promise<void>((resolve) => ends.set(ms as number, resolve));
      ends.get(ms === 1 ? 10 : 20)?.();
      return String(ms);
    });
    const world = new ToolEnvironment({}, [tool]);
    const action = [20, 10, 1].map((ms, at) => callOf(`c${at}`, 'wait', JSON.stringify({ ms }))) as AgentAction;
    const { observation } = await world.step(action);
    expect(Object.entries((observation as { tool_outputs: object }).tool_outputs)).toEqual([
      ['c0', '20'],
      ['c1', '10'],
      ['c2', '1'],
    ]);
    await world.close();
    expect(tool.log.map((line) => line.split(' ')[0])).toEqual(['create', 'execute', 'execute', 'execute', 'release']);
  });

  it('agent, environment and engine play a whole episode', async () => {
    const agent = new ToolAgent('Use the calculator.', 'qwen', [calculator()]);
    const { modelCall } = replies(
      '<tool_call>{"name":"calculator","arguments":{"a":2,"b":2,"op":"+"}}</tool_call>',
      '4',
    );
    const world = new ToolEnvironment({ question: '2+2?' }, [calculator()], { rewardFn });
    const trajectory = await new TrajectoryCollectEngine(agent, world, { modelCall }).collect('Trajectory');
    expect(trajectory).toMatchObject({ status: 'SUCCEEDED', reward: 1, task: { question: '2+2?' } });
    expect(agent.chatCompletions.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'tool', 'assistant']);
    expect(agent.chatCompletions[3]!.content).toBe('Tool returned result: 4');
  });
});

describe('messages to tokens', () => {
  const user = { role: 'user', content: 'Hello' };
  const render = (message: { role: string; content: string }, first: boolean, generation = false) =>
    qwen(() => []).render([message], { isFirst: first, addGenerationPrompt: generation });

  it.each([
    ['a continuation', render(user, false), '\n<|im_start|>user\nHello<|im_end|>'],
    ['with the next header', render(user, false, true), '\n<|im_start|>user\nHello<|im_end|>\n<|im_start|>assistant\n'],
    [
      'a first message without a system message',
      render(user, true),
      '<|im_start|>system\nYou are Qwen, created by Alibaba Cloud. You are a helpful assistant.<|im_end|>\n<|im_start|>user\nHello<|im_end|>',
    ],
    [
      'a tool message',
      render({ role: 'tool', content: 'Tool output' }, false),
      '\n<|im_start|>user\n<tool_response>\nTool output\n</tool_response><|im_end|>',
    ],
    [
      'control tokens in the content',
      render({ role: 'user', content: 'a<|im_end|>b<|im_<|im_end|>end|>c' }, false),
      '\n<|im_start|>user\nabc<|im_end|>',
    ],
  ])('%s', (_, text, expected) => expect(text).toBe(expected));

  it('masks what users and tools say, and not what the assistant says, its header with it', () => {
    const encode = (text: string) => [...text].map((char) => char.codePointAt(0)!);
    const tokenize = messagesTokenizer({ encode }, qwen(encode));
    expect(tokenize([], { first: true, generation: true })).toEqual({ tokens: [], masks: [] });
    const { masks } = tokenize([user, { role: 'assistant', content: 'Hi' }], { first: false, generation: true });
    const border = '\n<|im_start|>user\nHello<|im_end|>'.length;
    expect(new Set(masks.slice(0, border))).toEqual(new Set([0]));
    expect(new Set(masks.slice(border))).toEqual(new Set([1]));
  });
});
