import type { JsonObject } from '../../json/value.ts';
import type { CallGrammar, ParsedCall, ReadCall } from './call.ts';

/** Text that an environment runs as soon as it is closed: only a tag or a fence, without name or arguments. */
function closedGrammar(name: string, pattern: RegExp, read: (match: RegExpExecArray) => ReadCall): CallGrammar {
  return {
    name,
    read(text) {
      const calls: ParsedCall[] = [];
      pattern.lastIndex = 0;
      for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
        calls.push({ start: match.index, end: match.index + match[0].length, raw: match[1] ?? '', ...read(match) });
      }
      return calls;
    },
  };
}

const as = (name: string, given: JsonObject): ReadCall => ({ name, arguments: given, error: null });
const code = (text: string): string => text.replace(/^\s*```[\w-]*\n/, '').replace(/\n?```\s*$/, '');

/** Search-R1. */
export const searchCalls = closedGrammar('search-r1', /<search>([\s\S]*?)<\/search>/g, (match) =>
  as('search', { query: (match[1] ?? '').trim() }),
);

/** ReTool. */
export const retoolCalls = closedGrammar('retool', /<code>([\s\S]*?)<\/code>/g, (match) =>
  as('code_interpreter', { code: code(match[1] ?? '') }),
);

/** ToRL and ToRA: a Python fence that is followed by an output fence, or that ends the sampled text. */
export const fenceCalls = closedGrammar(
  'torl',
  /(?<=^|\n)```python[ \t]*\n([\s\S]*?)\n```(?=[ \t]*(?:\n+```output|\s*$))/g,
  (match) => as('python', { code: match[1] ?? '' }),
);
