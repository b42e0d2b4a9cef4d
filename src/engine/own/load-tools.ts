import { readFile } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import { z } from 'zod';
import type { JsonObject } from '../../core/json/value.ts';
import { reasonOf, shapeProblem } from '../../core/text/problems.ts';
import { errorMessage } from '../../core/text/thrown.ts';
import { readYaml } from '../common/yaml-file.ts';
import { McpEntryTool } from '../tools/mcp-entry.ts';
import type { McpConnection, McpEntry } from '../tools/mcp-tool.ts';
import { type Guest, type ToolSetup, toolClassNames, toolKind } from '../tools/registry.ts';
import { OpenAIFunctionToolSchema } from '../tools/schema.ts';
import type { Tool } from '../tools/tool.ts';
import type { OwnCode } from './own-code.ts';
import { OwnTool, startOwnTools } from './own-tool.ts';

const McpEntrySchema = z.looseObject({
  mcp_servers_config_path: z.string().min(1),
  tool_selected_list: z.array(z.string()).nullish(),
});

/** verl's tool file (`initialize_tools_from_config`, `verl/tools/utils/tool_registry.py`); other keys of an entry are ignored, as in verl. */
const ToolFile = z.looseObject({
  tools: z.array(
    z.looseObject({
      class_name: z.string(),
      config: z.looseObject({ type: z.string().default('native') }).nullish(),
      mcp: McpEntrySchema.nullish(),
      tool_schema: z.unknown().optional(),
    }),
  ),
});

/** Everything needed to create the tools of a file. */
export interface LoadSetup extends ToolSetup {
  /** Runs the user's classes; without it a tool file may name only built-in ones. */
  own?: OwnCode | undefined;
}

/** Reads a tool file and starts the user's classes in it. @throws Error naming the file, the entry and what to do. */
export async function loadTools(path: string, setup: LoadSetup = {}): Promise<Tool[]> {
  return (await startTools(await readTools(path, setup), path)).tools;
}

/** Like loadTools, without starting anything: if a class provides its own schema, even its name is unknown until then. */
export async function readTools(path: string, setup: LoadSetup = {}): Promise<Tool[]> {
  const text = await readFile(path, 'utf8').catch((error: Error) => {
    throw new Error(`${path}: ${reasonOf(error)}; --tools names a tool file in verl's form (YAML)`);
  });
  return parseTools(text, path, setup);
}

export interface StartedTools {
  tools: Tool[];
  /** Disconnects from the tools' servers. */
  close(): Promise<void>;
}

/** Starts the user's classes among the tools of a file, and replaces the entries of MCP servers with their tools. @throws CannotLoadError */
export async function startTools(read: readonly Tool[], path: string, signal?: AbortSignal): Promise<StartedTools> {
  await startOwnTools(read, signal);
  const opened = new Map<Tool, McpConnection>();
  const close = async () => {
    for (const one of opened.values()) await one.close();
  };
  try {
    for (const tool of read) if (tool instanceof McpEntryTool) opened.set(tool, await tool.open());
    const tools = read.flatMap((tool): readonly Tool[] => opened.get(tool)?.tools ?? [tool]);
    checkNames(tools, path);
    return { tools, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Like readTools, from the text of the file; `path` names it in errors. */
export function parseTools(text: string, path: string, setup: LoadSetup = {}): Tool[] {
  const { value, at } = readYaml(text, path);
  const file = ToolFile.safeParse(value);
  if (!file.success) {
    const { issues } = file.error;
    const place = at(issues[0]?.path ?? []);
    throw new Error(`${place}: not a tool file: ${shapeProblem(issues)}; verl's form is tools: [{class_name, config}]`);
  }
  const tools = file.data.tools.map(({ class_name, config, tool_schema, mcp }, index): Tool => {
    const where = `${at(['tools', index])}: tools[${index}] (${class_name})`;
    const type = config?.type ?? 'native';
    if (type === 'mcp') {
      if (!mcp)
        throw new Error(
          `${where}: mcp is missing: mcp_servers_config_path, and tool_selected_list to choose among its tools`,
        );
      return new McpEntryTool(serversHere(mcp, setup.guest, where), config ?? {}, { path, where });
    }
    if (type !== 'native') throw new Error(`${where}: unknown type '${type}'; known: native, mcp`);
    const kind = toolKind(setup.classes?.get(class_name) ?? class_name);
    const given =
      tool_schema === undefined || tool_schema === null
        ? null
        : readSchema(
            tool_schema,
            (path) => `${at(['tools', index, 'tool_schema', ...path])}: tools[${index}] (${class_name})`,
          );
    if (!kind) {
      const own = setup.own?.find(class_name, dirname(path));
      if (own)
        return new OwnTool({ own, config: (config ?? {}) as JsonObject, schema: given, from: at(['tools', index]) });
      const forms =
        'or your own class: module.Class, FILE.py:Class, FILE.mjs#Class; --tool-class CLASS=KIND treats it as a built-in KIND';
      throw new Error(`${where}: unknown class; known: ${toolClassNames().join(', ')}, ${forms}`);
    }
    const schema = given ?? kind.schema;
    if (!schema) throw new Error(`${where}: tool_schema is missing`);
    try {
      return kind.make(config ?? {}, schema, setup);
    } catch (error) {
      if (!(error instanceof z.ZodError)) throw new Error(`${where}: config: ${errorMessage(error)}`);
      const place = at(['tools', index, 'config', ...(error.issues[0]?.path ?? [])]);
      throw new Error(`${place}: tools[${index}] (${class_name}): config: ${shapeProblem(error.issues)}`);
    }
  });
  checkNames(tools, path);
  return tools;
}

/** @throws Error for servers that someone else's run may not name */
function serversHere(mcp: McpEntry, guest: Guest | undefined, where: string): McpEntry {
  if (guest === undefined) return mcp;
  const name = basename(mcp.mcp_servers_config_path);
  if (guest.folder === undefined)
    throw new Error(
      `${where}: ${name}: a file of MCP servers does not travel: --allow-tools DIR names a folder here that holds it`,
    );
  return { ...mcp, mcp_servers_config_path: resolve(guest.folder, name) };
}

function checkNames(tools: readonly Tool[], path: string): void {
  const twice = tools.find((tool, index) => tools.findIndex(({ name }) => name === tool.name) !== index);
  if (twice) throw new Error(`${path}: two tools are called '${twice.name}'; the model could not distinguish them`);
}

function readSchema(value: unknown, where: (path: readonly PropertyKey[]) => string): OpenAIFunctionToolSchema {
  const schema = OpenAIFunctionToolSchema.safeParse(value);
  if (schema.success) return schema.data;
  const { issues } = schema.error;
  throw new Error(`${where(issues[0]?.path ?? [])}: tool_schema: ${shapeProblem(issues)}`);
}

/** The tool of that name, or undefined. */
export const toolByName = (tools: readonly Tool[], name: string): Tool | undefined =>
  tools.find((tool) => tool.name === name);
