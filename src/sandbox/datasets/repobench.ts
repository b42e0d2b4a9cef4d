// RepoBench: predict the next line of a file, given excerpts of other files of its repository (P: the prompt is built here;
// C: the prompt is in the table). A program compares the words of the lines, as upstream does.
import { createHash } from 'node:crypto';
import type { SubmitRequest } from '../protocol.ts';
import { RequestError } from '../request-error.ts';
import {
  type DatasetClass,
  type Grading,
  grade,
  jsonColumn,
  type ProblemRow,
  problemIdOf,
  singleRun,
  textColumn,
} from './dataset.ts';
import { quotedList, strip, words } from './python-text.ts';

type RepobenchLanguage = 'python' | 'java';
const datasetLanguage = (dataset: string): RepobenchLanguage => (dataset.endsWith('java') ? 'java' : 'python');

export const repobenchC: DatasetClass = {
  name: 'RepobenchCDataset',
  datasets: ['repobench_c_python', 'repobench_c_java'],
  columns: ['id', 'prompt', 'next_line'],
  recognises: (row) => 'next_line' in row && 'prompt' in row,
  prompt: (row) => ({ id: problemIdOf(row), prompt: textColumn(row, 'prompt'), labels: labelsOf(row) }),
  evaluate: compareLines,
};

export const repobenchP: DatasetClass = {
  name: 'RepobenchPDataset',
  datasets: ['repobench_p_python', 'repobench_p_java'],
  columns: ['id', 'file_path', 'context', 'import_statement', 'code', 'gold_snippet_index', 'next_line'],
  recognises: (row) => 'gold_snippet_index' in row,
  prompt: (row, { extra }, dataset) => ({
    id: problemIdOf(row),
    prompt: repobenchPrompt(row, extra, datasetLanguage(dataset)),
    labels: labelsOf(row),
  }),
  evaluate: compareLines,
};

const labelsOf = (row: ProblemRow) => ({ next_line: row.next_line });

async function compareLines(row: ProblemRow, request: SubmitRequest, grading: Grading) {
  const language = datasetLanguage(request.dataset);
  const line = firstCodeLine(request.completion, language);
  const [given, wanted] = [words(line), words(textColumn(row, 'next_line'))];
  const code = language === 'python' ? pythonCheck(given, wanted) : javaCheck(quotedList(given) === quotedList(wanted));
  return singleRun(request, line, code, await grade({ code, language, run_timeout: 30 }, grading));
}

const pythonCheck = (given: string[], wanted: string[]): string =>
  `\ndef check():\n    assert ${quotedList(given)} == ${quotedList(wanted)}\ncheck()    \n`;

const javaCheck = (same: boolean): string =>
  `public class Main {\n    public static void main(String[] args) {\n        assert ${same};\n    }\n}\n`;

/** The first line that is neither empty nor in a comment or docstring; otherwise the first line. */
function firstCodeLine(completion: string, language: RepobenchLanguage): string {
  const marks =
    language === 'python'
      ? { line: '#', open: ['"""', "'''"], close: ['"""', "'''"] }
      : { line: '//', open: ['/*'], close: ['*/'] };
  const lines = completion.replace(/^\n+/, '').split('\n');
  let comment = false;
  for (const line of lines) {
    const text = strip(line);
    if (text === '') continue;
    if (!comment && marks.open.some((mark) => text.startsWith(mark))) comment = true;
    else if (comment) comment = !marks.close.some((mark) => text.endsWith(mark));
    else if (!text.startsWith(marks.line)) return line;
  }
  return lines[0] ?? '';
}

const LINES_SHOWN = 60;
const FILE_TOKENS = 1600;
const PROMPT_TOKENS = 8000;

/**
 * The end of the file, after as many snippets of other files as fit, the one with the answer first. Upstream
 * counts GPT-2 tokens; here the count is estimated, so a prompt at the limit may hold a different number of snippets.
 */
function repobenchPrompt(row: ProblemRow, extra: Record<string, unknown>, language: RepobenchLanguage): string {
  const comment = language === 'python' ? '#' : '//';
  const limit = typeof extra.max_prompt_length === 'number' ? extra.max_prompt_length : PROMPT_TOKENS;
  const file = lastTokens(fileOf(row, language), FILE_TOKENS);
  if ((extra.retrieval_mode ?? 'oracle-filled') !== 'oracle-filled') return file;
  const snippets = snippetsOf(row).map(
    ({ path, snippet }) =>
      `${comment} Path: ${path}\n${snippet
        .split('\n')
        .map((line) => `${comment} ${line}`)
        .join('\n')}\n`,
  );
  const gold = Number(row.gold_snippet_index);
  let size = tokens(file);
  const taken: string[] = [];
  const goldSnippet = gold > 0 ? snippets[gold] : undefined;
  if (goldSnippet !== undefined) {
    size += tokens(goldSnippet);
    taken.push(goldSnippet);
  }
  for (const [index, snippet] of snippets.entries()) {
    if (index === gold) continue;
    size += tokens(snippet);
    if (size > limit) break;
    taken.push(snippet);
  }
  const hash = new Map(taken.map((text) => [text, createHash('md5').update(text).digest('hex')]));
  taken.sort((one, other) => ((hash.get(one) ?? '') < (hash.get(other) ?? '') ? -1 : 1));
  return `${taken.join('')}${file}`;
}

function fileOf(row: ProblemRow, language: RepobenchLanguage): string {
  const code = textColumn(row, 'code').split('\n').slice(-LINES_SHOWN);
  const imports = textColumn(row, 'import_statement');
  const path = textColumn(row, 'file_path');
  if (language === 'python') return `# Path: ${path}\n${imports}\n${code.join('\n')}`;
  const clause = code[0]?.startsWith('package') ? code.splice(0, 1) : [];
  return `// Path: ${path}\n${[...clause, imports, ...code].join('\n')}\n`;
}

function snippetsOf(row: ProblemRow): { path: string; snippet: string }[] {
  const context = jsonColumn(row, 'context');
  if (!Array.isArray(context)) throw new RequestError(500, '"context" of the problem is not a list of snippets');
  return context.map((one: Record<string, unknown>) => ({ path: String(one.path), snippet: String(one.snippet) }));
}

const TOKEN = / ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s/gu;
/** Estimates tokens: one per five letters of a word, one per two other signs, and one per extra white space. */
const pieceSize = (piece: string): number =>
  Math.ceil(piece.trim().length / (/[\p{L}\p{N}]/u.test(piece) ? 5 : 2)) || 1;
const tokens = (text: string): number => (text.match(TOKEN) ?? []).reduce((sum, piece) => sum + pieceSize(piece), 0);

function lastTokens(text: string, most: number): string {
  const pieces = text.match(TOKEN) ?? [];
  let size = 0;
  let first = pieces.length;
  while (first > 0 && size + pieceSize(pieces[first - 1] ?? '') <= most) size += pieceSize(pieces[--first] ?? '');
  return pieces.slice(first).join('');
}
