import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { hashOf } from '../core/json/fingerprint.ts';
import { printJson } from '../core/json/print.ts';
import { isJsonObject, type JsonObject, type JsonValue, objectIn } from '../core/json/value.ts';
import { reasonOf, shapeProblem } from '../core/text/problems.ts';
import type { OwnUse } from '../engine/common/own-use.ts';
import { readYaml } from '../engine/common/yaml-file.ts';
import type { Tool } from '../engine/index.ts';
import { parseTools } from '../engine/index.ts';
import type { OwnCode } from '../engine/own/own-code.ts';
import { OwnTool, startOwnTools } from '../engine/own/own-tool.ts';
import { CalcGsm8kRewardTool } from '../engine/tools/calc-gsm8k-reward.ts';
import { CodeInterpreterTool } from '../engine/tools/code-interpreter.ts';
import { Geo3kTool } from '../engine/tools/geo3k-tool.ts';
import { ImageZoomTool } from '../engine/tools/image-zoom-tool.ts';
import { McpEntryTool } from '../engine/tools/mcp-entry.ts';
import { type ToolKind, toolKind } from '../engine/tools/registry.ts';
import { OpenAIFunctionToolSchema } from '../engine/tools/schema.ts';
import { SessionTool } from '../engine/tools/session-tool.ts';
import type { Run } from '../sandbox/check-correctness.ts';
import { isLanguage } from '../sandbox/protocol.ts';
import { type CallCode, codeTool, objectOf } from './call-code.ts';
import { FORMS, type Form, formNamed, PROGRAMS, type Program } from './forms.ts';
import { languageNamed } from './languages.ts';

/** A tool that can run a recorded call. */
export interface ReplayTool {
  name: string;
  /** The source, for people: `--tools verl.yaml`, `--tool python=bash`, `built in`. */
  from: string;
  /** The language of the code it runs on the backend; null for a tool that runs no code. */
  language: string | null;
  /** Calls of one rollout share state. */
  stateful: boolean;
  /** A dedicated server that calls go to; null for a tool that runs here or on the backend. */
  url: string | null;
  /** The user's own class, which runs with the user's rights; null otherwise. */
  own: OwnUse | null;
  /** Its form, if its class names one; null: inferred from the record. */
  form: Form | null;
  /** Its change to the code, determined in the same way. */
  program: Program | null;
  /** Creating it requires the record's task data (a ground truth). */
  needsCreateKwargs: boolean;
  /** It is created with the task's picture. */
  needsPicture: boolean;
  /** The code that a call runs; null if the arguments hold none. */
  codeOf(args: JsonValue | null): CallCode | null;
  /** The call's arguments in the form that the tool takes. */
  argumentsOf(args: JsonValue | null): JsonObject | null;
  tool: Tool;
}

export interface ReplayToolsOptions {
  /** The path of a verl tool file. */
  tools?: string | undefined;
  /** `--tool NAME=LANGUAGE`: the tool's code runs as that language. */
  mapped?: Readonly<Record<string, string>>;
  /** Runs the user's own classes that the tool file names. */
  own?: OwnCode | undefined;
  /** Seconds for the code of a call, replacing what the tool or the call says. */
  timeout?: number | undefined;
}

const ToolFileConfig = z.looseObject({
  tools: z.array(
    z.looseObject({
      class_name: z.string().default(''),
      config: z
        .looseObject({
          stateful: z.boolean().optional(),
          form: z.string().optional(),
          sandbox_fusion_url: z.string().optional(),
          session_url: z.string().optional(),
          default_language: z.string().optional(),
          default_timeout: z.number().optional(),
        })
        .nullish(),
    }),
  ),
});
type ToolEntry = z.infer<typeof ToolFileConfig>['tools'][number];
type EntryConfig = NonNullable<ToolEntry['config']>;

const programNamed = (name: string): Program => PROGRAMS.find((program) => program.name === name) as Program;

/** Classes with a known form, including the subclasses in verl's recipes. */
const DECLARED: readonly { className: RegExp; form: Form; program: Program | null }[] = [
  { className: /\.CustomSandboxFusionTool$/, form: formNamed('verl') as Form, program: programNamed('retool') },
  { className: /\.SandboxFusionTool$/, form: formNamed('verl') as Form, program: null },
];

const keepsState = (tool: Tool): boolean =>
  tool instanceof SessionTool ||
  tool instanceof CalcGsm8kRewardTool ||
  tool instanceof Geo3kTool ||
  tool instanceof OwnTool;

/** Without a limit in a tool file, the backend decides how much runs at once. */
const UNLIMITED = { enable_global_rate_limit: false, num_workers: 1024 };

/**
 * The tools that can run recorded calls: those of the tool file, those the user maps to a language, and the built-in ones.
 */
export class ReplayTools {
  readonly #named = new Map<string, ReplayTool>();
  readonly #options: ReplayToolsOptions;
  /** Tool file entries for MCP servers; their tools are known once `start` has queried the servers. */
  readonly #servers: { tool: McpEntryTool; path: string }[] = [];
  readonly #opened: Awaited<ReturnType<McpEntryTool['open']>>[] = [];
  /** The one server that the tool file names; null if it names none. */
  readonly sandboxUrl: string | null;
  readonly timeout: number | undefined;
  /** Tool file entries that cannot be used, with their lines. */
  readonly problems: string[] = [];
  /** The hash of the tool file's text: a different file gives different results. */
  fileHash: string | undefined;
  #run: Run | null = null;

  /** @throws Error that names the file, the entry and what to do */
  constructor(options: ReplayToolsOptions = {}) {
    this.#options = options;
    this.timeout = options.timeout;
    this.sandboxUrl = options.tools === undefined ? null : this.#readFile(options.tools);
    for (const [name, language] of Object.entries(options.mapped ?? {})) {
      const known = languageNamed(language);
      if (!isLanguage(known))
        throw new TypeError(`--tool ${name}=${language}: '${language}' is not a language of SandboxFusion`);
      this.#named.set(name, this.#mapped(name, known));
    }
  }

  /** The user's own classes, and the servers, that `start` would run. */
  get ownUses(): OwnUse[] {
    const classes = [...this.#named.values()].flatMap(({ own }) => (own === null ? [] : [own]));
    return [...classes, ...this.#servers.flatMap(({ tool }) => tool.uses)];
  }

  /**
   * Starts the user's own classes; one that declares its schema in the class gets its name from it. @throws Error that names the file and
   * line
   */
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
    for (const { tool: entry, path } of this.#servers) {
      const opened = await entry.open();
      this.#opened.push(opened);
      for (const tool of opened.tools) this.#named.set(tool.name, this.#plain(tool, `--tools ${path}`));
    }
  }

  close(): void {
    this.#options.own?.close();
    for (const opened of this.#opened.splice(0)) void opened.close().catch(() => {});
  }

  /** From now on, the tools' code runs there. */
  use(run: Run): void {
    this.#run = run;
  }

  /** null: no tool here has that name. @param schemas the tool schemas shown in the record */
  for(name: string, schemas: readonly JsonValue[] = []): ReplayTool | null {
    const named = this.#named.get(name);
    if (named !== undefined) return named;
    const kind = toolKind(name);
    const made =
      kind !== undefined
        ? this.#builtIn(name, kind, schemas)
        : PYTHON_NAMES.test(name)
          ? { ...this.#mapped(name, 'python'), from: 'its name' }
          : null;
    if (made !== null) this.#named.set(name, made);
    return made;
  }

  /** All tools whose names the record shows, in the engine's form. */
  forFork(schemas: readonly JsonValue[]): Tool[] {
    if (this.#options.tools !== undefined) return [...this.#named.values()].map(({ tool }) => tool);
    return schemas.flatMap((value) => {
      const schema = OpenAIFunctionToolSchema.safeParse(value);
      const found = schema.success ? this.for(schema.data.function.name, schemas) : null;
      return found === null ? [] : [found.tool];
    });
  }

  readonly #ask: Run = (request, call) => {
    if (this.#run === null) throw new Error('no sandbox is open');
    return this.#run(request, call);
  };

  #readFile(path: string): string | null {
    let text: string;
    try {
      text = readFileSync(path, 'utf8');
    } catch (error) {
      throw new Error(`${path}: ${reasonOf(error)}; --tools names a tool file in verl's form (YAML)`);
    }
    this.fileHash = hashOf(text);
    const { value, at } = readYaml(text, path);
    const file = ToolFileConfig.safeParse(value);
    if (!file.success) {
      const { issues } = file.error;
      throw new Error(`${at(issues[0]?.path ?? [])}: not a tool file: ${shapeProblem(issues)}`);
    }
    for (const [i, entry] of file.data.tools.entries()) {
      try {
        this.#readEntry(entry, path);
      } catch (error) {
        // The others can still run their calls.
        this.problems.push(
          `${at(['tools', i])}: ${reasonOf(error).replace(`${path}:1: `, '')}; calls of it are skipped`,
        );
      }
    }
    if (this.#named.size === 0 && this.#servers.length === 0 && this.problems.length > 0)
      throw new Error(this.problems.join('\n'));
    const urls = new Set(file.data.tools.flatMap(({ config }) => config?.sandbox_fusion_url || []));
    if (urls.size > 1)
      throw new Error(`${path}: its tools name ${urls.size} different sandboxes: choose one with --sandbox`);
    return [...urls][0] ?? null;
  }

  #readEntry(entry: ToolEntry, path: string): void {
    const declared = DECLARED.find(({ className }) => className.test(entry.class_name));
    const own = declared === undefined ? entry : { ...entry, class_name: 'code_interpreter' };
    const [tool] = parseTools(printJson({ tools: [own] }), path, {
      run: this.#ask,
      own: this.#options.own,
    });
    if (tool instanceof McpEntryTool) this.#servers.push({ tool, path });
    else if (tool !== undefined) this.#named.set(tool.name, this.#entry(tool, entry.config ?? {}, path, declared));
  }

  #entry(tool: Tool, config: EntryConfig, path: string, declared: (typeof DECLARED)[number] | undefined): ReplayTool {
    const isCode = tool instanceof CodeInterpreterTool;
    const form = config.form === undefined ? declared?.form : formNamed(config.form);
    if (config.form !== undefined && form === undefined)
      throw new Error(`form: '${config.form}' is not one of ${FORMS.map(({ name }) => name).join(', ')}`);
    return {
      ...this.#plain(tool, `--tools ${path}`),
      ...(isCode ? this.#code(config) : {}),
      ...(isCode && form ? { form, program: declared?.program ?? null } : {}),
      stateful: config.stateful ?? keepsState(tool),
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
      // A tool that needs a configuration (such as a session's URL) exists only with a tool file.
      return null;
    }
  }

  #mapped(name: string, language: string): ReplayTool {
    const tool = new CodeInterpreterTool({ ...UNLIMITED, default_language: language }, plainSchema(name), this.#ask);
    return { ...this.#plain(tool, `--tool ${name}=${language}`), ...this.#code({ default_language: language }, true) };
  }

  readonly #code = (config: EntryConfig, isMapped = false) => codeTool(config, this.timeout, isMapped);

  #plain(tool: Tool, from: string): ReplayTool {
    return {
      name: tool.name,
      from,
      tool,
      language: null,
      stateful: keepsState(tool),
      form: null,
      program: null,
      url: null,
      own: tool instanceof OwnTool ? tool.use : null,
      needsCreateKwargs: tool instanceof CalcGsm8kRewardTool,
      needsPicture: tool instanceof ImageZoomTool,
      codeOf: () => null,
      argumentsOf: (args) => (isJsonObject(objectOf(args)) ? objectIn(objectOf(args)) : null),
    };
  }
}

/** The frameworks' names for a tool that runs Python. */
const PYTHON_NAMES =
  /^(?:i?python3?|(?:run|execute|exec|eval)_(?:i?python|code)(?:_code)?|(?:i?python|code)_(?:interpreter|executor|execution|runner|exec|repl|tool)|jupyter(?:_\w+)?|PythonInterpreter|python_repl_ast|CodeInterpreter|run_in_python)$/;

const plainSchema = (name: string): OpenAIFunctionToolSchema =>
  OpenAIFunctionToolSchema.parse({ type: 'function', function: { name, description: '' } });
