import { randomUUID } from 'node:crypto';
import { freemem } from 'node:os';
import type { CallAction, RecordedAction } from '../../analysis/actions/action.ts';
import { actionOf, type ToolUse } from '../../analysis/actions/recorded-actions.ts';
import { framedLike, seenResult } from '../../analysis/actions/seen-result.ts';
import { Limiter } from '../../core/async/limiter.ts';
import { isJsonObject, type JsonObject } from '../../core/json/value.ts';
import { type Rollout, toolCallsOf } from '../../core/rollout/rollout.ts';
import { errorMessage } from '../../core/text/thrown.ts';
import type { Cause } from '../../engine/common/faults.ts';
import { OpenAIFunctionToolSchema } from '../../engine/index.ts';
import type { Tool, ToolResult, ToolRun } from '../../engine/tools/tool.ts';
import type { ToolBox } from '../../engine/tools/tool-box.ts';
import { type LayerRecord, LayerWriter, layerId, removeTree } from '../../sandbox/worlds/layers.ts';
import type { ChangedPath } from '../../sandbox/worlds/tree.ts';
import type { LiveWorld } from '../../sandbox/worlds/world.ts';
import { FileTools } from './file-tools.ts';
import { endNote, openWorld, type WorldOptions } from './replay-world.ts';
import { limitNote, shellNote } from './world-plan.ts';

/** A tool of a container, and the recorded result whose form its answers take. */
export interface WorldTool {
  schema: OpenAIFunctionToolSchema;
  use: ToolUse | undefined;
  example: string | null;
}

/** The changes that a rollout's tools made in its world, known once they are released. */
export interface WorldEnd {
  /** The name of its last state in the store of layers. */
  layer: string;
  changed: ChangedPath[];
  /** Paths that could not be kept, with the reason. */
  lost: string[];
}

interface OpenWorld {
  world: LiveWorld;
  files: FileTools;
  folder: string;
  before: readonly LayerRecord[];
  /** Calls run one after another. */
  last: Promise<unknown>;
  leave: () => void;
}

/** The memory that a typical agent's world takes; it limits how many are open at once. */
const WORLD_MB = 256;
const MB = 2 ** 20;

/**
 * The engine's tools, run in a rollout's container: each rollout has a separate world, over the layers of a recorded state or over the
 * image alone. Worlds wait for each other where memory is short.
 */
export class WorldTools implements ToolBox {
  readonly tools: readonly Tool[];
  readonly key: string;
  readonly #options: WorldOptions;
  readonly #before: () => Promise<readonly LayerRecord[]>;
  readonly #worlds = new Map<string, Promise<OpenWorld>>();
  /** Tools of a rollout that are not released. */
  readonly #users = new Map<string, number>();
  readonly #ends = new Map<string, WorldEnd>();
  readonly #places = new Limiter(Math.max(1, Math.floor(freemem() / MB / WORLD_MB)));

  /** @param before the layers of the state that each world begins in */
  constructor(options: WorldOptions, tools: readonly WorldTool[], before: () => Promise<readonly LayerRecord[]>) {
    const { image, plan, network } = options;
    this.#options = options;
    this.#before = before;
    this.key = layerId(image.key, { workdir: plan.workdir.path, env: plan.env, shell: plan.shell, network });
    this.tools = tools.map((tool) => this.#toolOf(tool));
  }

  /** Settings that a record of these tools' calls keeps, so that a replay runs them alike. */
  get settings(): JsonObject {
    const { workdir, shell, timeLimit, env } = this.#options.plan;
    return { workdir: workdir.path, shell, time_limit: timeLimit, env };
  }

  /** null if the rollout had no world, or still has it. */
  endOf(instanceId: string): WorldEnd | null {
    return this.#ends.get(instanceId) ?? null;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#worlds.keys()].map((id) => this.#end(id, false)));
  }

  #toolOf({ schema, use, example }: WorldTool): Tool {
    const { name } = schema.function;
    return {
      name,
      getOpenAIToolSchema: () => schema,
      create: async (instanceId = randomUUID()) => {
        this.#users.set(instanceId, (this.#users.get(instanceId) ?? 0) + 1);
        return { instanceId, response: { text: '' } };
      },
      execute: async (instanceId, parameters, _kwargs = {}, run = {}) => {
        if (!this.#users.has(instanceId)) throw new Error(`${name} has no instance '${instanceId}': create it first`);
        const action = actionOf({ name, arguments: parameters, error: null }, use);
        let open: OpenWorld;
        try {
          open = await this.#open(instanceId, run);
        } catch (error) {
          return lost(`its world did not start: ${errorMessage(error)}`, 'tool_unavailable');
        }
        const answer = open.last.then(() => this.#run(open, action, example, run));
        open.last = answer.catch(() => {});
        return answer;
      },
      calcReward: async () => null,
      release: async (instanceId) => {
        const left = (this.#users.get(instanceId) ?? 0) - 1;
        if (left > 0) return void this.#users.set(instanceId, left);
        this.#users.delete(instanceId);
        await this.#end(instanceId, true);
      },
    };
  }

  /** The world of a rollout, opened with its first call. */
  #open(instanceId: string, { clock, signal }: ToolRun): Promise<OpenWorld> {
    let opening = this.#worlds.get(instanceId);
    if (opening === undefined) {
      // The wait for a place is not the call's time.
      clock?.pause();
      opening = this.#start(signal, () => clock?.resume());
      this.#worlds.set(instanceId, opening);
      opening.catch(() => this.#worlds.delete(instanceId));
    }
    return opening;
  }

  #start(signal: AbortSignal | undefined, onPlace: () => void): Promise<OpenWorld> {
    return new Promise((resolve, reject) => {
      const hold = async () => {
        onPlace();
        signal?.throwIfAborted();
        const before = await this.#before();
        const folder = this.#options.store.live();
        const world = openWorld(this.#options, folder, before);
        try {
          await world.open();
        } catch (error) {
          await world.close();
          removeTree(folder);
          throw error;
        }
        const files = new FileTools(world, before.findLast(({ tools }) => tools !== null)?.tools ?? null);
        await new Promise<void>((leave) => {
          resolve({ world, files, folder, before, last: Promise.resolve(), leave });
        });
      };
      this.#places.run(hold).catch(reject);
    });
  }

  async #run(
    { world, files }: OpenWorld,
    action: CallAction,
    example: string | null,
    { seconds, signal }: ToolRun,
  ): Promise<ToolResult> {
    const { plan } = this.#options;
    if (action.kind === 'none') return failedResult(action.reason);
    if (action.kind !== 'shell') {
      const { text } = await files.run(action, plan.workdir.path, null);
      return said(text);
    }
    if (action.isInput) return failedResult('it takes input for a running program, which no shell of a world reads');
    const limit = action.timeout ?? plan.timeLimit;
    const timeLimit = seconds === undefined ? limit : Math.min(limit, Math.max(1, seconds - 1));
    const dir = plan.shell === 'stateless' && action.workdir !== null ? action.workdir : undefined;
    // Opening the world took a while, in which the rollout may have been interrupted.
    signal?.throwIfAborted();
    const stop = () => void world.stop();
    signal?.addEventListener('abort', stop, { once: true });
    try {
      const run = await world.run(action.command, { timeLimit, merged: plan.merged, dir });
      const [stdout, stderr] = [run.stdout.toString('utf8'), run.stderr.toString('utf8')];
      const note = endNote(run, timeLimit);
      const text = framedLike(example, { stdout: `${stdout}${note}`, stderr, exit: run.exit, seconds: run.seconds });
      // A shell that a later command ends is followed by one in this state, as in a replay.
      await world.capture();
      return { ...said(text), metrics: { exit_status: run.exit, seconds: run.seconds, timed_out: run.timedOut } };
    } catch (error) {
      return lost(`its world is gone: ${errorMessage(error)}`, 'state_lost');
    } finally {
      signal?.removeEventListener('abort', stop);
    }
  }

  async #end(instanceId: string, isKept: boolean): Promise<void> {
    const opening = this.#worlds.get(instanceId);
    this.#worlds.delete(instanceId);
    const open = await opening?.catch(() => undefined);
    if (open === undefined) return;
    const { world, folder, leave } = open;
    try {
      await open.last;
      if (isKept) await this.#keep(instanceId, open);
    } catch (error) {
      this.#ends.set(instanceId, { layer: '', changed: [], lost: [errorMessage(error)] });
    } finally {
      await world.close();
      removeTree(folder);
      leave();
    }
  }

  async #keep(instanceId: string, { world, files, folder, before }: OpenWorld): Promise<void> {
    const { store, image } = this.#options;
    await world.capture();
    const goOn = world.pause();
    try {
      const writer = new LayerWriter(store, image.root, folder, before);
      const parent = before.at(-1)?.id ?? null;
      const layer = layerId(parent ?? this.key, { branch: instanceId });
      const told = {
        ...{ captured: world.captured ?? null, dir: world.dir, processes: world.processes() },
        ...{ tools: files.changedState(), lost: [...world.lost] },
      };
      const { changed, lost } = writer.freeze(layer, parent, told, (path) => world.namesIn(path));
      this.#ends.set(instanceId, { layer, changed, lost });
    } finally {
      goOn();
    }
  }
}

const said = (text: string): ToolResult => ({ response: { text }, reward: null, metrics: null });
const lost = (error: string, cause: Cause): ToolResult => ({
  ...said(''),
  response: { text: '', error, fault: 'world', cause },
});
const failedResult = (error: string): ToolResult => ({ response: { text: error, error }, reward: null, metrics: null });

/** The tools of a rollout's container that its record calls. */
export function recordedTools(
  rollout: Pick<Rollout, 'toolSchemas' | 'turns'>,
  actions: readonly RecordedAction[],
  uses: Readonly<Record<string, ToolUse>> = {},
): WorldTool[] {
  const schemas = new Map<string, OpenAIFunctionToolSchema>();
  for (const value of rollout.toolSchemas) {
    const { data } = OpenAIFunctionToolSchema.safeParse(value);
    if (data !== undefined) schemas.set(data.function.name, data);
  }
  const calls = toolCallsOf(rollout);
  const ran = actions.filter(({ action }) => action.kind !== 'none');
  return [...new Set(ran.map(({ name }) => name))].map((name) => {
    const own = calls.flatMap((one) => (one.name === name && isJsonObject(one.arguments) ? [one.arguments] : []));
    const results = ran.flatMap((one) => (one.name === name && one.action.kind === 'shell' ? (one.result ?? []) : []));
    return {
      schema: schemas.get(name) ?? calledSchema(name, own),
      use: uses[name],
      example: results.find((text) => seenResult(text).exit !== null) ?? results[0] ?? null,
    };
  });
}

const newTool = (name: string, description: string, properties: JsonObject, required: string[]): WorldTool => ({
  schema: OpenAIFunctionToolSchema.parse({
    type: 'function',
    function: { name, description, parameters: { type: 'object', properties, required } },
  }),
  use: undefined,
  example: null,
});

const textParameter = (description: string): JsonObject => ({ type: 'string', description });

/** The tools of a new rollout's container: a shell, and an editor as agents know it. */
export const newTools = ({ plan }: Pick<WorldOptions, 'plan'>): WorldTool[] => [
  newTool(
    'bash',
    `Run a command in the shell of the container. ${shellNote(plan.shell)} ${limitNote(plan.timeLimit)} Commands begin in ${plan.workdir.path}.`,
    { command: textParameter('The command.'), timeout: { type: 'number', description: 'Seconds that it may take.' } },
    ['command'],
  ),
  newTool(
    'str_replace_editor',
    'View, create and edit files of the container. old_str must be in the file exactly once.',
    {
      command: {
        type: 'string',
        enum: ['view', 'create', 'str_replace', 'insert', 'undo_edit'],
        description: 'What to do.',
      },
      path: textParameter('The absolute path of the file or folder.'),
      file_text: textParameter('create: the content.'),
      old_str: textParameter('str_replace: the text to replace.'),
      new_str: textParameter('str_replace, insert: the new text.'),
      insert_line: { type: 'integer', description: 'insert: after this line.' },
      view_range: { type: 'array', items: { type: 'integer' }, description: 'view: the first and the last line.' },
    },
    ['command', 'path'],
  ),
];

/** The schema of a tool that the record calls without showing it: the keys of its calls. */
function calledSchema(name: string, calls: readonly JsonObject[]): OpenAIFunctionToolSchema {
  const properties: JsonObject = {};
  for (const call of calls)
    for (const [key, value] of Object.entries(call))
      properties[key] ??= { type: Array.isArray(value) ? 'array' : value === null ? 'string' : typeof value };
  const required = Object.keys(properties).filter((key) => calls.every((call) => key in call));
  const parameters = { type: 'object', properties, required };
  return OpenAIFunctionToolSchema.parse({ type: 'function', function: { name, description: '', parameters } });
}
