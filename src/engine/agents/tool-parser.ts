import { NO_TYPES } from '../../core/chat/calls/call.ts';
import { hermesCalls } from '../../core/chat/calls/tagged.ts';
import type { JsonObject } from '../../core/json/value.ts';
import { isUnclosed } from '../../core/rollout/call-error.ts';
import { pythonJson } from '../common/python.ts';
import type { BaseTool, ToolCall } from './base-tool.ts';

/** How an agent describes tool calls in its prompt, and finds them in a reply. */
export abstract class ToolParser {
  /** @throws SyntaxError for a call without a name or arguments: the reply is then an answer. */
  abstract parse(text: string): ToolCall[];
  /** @param schemaStyle `openai` (default) or `mcp` */
  abstract getToolPrompt(tools: readonly Pick<BaseTool, 'json' | 'toMcpJson'>[], schemaStyle?: string): string;
  parseToolOutputs?(text?: string): JsonObject;
}

/** Tunix's Qwen parser (`tunix/rl/agentic/parser/tool_parser/`): a block that is not JSON is skipped, an unclosed one ends the search. */
const qwen: ToolParser = {
  parse(text) {
    return hermesCalls
      .read(text, NO_TYPES)
      .filter((call) => !(isUnclosed(call) || call.error?.startsWith('not JSON')))
      .map(({ name, arguments: args, error }) => {
        if (error !== null) throw new SyntaxError(`tool call: ${error}`);
        return { name: name!, arguments: args };
      });
  },
  getToolPrompt(tools, schemaStyle = 'openai') {
    const schemas = tools.map((tool) => (schemaStyle === 'mcp' ? tool.toMcpJson() : tool.json));
    return [
      'You are provided with function signatures within <tools></tools> XML tags:',
      `<tools>\n${pythonJson(schemas, 2)}\n</tools>`,
      '',
      'For each function call, return a json object with function name and arguments within <tool_call></tool_call> XML tags:',
      '<tool_call>\n{"name": "<function-name>", "arguments": <args-json-object>}\n</tool_call>',
    ].join('\n');
  },
  parseToolOutputs: () => ({}),
};

/** A stub in Tunix too: it finds no call, so an agent using it answers with its first reply. */
const gemini: ToolParser = {
  parse: () => [],
  getToolPrompt: () => 'Return a functionCall with name and args.',
};

const PARSERS = new Map<string, ToolParser>([
  ['qwen', qwen],
  ['gemini', gemini],
]);

/** Registers a parser under a new name. @throws TypeError for a name already in use, or if it is not a parser */
export function registerToolParser(name: string, parser: ToolParser): void {
  if (typeof parser?.parse !== 'function' || typeof parser.getToolPrompt !== 'function')
    throw new TypeError(`registerToolParser('${name}', parser): the parser needs parse(text) and getToolPrompt(tools)`);
  if (PARSERS.has(name)) throw new TypeError(`a tool parser '${name}' is registered already`);
  PARSERS.set(name, parser);
}

export const toolParserNames = (): string[] => [...PARSERS.keys()];

/** @throws RangeError for an unknown name. */
export function getToolParser(name = 'qwen'): ToolParser {
  const parser = PARSERS.get(name);
  if (!parser) throw new RangeError(`Unknown parser: ${name}`);
  return parser;
}
