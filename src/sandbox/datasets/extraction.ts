// Finds the code in a completion the way SandboxFusion does: complete fences first, then a fence that was
// never closed, then text that merely looks like code; within the best kind the first block of the wanted language, else
// the first block.
import { isSpaceAt, strip } from './python-text.ts';

export interface CodeBlock {
  /** 30 fenced, 20 incomplete fence, 10 heuristic; custom logic may give any. */
  priority: number;
  /** '' if the fence names no known language. */
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
  javascript: ['javascript', 'Javascript', 'JavaScript'],
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
/** Fence word → language; if two languages share a spelling, the later one above wins. */
export const LANGUAGE_OF: ReadonlyMap<string, string> = new Map(
  Object.entries(ALIASES).flatMap(([name, words]) => words.map((word) => [word, name] as const)),
);
const blockLanguage = (info: string) => LANGUAGE_OF.get(strip(info)) ?? '';
/** The spellings of a language that upstream knows. */
export const aliasesOf = (language: string): readonly string[] =>
  Object.hasOwn(ALIASES, language) ? (ALIASES[language] ?? []) : [];

/** Steps from fence to fence with indexOf: a regular expression would be quadratic on a completion full of backticks. */
export function fencedBlocks(completion: string): CodeBlock[] {
  const blocks: CodeBlock[] = [];
  for (let at = 0; ; ) {
    const open = opening(completion, at);
    if (open === null) return blocks;
    const body = closedBody(completion, open.body);
    if (body === null) return blocks;
    blocks.push({ priority: FENCED, language: open.language, code: body.code });
    at = body.end;
  }
}

function opening(text: string, from: number): { language: string; body: number } | null {
  const open = text.indexOf('```', from);
  const endOfLine = open < 0 ? -1 : text.indexOf('\n', open);
  return endOfLine < 0 ? null : { language: blockLanguage(text.slice(open + 3, endOfLine)), body: endOfLine + 1 };
}

/** A closing fence has only white space before it on its line; empty lines before it are not part of the code. */
function closedBody(text: string, from: number): { code: string; end: number } | null {
  // The newline that ends the opening line cannot also open the closing one, so the search starts after it.
  for (let fence = text.indexOf('```', from); fence >= 0; fence = text.indexOf('```', fence + 1)) {
    let newline = -1;
    for (let at = fence - 1; at >= from && isSpaceAt(text, at); at--) if (text[at] === '\n') newline = at;
    if (newline >= 0) return { code: text.slice(from, newline), end: fence + 3 };
  }
  return null;
}

/** From the first fence to the end of the text: for truncated completions. */
export function incompleteBlocks(completion: string): CodeBlock[] {
  const open = opening(completion, 0);
  return open === null ? [] : [{ priority: INCOMPLETE, language: open.language, code: completion.slice(open.body) }];
}

/** Code without any fence: Python definitions, SQL statements, or for bash every line. */
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

/** Each def or class with its indented body, and the imports and comments directly above it. */
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

/** '' if nothing looks like code. */
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
