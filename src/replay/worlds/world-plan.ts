import type { RecordedAction } from '../../analysis/actions/action.ts';
import { recordedActions, type ToolUse } from '../../analysis/actions/recorded-actions.ts';
import { type FoundDirectory, workdirOf } from '../../analysis/actions/workdir.ts';
import { parseJson } from '../../core/json/parse.ts';
import { isJsonObject, type JsonObject, type JsonValue, objectIn } from '../../core/json/value.ts';
import type { Rollout } from '../../core/rollout/rollout.ts';
import type { WorldImage } from '../../sandbox/worlds/image.ts';
import type { ShellKind } from '../../sandbox/worlds/world-shell.ts';

/** Settings specified by a person because the record lacks them. */
export interface WorldWishes {
  workdir?: string | undefined;
  env?: Readonly<Record<string, string>> | undefined;
  shell?: ShellKind | undefined;
  timeLimit?: number | undefined;
  tools?: Readonly<Record<string, ToolUse>> | undefined;
}

/** How a rollout's calls are run: as its record says, else as its agent does, else as is usual. */
export interface RolloutPlan {
  actions: RecordedAction[];
  workdir: FoundDirectory;
  env: Record<string, string>;
  shell: ShellKind;
  whyShell: string;
  timeLimit: number;
  hostname: string | null;
  /** Both streams come as one text. */
  merged: boolean;
  /** Exit statuses that the record keeps beside the text, by call. */
  exits: ReadonlyMap<number, number>;
}

/** The environment variables of a container in which agents run. */
const ENV: Readonly<Record<string, string>> = {
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  HOME: '/root',
  LANG: 'C.UTF-8',
  TERM: 'dumb',
  PAGER: 'cat',
  GIT_PAGER: 'cat',
  TZ: 'UTC',
};

const TIME_LIMIT = 120;

export function planRollout(
  rollout: Rollout,
  json: JsonValue | undefined,
  image: WorldImage,
  wishes: WorldWishes,
): RolloutPlan {
  const actions = recordedActions(rollout, wishes.tools);
  const config = configOf(rollout.extras);
  const { shell, why, merged } = shellOf(actions, rollout, wishes);
  const events = eventsOf(json);
  return {
    actions,
    workdir: startDirectory(image, wishes.workdir, workdirOf(rollout, actions, json)),
    env: { ...ENV, ...image.env, ...config.env, ...wishes.env },
    shell,
    whyShell: why,
    timeLimit: wishes.timeLimit ?? config.timeLimit ?? describedShell(rollout).timeLimit ?? TIME_LIMIT,
    hostname: events.hostname,
    merged,
    exits: exitsOf(events.list, rollout),
  };
}

/** The directory that commands begin in: as a person says, as the record does, or as the image does. */
const startDirectory = (image: WorldImage, wish: string | undefined, found: FoundDirectory | null): FoundDirectory =>
  wish !== undefined
    ? { path: wish, how: 'recorded', why: '--workdir' }
    : (found ?? {
        path: image.workdir ?? '/',
        how: 'inferred',
        why: image.workdir === null ? 'nothing names another' : 'the image names it',
      });

/** The plan for the tools of a new rollout, which has no record. */
export const newPlan = (image: WorldImage, { workdir, env, shell, timeLimit }: WorldWishes): RolloutPlan => ({
  actions: [],
  workdir: startDirectory(image, workdir, null),
  env: { ...ENV, ...image.env, ...env },
  shell: shell ?? 'persistent',
  whyShell: shell === undefined ? 'as usual' : 'as asked',
  timeLimit: timeLimit ?? TIME_LIMIT,
  hostname: null,
  merged: true,
  exits: new Map(),
});

/** How the description of a new rollout's shell names it. */
const SHELL_NOTES: Readonly<Record<ShellKind, string>> = {
  persistent: 'Directory and variables are kept from call to call.',
  cwd: 'The directory is kept from call to call.',
  stateless: 'Each call has a new shell.',
};
const SHELLS: readonly ShellKind[] = ['persistent', 'cwd', 'stateless'];
export const shellNote = (shell: ShellKind): string => SHELL_NOTES[shell];
export const limitNote = (seconds: number): string => `A command may take ${seconds} s.`;

/** The shell and its time limit, as the descriptions of tools name them. */
function describedShell({ toolSchemas }: Pick<Rollout, 'toolSchemas'>): {
  shell: ShellKind | null;
  timeLimit: number | null;
} {
  const text = toolSchemas.map((schema) => objectAt(schema, 'function').description ?? '').join('\n');
  const seconds = /\bA command may take (\d+(?:\.\d+)?) s\./.exec(text)?.[1];
  return {
    shell: SHELLS.find((kind) => text.includes(SHELL_NOTES[kind])) ?? null,
    timeLimit: seconds === undefined ? null : Number(seconds),
  };
}

const objectAt = (value: JsonValue | undefined, ...way: readonly string[]): JsonObject => {
  let here: JsonValue | undefined = value;
  for (const key of way) here = isJsonObject(here) ? here[key] : undefined;
  return objectIn(here);
};

/** The settings that mini-swe-agent, SWE-agent and our branches record. */
function configOf(extras: JsonObject): { env: Record<string, string>; timeLimit: number | null } {
  const mini = objectAt(extras, 'info', 'config', 'environment');
  let swe: JsonObject = {};
  if (typeof extras.replay_config === 'string')
    try {
      swe = objectAt(parseJson(extras.replay_config), 'agent', 'tools');
    } catch {
      // A setting of another shape is ignored.
    }
  const branch = objectAt(extras, 'fork', 'world');
  const env = Object.fromEntries(
    Object.entries({ ...objectAt(swe.env_variables), ...objectAt(mini.env), ...objectAt(branch.env) }).filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string',
    ),
  );
  const limit = branch.time_limit ?? mini.timeout ?? swe.execution_timeout;
  return { env, timeLimit: typeof limit === 'number' && limit > 0 ? limit : null };
}

/** Which shell an agent has: known agents by their tools, others by what they say and show. */
function shellOf(
  actions: readonly RecordedAction[],
  rollout: Rollout,
  wishes: WorldWishes,
): { shell: ShellKind; why: string; merged: boolean } {
  const shells = actions.filter(({ action }) => action.kind === 'shell');
  const names = new Set(shells.map(({ name }) => name));
  const isApart = shells.some(
    ({ result }) => /^\{"(?:exit_code|stdout)"/.test(result?.trimStart() ?? '') && /"stderr"/.test(result ?? ''),
  );
  const merged = !isApart && !names.has('Bash');
  const wish =
    wishes.shell ?? (Object.values(wishes.tools ?? {}).includes('shell:stateless') ? 'stateless' : undefined);
  if (wish !== undefined) return { shell: wish, why: 'as asked', merged };
  const branch = SHELLS.find((kind) => kind === objectAt(rollout.extras, 'fork', 'world').shell);
  if (branch !== undefined) return { shell: branch, why: 'the branch says so', merged };
  const noted = describedShell(rollout).shell;
  if (noted !== null) return { shell: noted, why: 'the description of its tool says so', merged };
  if (names.has('Bash')) return { shell: 'cwd', why: "Claude Code's Bash keeps the directory alone", merged };
  if (
    ['shell_command', 'local_shell', 'exec_command'].some((name) => names.has(name)) ||
    shells.some(({ action }) => action.kind === 'shell' && action.workdir !== null)
  )
    return { shell: 'stateless', why: "Codex' shell starts over", merged };
  if (
    shells.some(({ result }) => /^<returncode>/.test(result ?? '')) ||
    objectAt(rollout.extras, 'info').mini_version !== undefined
  )
    return { shell: 'stateless', why: 'mini-swe-agent begins a new shell each time', merged };
  if (
    names.has('execute_bash') ||
    shells.some(({ name, action }) => action.kind === 'shell' && name !== 'bash' && action.command.startsWith(name))
  )
    return { shell: 'persistent', why: 'OpenHands and SWE-agent keep one shell', merged };
  if (isApart) return { shell: 'stateless', why: 'its results have an exit status and two streams each', merged };
  return { ...byEvidence(shells), merged };
}

/** A variable, function or directory from an earlier call that a later one finds, or does not. */
function byEvidence(shells: readonly RecordedAction[]): { shell: ShellKind; why: string } {
  let dir: string | null = null;
  const names = new Map<string, string>();
  for (const { action, result } of shells) {
    if (action.kind !== 'shell' || result === null) continue;
    const { command } = action;
    if (dir !== null && /^pwd\b/.test(command) && !/^\s*cd\b/.test(command)) {
      const said = /^(\/\S*)/.exec(result)?.[1];
      if (said !== undefined)
        return said === dir
          ? { shell: 'persistent', why: 'a later pwd is in the directory of an earlier cd' }
          : { shell: 'stateless', why: 'a later pwd is not in the directory of an earlier cd' };
    }
    for (const [name, value] of names) {
      const asked = new RegExp(`\\$\\{?${name}\\b`).test(command);
      if (!asked || new RegExp(`\\b${name}=`).test(command)) continue;
      return result.includes(value)
        ? { shell: 'persistent', why: `a later call finds ${name}` }
        : { shell: 'stateless', why: `a later call does not find ${name}` };
    }
    for (const [, name = '', value = ''] of command.matchAll(/\bexport ([A-Za-z_]\w*)=([\w./-]{2,})/g))
      names.set(name, value);
    const cd = /^\s*cd (\/[\w./-]+)/.exec(command)?.[1];
    if (cd !== undefined) dir = cd.replace(/\/$/, '');
  }
  const isRepeated =
    shells.filter(({ action }) => action.kind === 'shell' && /^\s*cd \/\S+\s*&&/.test(action.command)).length >
    shells.length / 2;
  return isRepeated
    ? { shell: 'stateless', why: 'most commands change to their directory first' }
    : { shell: 'persistent', why: 'the record does not say; --shell sets another' };
}

function eventsOf(json: JsonValue | undefined): { list: JsonObject[]; hostname: string | null } {
  const record = objectIn(json);
  const found = [record.events, record.history].find(Array.isArray) ?? [];
  const list = found.filter((one): one is JsonObject => isJsonObject(one));
  const metadata = list
    .map((event) => objectAt(event, 'extras', 'metadata'))
    .find(({ hostname }) => typeof hostname === 'string');
  return { list, hostname: typeof metadata?.hostname === 'string' ? metadata.hostname : null };
}

/** OpenHands keeps the status of a command beside its text. */
function exitsOf(events: readonly JsonObject[], rollout: Rollout): Map<number, number> {
  const byId = new Map<string, number>();
  for (const event of events) {
    const id = objectAt(event, 'tool_call_metadata').tool_call_id;
    const exit = objectAt(event, 'extras', 'metadata').exit_code;
    if (typeof id === 'string' && typeof exit === 'number') byId.set(id, exit);
  }
  const exits = new Map<number, number>();
  for (const { toolCalls } of rollout.turns)
    for (const { id, index } of toolCalls) {
      const exit = id === null ? undefined : byId.get(id);
      if (exit !== undefined) exits.set(index, exit);
    }
  return exits;
}
