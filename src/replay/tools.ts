import { AsyncLocalStorage } from 'node:async_hooks';
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import type { Tool } from '../engine/index.ts';
import { parseTools } from '../engine/index.ts';
import type { OwnCode } from '../engine/own/own-code.ts';
import { OwnTool, startOwnTools } from '../engine/own/own-tool.ts';
import type { OwnUse } from '../engine/own/own-use.ts';
import { CalcGsm8kRewardTool } from '../engine/tools/calc-gsm8k-reward.ts';
import { CodeInterpreterTool } from '../engine/tools/code-interpreter.ts';
import { type ToolKind, toolKind } from '../engine/tools/registry.ts';
import { OpenAIFunctionToolSchema } from '../engine/tools/schema.ts';
import { SessionTool } from '../engine/tools/session-tool.ts';
import { readYaml } from '../engine/yaml-file.ts';
import type { JsonObject, JsonValue } from '../json/value.ts';
import { isJsonObject } from '../json/value.ts';
import type { Run } from '../sandbox/check-correctness.ts';
import { isLanguage, type RunCodeResponse } from '../sandbox/protocol.ts';
import { reasonOf, shapeProblem } from '../text/problems.ts';

/** A tool that can run a recorded call. */
export interface ReplayTool {
  name: string;
  /** Where it was found, for people: `--tools verl.yaml`, `--tool python=bash`, `built in`. */
  from: string;
  /** The language of the code it runs on the backend; null for a tool that runs no code. */
  language: string | null;
  /** Calls of one rollout share a state. */
  stateful: boolean;
  /** A server of its own that calls go to; null for one that runs here or on the backend. */
  url: string | null;
  /** A class of the user's own, which runs with their rights; null for any other. */
  own: OwnUse | null;
  /** Needs what the record says of the task (a ground truth) to be made. */
  needsCreateKwargs: boolean;
  /** The code that a call runs; null where the arguments hold none. */
  codeOf(args: JsonValue | null): CallCode | null;
  /** The call's arguments as the tool takes them. */
  argumentsOf(args: JsonValue | null): JsonObject | null;
  tool: Tool;
}

export interface CallCode {
  code: string;
  language: string;
  /** Seconds. */
  timeout: number;
}

export interface ReplayToolsOptions {
  /** The path of a verl tool file. */
  tools?: string | undefined;
  /** `--tool NAME=LANGUAGE`: the tool's code runs as that language. */
  mapped?: Readonly<Record<string, string>>;
  /** Runs classes of the user's own that the tool file names. */
  own?: OwnCode | undefined;
  /** Seconds for the code of a call, in the place of what the tool or the call says. */
  timeout?: number | undefined;
}

const ToolFileConfig = z.looseObject({
  tools: z.array(
    z.looseObject({
      config: z
        .looseObject({
          stateful: z.boolean().optional(),
          sandbox_fusion_url: z.string().optional(),
          session_url: z.string().optional(),
          default_language: z.string().optional(),
          default_timeout: z.number().optional(),
        })
        .nullish(),
    }),
  ),
});
type EntryConfig = NonNullable<z.infer<typeof ToolFileConfig>['tools'][number]['config']>;

/** Where no tool file sets a limit, how much runs at once is the backend's affair. */
const UNLIMITED = { enable_global_rate_limit: false, num_workers: 1024 };

/** verl's default, in seconds. */
const DEFAULT_TIMEOUT = 30;

/**
 * The tools that recorded calls can be run with: those of the tool file, those the user maps to a language, and the built-in ones under
 * their own names.
 */
export class ReplayTools {
  readonly #named = new Map<string, ReplayTool>();
  readonly #options: ReplayToolsOptions;
  /** The one server that the tool file names; null where it names none. */
  readonly sandboxUrl: string | null;
  readonly timeout: number | undefined;
  #run: Run | null = null;
  readonly #answers = new AsyncLocalStorage<RunCodeResponse[]>();

  /** @throws Error that names the file, the entry and what to do */
  constructor(options: ReplayToolsOptions = {}) {
    this.#options = options;
    this.timeout = options.timeout;
    this.sandboxUrl = options.tools === undefined ? null : this.#readFile(options.tools);
    for (const [name, language] of Object.entries(options.mapped ?? {})) {
      if (!isLanguage(language))
        throw new TypeError(`--tool ${name}=${language}: '${language}' is no language of SandboxFusion`);
      this.#named.set(name, this.#mapped(name, language));
    }
  }

  /** The classes of the user's own that `start` would run. */
  get ownUses(): OwnUse[] {
    return [...this.#named.values()].flatMap(({ own }) => (own === null ? [] : [own]));
  }

  /** Starts the user's own classes; one whose schema stands in the class has its name from then on. @throws Error that names the file and line */
  async start(signal?: AbortSignal): Promise<void> {
    const own = [...this.#named].filter(([, { own }]) => own !== null);
    await startOwnTools(
      own.map(([, { tool }]) => tool),
      signal,
    );
    for (const [before, made] of own) {
      this.#named.delete(before);
      this.#named.set(made.tool.name, { ...made, name: made.tool.name });
    }
  }

  close(): void {
    this.#options.own?.close();
  }

  /** From here on the tools' code runs there. */
  use(run: Run): void {
    this.#run = run;
  }

  /** What the sandbox answered while `work` ran, beside what `work` gives: tools themselves keep only their text. */
  async listening<T>(work: () => Promise<T>): Promise<{ value: T; answers: RunCodeResponse[] }> {
    const answers: RunCodeResponse[] = [];
    return { value: await this.#answers.run(answers, work), answers };
  }

  /** null: no tool here has that name. @param schemas the tool schemas that the record shows */
  for(name: string, schemas: readonly JsonValue[] = []): ReplayTool | null {
    const named = this.#named.get(name);
    if (named !== undefined) return named;
    const kind = toolKind(name);
    const made = kind === undefined ? null : this.#builtIn(name, kind, schemas);
    if (made !== null) this.#named.set(name, made);
    return made;
  }

  /** All tools whose names the record shows, as the engine takes them. */
  forFork(schemas: readonly JsonValue[]): Tool[] {
    if (this.#options.tools !== undefined) return [...this.#named.values()].map(({ tool }) => tool);
    return schemas.flatMap((value) => {
      const schema = OpenAIFunctionToolSchema.safeParse(value);
      const found = schema.success ? this.for(schema.data.function.name, schemas) : null;
      return found === null ? [] : [found.tool];
    });
  }

  readonly #ask: Run = async (request, call) => {
    if (this.#run === null) throw new Error('no sandbox is open');
    const answer = await this.#run(request, call);
    this.#answers.getStore()?.push(answer);
    return answer;
  };

  #readFile(path: string): string | null {
    let text: string;
    try {
      text = readFileSync(path, 'utf8');
    } catch (error) {
      throw new Error(`${path}: ${reasonOf(error)}; --tools names a tool file in verl's form (YAML)`);
    }
    const tools = parseTools(text, path, { run: this.#ask, own: this.#options.own });
    const { value, at } = readYaml(text, path);
    const file = ToolFileConfig.safeParse(value);
    if (!file.success) {
      const { issues } = file.error;
      throw new Error(`${at(issues[0]?.path ?? [])}: not a tool file: ${shapeProblem(issues)}`);
    }
    const configs = file.data.tools.map(({ config }) => config ?? {});
    for (const [i, tool] of tools.entries()) this.#named.set(tool.name, this.#entry(tool, configs[i] ?? {}, path));
    const urls = new Set(configs.flatMap(({ sandbox_fusion_url: url }) => (url ? [url] : [])));
    if (urls.size > 1)
      throw new Error(`${path}: its tools name ${urls.size} different sandboxes: choose one with --sandbox`);
    return [...urls][0] ?? null;
  }

  #entry(tool: Tool, config: EntryConfig, path: string): ReplayTool {
    const isCode = tool instanceof CodeInterpreterTool;
    return {
      ...this.#plain(tool, `--tools ${path}`),
      ...(isCode ? this.#code(config) : {}),
      // Nothing says whether a class keeps state; one that does not gives the same after its earlier calls.
      stateful: config.stateful ?? (tool instanceof SessionTool || tool instanceof OwnTool),
      url: tool instanceof SessionTool ? (config.session_url ?? null) : null,
    };
  }

  #builtIn(name: string, kind: ToolKind, schemas: readonly JsonValue[]): ReplayTool | null {
    const recorded = schemas
      .map((value) => OpenAIFunctionToolSchema.safeParse(value))
      .find((read) => read.data?.function.name === name);
    const schema = kind.schema ?? recorded?.data ?? plainSchema(name);
    try {
      const tool = kind.make(UNLIMITED, schema, { run: this.#ask });
      return { ...this.#plain(tool, 'built in'), ...(tool instanceof CodeInterpreterTool ? this.#code({}) : {}) };
    } catch {
      // A tool that needs a configuration (a session's URL) is there only with a tool file.
      return null;
    }
  }

  #mapped(name: string, language: string): ReplayTool {
    const tool = new CodeInterpreterTool({ ...UNLIMITED, default_language: language }, plainSchema(name), this.#ask);
    const code = this.#code({ default_language: language });
    const argumentsOf = (args: JsonValue | null): JsonObject | null => {
      const text = soleCode(args);
      return text === null ? null : code.argumentsOf({ code: text, ...timeoutOf(args) });
    };
    return {
      ...this.#plain(tool, `--tool ${name}=${language}`),
      ...code,
      argumentsOf,
      codeOf: (args) => code.codeOf(argumentsOf(args)),
    };
  }

  readonly #code = (config: EntryConfig) => codeTool(config, this.timeout);

  #plain(tool: Tool, from: string): ReplayTool {
    return {
      name: tool.name,
      from,
      tool,
      language: null,
      stateful: false,
      url: null,
      own: tool instanceof OwnTool ? tool.use : null,
      needsCreateKwargs: tool instanceof CalcGsm8kRewardTool,
      codeOf: () => null,
      argumentsOf: (args) => (isJsonObject(args ?? undefined) ? (args as JsonObject) : null),
    };
  }
}

function codeTool(
  { default_language: language = 'python', default_timeout: seconds = DEFAULT_TIMEOUT }: EntryConfig,
  limit: number | undefined,
) {
  return {
    language,
    argumentsOf(args: JsonValue | null): JsonObject | null {
      if (!isJsonObject(args ?? undefined)) return null;
      return limit === undefined ? (args as JsonObject) : { ...(args as JsonObject), timeout: limit };
    },
    codeOf(args: JsonValue | null): CallCode | null {
      if (!isJsonObject(args ?? undefined)) return null;
      const { code, timeout, language: own } = args as JsonObject;
      if (typeof code !== 'string') return null;
      return {
        code,
        language: typeof own === 'string' && own !== '' ? own : language,
        timeout: limit ?? (typeof timeout === 'number' && timeout > 0 ? timeout : seconds),
      };
    },
  };
}

const CODE_KEYS = ['code', 'command', 'cmd', 'script', 'source', 'input', 'program'];

/** The code among a foreign tool's arguments: the text itself, a key that says so, or the only text there is. */
function soleCode(args: JsonValue | null): string | null {
  if (typeof args === 'string') return args;
  if (!isJsonObject(args ?? undefined)) return null;
  const object = args as JsonObject;
  const key = CODE_KEYS.find((name) => typeof object[name] === 'string');
  if (key !== undefined) return object[key] as string;
  const texts = Object.values(object).filter((value) => typeof value === 'string');
  return texts.length === 1 ? (texts[0] as string) : null;
}

const timeoutOf = (args: JsonValue | null): JsonObject => {
  const timeout = isJsonObject(args ?? undefined) ? (args as JsonObject).timeout : undefined;
  return typeof timeout === 'number' ? { timeout } : {};
};

const plainSchema = (name: string): OpenAIFunctionToolSchema =>
  OpenAIFunctionToolSchema.parse({ type: 'function', function: { name, description: '' } });
