import { parseHermesCalls } from '../../chat/hermes.ts';
import { printJson } from '../../json/print.ts';

/** A call that a model wrote in its text. */
export interface WrittenCall {
  name: string;
  /** The arguments as JSON text, or what stands in their place. */
  arguments: string;
  raw: string;
  /** Why the call cannot be decoded; null for a well-formed one. */
  error: string | null;
}

/** How calls are written in text. `content` is the turn without them. */
export interface ToolGrammar {
  name: string;
  read(text: string): { content: string; calls: WrittenCall[] };
}

const hermes: ToolGrammar = {
  name: 'hermes',
  read(text) {
    // verl's parser wants both tags: what is not closed is text.
    const found = parseHermesCalls(text).filter((call) => text.slice(call.start, call.end).endsWith('</tool_call>'));
    const content: string[] = [];
    let at = 0;
    for (const { start, end } of found) {
      content.push(text.slice(at, start));
      at = end;
    }
    content.push(text.slice(at));
    const calls = found.map(({ name, arguments: args, raw, error }) => ({
      // A block that is no JSON may still name its tool, and the model is told about that tool.
      name: name ?? /"name"\s*:\s*"([^"\\]+)"/.exec(raw)?.[1] ?? 'unknown',
      arguments: error === null ? (typeof args === 'string' ? args : printJson(args)) : raw.trim(),
      raw,
      error,
    }));
    return { content: content.join('').trimEnd(), calls };
  },
};

const GRAMMARS = new Map([hermes].map((grammar) => [grammar.name, grammar]));

/** @throws RangeError that names the formats that are known. */
export function toolGrammar(name: string): ToolGrammar {
  const grammar = GRAMMARS.get(name);
  if (!grammar) throw new RangeError(`unknown tool format '${name}'; known: ${[...GRAMMARS.keys()].join(', ')}`);
  return grammar;
}
