import { posix } from 'node:path';
import { parseJson } from '../../core/json/parse.ts';
import { isJsonObject, type JsonObject, type JsonValue, objectIn } from '../../core/json/value.ts';
import type { Rollout } from '../../core/rollout/rollout.ts';
import type { RecordedAction } from './action.ts';
import { argumentsOf, textAt } from './tools/arguments.ts';

/** A directory, and how it was found. */
export interface FoundDirectory {
  path: string;
  /** recorded: the record names it as the working directory. */
  how: 'recorded' | 'inferred';
  why: string;
}

/** The directory in which a rollout's commands began; null if nothing shows it. @param json the record, if at hand */
export function workdirOf(
  rollout: Pick<Rollout, 'extras' | 'turns'> & { toolSchemas?: Rollout['toolSchemas'] },
  actions: readonly RecordedAction[],
  json: JsonValue | undefined,
): FoundDirectory | null {
  const { extras, turns, toolSchemas = [] } = rollout;
  for (const [why, value] of directoryPlaces(extras, argumentsOf(json ?? null)))
    if (typeof value === 'string' && value.startsWith('/'))
      return { path: posix.normalize(value), how: 'recorded', why };
  for (const { action } of actions)
    if (action.kind === 'shell' && action.workdir?.startsWith('/'))
      return { path: posix.normalize(action.workdir), how: 'recorded', why: 'workdir of a call' };
  for (const schema of toolSchemas) {
    const { name, description } = argumentsOf(argumentsOf(schema).function);
    const dir = /\bCommands begin in (\/\S*?)\.?(?:\s|$)/.exec(String(description ?? ''))?.[1];
    if (dir !== undefined)
      return { path: posix.normalize(dir), how: 'recorded', why: `the description of ${String(name)} names it` };
  }
  for (const { role, text } of turns.slice(0, 4)) {
    if (role === 'assistant') break;
    const match =
      /<uploaded_files>\s*(\/[^\s<]*)\s*<\/uploaded_files>/.exec(text) ??
      /\b(?:[Tt]hey start|starts?|[Ww]orking directory(?: is)?|located|cwd(?: is)?:?) (?:in |at )?[`'"]?(\/[\w./@+-]*\w)/.exec(
        text,
      );
    if (match?.[1] !== undefined)
      return { path: posix.normalize(match[1]), how: 'inferred', why: `the ${role} message names it` };
  }
  return fromActions(actions) ?? fromProse(turns);
}

function* directoryPlaces(extras: JsonObject, json: JsonObject): Generator<[string, JsonValue | undefined]> {
  const at = (value: JsonValue | undefined, ...way: readonly string[]): JsonValue | undefined => {
    let here: JsonValue | undefined = value;
    for (const key of way) here = isJsonObject(here ?? null) ? objectIn(here)[key] : undefined;
    return here;
  };
  yield ['info.config.environment.cwd', at(extras, 'info', 'config', 'environment', 'cwd')];
  yield ['fork.world.workdir', at(extras, 'fork', 'world', 'workdir')];
  yield ['cwd', at(extras, 'cwd')];
  yield ['session.cwd', at(extras, 'session', 'cwd')];
  yield ['agent.extra.workdir', at(extras, 'agent', 'extra', 'workdir')];
  yield ['workdir', textAt(extras, 'workdir', 'working_dir') ?? undefined];
  // SWE-agent reports the directory after each step.
  const [step] = Array.isArray(json.trajectory) ? json.trajectory : [];
  const action = textAt(argumentsOf(step), 'action') ?? '';
  if (!/\bcd\b|\bpushd\b/.test(action))
    yield ['state.working_dir of the first step', at(stateOf(argumentsOf(step).state), 'working_dir')];
  const events = Array.isArray(json.events) ? json.events : Array.isArray(json.history) ? json.history : [];
  for (const event of events.slice(0, 12)) {
    const dir = at(event, 'extras', 'metadata', 'working_dir');
    if (dir === undefined) continue;
    if (!/\bcd\b|\bpushd\b/.test(String(at(event, 'extras', 'command') ?? ''))) yield ['metadata.working_dir', dir];
    break;
  }
}

/** SWE-agent before 1.0 keeps the state as a JSON text. */
function stateOf(state: JsonValue | undefined): JsonValue | undefined {
  if (typeof state !== 'string') return state;
  try {
    return parseJson(state);
  } catch {
    return undefined;
  }
}

/** Taken from `pwd`, or from a file that calls name both by full path and by relative path. */
function fromActions(actions: readonly RecordedAction[]): FoundDirectory | null {
  const [first] = actions;
  if (first?.action.kind === 'shell' && /^pwd\b/.test(first.action.command)) {
    const said = /^(\/\S*)/.exec(first.result ?? '')?.[1];
    if (said !== undefined) return { path: said, how: 'recorded', why: 'the first call printed it' };
  }
  const relative = new Set<string>();
  const full: string[] = [];
  for (const { action } of actions) {
    if (action.kind === 'blocks')
      for (const { path } of action.blocks) path.startsWith('/') ? full.push(path) : relative.add(path);
    if (action.kind === 'shell') full.push(...(action.command.match(/(?<=^|[\s'"=])\/[\w./@+-]*\w/g) ?? []));
  }
  for (const path of full)
    for (const name of relative)
      if (path.endsWith(`/${name}`))
        return {
          path: path.slice(0, -name.length - 1) || '/',
          how: 'inferred',
          why: `${name} is named by its full path too`,
        };
  return null;
}

function fromProse(turns: Rollout['turns']): FoundDirectory | null {
  for (const { role, text } of turns.slice(0, 4)) {
    if (role === 'assistant') break;
    const match = /\b(?:in|at|under) [`'"]?(\/(?:[\w.@+-]+\/)*[\w@+-]+(?:\.[\w@+-]+)*)/.exec(text);
    if (match?.[1] !== undefined) return { path: match[1], how: 'inferred', why: `the ${role} message names it` };
  }
  return null;
}
