// The exported library gives the answers of Tunix's own Python (../shared/data/tunix, RV_TRUTH for others of the same kinds).
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseJson } from '../../../src/core/json/parse.ts';
import * as lib from '../../../src/engine/library.ts';
import { truthData } from '../../support/shared-data.ts';

// biome-ignore lint/suspicious/noExplicitAny: inputs and outputs of many functions, as JSON.
type Any = any;
interface Case {
  id: string;
  group: string;
  target: string;
  input: Any;
  output?: Any;
  exception?: { class: string; message: string };
  notes?: string;
  /** The line, which distinguishes a float from an int. */
  raw: string;
}

const path = join(truthData, 'tunix/cases.jsonl');
const cases: Case[] = existsSync(path)
  ? readFileSync(path, 'utf8')
      .split('\n')
      .filter(Boolean)
      .map((line) => ({ ...(parseJson(line) as unknown as Case), raw: line }))
  : [];

/**
 * Where this library does otherwise, and why. The first reason that holds for a case is its reason; every case without one must be equal.
 */
const DELIBERATE: { reason: string; holds: (one: Case) => boolean }[] = [
  {
    reason: 'the reply before an environment that hangs is kept with its tokens; Tunix forgets what was sampled',
    holds: ({ group, notes }) => group === 'engine' && notes?.startsWith('env.step hangs') === true,
  },
  {
    reason: 'digits of other scripts and literals of Python are no numbers in an answer or a question',
    holds: ({ group, input }) => group === 'reward' && /[^ -~]|\\"/.test(JSON.stringify(input)),
  },
  {
    reason: 'JavaScript does not distinguish the float 2.0 from the int 2, so a whole result prints without ".0"',
    holds: ({ group, input, output, raw }) =>
      (group === 'reward' && /"ground_truth": -?[\d.]+(?:\.0|e\+\d+)\b/.test(raw)) ||
      (group === 'calculator' && /"[ab]": -?[\d.]+(?:\.0|e\+\d+)\b/.test(raw)) ||
      ((group === 'calculator' || group === 'tool-output') &&
        /\.0(\D|$)/.test(JSON.stringify(output ?? '')) &&
        input.op !== '/'),
  },
  {
    reason:
      'an episode never rejects: what throws makes the status FAILED with its error, and the environment is closed',
    holds: ({ group, output, input }) =>
      group === 'engine' && output?.exception !== undefined && !String(input.mode ?? '').includes('unknown'),
  },
  {
    reason:
      'a model that is slower than the timeout is a TIMEOUT, and the environment is not asked; Tunix calls it ENV_TIMEOUT',
    holds: ({ group, notes }) => group === 'engine' && notes?.startsWith('the model takes longer') === true,
  },
  {
    reason: 'a step that the limit ends says so: info holds truncated: true',
    holds: ({ group, input, output }) =>
      (group === 'environment' && output?.step_count >= output?.max_steps && output.max_steps > 1) ||
      (group === 'engine' && input.env?.class !== 'TaskEnvironment' && endsByLimit(input, output)),
  },
  {
    reason:
      'a call that cannot be run (no function, arguments that are no object) is answered with an error, and does not end the episode',
    holds: ({ group, output }) =>
      group === 'environment' && JSON.stringify(output?.steps ?? []).includes('"exception"'),
  },
  {
    reason: 'calls keep their order in tool_outputs; Tunix has the order of completion',
    holds: ({ group, output }) => group === 'tool-manager' && output?.order !== undefined,
  },
  {
    reason: 'a reward function that gives nothing is an error; Tunix records null',
    holds: ({ group, input }) => group === 'environment' && input.reward_fn === 'none',
  },
  {
    reason: 'rendering does not change the messages of the caller, so a second rendering equals the first',
    holds: ({ input }) => input.twice === true,
  },
  {
    reason: 'arguments named tool_name are arguments like any other',
    holds: ({ group, input }) =>
      group === 'tool-manager' && JSON.stringify(input).includes('"tool_name"') && 'calls' in input,
  },
  {
    reason: 'an error of a call of TypeScript is not worded as one of Python',
    holds: ({ output }) => /unexpected keyword argument|too large to convert/.test(JSON.stringify(output ?? '')),
  },
  {
    reason: 'the concurrency of an orchestrator is given when it is made, and its shape is checked there',
    holds: ({ group, input }) =>
      group === 'orchestrator' && 'max_concurrency' in input && input.max_concurrency === null,
  },
  {
    reason: 'types are interfaces: there is no constructor to give a positional argument to',
    holds: ({ group, exception }) => group === 'types' && exception !== undefined,
  },
];

function endsByLimit(input: Any, output: Any): boolean {
  const limit = input.env?.max_steps ?? 10;
  const steps = (output?.env_calls ?? []).filter((one: string) => one === 'step').length;
  return limit > 0 && (steps >= limit || (output?.model_calls?.length ?? 0) >= limit) && input.mode === 'Trajectory';
}

// ── fixtures, as SOURCES.md describes them ──
const codes = (text: string): number[] => [...text].map((one) => one.codePointAt(0)!);
const tokenizer = (kind = 'char'): lib.TemplateTokenizer => ({
  encode: (text) => (kind === 'bos' ? [2, ...codes(text)] : codes(text)),
  bosToken: '<s>',
  eosToken: '</s>',
  bosId: 2,
  eosId: 1,
  applyChatTemplate: (messages, { addGenerationPrompt }) =>
    messages.map(({ role, content }) => `[${role}]${content}`).join('') + (addGenerationPrompt ? '[assistant]' : ''),
});
const parser = (name: string, thinking = true, kind = 'char') =>
  new lib.ChatTemplateParser(name as lib.ChatTemplateName, tokenizer(kind), { thinking });

const schema = (tool: lib.BaseTool, properties: Any, required: string[]) => ({
  type: 'function',
  function: { name: tool.name, description: tool.description, parameters: { type: 'object', properties, required } },
});
class EchoTool extends lib.BaseTool {
  static override description = 'Gives its arguments back.';
  get json(): Any {
    return schema(this, { text: { type: 'string' } }, []);
  }
  override forward(kwargs: Any) {
    return new lib.ToolOutput({ name: this.name, output: kwargs });
  }
  override async asyncForward(kwargs: Any) {
    return this.forward(kwargs);
  }
}
const raised = (name: string, text: string) => Object.assign(new Error(text), { name });
class RaiseTool extends lib.BaseTool {
  static override description = 'Raises ValueError.';
  get json(): Any {
    return schema(this, { message: { type: 'string' } }, []);
  }
  override forward({ message = 'boom' }: Any): never {
    throw raised('ValueError', message);
  }
  override async asyncForward({ message = 'boom' }: Any): Promise<never> {
    throw raised('KeyError', `'${message}'`);
  }
}
class ValueTool extends lib.BaseTool {
  static override description = 'Puts out its argument `value` unchanged, with `error` as the error.';
  get json(): Any {
    return schema(this, { value: {} }, ['value']);
  }
  override forward({ value = null, error = null }: Any) {
    return new lib.ToolOutput({ name: this.name, output: value, error });
  }
}
class SleepTool extends lib.BaseTool {
  static override description = 'Sleeps `seconds`, then says `text`.';
  get json(): Any {
    return schema(this, { seconds: { type: 'number' }, text: { type: 'string' } }, ['seconds']);
  }
  override async asyncForward({ seconds, text = '' }: Any) {
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
    return new lib.ToolOutput({ name: this.name, output: text });
  }
}
class NothingTool extends lib.BaseTool {
  get json(): Any {
    return schema(this, {}, []);
  }
}
class McpTool extends lib.BaseTool {
  static override description = 'Has an input schema of MCP.';
  override inputSchema = {
    type: 'object',
    properties: { q: { type: 'string', description: 'Frage – question' } },
    required: ['q'],
  };
  get json(): Any {
    return schema(this, this.inputSchema.properties, ['q']);
  }
  override forward({ q }: Any) {
    return new lib.ToolOutput({ name: this.name, output: `found ${q}` });
  }
}
class SchemalessTool {}
const TOOLS: Record<string, Any> = {
  calculator: lib.CalculatorTool,
  echo: EchoTool,
  raise: RaiseTool,
  value: ValueTool,
  sleep: SleepTool,
  nothing: NothingTool,
  schemaless: SchemalessTool,
  mcp: McpTool,
};
const tools = (names: string[]) => Object.fromEntries(names.map((name) => [name, TOOLS[name]]));
const manager = (names: string[], more = {}) => new lib.ToolManager(tools(names), more);
const outputOf = ({ name, output, error, metadata }: lib.ToolOutput) => ({ name, output, error, metadata });

const reward = (name: string | null | undefined): lib.RewardFn | undefined => {
  const of = (value: Any) => ({ reward: value, metadata: {} });
  const known: Record<string, lib.RewardFn> = {
    one: () => of(1),
    length: (_task, action) => of([...action].length),
    truth: (task, action) => of(action === String(task.ground_truth) ? 1 : 0),
    output: () => of(0.5),
    raise: () => {
      throw raised('ZeroDivisionError', 'division by zero');
    },
    none: () => of(null),
  };
  return name ? known[name] : undefined;
};

/** JSON of a case as JavaScript values. */
function value(given: Any): Any {
  if (Array.isArray(given)) return given.map(value);
  if (typeof given !== 'object' || given === null) return given;
  const keys = Object.keys(given);
  if (keys.length === 1 && keys[0] === '$float')
    return { nan: Number.NaN, inf: Number.POSITIVE_INFINITY, '-inf': Number.NEGATIVE_INFINITY }[given.$float as string];
  if (keys.length === 1 && keys[0] === '$bytes') return new TextEncoder().encode(given.$bytes);
  if (keys.length === 1 && keys[0] === '$Action') return value(given.$Action);
  if ('$ndarray0d' in given) return given.value;
  return Object.fromEntries(keys.map((key) => [key, value(given[key])]));
}

/** JavaScript values as the JSON of a case. */
function plain(given: Any): Any {
  if (typeof given === 'number' && !Number.isFinite(given))
    return { $float: Number.isNaN(given) ? 'nan' : given > 0 ? 'inf' : '-inf' };
  if (given === undefined) return null;
  if (typeof given === 'bigint') return Number(given);
  if (Array.isArray(given)) return given.map(plain);
  if (typeof given !== 'object' || given === null) return given;
  return Object.fromEntries(Object.entries(given).map(([key, one]) => [key, plain(one)]));
}

/** Ids that are made are uuid-1, uuid-2 … in the order of making; seconds are marked as such. */
function normal(given: Any, ids: Map<string, string>): Any {
  if (typeof given === 'string')
    return given.replace(/[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/g, (id) => {
      if (!ids.has(id)) ids.set(id, `uuid-${ids.size + 1}`);
      return ids.get(id)!;
    });
  if (Array.isArray(given)) return given.map((one) => normal(one, ids));
  if (typeof given !== 'object' || given === null) return given;
  return Object.fromEntries(
    Object.entries(given).map(([key, one]) => {
      const name = normal(key, ids);
      if (['reset_latency', 'close_latency', 'reward_latency'].includes(key))
        return [name, one === 0 ? 0 : '<seconds>'];
      if (key === 'step_latency') return [name, (one as number[]).map(() => '<seconds>')];
      return [name, normal(one, ids)];
    }),
  );
}

const runs = (masks: number[]): number[][] => {
  const out: number[][] = [];
  for (const mask of masks) {
    const last = out.at(-1);
    if (last && last[0] === mask) last[1]!++;
    else out.push([mask, 1]);
  }
  return out;
};
const textOf = (ids: number[]) => String.fromCodePoint(...ids);
const tokenised = ({ tokens, masks }: { tokens: number[]; masks: number[] }) => ({
  text_of_ids: textOf(tokens),
  masks: runs(masks),
  length: tokens.length,
});

const IDS = ['prompt_tokens', 'conversation_tokens', 'assistant_tokens', 'env_tokens'];
const MASKS = ['conversation_masks', 'assistant_masks', 'env_masks', 'old_logprobs', 'logprobs'];
function squeezed(given: Any): Any {
  if (Array.isArray(given)) return given.map(squeezed);
  if (typeof given !== 'object' || given === null) return given;
  return Object.fromEntries(
    Object.entries(given as Record<string, Any>).map(([key, one]) => {
      const isLong = Array.isArray(one) && one.length > 12;
      if (IDS.includes(key) && isLong) return [key, { text_of_ids: textOf(one) }];
      if (MASKS.includes(key) && isLong) return [key, { runs: runs(one) }];
      return [key, squeezed(one)];
    }),
  );
}

function agentOf({ class: kind, system_prompt, tools: names, parser: name }: Any): lib.ConversationAgent {
  if (kind === 'ModelAgent') return new lib.ModelAgent(system_prompt ?? '');
  return new lib.ToolAgent(system_prompt ?? '', name ?? 'qwen', names ? tools(names) : {});
}

function trajectory(given: lib.Trajectory): Any {
  return { ...lib.trajectoryToDict(given), ...(given.promptTokens ? { prompt_tokens: given.promptTokens } : {}) };
}
const step = (agent: lib.Agent) => {
  const dict = lib.trajectoryToDict({ ...agent.trajectory, steps: agent.currentStep ? [agent.currentStep] : [] });
  return (dict.steps as Any)[0] ?? null;
};
const actionOf = (action: Any) => (action === null ? null : { action });

function play(spec: Any, calls: Any[]) {
  const agent = agentOf(spec);
  const returns = calls.map(([kind, ...args]) => {
    if (kind === 'env') agent.updateFromEnv(args[0], args[1], args[2], args[3]);
    else if (kind === 'model') return actionOf(agent.updateFromModel(args[0]));
    else if (kind === 'reset') agent.reset();
    else return step(agent);
    return null;
  });
  const { trajectory: held } = agent;
  return { returns, chat_completions: agent.chatCompletions, trajectory: trajectory(held) };
}

class ScriptedEnv extends lib.BaseTaskEnv {
  readonly log: string[] = [];
  finalReward?: () => number;
  readonly #script: Any;
  #at = 0;
  constructor(script: Any, options: Any, final?: Any) {
    super(options.task ?? {}, options);
    this.#script = script;
    if (final !== undefined)
      this.finalReward = () => {
        this.log.push('final');
        if (typeof final === 'string') throw new Error(final);
        return final;
      };
  }
  override async reset() {
    await super.reset();
    this.log.push('reset');
    this.#at = 0;
    if (this.#script.reset_raise) throw new Error(this.#script.reset_raise);
    return { observation: structuredClone(this.#script.reset ?? null), info: {} };
  }
  protected async act() {
    this.log.push('step');
    const { steps } = this.#script;
    const {
      obs = null,
      reward: own = 0,
      done = false,
      info = {},
      sleep,
      raise,
    } = steps[Math.min(this.#at++, steps.length - 1)];
    if (sleep) await new Promise((resolve) => setTimeout(resolve, sleep * 1000));
    if (raise) throw new Error(raise);
    return { observation: structuredClone(obs), reward: own, done, info: { ...info } };
  }
  override async close() {
    this.log.push('close');
  }
}

function scriptedModel(replies: Any[], log: Any[]): lib.ModelCall {
  let at = 0;
  return async (messages, { maxGenerationSteps }) => {
    const reply = replies[Math.min(at++, replies.length - 1)];
    log.push({
      messages: messages.length,
      last_role: messages.at(-1)?.role ?? null,
      max_generation_steps: maxGenerationSteps,
    });
    if (reply.sleep) await new Promise((resolve) => setTimeout(resolve, reply.sleep * 1000));
    if (reply.raise) throw new Error(reply.raise);
    const tokens = reply.tokens ?? codes(reply.text);
    const logprobs = reply.logprobs === 'flat' ? tokens.map(() => -0.5) : (reply.logprobs ?? null);
    return {
      text: reply.text,
      ...(reply.no_tokens ? {} : { tokens, logprobs }),
      ...(reply.prompt_tokens ? { promptTokens: reply.prompt_tokens } : {}),
    };
  };
}

function environmentOf({ env }: Any): lib.Environment & { log?: string[] } {
  const extra = Object.fromEntries(
    ['group_id', 'pair_index'].filter((key) => key in env).map((key) => [key, env[key]]),
  );
  if (env.class === 'ScriptedEnv')
    return new ScriptedEnv(env.script, { task: env.task, maxSteps: env.max_steps ?? 10, extra }, env.final_reward);
  if (env.class === 'TaskEnvironment')
    return new lib.TaskEnvironment(structuredClone(env.task), { rewardFn: reward(env.reward_fn), extra });
  return new lib.ToolEnvironment(structuredClone(env.task), tools(env.tools), {
    rewardFn: reward(env.reward_fn),
    maxSteps: env.max_steps ?? 10,
    extra,
  });
}

function engineOptions(settings: Any = {}): Omit<lib.CollectOptions, 'modelCall'> {
  const { tokenizer: kind, parser: name, enable_thinking } = settings;
  return {
    ...('gamma' in settings ? { gamma: settings.gamma } : {}),
    ...('max_response_length' in settings ? { maxResponseLength: settings.max_response_length } : {}),
    ...('timeout' in settings ? { timeout: settings.timeout } : {}),
    ...('overlong_filter' in settings ? { overlongFilter: settings.overlong_filter } : {}),
    ...('filter_statuses' in settings ? { filterStatuses: settings.filter_statuses } : {}),
    ...(kind && name
      ? { tokenize: lib.messagesTokenizer(tokenizer(kind), parser(name, enable_thinking ?? true, kind)) }
      : {}),
  };
}

async function runEngine(spec: Any) {
  const env = environmentOf(spec);
  const model_calls: Any[] = [];
  const agent = agentOf(spec.agent);
  const engine = new lib.TrajectoryCollectEngine(agent, env, {
    ...engineOptions(spec.settings),
    modelCall: scriptedModel(spec.model, model_calls),
  });
  const result = (await engine.collect(spec.mode ?? 'Conversation')) as Any;
  const shown = spec.mode === 'Trajectory' ? trajectory(result) : result;
  const isSlow = spec.model.some(({ sleep = 0 }: Any) => sleep >= (spec.settings?.timeout ?? 600));
  return {
    result: squeezed(shown),
    model_calls,
    env_calls: isSlow ? 'reset, then step or not (a race of the executor), ..., close' : (env.log ?? null),
    status: agent.trajectory.status,
  };
}

async function late() {
  let clock = 0;
  class Slow extends ScriptedEnv {
    protected override async act() {
      clock += 11;
      return super.act();
    }
  }
  const env = new Slow({ reset: 'o', steps: [{ obs: 'a', reward: 1 }] }, { maxSteps: 10 }, 0.5);
  const agent = agentOf({ class: 'ModelAgent', system_prompt: 'S' });
  const engine = new lib.TrajectoryCollectEngine(agent, env, {
    ...engineOptions({ tokenizer: 'char', parser: 'qwen', timeout: 10 }),
    modelCall: scriptedModel([{ text: 'r', logprobs: 'flat' }], []),
    clock: () => clock,
  });
  const result = (await engine.collect('Token')) as Any;
  return {
    result: squeezed({ ...result, env_time: null, reward_time: null }),
    last_step_done: agent.trajectory.steps.at(-1)!.done,
    env_calls: env.log,
  };
}

async function multiple(mode: lib.CollectMode) {
  const pairs = [0.3, 0, 0.15].map(
    (sleep, index) =>
      [
        agentOf({ class: 'ModelAgent', system_prompt: 'S' }),
        new ScriptedEnv({ reset: 'o', steps: [{ obs: 'x', reward: index, done: true, sleep }] }, { maxSteps: 3 }, 0.5),
      ] as const,
  );
  const out: Any[] = [];
  const modelCall = scriptedModel([{ text: 'r', logprobs: 'flat' }], []);
  for await (const [index, result] of lib.collectMultiple(pairs, { modelCall, mode }))
    out.push([index, mode === 'Trajectory' ? trajectory(result as Any) : result]);
  return out;
}

async function playEnvironment(env: Any, actions: Any[]) {
  const asList = ({ observation, reward: own, done, info }: lib.EnvStepResult) => [observation, own, done, info];
  const { observation, info } = await env.reset();
  const steps: Any[] = [];
  for (const action of actions)
    steps.push(
      await env.step(structuredClone(action)).then(asList, (error: Error) => ({
        exception: { class: error.name, message: error.message },
      })),
    );
  const { stepCount, maxSteps, extra, task } = env;
  return {
    reset: [observation, info],
    steps,
    step_count: stepCount,
    max_steps: maxSteps,
    idx: null,
    extra_kwargs: extra,
    task,
  };
}

const ECHO_CALL = [[{ type: 'function', function: { name: 'echo', arguments: '{}' }, id: 'c1' }]];
function environment(input: Any, target: string) {
  const { actions } = input;
  if (target.endsWith('._extract_llm_answer')) return lib.ToolEnvironment.answerOf(input.action);
  if (target.endsWith('TaskEnvironment.from_dict'))
    return playEnvironment(
      lib.TaskEnvironment.fromDict({ ...input.env_args, reward_fn: reward(input.reward_fn) }),
      actions,
    );
  if (target.endsWith('TaskEnvironment')) {
    const options = { rewardFn: reward(input.reward_fn), extra: input.kwargs ?? {} };
    return playEnvironment(new lib.TaskEnvironment(input.single_example, options), actions);
  }
  if (target.endsWith('ToolEnvironment.from_dict')) {
    const map = input.tools === null ? {} : { tool_map: tools(input.tools) };
    return playEnvironment(lib.ToolEnvironment.fromDict({ ...input.env_args, ...map }), ECHO_CALL);
  }
  if (target.endsWith('ToolEnvironment')) {
    const options = {
      rewardFn: reward(input.reward_fn),
      ...('max_steps' in input ? { maxSteps: input.max_steps } : {}),
    };
    return playEnvironment(new lib.ToolEnvironment(input.task, tools(input.tools), options), actions);
  }
  return playEnvironment(new ScriptedEnv(input.env.script, { maxSteps: input.env.max_steps }), actions);
}

type Item = { g: Any; v: number };
const FILTERS: Record<string, Any> = {
  drop_all: () => [],
  keep_first: (group: Item[]) => group.slice(0, 1),
  split: (group: Item[]) => ({ kept: [group[0]], dropped: group.slice(1) }),
  none: () => null,
  tuple3: (group: Item[]) => group,
};
async function queue({ ops, group_size, group_fn, key_fn = 1, filter_fn }: Any) {
  const held = new lib.GroupQueueManager<Item>({
    ...(group_size === undefined ? {} : { groupSize: group_size }),
    ...(group_fn
      ? {
          groupFn: (buckets, item) => {
            const bucket = [...(buckets.get('all') ?? []), item];
            buckets.set('all', bucket);
            if (bucket.reduce((sum, { v }) => sum + v, 0) < 5) return null;
            buckets.delete('all');
            return bucket;
          },
        }
      : key_fn === null
        ? {}
        : { keyFn: ({ g }: Item) => g }),
    ...(filter_fn ? { filterFn: FILTERS[filter_fn] } : {}),
  });
  const pending = new Map<string, Promise<Item[]>>();
  const soon = (work: Promise<Item[]>) =>
    Promise.race([
      work.then((items) => items.map(({ v }) => v)),
      new Promise((resolve) => setTimeout(resolve, 200, 'still waiting after 0.2 s')),
    ]);
  const out: Any[] = [];
  for (const [kind, ...args] of ops) {
    try {
      if (kind === 'put') held.put({ g: args[0], v: args[1] });
      if (kind === 'exception') held.fail(raised('RuntimeError', args[0]));
      if (kind === 'prepare_clear') held.prepareClear();
      if (kind === 'clear') held.clear();
      if (kind === 'get') out.push(await soon(held.getBatch(args[0])));
      else if (kind === 'await') out.push(await soon(pending.get(args[0])!));
      else if (kind === 'filtered') out.push(held.takeFiltered().map((group) => group.map(({ v }) => v)));
      else if (kind === 'get_later') {
        const work = held.getBatch(args[0]);
        work.catch(() => {});
        pending.set(args[1], work);
        const isDone = await Promise.race([
          work.then(() => true),
          new Promise((resolve) => setTimeout(resolve, 10, false)),
        ]);
        out.push(isDone ? 'done' : 'waiting');
      } else out.push(null);
    } catch (error) {
      out.push({ exception: { class: (error as Error).name, message: (error as Error).message } });
    }
  }
  return out;
}

async function orchestrate({ pairs: count, group_size, batch_size, max_concurrency, fails }: Any) {
  const orchestrator = new lib.RolloutOrchestrator({
    engine: { modelCall: scriptedModel([{ text: 'r', logprobs: 'flat' }], []) },
    maxConcurrency: max_concurrency,
    mode: 'Conversation',
    groupSize: group_size,
    startStepFn: () => 7,
  });
  function* pairs() {
    for (let index = 0; index < count; index++) {
      if (fails?.startsWith('the stream') && index === 2) throw raised('RuntimeError', 'stream broke');
      const raise = fails?.startsWith('env.step') && index === 1 ? { raise: 'env broke' } : {};
      const extra = { group_id: Math.floor(index / group_size), pair_index: index };
      const script = { reset: 'o', steps: [{ obs: 'x', reward: 1, done: true, ...raise }] };
      yield [
        agentOf({ class: 'ModelAgent', system_prompt: 'S' }),
        new ScriptedEnv(script, { maxSteps: 3, extra }),
      ] as const;
    }
  }
  const told = (error: Error) => ({ exception: { class: error.name, message: error.message } });
  const producer = orchestrator.runProducersFromStream(pairs());
  const out: Any = { batches: [], items: [] };
  try {
    for await (const batch of orchestrator.yieldBatches(batch_size)) {
      out.batches.push(batch.length);
      for (const { pairIndex, groupId, startStep, metadata } of batch)
        out.items.push([pairIndex, groupId, startStep, metadata]);
    }
  } catch (error) {
    out.consumer = told(error as Error);
  }
  await producer.catch((error) => {
    out.producer = told(error);
  });
  out.items.sort((a: Any, b: Any) => a[0] - b[0]);
  return fails ? { consumer: out.consumer, producer: out.producer } : out;
}

async function lock({ sequence }: Any) {
  const held = new lib.RolloutSyncLock();
  const log: string[] = [];
  const pause = () => new Promise((resolve) => setTimeout(resolve, 5));
  if (sequence.startsWith('two')) {
    await held.acquireRollout();
    await held.acquireRollout();
    const sync = held.acquireWeightSync().then(() => {
      log.push('sync');
      held.releaseWeightSync();
    });
    const later = held.acquireRollout().then(() => {
      log.push('late rollout');
      held.releaseRollout();
    });
    await pause();
    log.push('two rollouts end');
    held.releaseRollout();
    await pause();
    log.push('one left');
    held.releaseRollout();
    await Promise.all([sync, later]);
    return log;
  }
  await held.acquireWeightSync();
  const rollouts = [1, 2].map(() =>
    held.acquireRollout().then(() => {
      log.push('rollout');
      held.releaseRollout();
    }),
  );
  const sync = held.acquireWeightSync().then(() => {
    log.push('second sync');
    held.releaseWeightSync();
  });
  await pause();
  log.push('first sync ends');
  held.releaseWeightSync();
  await Promise.all([...rollouts, sync]);
  return { first: log[0], rest: log.slice(1).sort() };
}

const registry = lib.builtinRewards();
const rewardTask = ({ task, action }: Any) => [task, action] as const;

// One line a function of Tunix, in the order of its own recorder.
async function run({ input: given, target, group }: Case): Promise<Any> {
  const input = value(given);
  const last = target.slice(target.lastIndexOf('.') + 1);
  const flags = { isFirst: input.is_first_msg, addGenerationPrompt: input.add_generation_prompt };
  if (last === 'parse' && group !== 'tool-parse') {
    if (input.twice) {
      const render = () => parser('gemma').render(input.messages, { isFirst: true, addGenerationPrompt: true });
      return { first: render(), second: render(), messages_after: input.messages };
    }
    return parser(input.parser, input.enable_thinking ?? true).render(input.messages, flags);
  }
  if (group === 'chat-tokens') {
    const one = parser(input.parser);
    if (last.startsWith('update')) return [[...input.tokens, ...one.newlineTokens], one.newlineTokens.length];
    const {
      bos,
      eos,
      eot,
      system,
      user,
      assistant,
      toolStart,
      toolEnd,
      toolResponseStart,
      toolResponseEnd,
      separator,
    } = one.tokens;
    const tokens = {
      ...{ bos_token: bos, eos_token: eos, eot_token: eot, system_token: system, user_token: user },
      ...{ assistant_token: assistant, tool_start_token: toolStart, tool_end_token: toolEnd },
      ...{ tool_response_start_token: toolResponseStart, tool_response_end_token: toolResponseEnd },
      message_separator: separator,
    };
    return {
      tokens,
      generation_prompt: one.generationPrompt,
      newline_tokens: one.newlineTokens,
      sanitised: [...one.removed].sort(),
    };
  }
  if (last === 'sanitize_control_tokens')
    return lib.sanitizeControlTokens(input.content, {
      extraTokens: input.extra_tokens ?? [],
      includeDefault: input.include_default ?? true,
    });
  if (last === 'tokenize_and_generate_masks')
    return tokenised(
      lib.messagesTokenizer(tokenizer(input.tokenizer), parser(input.parser))(input.messages, {
        first: input.contains_first_msg,
        generation: input.contains_generation_msg,
      }),
    );
  if (last === 'convert_single_message') {
    const [name] = input.parser.split(' ');
    const one = parser(name);
    const tokenize = lib.messagesTokenizer(tokenizer(input.tokenizer), one);
    const made = tokenize([input.message], { first: input.is_first, generation: input.is_generation });
    if (name === input.parser) return tokenised(made);
    // A parser of the user's own that says what the generation prompt has written already.
    const header = codes(`\n${one.tokens.assistant}`).length;
    return tokenised({ tokens: made.tokens.slice(header), masks: made.masks.slice(header) });
  }
  if (last === 'convert_messages_to_string') return lib.messageOfTexts(input.message);
  if (last === 'get_recent_assistant_user_messages') return lib.recentMessages(input.messages);
  if (last === 'left_pad') return lib.leftPad(input.x, input.length, input.pad);
  if (last === 'right_pad') return lib.rightPad(input.x, input.length, input.pad);
  if (last === 'pad_prompt_and_completion')
    return lib.padPromptAndCompletion(input.prompt_tokens, input.completion_tokens, {
      maxPromptLength: input.max_prompt_length,
      maxGenerationSteps: input.max_generation_steps,
      padId: input.pad_id,
    });
  if (last === 'dedup_bos_ids') return lib.withoutRepeatedBos(input.ids, input.bos_id ?? 2);
  if (group === 'tool-parse') {
    if (last === 'get_tool_parser') {
      lib.getToolParser(input.parser_name);
      return `${input.parser_name[0].toUpperCase()}${input.parser_name.slice(1)}ToolParser`;
    }
    return lib.getToolParser(target.includes('gemini') ? 'gemini' : 'qwen').parse(input.text);
  }
  if (group === 'tool-prompt') {
    const one = lib.getToolParser(target.includes('gemini') ? 'gemini' : 'qwen');
    if (last === 'parse_tool_outputs') return one.parseToolOutputs!();
    return one.getToolPrompt(manager(input.tools).tools, input.schema_style ?? undefined);
  }
  if (group === 'tool-output') return String(new lib.ToolOutput(input));
  if (group === 'calculator') {
    if (last === 'get_json_schema') return new lib.CalculatorTool(input.name, input.description).json;
    if (last === 'to_mcp_json') return new lib.CalculatorTool(input.name, input.description).toMcpJson();
    return outputOf(new lib.CalculatorTool('calculator', 'd').forward(input));
  }
  if (group === 'tool-base') {
    const made = manager([input.tool]).tools[0] as Any;
    if (input.set) Object.assign(made, input.set);
    else return last === 'apply_async' ? made.asyncForward({}) : made.forward({});
    return null;
  }
  if (group === 'tool-manager') {
    if (last === 'register_mcp_tool') {
      const one = manager(['echo']);
      one.register(new McpTool('search', 'finds'));
      return { names: one.names, run: outputOf(one.run('search', { q: 'x' })) };
    }
    const one = manager(input.tools, input.desc_fallback ? { descFallback: input.desc_fallback } : {});
    if (last === '__init__' || last === 'names') return one.names;
    if (last === 'get_json_schema') return one.json;
    if (last === 'get_mcp_schema') return one.mcpJson;
    const asText = (output: lib.ToolOutput) => ({ ...outputOf(output), as_text: String(output) });
    if (last === 'run') return asText(one.run(input.tool_name, input.kwargs));
    if (last === 'run_async') return outputOf(await one.runAsync(input.tool_name, input.kwargs));
    const outputs = await one.executeCalls(input.calls, { parallel: input.parallel });
    return input.tools.length === 1 && input.tools[0] === 'sleep' ? { order: Object.keys(outputs), outputs } : outputs;
  }
  if (group === 'reward') {
    const names: Record<string, string> = {
      is_two_reward: 'is_two',
      dummy_reward: 'dummy',
      calculate_reward: 'calculate',
    };
    if (last === 'register') return registration();
    if (last === 'get_reward_fn') {
      registry.get(input.name);
      return Object.keys(names).find((one) => names[one] === input.name) ?? input.name;
    }
    if (last === 'RewardOutput') return { metadata: {}, ...input };
    if (last === 'combine_rewards') {
      const weighted = Object.entries(input.weights).map(([name, weight]) => [registry.get(name), weight] as const);
      return lib.combineRewards(weighted as Any)(...rewardTask(input));
    }
    return registry.get(names[last] ?? last)(...rewardTask(input));
  }
  if (group === 'types') return types(input, last);
  if (group === 'observation' || group === 'agent') {
    if ('what' in input) return aliasing();
    if (last === 'update_from_model_async') {
      const agent = agentOf(input.agent);
      agent.updateFromEnv('o', 0, false, {});
      return { action: actionOf(agent.updateFromModel('r')), messages: agent.chatCompletions };
    }
    return play(input.agent, input.calls ?? []);
  }
  if (group === 'environment') return environment(input, target);
  if (group === 'engine')
    return 'clock' in input ? late() : last === 'collect_multiple' ? multiple(input.mode) : runEngine(input);
  if (group === 'returns') {
    const mc_return = lib.monteCarloReturns(input.rewards, input.gamma);
    return { mc_return, reward: input.rewards.reduce((sum: number, one: number) => sum + one, 0) };
  }
  if (group === 'queue') return 'ops' in input ? queue(input) : new lib.GroupQueueManager(input as Any);
  if (group === 'orchestrator') {
    if ('pairs' in input) return orchestrate(input);
    const options = { engine: { modelCall: () => 'r' }, mode: 'Token', groupSize: 1 } as const;
    const one = new lib.RolloutOrchestrator({
      ...options,
      maxConcurrency: input.max_concurrency === null ? (null as Any) : 1,
    });
    if (input.started === false) return one.yieldBatches(1).next();
    await one.runProducersFromStream([]);
    return one.runProducersFromStream([]);
  }
  if (group === 'lock') return lock(input);
  throw new Error(`no player for ${target}`);
}

function registration(): Any {
  const own = new lib.RewardRegistry();
  const out: Any[] = [];
  const tried = (work: () => Any) => {
    try {
      return work();
    } catch (error) {
      return { exception: { class: (error as Error).name, message: (error as Error).message } };
    }
  };
  own.register('mine', () => ({ reward: 0.5, metadata: {} }));
  out.push(own.get('mine')({}, 'x'));
  out.push(tried(() => own.register('mine', () => ({ reward: 0, metadata: {} }))));
  out.push(own.unregister('mine'), own.unregister('mine'));
  out.push(tried(() => own.get('mine')));
  return out;
}

function types(input: Any, last: string): Any {
  if (last === 'TrajectoryStatus')
    return Object.fromEntries(lib.STATUSES.slice(0, 7).map((name, index) => [name, index + 1]));
  if (last === 'Trajectory')
    return lib.trajectoryToDict({
      ...{
        task: null,
        steps: [],
        reward: 0,
        status: 'RUNNING',
        envTime: {},
        rewardTime: {},
        promptTokens: null,
        error: null,
      },
      ...input,
    });
  return { action: null, ...input };
}

function aliasing() {
  const agent = agentOf({ class: 'ModelAgent', system_prompt: 'S' });
  agent.updateFromEnv('o', 0, false, {});
  agent.updateFromModel('r');
  agent.updateFromEnv('o2', 0, false, {});
  agent.chatCompletions[0]!.content = 'changed';
  const contents = (messages: Any[]) => messages.map(({ content }) => content);
  return { step: contents(agent.trajectory.steps[0]!.chatCompletions), now: contents(agent.chatCompletions) };
}

/** The classes of exceptions whose messages are Tunix's own; CPython's say only that something is refused. */
const OWN_WORDS = /^(ValueError|NotImplementedError|RuntimeError)$/;

describe.skipIf(cases.length === 0)(`the cases of Tunix (skipped without ${path})`, () => {
  test('fewer than 15 differences are deliberate, and each still is one', async () => {
    expect(DELIBERATE.length).toBeLessThan(15);
  });

  const groups = [...new Set(cases.map(({ group }) => group))];
  test.each(groups)('%s', async (group) => {
    const wrong: string[] = [];
    await Promise.all(
      cases
        .filter((one) => one.group === group)
        .map(async (one) => {
          const told = await problemOf(one);
          if (told !== null && !DELIBERATE.some(({ holds }) => holds(one)))
            wrong.push(`${one.id} (${one.notes ?? ''}): ${told}`);
        }),
    );
    expect(wrong).toEqual([]);
  });
});

/** The difference from the record; null if equal. */
async function problemOf(one: Case): Promise<string | null> {
  const recorded = one.exception ?? one.output;
  // Tunix's agents have a counter that nothing counts.
  if (['agent', 'observation'].includes(one.group) && typeof recorded?.step === 'number') delete recorded.step;
  const wanted = JSON.stringify(sortedKeys(plain(recorded)));
  let made: Any;
  try {
    made = await run(one);
  } catch (error) {
    const { name, message } = error as Error;
    const isRefused = one.exception !== undefined;
    if (isRefused && (!OWN_WORDS.test(one.exception!.class) || message === one.exception!.message)) return null;
    return `threw ${name}: ${message}; recorded ${wanted.slice(0, 300)}`;
  }
  const got = JSON.stringify(sortedKeys(plain(normal(made, new Map()))));
  return one.exception === undefined && got === wanted ? null : difference(got, wanted);
}

/** From a little before the first character that differs. */
function difference(got: string, wanted: string): string {
  let at = 0;
  while (at < got.length && got[at] === wanted[at]) at++;
  const from = Math.max(0, at - 80);
  return `got …${got.slice(from, at + 200)}\n   wanted …${wanted.slice(from, at + 200)}`;
}

function sortedKeys(given: Any): Any {
  if (Array.isArray(given)) return given.map(sortedKeys);
  if (typeof given !== 'object' || given === null) return given === 0 ? 0 : given;
  return Object.fromEntries(
    Object.keys(given)
      .sort()
      .map((key) => [key, sortedKeys(given[key])]),
  );
}
