// Extracts code from a prose answer, as upstream's two later extractors do: unlike extractCode they take the first
// block of any language (or only of the wanted one), and remove what the tests already provide. Every
// search continues from the previous one, so a long answer is read once.
import type { EvalResult } from '../protocol.ts';
import { aliasesOf, type CodeBlock, fencedBlocks, heuristicBlocks, incompleteBlocks } from './extraction.ts';
import { before, lines, strip } from './python-text.ts';

export interface Extracted {
  code: string;
  type: NonNullable<EvalResult['extracted_type']>;
}

const EXAMPLE = '# Example usage';
const MAIN_CALL = 'if __name__ == "__main__":';

/** The first block: complete ones first, then truncated ones, then text that looks like code. */
export function firstBlock(completion: string, language: string): Extracted {
  const { blocks, type } = best(completion, language, fencedBlocks(completion));
  return { code: cutMark(withoutMain(blocksText(blocks, 'first'), language), EXAMPLE), type };
}

export interface SnippetOptions {
  /** Ignore blocks of other languages. */
  exact?: boolean;
  /** Every block, rather than the first. */
  all?: boolean;
  /** Go: keep the package clause. */
  keepPackage?: boolean;
  /** Java and C#: only the first static method. */
  method?: boolean;
}

/** Like firstBlock, for tests that provide the file around the function: keeps less of the answer. */
export function snippet(completion: string, language: string, options: SnippetOptions = {}): Extracted {
  const text = completion.replaceAll('```\n```', '```');
  let fenced = fencedBlocks(text).map((block) => withInnerName(block, language));
  if (options.exact && language !== '') {
    const words = aliasesOf(language);
    fenced = fenced.filter((block) => words.includes(block.language));
  }
  const { blocks, type } = best(text, language, fenced);
  const code = CUTS[language]?.(blocksText(blocks, options.all ? 'all' : 'first'), options, completion);
  return { code: cutMark(code ?? blocksText(blocks, options.all ? 'all' : 'first'), EXAMPLE), type };
}

function best(text: string, language: string, fenced: CodeBlock[]): { blocks: CodeBlock[]; type: Extracted['type'] } {
  if (fenced.length > 0) return { blocks: fenced, type: 'fenced' };
  const cut = incompleteBlocks(text);
  if (cut.length > 0) return { blocks: cut, type: 'incomplete_fenced' };
  const guessed = heuristicBlocks(text, language);
  return guessed.length > 0 ? { blocks: guessed, type: 'heuristic' } : { blocks: [], type: 'empty' };
}

const blocksText = (blocks: readonly CodeBlock[], which: 'first' | 'all'): string =>
  (which === 'first' ? (blocks[0]?.code ?? '') : blocks.map((block) => block.code).join('\n\n')).replaceAll('\r', '');

/** Some models name the language in the first line below the fence. */
function withInnerName(block: CodeBlock, language: string): CodeBlock {
  const words = aliasesOf(language);
  if (block.language !== '' || words.length === 0) return block;
  const own = lines(block.code);
  return own[0] !== undefined && words.includes(strip(own[0]))
    ? { ...block, language, code: own.slice(1).join('\n') }
    : block;
}

const cutMark = (code: string, mark: string): string => (code.includes(mark) ? strip(before(code, mark)) : code);

/** The class that the tests call. */
const asSolution = (code: string): string =>
  code.includes('public class Main {\n')
    ? code
        .replaceAll('public class Main {\n', 'class Solution {\n')
        .replaceAll('public static void main(String[] args)', '')
    : code;

function withoutMain(code: string, language: string): string {
  if (language === 'python') return cutMark(code, MAIN_CALL);
  if (language === 'cpp') return cutMark(code, 'int main()');
  if (language === 'java') return asSolution(code);
  return language === 'go' ? code.replaceAll('package main', '') : code;
}

type CodeCut = (code: string, options: SnippetOptions, completion: string) => string;

const CUTS: Record<string, CodeCut> = {
  python(code) {
    const all = lines(code);
    const main = all.findIndex((line) => line.includes('__name__') && line.includes('__main__'));
    return (main < 0 ? all : all.slice(0, main)).join('\n');
  },
  cpp: (code) => cutMark(code, 'int main()'),
  c: (code) => cutMark(code, 'int main()'),
  java: (code, { method }) =>
    method
      ? onlyMethod(code, /(?:public|private|protected)\s+static\s/)
      : asSolution(code).replaceAll('public class Solution {', 'class Solution {'),
  csharp: (code, { method }) => (method ? onlyMethod(code, /(?:public|private|protected|internal)\s+static\s/) : code),
  go: (code, { keepPackage }) =>
    withoutFunction(keepPackage ? code : code.replaceAll('package main', ''), /func\s+main\(/),
  kotlin: (code) => withoutFunction(code, /fun\s+main\(/),
  scala(code) {
    const head = /object\s+\w+(?:\s+extends\s+\w+)?\s*\{/.exec(code);
    const last = code.lastIndexOf('}');
    const from = head ? head.index + head[0].length : 0;
    return head && last >= from ? code.slice(from, last) : code;
  },
  /** Only the module's body, since the tests declare its ports. */
  verilog(code, _options, completion) {
    const head = /module\s+\w+\s+\(/.exec(code);
    const ports = head ? code.indexOf(');', head.index + head[0].length) : -1;
    const end = ports < 0 ? -1 : code.indexOf('endmodule', ports + 2);
    if (end >= 0) return `${code.slice(ports + 2, end)}\nendmodule`;
    return code === '' ? completion : code;
  },
};

/** From its head, `… (`, to its closing brace; null if there is no such function. */
function functionSpan(code: string, head: RegExp, openParenthesis: boolean): [number, number] | null {
  const found = head.exec(code);
  if (!found) return null;
  const after = found.index + found[0].length;
  const parenthesis = openParenthesis ? code.indexOf('(', after) : after - 1;
  if (parenthesis < 0) return null;
  const brace = /\)\s*\{/g;
  brace.lastIndex = parenthesis + 1;
  if (!brace.exec(code)) return null;
  let depth = 1;
  for (let at = brace.lastIndex; at < code.length; at++) {
    if (code[at] === '{') depth++;
    else if (code[at] === '}') depth--;
    if (depth === 0) return [found.index, at + 1];
  }
  return null;
}

function onlyMethod(code: string, head: RegExp): string {
  const span = functionSpan(code, head, true);
  return span ? code.slice(...span) : code;
}

function withoutFunction(code: string, head: RegExp): string {
  const span = functionSpan(code, head, false);
  return span ? code.slice(0, span[0]) + code.slice(span[1]) : code;
}
