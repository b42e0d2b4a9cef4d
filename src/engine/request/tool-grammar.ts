import type { CallGrammar, TypeOf } from '../../core/chat/calls/call.ts';
import { GRAMMARS } from '../../core/chat/calls/read-calls.ts';
import { printJson } from '../../core/json/print.ts';
import { isJsonObject, type JsonObject } from '../../core/json/value.ts';
import { isUnclosed } from '../../core/rollout/call-error.ts';

/** A call in the model's text. */
interface WrittenCall {
  name: string;
  /** The arguments as JSON text, or the text found in their place, which is then parsed as JSON. */
  arguments: string;
  /** The same, but a text is a JSON string, as verl passes it to a tool. */
  verlArguments: string;
  raw: string;
  /** Why the call cannot be decoded; null for a well-formed one. */
  error: string | null;
}

/** How calls are written in text. `content` is the turn without them. */
export interface ToolGrammar {
  name: string;
  read(text: string, schemas: readonly JsonObject[]): { content: string; calls: WrittenCall[] };
}

/** A grammar of chat/: its calls are cut out of the turn, with their arguments as JSON. Unclosed calls are text. */
const cutting = (grammar: CallGrammar, name: string): ToolGrammar => ({
  name,
  read(text, schemas) {
    const found = grammar.read(text, schemaTypes(schemas)).filter((call) => !isUnclosed(call));
    const content: string[] = [];
    let at = 0;
    for (const { start, end } of found) {
      content.push(text.slice(at, start));
      at = end;
    }
    content.push(text.slice(at));
    const around = found.length > 0 ? grammar.around : undefined;
    const calls = found.map(({ name: called, arguments: args, raw, error }) => {
      const verlArguments = error === null ? printJson(args) : raw.trim();
      return {
        // An unreadable block may still name its tool, so the model gets an answer about that tool.
        name: called ?? /"name"\s*:\s*"([^"\\]+)"/.exec(raw)?.[1] ?? 'unknown',
        arguments: error === null && typeof args === 'string' ? args : verlArguments,
        verlArguments,
        raw,
        error,
      };
    });
    const kept = around === undefined ? content : content.map((part) => part.replace(around, ''));
    return { content: kept.join('').trimEnd(), calls };
  },
});

/** In verl's XML forms a value has the type given by its schema. */
const schemaTypes =
  (schemas: readonly JsonObject[]): TypeOf =>
  (tool, parameter) => {
    const own = schemas.find(({ function: fn }) => isJsonObject(fn) && fn.name === tool)?.function;
    const parameters = isJsonObject(own) ? own.parameters : undefined;
    const properties = isJsonObject(parameters) ? parameters.properties : undefined;
    const property = isJsonObject(properties) ? properties[parameter] : undefined;
    const type = isJsonObject(property) ? property.type : undefined;
    return typeof type === 'string' ? type : null;
  };

/** verl's names for grammars with a different name here, and for equivalent ones. */
const NAMES: Readonly<Record<string, string>> = {
  chatml: 'hermes',
  qwen: 'hermes',
  qwen25: 'hermes',
  qwen3: 'hermes',
  glm47: 'tool_call',
  glm: 'tool_call',
  'gpt-oss': 'harmony',
  kimi_k2: 'kimi',
  deepseek_v3: 'deepseek',
  deepseekv3: 'deepseek',
  deepseek_v4: 'deepseek-dsml',
  minimax_m2: 'minimax',
  seed_oss: 'seed',
  llama: 'llama3',
  llama3_json: 'llama3',
};

/** @throws RangeError naming the known formats. */
export function toolGrammar(name: string): ToolGrammar {
  const own = NAMES[name] ?? name;
  const grammar = GRAMMARS.find((one) => one.name === own);
  if (!grammar) throw new RangeError(`unknown tool format '${name}'; known: ${toolFormats().join(', ')}`);
  return cutting(grammar, name);
}

const toolFormats = (): string[] => [...GRAMMARS.map(({ name }) => name), ...Object.keys(NAMES)];
