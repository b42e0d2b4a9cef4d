// Document 002's classes by its own signatures, asked of the exported library.
import { describe, expect, expectTypeOf, it } from 'vitest';
import * as lib from '../../../src/engine/library.ts';
import {
  BaseAgent,
  BaseEnv,
  type Message,
  RewardOutput,
  register,
  Step,
  ToolAgent,
  ToolCall,
  ToolEnvironment,
  ToolManager,
  ToolParser,
  Trajectory,
  TrajectoryCollectEngine,
} from '../../../src/engine/library.ts';
import * as sandbox from '../../../src/sandbox/library.ts';

const toolMap = { calculator: lib.CalculatorTool };
const CALL = '<tool_call>{"name": "calculator", "arguments": {"a": 1, "b": 1, "op": "+"}}</tool_call>';
const task = { question: '1+1=?', ground_truth: '2' };
const exact = (given: lib.RewardTask, action: string) => new RewardOutput(action === given.ground_truth ? 1 : 0);

describe('document 002', () => {
  it('plays an episode with every argument by its place', async () => {
    const agent = new ToolAgent('Use the tool.', 'qwen', toolMap);
    const env = new ToolEnvironment(task, toolMap, exact, 3);
    const replies = [CALL, '2'];
    const engine = new TrajectoryCollectEngine(
      agent,
      env,
      () => replies.shift() ?? '',
      () => new RewardOutput(0.5),
      10,
      0.9,
      30,
    );
    const trajectory = await engine.collect();
    expect(trajectory).toMatchObject({ status: 'SUCCEEDED', reward: 1.5 });
    expect((trajectory as unknown as Trajectory).steps.map(({ mcReturn }) => mcReturn)).toEqual([1.35, 1.5]);
    expect(env.maxSteps).toBe(3);
  });

  it('judges an episode that ends at max_steps', async () => {
    const judged: string[] = [];
    const judge = (_: unknown, action: string): RewardOutput => {
      judged.push(action);
      return new RewardOutput(0.25);
    };
    const env = new ToolEnvironment(task, toolMap, judge, 2);
    const engine = new TrajectoryCollectEngine(new ToolAgent('', 'qwen', toolMap), env, () => CALL);
    const trajectory = await engine.collect('Trajectory');
    expect(trajectory.steps.map(({ reward }) => reward)).toEqual([0, 0.25]);
    expect(judged).toHaveLength(1);
  });

  it('takes an agent, an environment and a parser of one’s own', async () => {
    class Echo extends BaseAgent {
      messages: Message[] = [];
      own = new Trajectory();
      get chatCompletions() {
        return this.messages;
      }
      get trajectory() {
        return this.own;
      }
      reset() {
        this.messages = [];
        this.own = new Trajectory();
      }
      updateFromEnv(observation: lib.JsonValue) {
        if (typeof observation === 'string') this.messages.push({ role: 'user', content: observation });
      }
      updateFromModel(response: string) {
        this.messages.push({ role: 'assistant', content: response });
        this.own.steps.push(new Step({ modelResponse: response, action: response }));
        return response;
      }
    }
    class Twice extends BaseEnv {
      count = 0;
      reset() {
        return ['say a', {}] as const;
      }
      step(action: lib.JsonValue) {
        this.count++;
        return ['again', action === 'a' ? 1 : 0, this.count === 2, {}] as const;
      }
    }
    const engine = new TrajectoryCollectEngine(new Echo(), new Twice(), () => 'a');
    const trajectory = await engine.collect('Trajectory');
    expect(trajectory).toMatchObject({ status: 'SUCCEEDED', reward: 2 });
    expect(() => BaseEnv.fromDict({})).toThrow(TypeError);
    class Plain extends ToolParser {
      parse = () => [new ToolCall('calculator', { a: 1, b: 2, op: '+' })];
      getToolPrompt = () => 'call it';
    }
    lib.registerToolParser('plain', new Plain());
    const agent = new ToolAgent('', 'plain', toolMap);
    expect(agent.chatCompletions[0]?.content).toBe('call it');
    expect(agent.updateFromModel('x')).toMatchObject([{ function: { name: 'calculator' } }]);
    const outputs = await new ToolManager(toolMap).executeCalls(
      [new ToolCall('calculator', { a: 1, b: 2, op: '+' })],
      false,
    );
    expect(Object.values(outputs)).toEqual(['3']);
    expectTypeOf<Step>().toHaveProperty('mcReturn').toEqualTypeOf<number>();
    expectTypeOf<lib.JsonObject>().toExtend<lib.JsonValue>();
  });

  it('registers a reward function by name', async () => {
    const fn = register('half')(() => new RewardOutput(0.5, { why: 'half' }));
    expect(lib.builtinRewards().get('half')).toBe(fn);
    expect(
      await lib
        .rewardRouter({ routes: { d: 'half' } })
        .for('d')
        .fn({}, ''),
    ).toEqual({ reward: 0.5, metadata: { why: 'half' } });
    expect(() => register('half')(fn)).toThrow("'half' is registered already");
  });

  it('gives no reward 0 for a mistake, but names the right form', async () => {
    const agent = new ToolAgent('', 'qwen', toolMap);
    const wrong = (make: () => unknown, words: string) => {
      expect(make).toThrow(TypeError);
      expect(make).toThrow(words);
    };
    const env = new ToolEnvironment(task, toolMap, exact);
    const any = (value: unknown) => value as never;
    wrong(
      () => new TrajectoryCollectEngine(agent, env, any({})),
      '(agent, env, modelCall, finalRewardFn, maxSteps, gamma, timeout)',
    );
    wrong(() => new TrajectoryCollectEngine(any({}), env, () => ''), 'agent.updateFromEnv()');
    wrong(() => new ToolEnvironment(task, toolMap, any('exact_match'), 3), '(task, toolMap, rewardFn, maxSteps)');
    wrong(() => new ToolEnvironment(task, toolMap, { rewardFn: any('exact_match') }), 'rewardFn is not a function');
    wrong(() => new ToolEnvironment(task, toolMap, any({ reward_fn: exact })), 'no option is named reward_fn');
    wrong(
      () => new TrajectoryCollectEngine(agent, env, any({ modelCall: () => '', final_reward_fn: () => 1 })),
      'no option is named final_reward_fn',
    );
    wrong(() => new RewardOutput(any(undefined)), 'not a number');
    wrong(() => register('none')(any(3)), 'expected a function');
    wrong(() => lib.registerToolParser('x', any({})), 'parse(text)');
    const failed = async (own: unknown) =>
      (await new TrajectoryCollectEngine(agent, any(own), () => 'x').collect('Trajectory')).error;
    expect(await failed({ reset: () => 'obs', step: () => 0 })).toContain('env.reset() gave neither');
    expect(await failed({ reset: () => ['obs', {}], step: () => ['obs', '1', true] })).toContain(
      'env.step() gave neither',
    );
  });

  it.each([
    ['a number', 0.75],
    ['a reward', { reward: 0.75 }],
    ['a score, as verl’s functions do', { score: 0.75, acc: true }],
  ])('takes a reward function that gives %s', async (_, given) => {
    const rewardFn = () => given as never;
    const agent = () => new ToolAgent('', 'qwen', toolMap);
    const last = async (env: ToolEnvironment, finalRewardFn?: typeof rewardFn) =>
      new TrajectoryCollectEngine(agent(), env, () => 'x', finalRewardFn).collect('Trajectory');
    expect(await last(new ToolEnvironment(task, toolMap, rewardFn))).toMatchObject({
      status: 'SUCCEEDED',
      reward: 0.75,
    });
    const zero = () => new ToolEnvironment(task, toolMap, () => ({ reward: 0, metadata: {} }));
    expect(await last(zero(), rewardFn)).toMatchObject({ status: 'SUCCEEDED', reward: 0.75 });
    const sum = lib.combineRewards([[rewardFn, 2]]);
    expect(await sum({}, '')).toMatchObject({ reward: 1.5 });
  });

  it('shows the keys of an answer that holds no reward', async () => {
    const env = new ToolEnvironment(task, toolMap, () => ({ value: 1 }) as never);
    const { error } = await new TrajectoryCollectEngine(new ToolAgent('', 'qwen', toolMap), env, () => 'x').collect(
      'Trajectory',
    );
    expect(error).toContain('an object of value: neither a number');
  });
});

describe('the names of SandboxFusion’s package', () => {
  it('are all there', () => {
    const names =
      'run_code run_jupyter submit get_prompts get_prompt_by_id list_datasets list_ids get_metrics get_metrics_function'.split(
        ' ',
      );
    for (const name of names) expect(sandbox).toHaveProperty([`${name}_async`]);
    for (const name of ['set_sandbox_endpoint', 'set_dataset_endpoint', 'submit_safe', 'run_concurrent_pure'])
      expect(sandbox).toHaveProperty([name]);
  });

  it('submit_safe answers for a server that is away', async () => {
    sandbox.set_dataset_endpoint('http://127.0.0.1:9', { attempts: 1 } as never);
    const answer = await sandbox.submit_safe({ dataset: 'd', id: 7, completion: '', config: {} });
    expect(answer).toMatchObject({ id: 7, accepted: false, extra: { error: expect.any(String) } });
  });

  it.each([
    [{ status: 'Success', run_result: { status: 'Finished', return_code: 0 } }, 'Success'],
    [{ status: 'Failed', run_result: { status: 'Finished', return_code: 1 } }, 'raised'],
    [{ status: 'Failed', run_result: { status: 'TimeLimitExceeded' } }, 'slow'],
    [{ status: 'Failed', compile_result: { status: 'Finished', return_code: 1 }, run_result: null }, 'Failed'],
    [{ status: 'SandboxError' }, 'Failed'],
  ])('a run in a word: %j → %s', (result, word) => {
    const mapping = { Success: 'Success', Failed: 'Failed', RunFailed: 'raised', RunTimeout: 'slow' };
    expect(sandbox.summary_run_code_result(result as never, mapping)).toBe(word);
  });
});

describe('odd values, as Tunix has them', () => {
  it('null has no control tokens, an array of integers takes no other number, and a message without a text is refused', () => {
    expect(lib.sanitizeControlTokens(null)).toBeNull();
    expect(lib.sanitizeControlTokens(['a'])).toBe("['a']");
    expect(lib.leftPad([1, 2], 4, 1.7)).toEqual([1, 1, 1, 2]);
    expect(lib.rightPad([1, 2], 4, -1.7)).toEqual([1, 2, -1, -1]);
    expect(lib.leftPad([1.5], 2, 0.5)).toEqual([0.5, 1.5]);
    const options = { maxPromptLength: 2, maxGenerationSteps: 2, padId: 0.9 };
    expect(lib.padPromptAndCompletion([1.9], [-1.9], options)[2]).toEqual([0, 1, -1, 0]);
    const llama = new lib.ChatTemplateParser('llama', { encode: () => [] });
    expect(() => llama.render([{ role: 'user', content: null }])).toThrow(TypeError);
    expect(() => llama.render([{ role: 'developer', content: null }])).toThrow('Unsupported message role');
  });
});
