import { readFile } from 'node:fs/promises';
import { parse, YAMLParseError } from 'yaml';
import { z } from 'zod';
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
    throw new Error(`cannot read the tools file ${path}: ${error.message}`);
  });
  return parseTools(text, path, setup);
}

/** As loadTools, from the text of the file; `path` names it in errors. */
export function parseTools(text: string, path: string, setup: ToolSetup = {}): Tool[] {
  let value: unknown;
  try {
    value = parse(text);
  } catch (error) {
    const line = error instanceof YAMLParseError ? `:${error.linePos?.[0].line ?? 1}` : '';
    throw new Error(`${path}${line}: not YAML: ${(error as Error).message.split('\n')[0]}`);
  }
  const file = ToolFile.safeParse(value);
  if (!file.success) throw new Error(`${path}: not a tool file: ${z.prettifyError(file.error)}`);
  const tools = file.data.tools.map(({ class_name, config, tool_schema }, index) => {
    const where = `${path}: tools[${index}] (${class_name})`;
    const type = config?.type ?? 'native';
    if (type === 'mcp') throw new Error(`${where}: tools of type mcp are not supported yet; remove the entry`);
    if (type !== 'native') throw new Error(`${where}: unknown type '${type}'; known: native`);
    const kind = toolKind(class_name);
    if (!kind) throw new Error(`${where}: unknown class; known: ${toolClassNames().join(', ')}`);
    const schema = tool_schema === undefined || tool_schema === null ? kind.schema : readSchema(tool_schema, where);
    if (!schema) throw new Error(`${where}: tool_schema is missing`);
    try {
      return kind.make(config ?? {}, schema, setup);
    } catch (error) {
      const message = error instanceof z.ZodError ? z.prettifyError(error) : (error as Error).message;
      throw new Error(`${where}: config: ${message}`);
    }
  });
  const twice = tools.find((tool, index) => tools.findIndex(({ name }) => name === tool.name) !== index);
  if (twice) throw new Error(`${path}: two tools are called '${twice.name}'; the model could not tell them apart`);
  return tools;
}

function readSchema(value: unknown, where: string): OpenAIFunctionToolSchema {
  const schema = OpenAIFunctionToolSchema.safeParse(value);
  if (!schema.success) throw new Error(`${where}: tool_schema: ${z.prettifyError(schema.error)}`);
  return schema.data;
}

/** The tool of that name, or undefined. */
export const toolByName = (tools: readonly Tool[], name: string): Tool | undefined =>
  tools.find((tool) => tool.name === name);
