import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeFunctionCall, parseTools, toolByName } from '../../src/engine/index.ts';
import { CalcGsm8kRewardTool } from '../../src/engine/tools/calc-gsm8k-reward.ts';
import { CodeInterpreterTool } from '../../src/engine/tools/code-interpreter.ts';
import { SandboxApiError } from '../../src/sandbox/client.ts';
import type { RunCodeInput, RunCodeResponse } from '../../src/sandbox/protocol.ts';
import { executeTool } from './execute-tool.ts';
import { VERL_TOOLS } from './verl-tools.ts';

const answer = (
  given: Partial<RunCodeResponse> & {
    stdout?: string;
    stderr?: string;
    run?: 'Finished' | 'Error' | 'TimeLimitExceeded';
  },
) =>
  ({
    status: 'Success',
    message: '',
    compile_result: null,
    run_result: {
      status: given.run ?? 'Finished',
      execution_time: 0.1,
      return_code: 0,
      stdout: given.stdout ?? '',
      stderr: given.stderr ?? '',
    },
    executor_pod_name: null,
    files: {},
    ...given,
  }) as RunCodeResponse;

describe('tools of a verl tool file', () => {
  it('registers the code interpreter of the unchanged file (test_tools_registration)', () => {
    const tools = parseTools(VERL_TOOLS, 'sandbox_fusion_tool_config.yaml');
    expect(tools).toHaveLength(1);
    expect(toolByName(tools, 'code_interpreter')).toBeInstanceOf(CodeInterpreterTool);
    expect(tools[0]!.getOpenAIToolSchema()).toEqual({
      type: 'function',
      function: {
        name: 'code_interpreter',
        description: 'A tool for executing code.',
        parameters: {
          type: 'object',
          properties: { code: { type: 'string', description: 'The code to execute.', enum: null } },
          required: ['code'],
        },
        strict: false,
      },
    });
  });

  it.each([
    ['tools: [{class_name: my.Tool}]', 'tools[0] (my.Tool): unknown class; known: code_interpreter, verl.tools'],
    ['tools: [{class_name: my.Mcp, config: {type: mcp}}]', 'tools[0] (my.Mcp): mcp is missing'],
    ['tools: [{class_name: code_interpreter}]', 'config: sandbox_fusion_url is not set'],
    ['tools: [{class_name: calc_gsm8k_reward}]', 'tool_schema is missing'],
    ['tools:\n  - {class_name: calculator}\n  - {class_name: calculator}', "two tools are called 'calculator'"],
    ['tools: [{class_name: calculator, config: {type: remote}}]', "unknown type 'remote'; known: native"],
    ['tools: {a: 1}', 't.yaml:1: not a tool file: tools: expected array, got object'],
    [
      'tools:\n  - class_name: calculator\n  - {clas_name: x}',
      't.yaml:3: not a tool file: tools[1].class_name is missing',
    ],
    [
      'tools:\n  - class_name: code_interpreter\n    config:\n      sandbox_fusion_url: http://x\n      rate_limit: fast',
      't.yaml:5: tools[0] (code_interpreter): config: rate_limit: expected number, got string',
    ],
    ['tools: [', 't.yaml:1: not YAML'],
    [
      'tools: [{class_name: code_interpreter, config: {sandbox_fusion_url: "http://x", num_workers: many}}]',
      'num_workers',
    ],
  ])('says what is wrong with %s', (yaml, message) => {
    expect(() => parseTools(yaml, 't.yaml')).toThrow(message);
  });
});

describe('code_interpreter', () => {
  const tool = (run: (request: RunCodeInput) => Promise<RunCodeResponse>, config = {}) =>
    new CodeInterpreterTool({ enable_global_rate_limit: false, ...config }, undefined, run);

  it('gives stdout and stderr of a program that ran to its end, whatever its exit status', async () => {
    const seen: RunCodeInput[] = [];
    const one = tool(async (request) => {
      seen.push(request);
      return answer({ status: 'Failed', stdout: 'out\n', stderr: 'warn\n' });
    });
    const result = await executeTool(one, { code: 'print(1)' });
    expect(result).toMatchObject({
      response: { text: 'out\nwarn\n' },
      reward: null,
      metrics: { lines: 1, timed_out: false },
    });
    expect(seen).toEqual([
      { code: 'print(1)', language: 'python', compile_timeout: 30, run_timeout: 30, memory_limit_MB: 1024 },
    ]);
  });

  it.each([
    ['a timeout', async () => answer({ status: 'Failed', run: 'TimeLimitExceeded' }), 'timeout'],
    [
      'a sandbox error',
      async () => answer({ status: 'SandboxError', run_result: null, message: 'no room' }),
      'sandbox_error: no room',
    ],
    [
      'a sandbox that cannot be reached',
      async () => {
        throw new SandboxApiError('connection', 'nobody there');
      },
      'api_error: API Call Failed: nobody there',
    ],
  ])('says "no stdout here" for %s and keeps the cause', async (_, run, cause) => {
    const { response } = await executeTool(tool(run as never), { code: 'x' });
    expect(response).toMatchObject({ text: 'no stdout here', error: cause });
  });

  it('runs nothing in a language that the sandbox does not know', async () => {
    const { response } = await executeTool(
      tool(() => expect.fail('it was run')),
      { code: 'x', language: 'cobol' },
    );
    expect(response.text).toBe('no stdout here');
    expect(response.error).toContain('Unsupported language: cobol');
  });

  it('makes text of code that is not text, and takes timeout and language from the call', async () => {
    const seen: RunCodeInput[] = [];
    const one = tool(async (request) => {
      seen.push(request);
      return answer({});
    });
    await executeTool(one, { code: 12, timeout: 3, language: 'bash' });
    await executeTool(one, {});
    expect(seen.map(({ code, language, run_timeout }) => [code, language, run_timeout])).toEqual([
      ['12', 'bash', 3],
      ['', 'python', 30],
    ]);
  });

  it('never runs more programs at once than num_workers', async () => {
    let running = 0;
    let most = 0;
    const one = tool(
      async () => {
        most = Math.max(most, ++running);
        await new Promise((resolve) => setTimeout(resolve, 5));
        running--;
        return answer({});
      },
      { num_workers: 3 },
    );
    await Promise.all(Array.from({ length: 20 }, () => executeTool(one, { code: '' })));
    expect(most).toBe(3);
    expect(one.instanceCount).toBe(0);
  });
});

describe('calc_gsm8k_reward', () => {
  const schema = {
    type: 'function' as const,
    function: {
      name: 'calc_gsm8k_reward',
      description: '',
      parameters: { type: 'object', properties: {}, required: [] },
      strict: false,
    },
  };

  it("answers in verl's words; an answer that is no better than the last costs 0.05", async () => {
    const tool = new CalcGsm8kRewardTool(schema);
    const { instanceId } = await tool.create(undefined, { ground_truth: '72' });
    expect(await tool.execute(instanceId, { answer: "it's 7" })).toEqual({
      response: { text: `Current parsed answer="it's 7" reward=0.0` },
      reward: -0.05,
      metrics: null,
    });
    expect(await tool.execute(instanceId, { answer: '72' })).toMatchObject({
      response: { text: "Current parsed answer='72' reward=1.0" },
      reward: 0,
    });
    expect(await tool.execute(instanceId, { answer: '#### 72' })).toMatchObject({ reward: -0.05 });
    expect(await tool.calcReward(instanceId)).toBe(1);
    await tool.release(instanceId);
    await expect(tool.calcReward(instanceId)).rejects.toThrow('no instance');
  });
});

describe('calculator', () => {
  const tool = toolByName(parseTools('tools: [{class_name: calculator}]', 't.yaml'), 'calculator')!;
  it.each([
    [{ a: 5, b: 3, op: '+' }, '8'],
    [{ a: 5, b: 3, op: '-' }, '2'],
    [{ a: 5, b: 3, op: '*' }, '15'],
    [{ a: 6, b: 3, op: '/' }, '2.0'],
    [{ a: 0.5, b: 0.25, op: '+' }, '0.75'],
    [{ a: 2 ** 53, b: 3, op: '*' }, '27021597764222976'],
    [{ a: 1, b: 0, op: '/' }, 'Error: Division by zero is not allowed'],
    [{ a: 1, b: 2, op: '^' }, 'Error: Unsupported operator: ^'],
    [{ a: 'x', b: 2, op: '+' }, "Error: Operands 'a' and 'b' must be numbers (int or float)"],
    [{ a: 1, b: 2, op: 3 }, "Error: Operator 'op' must be a string"],
    [{ a: 1 }, "Error: Missing required arguments: 'a', 'b', and 'op'"],
  ])('%j → %s', async (parameters, text) => {
    expect((await executeTool(tool, parameters as never)).response.text).toBe(text);
  });

  it('declares its operands as required', () => {
    expect(tool.getOpenAIToolSchema().function.parameters.required).toEqual(['a', 'b', 'op']);
  });
});

describe('arguments of a call', () => {
  it.each([
    ['{"code": "1"}', { code: '1' }, null],
    ['', {}, null],
    ['[1]', {}, 'the arguments are a list, not an object'],
    ['"x"', {}, 'the arguments are a string, not an object'],
    ['null', {}, 'the arguments are null, not an object'],
  ])('%s', (text, expected, error) => {
    expect(decodeFunctionCall('f', text)).toMatchObject({ name: 'f', arguments: expected, error });
  });

  it('never throws, and gives an object whatever the text is', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        const call = decodeFunctionCall('f', text);
        expect(typeof call.arguments).toBe('object');
        expect(Array.isArray(call.arguments)).toBe(false);
      }),
    );
  });
});
