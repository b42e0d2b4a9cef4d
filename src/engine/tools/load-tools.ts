import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { reasonOf, shapeProblem } from '../../text/problems.ts';
import { readYaml } from '../yaml-file.ts';
import { type ToolSetup, toolClassNames, toolKind } from './registry.ts';
import { OpenAIFunctionToolSchema } from './schema.ts';
import type { Tool } from './tool.ts';

/** verl's tool file (`initialize_tools_from_config`, `verl/tools/utils/tool_registry.py`); other keys of an entry are ignored, as there. */
const ToolFile = z.looseObject({
  tools: z.array(
    z.looseObject({
      class_name: z.string(),
      config: z.looseObject({ type: z.string().default('native') }).nullish(),
      tool_schema: z.unknown().optional(),
    }),
  ),
});

/** Reads a tool file. @throws Error that names the file, the entry and what to do. */
export async function loadTools(path: string, setup: ToolSetup = {}): Promise<Tool[]> {
  const text = await readFile(path, 'utf8').catch((error: Error) => {
    throw new Error(`${path}: ${reasonOf(error)}; --tools names a tool file in verl's form (YAML)`);
  });
  return parseTools(text, path, setup);
}

/** As loadTools, from the text of the file; `path` names it in errors. */
export function parseTools(text: string, path: string, setup: ToolSetup = {}): Tool[] {
  const { value, at } = readYaml(text, path);
  const file = ToolFile.safeParse(value);
  if (!file.success) {
    const { issues } = file.error;
    const place = at(issues[0]?.path ?? []);
    throw new Error(`${place}: not a tool file: ${shapeProblem(issues)}; verl's form is tools: [{class_name, config}]`);
  }
  const tools = file.data.tools.map(({ class_name, config, tool_schema }, index) => {
    const where = `${at(['tools', index])}: tools[${index}] (${class_name})`;
    const type = config?.type ?? 'native';
    if (type === 'mcp') throw new Error(`${where}: tools of type mcp are not supported yet; remove the entry`);
    if (type !== 'native') throw new Error(`${where}: unknown type '${type}'; known: native`);
    const kind = toolKind(class_name);
    if (!kind) throw new Error(`${where}: unknown class; known: ${toolClassNames().join(', ')}`);
    const schema =
      tool_schema === undefined || tool_schema === null
        ? kind.schema
        : readSchema(
            tool_schema,
            (own) => `${at(['tools', index, 'tool_schema', ...own])}: tools[${index}] (${class_name})`,
          );
    if (!schema) throw new Error(`${where}: tool_schema is missing`);
    try {
      return kind.make(config ?? {}, schema, setup);
    } catch (error) {
      if (!(error instanceof z.ZodError)) throw new Error(`${where}: config: ${(error as Error).message}`);
      const place = at(['tools', index, 'config', ...(error.issues[0]?.path ?? [])]);
      throw new Error(`${place}: tools[${index}] (${class_name}): config: ${shapeProblem(error.issues)}`);
    }
  });
  const twice = tools.find((tool, index) => tools.findIndex(({ name }) => name === tool.name) !== index);
  if (twice) throw new Error(`${path}: two tools are called '${twice.name}'; the model could not tell them apart`);
  return tools;
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
