import { parseHermesCalls } from '../../chat/hermes.ts';
import type { JsonValue } from '../../json/value.ts';
import type { OpenAIFunctionToolSchema } from '../tools/schema.ts';

export interface ParsedToolCall {
  name: string;
  arguments: JsonValue;
}

/** How an agent asks for tool calls in its prompt, and finds them in a reply. */
export interface ToolParser {
  /** @throws SyntaxError for a call without a name or arguments: the reply is then an answer. */
  parse(text: string): ParsedToolCall[];
  toolPrompt(schemas: readonly OpenAIFunctionToolSchema[]): string;
}

/** Tunix's Qwen parser (`tunix/rl/agentic/parser/tool_parser/`): a block that is no JSON is skipped, one that is not closed ends the search. */
const qwen: ToolParser = {
  parse(text) {
    return parseHermesCalls(text)
      .filter(({ error }) => !(error?.startsWith('not JSON') || error?.startsWith('no closing')))
      .map(({ name, arguments: args, error }) => {
        if (error !== null) throw new SyntaxError(`tool call: ${error}`);
        return { name: name!, arguments: args };
      });
  },
  toolPrompt(schemas) {
    return [
      'You are provided with function signatures within <tools></tools> XML tags:',
      `<tools>\n${JSON.stringify(schemas, null, 2)}\n</tools>`,
      'For each function call, return a json object with function name and arguments within <tool_call></tool_call> XML tags:',
      '<tool_call>\n{"name": "<function-name>", "arguments": <args-json-object>}\n</tool_call>',
    ].join('\n');
  },
};

const PARSERS = new Map<string, ToolParser>([['qwen', qwen]]);

/** @throws RangeError for a name that is not known. */
export function toolParser(name = 'qwen'): ToolParser {
  const parser = PARSERS.get(name);
  if (!parser) throw new RangeError(`Unknown parser: ${name}`);
  return parser;
}
