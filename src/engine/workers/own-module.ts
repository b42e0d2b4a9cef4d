// Runs a user's JavaScript classes in a thread. Requests and answers match those of src/engine/python/bridge.py.

import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parentPort } from 'node:worker_threads';
import { errorMessage, thrownError } from '../../core/text/thrown.ts';

interface Request {
  id: number;
  op: string;
  as?: string;
  kind?: string;
  target?: { file: string; attribute: string };
  object?: string;
  method?: string;
  args?: unknown[];
  config?: unknown;
  schema?: unknown;
  task?: unknown;
  kwargs?: Record<string, unknown>;
  call?: number;
}

type OwnValues = Record<string, unknown>;
type Method = (...args: unknown[]) => unknown;

const isValues = (value: unknown): value is OwnValues => typeof value === 'object' && value !== null;

/** The keys of an object; none of anything else. */
const valuesIn = (value: unknown): OwnValues => (isValues(value) ? value : {});

const isMethod = (value: unknown): value is Method => typeof value === 'function';

class Wrong extends Error {}
class CannotLoad extends Error {}

const objects = new Map<
  string,
  { own: OwnValues; kind: string; file: string; attribute: string; last: { action?: unknown } }
>();
const cancelled = new Map<number, () => void>();

const camelOf = (name: string): string => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** Accepts both spellings: `calcReward` and `calc_reward`. */
function methodOf(own: OwnValues, name: string): Method | null {
  const camel = camelOf(name);
  for (const key of [name, camel, camel.replace(/Openai/, 'OpenAI').replace('openai', 'OpenAI')]) {
    const found = own[key];
    if (isMethod(found)) return found.bind(own);
  }
  return null;
}

async function load({ as = '', kind = 'tool', target, config, schema, task, kwargs }: Request): Promise<unknown> {
  if (target === undefined) throw new CannotLoad('no file is named');
  const { file, attribute } = target;
  let module: Record<string, unknown>;
  try {
    module = await import(pathToFileURL(file).href);
  } catch (error) {
    throw new CannotLoad(`${file}: ${thrownError(error).name}: ${errorMessage(error)}`);
  }
  const defaults: OwnValues = Object(module.default ?? {});
  const found = module[attribute] ?? (attribute === 'default' ? undefined : defaults[attribute]);
  if (found === undefined)
    throw new CannotLoad(
      `${file}: exports no '${attribute}'; it exports ${Object.keys(module).join(', ') || 'nothing'}`,
    );
  if (kind === 'reward') {
    if (typeof found !== 'function') throw new CannotLoad(`${file}: '${attribute}' is not a function`);
    objects.set(as, { own: { score: found, kwargs }, kind, file, attribute, last: {} });
    return {};
  }
  let own: OwnValues;
  try {
    own = isClass(found) ? instanceOf(found, { kind, config, schema, task }) : valuesIn(found);
  } catch (error) {
    throw new CannotLoad(`${file}: ${attribute}: ${errorMessage(error)}`);
  }
  const needed = { tool: 'execute', env: 'step', agent: 'update_from_model', interaction: 'generate_response' }[kind];
  if (needed !== undefined && methodOf(own, needed) === null)
    throw new CannotLoad(`${file}: ${attribute} has no method ${needed}`);
  const given = methodOf(own, 'get_openai_tool_schema')?.() ?? schema ?? null;
  const steps = own.maxSteps ?? own.max_steps;
  const about = kind === 'tool' ? { schema: given } : { max_steps: typeof steps === 'number' ? steps : null };
  objects.set(as, { own, kind, file, attribute, last: {} });
  return about;
}

interface OwnClass {
  new (...args: unknown[]): OwnValues;
  fromDict?: unknown;
  from_dict?: unknown;
}

const isClass = (value: unknown): value is OwnClass => typeof value === 'function';

function instanceOf(Class: OwnClass, { kind, config, schema, task }: Omit<Request, 'id' | 'op'>): OwnValues {
  const fromDict = Class.fromDict ?? Class.from_dict;
  if (kind === 'env' && isMethod(fromDict)) return valuesIn(fromDict.call(Class, task));
  return kind === 'tool' ? new Class(config ?? {}, schema ?? null) : new Class(kind === 'env' ? task : config);
}

const isJsNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);

function ownResultText(value: unknown): { text: string; error?: string; images?: unknown } {
  if (typeof value === 'string') return { text: value };
  const { text, error, image, images } = valuesIn(value);
  if (text !== undefined && typeof text !== 'string') throw new Wrong(`a text that is a ${typeof text}`);
  if (typeof value !== 'object' || value === null || text === undefined)
    throw new Wrong(`${describe(value)} in the place of the tool's text`);
  const pictures = image ?? images;
  return { text, ...(typeof error === 'string' ? { error } : {}), ...(pictures ? { images: pictures } : {}) };
}

const describe = (value: unknown): string => {
  if (value === null || value === undefined) return String(value);
  if (typeof value === 'number') return Number.isFinite(value) ? 'a number' : String(value);
  if (ArrayBuffer.isView(value)) return 'bytes';
  if (value instanceof Promise) return 'a promise (an await is missing)';
  return Array.isArray(value)
    ? `a list of ${value.length}`
    : `${typeof value === 'object' ? 'an' : 'a'} ${typeof value}`;
};

/** Characters per answer, as with Python. */
const MOST = 64 * 1024 * 1024;

/** A value as JSON can hold it: reports what JSON.stringify would change silently. */
function plainCopy(value: unknown, depth = 0): unknown {
  if (value === null || value === undefined) return null;
  if (typeof value === 'string' || typeof value === 'boolean' || isJsNumber(value)) return value;
  if (typeof value !== 'object' || ArrayBuffer.isView(value) || value instanceof Promise || depth > 200)
    throw new Wrong(`${depth > 200 ? 'a value that is nested too deep' : describe(value)}, which JSON cannot hold`);
  const { toJSON } = valuesIn(value);
  if (typeof toJSON === 'function') return plainCopy(toJSON.call(value), depth + 1);
  if (Array.isArray(value)) return value.map((one) => plainCopy(one, depth + 1));
  if (value instanceof Map || value instanceof Set)
    throw new Wrong(`a ${value instanceof Map ? 'Map' : 'Set'}, which JSON cannot hold`);
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, one]) => (one === undefined ? [] : [[key, plainCopy(one, depth + 1)]])),
  );
}

function answerable(value: unknown): unknown {
  const whole = plainCopy(value);
  const { length } = JSON.stringify(whole);
  if (length > MOST) throw new Wrong(`${Math.round(length / 1e6)} MB; an answer may have ${Math.round(MOST / 1e6)} MB`);
  return whole;
}

/** `Class.method (file.mjs:12)`: the first line in the file that declares the method. */
function errorPlace({ object = '', method = '' }: Request): string {
  const held = objects.get(object);
  if (held === undefined) return '';
  const names = held.kind === 'reward' ? [held.attribute] : [method, camelOf(method), ...(OWN_NAMES[method] ?? [])];
  let line = '';
  try {
    const declares = new RegExp(`(?:^|[\\s.*])(?:${names.join('|')})\\s*(?:\\(|=)`);
    const at = readFileSync(held.file, 'utf8')
      .split('\n')
      .findIndex((text) => declares.test(text));
    line = at === -1 ? '' : `:${at + 1}`;
  } catch {
    // The file has been deleted since.
  }
  const name = held.kind === 'reward' ? held.attribute : `${held.attribute}.${method}`;
  return `${name} (${basename(held.file)}${line})`;
}

/** The users' names for methods that have a short name here. */
const OWN_NAMES: Readonly<Record<string, readonly string[]>> = {
  start: ['startInteraction', 'start_interaction'],
  respond: ['generateResponse', 'generate_response'],
  finalize: ['finalizeInteraction', 'finalize_interaction'],
};

function reward(value: unknown, what: string): number | null {
  if (value === null || value === undefined) return null;
  if (!isJsNumber(value))
    throw new Wrong(`${what} is ${typeof value === 'number' ? value : describe(value)}, not a number or null`);
  return value;
}

async function call(request: Request): Promise<unknown> {
  const { object = '', args = [], method = '' } = request;
  const held = objects.get(object);
  if (held === undefined) throw new CannotLoad(`no object ${object} is here`);
  const { own, last } = held;
  const ask = (name: string, ...given: unknown[]) => Promise.resolve(methodOf(own, name)?.(...given));
  switch (`${held.kind}.${method}`) {
    case 'tool.create': {
      const made = await ask('create', ...args);
      const [id, said] = Array.isArray(made) ? made : [made, undefined];
      const whole = isValues(id) ? id : null;
      const instance = whole === null ? id : (whole.instanceId ?? whole.instance_id);
      return { instance: String(instance ?? args[0]), ...ownResultText(said ?? whole?.response ?? '') };
    }
    case 'tool.execute': {
      const made = await ask('execute', ...args);
      if (Array.isArray(made)) {
        const [said, step, metrics = null] = made;
        return { ...ownResultText(said), reward: reward(step, 'the step reward'), metrics };
      }
      const { response, reward: step, metrics = null } = valuesIn(made);
      return { ...ownResultText(response ?? made), reward: reward(step, 'the step reward'), metrics };
    }
    case 'tool.calc_reward':
      return (await ask('calc_reward', ...args)) ?? null;
    case 'tool.release':
      await ask('release', ...args);
      return null;
    case 'reward.score': {
      const { data_source, solution_str, ground_truth, extra_info } = valuesIn(args[0]);
      // verl's keyword arguments are passed as one object after the others.
      const value = await methodOf(own, 'score')?.(
        data_source,
        solution_str,
        ground_truth,
        extra_info,
        own.kwargs ?? {},
      );
      const whole = isValues(value) ? value : null;
      const score = reward(whole === null ? value : (whole.score ?? whole.reward), 'the score');
      if (score === null) throw new Wrong(`${describe(value)}, not a score`);
      const { score: _score, ...metadata } = whole ?? {};
      return { score, metadata };
    }
    case 'interaction.start':
      return String((await ask('start_interaction', ...args)) ?? args[0]);
    case 'interaction.respond': {
      const made = await ask('generate_response', ...args);
      if (!Array.isArray(made) || typeof made[1] !== 'string')
        throw new Wrong(`${describe(made)}; [shouldTerminate, text, score, metadata] is expected`);
      return { done: Boolean(made[0]), text: made[1], reward: reward(made[2], 'the score'), metrics: made[3] ?? null };
    }
    case 'interaction.finalize':
      await ask('finalize_interaction', ...args);
      return null;
    case 'env.reset': {
      const made = await ask('reset');
      const [observation, info = {}] = Array.isArray(made) ? made : [made];
      return { observation: observation ?? null, info };
    }
    case 'env.step': {
      const made = await ask('step', ...args);
      const whole = valuesIn(made);
      const [observation, step, done, info] = Array.isArray(made)
        ? made
        : [whole.observation, whole.reward, whole.done, whole.info];
      if (typeof made !== 'object' || made === null || observation === undefined)
        throw new Wrong(`${describe(made)}; [observation, reward, done, info] is expected`);
      return { observation, reward: reward(step, 'the reward') ?? 0, done: Boolean(done), info: info ?? {} };
    }
    case 'env.final_reward':
      return reward(await ask('final_reward'), 'the final reward');
    case 'env.close':
      await ask('close');
      return null;
    case 'agent.reset':
      await ask('reset');
      return {};
    case 'agent.update_from_env':
      await ask('update_from_env', ...args);
      return { messages: own.chatCompletions ?? own.chat_completions };
    case 'agent.update_from_model':
      last.action = await ask('update_from_model', ...args);
      return { action: last.action ?? null, messages: own.chatCompletions ?? own.chat_completions, thought: '' };
    default:
      throw new Wrong(`no method ${method}`);
  }
}

/** The stack frames in the user's files. */
function traceOf(error: Error): string {
  const frames = (error.stack ?? '')
    .split('\n')
    .filter((line) => /^\s+at /.test(line) && !/node:|own-module\.js/.test(line));
  return [`${error.name}: ${error.message}`, ...frames].join('\n');
}

async function answerParent(request: Request): Promise<void> {
  const { id, op } = request;
  try {
    const work = op === 'load' ? load(request) : op === 'call' ? call(request) : Promise.resolve(null);
    const given = new Promise<never>((_, reject) =>
      cancelled.set(id, () => reject(Object.assign(new Error('cancelled'), { stuck: true }))),
    );
    // JSON is the contract, as with Python: report values it cannot hold here rather than at the reader.
    parentPort?.postMessage({ id, value: answerable(await Promise.race([work, given])) });
  } catch (thrown) {
    const error = thrown instanceof Error ? thrown : new Error(String(thrown));
    const kind = error instanceof CannotLoad ? 'load' : error instanceof Wrong ? 'shape' : 'raised';
    const place = errorPlace(request);
    const said = error.message.startsWith('the ') ? error.message : `it gave ${error.message}`;
    const message = kind === 'shape' ? `${place === '' ? request.method : place}: ${said}` : error.message;
    parentPort?.postMessage({
      id,
      error: {
        type: error.name,
        kind,
        message,
        trace: kind === 'raised' ? traceOf(error) : null,
        stuck: 'stuck' in error,
      },
    });
  } finally {
    cancelled.delete(id);
  }
}

parentPort?.on('message', (request: Request) => {
  if (request.op === 'cancel') cancelled.get(request.call ?? -1)?.();
  else void answerParent(request);
});
process.on('unhandledRejection', (error) => console.error(error));
