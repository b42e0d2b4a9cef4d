// The code in a model's completion, found the way SandboxFusion finds it: complete fences before a fence that was
// never closed before what merely looks like code; within the best kind the first block of the wanted language, else
// the first block.

export interface CodeBlock {
  /** 30 fenced, 20 incomplete fence, 10 heuristic; custom logic may give any. */
  priority: number;
  /** '' where the fence names no language that is known. */
  language: string;
  code: string;
}

const FENCED = 30;
const INCOMPLETE = 20;
const HEURISTIC = 10;

/** Upstream's spellings, no others: a fence that says "ts" is of no known language there either. */
const ALIASES: Record<string, string[]> = {
  python: ['python', 'Python', 'py', 'Python3', 'python3', 'PY'],
  cpp: ['cpp', 'c++', 'C++', 'Cpp', 'CPP'],
  nodejs: ['javascript', 'Javascript', 'JavaScript', 'JS', 'js'],
  go: ['go', 'Go'],
  java: ['java', 'Java'],
  php: ['php', 'PHP'],
  csharp: ['csharp', 'c#', 'C#'],
  bash: ['bash', 'Bash', 'BASH', 'sh', 'shell'],
  typescript: ['typescript'],
  rust: ['rust', 'Rust', 'rs'],
  sql: ['sql', 'SQL', 'Sql'],
  D: ['D', 'd'],
  julia: ['julia', 'Julia', 'jl'],
  lua: ['lua', 'Lua'],
  perl: ['perl', 'Perl', 'PERL'],
  R: ['R', 'r'],
  ruby: ['ruby', 'Ruby'],
  scala: ['scala', 'Scala'],
  kotlin: ['kotlin', 'Kotlin'],
  c: ['c', 'C'],
  html: ['html', 'Html', 'HTML'],
  verilog: ['verilog', 'Verilog', 'VERILOG'],
  racket: ['racket'],
  swift: ['swift'],
};
/** What a fence may say → the language. */
export const LANGUAGE_OF: ReadonlyMap<string, string> = new Map(
  Object.entries(ALIASES).flatMap(([name, words]) => words.map((word) => [word, name] as const)),
);
const languageOf = (info: string) => LANGUAGE_OF.get(info.trim()) ?? '';

export const fencedBlocks = (completion: string): CodeBlock[] => blocksOf(completion, FENCED, closedBody);

/** A closing fence has only white space before it on its line; empty lines before it are not code. */
function closedBody(body: string): { code: string; length: number } | null {
  for (let fence = body.indexOf('```'); fence >= 0; fence = body.indexOf('```', fence + 1)) {
    let newline = -1;
    for (let at = fence - 1; at >= 0 && /\s/.test(body.charAt(at)); at--) if (body.charAt(at) === '\n') newline = at;
    if (newline >= 0) return { code: body.slice(0, newline), length: fence + 3 };
  }
  return null;
}

/** From the first fence to the end of the text: for completions that were cut off. */
export function incompleteBlocks(completion: string): CodeBlock[] {
  return blocksOf(completion, INCOMPLETE, (body) => ({ code: body, length: body.length }));
}

/** Walks from fence to fence with indexOf: a regular expression would be quadratic on a completion full of backticks. */
function blocksOf(
  completion: string,
  priority: number,
  bodyOf: (body: string) => { code: string; length: number } | null,
): CodeBlock[] {
  const blocks: CodeBlock[] = [];
  let at = 0;
  for (;;) {
    const open = completion.indexOf('```', at);
    if (open < 0) return blocks;
    const endOfLine = completion.indexOf('\n', open);
    if (endOfLine < 0) return blocks;
    // The newline that ends the opening line may not open the closing one as well, so the body starts after it.
    const body = bodyOf(completion.slice(endOfLine + 1));
    if (!body) return blocks;
    blocks.push({ priority, language: languageOf(completion.slice(open + 3, endOfLine)), code: body.code });
    at = endOfLine + 1 + body.length;
  }
}

/** Code without any fence: python definitions, sql statements, or for bash simply every line. */
export function heuristicBlocks(completion: string, language: string): CodeBlock[] {
  const lines = completion.split('\n').filter((line) => line.trim() !== '');
  const text = `${lines.join('\n')}\n`;
  const found = (codes: string[]) => codes.map((code) => ({ priority: HEURISTIC, language, code }));
  if (language === 'python') return found(pythonDefinitions(lines));
  if (language === 'sql')
    return found([...text.matchAll(/^\s*(?:select|with\s[^\n]+as)[^;]*/gim)].map(([code]) => code));
  if (language === 'bash') return found([text]);
  return [];
}

/** Each def or class with its indented body, and the imports and comments right above it. */
function pythonDefinitions(lines: string[]): string[] {
  const found: string[] = [];
  for (let at = 0; at < lines.length; ) {
    let head = at;
    while (/^(?:import|from|#)./.test(lines[head] ?? '')) head++;
    let end = head + 1;
    while (/^\s/.test(lines[end] ?? '')) end++;
    if (/^(?:def|class) ./.test(lines[head] ?? '') && end > head + 1) {
      found.push(`${lines.slice(at, end).join('\n')}\n`);
      at = end;
    } else at = Math.max(head, at + 1);
  }
  return found;
}

/** '' where there is nothing that could be code. */
export function extractCode(completion: string, language: string, custom: CodeBlock[] = []): string {
  const blocks = [
    ...fencedBlocks(completion),
    ...heuristicBlocks(completion, language),
    ...incompleteBlocks(completion),
    ...custom,
  ];
  const best = blocks.reduce((most, block) => Math.max(most, block.priority), Number.NEGATIVE_INFINITY);
  const candidates = blocks.filter((block) => block.priority === best);
  return (candidates.find((block) => block.language === language) ?? candidates[0])?.code ?? '';
}
