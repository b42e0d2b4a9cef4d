import {
  codeIn,
  type DatasetClass,
  grade,
  labelsOf,
  type ProblemRow,
  problemIdOf,
  singleRun,
  textColumn,
} from './dataset.ts';
import { firstBlock } from './freeform.ts';
import { functionPrompt, isFreeform, multiPlLanguage, runFunction } from './multi-pl-e.ts';
import { trimAtStops, trimAtUnindented } from './stop-tokens.ts';

const ASK = {
  en: 'Please complete the above code according to the requirements in the docstring. Write the complete code and wrap it in markdown syntax.',
  zh: '请按照docstring的要求补全如上代码，写出完整的代码，代码要用markdown语法包裹。',
};

const CODES = [
  'python',
  'cpp',
  'typescript',
  'bash',
  'csharp',
  'go',
  'java',
  'lua',
  'javascript',
  'php',
  'perl',
  'racket',
];
const MORE_CODES = ['r', 'rust', 'scala', 'swift', 'ruby', 'd', 'julia'];
const PREFIX = 'humaneval_';
/** Seconds; its tests are long. */
const BIG = { dataset: 'bigcodebench', seconds: 60 };

/** The columns as published; the other layout is upstream's older one: id, content, test, labels. */
const isPublished = (row: ProblemRow): boolean => 'prompt' in row;
const isPython = (row: ProblemRow): boolean => !('tests' in row);

/**
 * Accepted: the function and its tests run to the end in one program. By default the completion continues the prompt;
 * with `extra.is_freeform` it is a prose answer that holds the whole function.
 */
export const humanEval: DatasetClass = {
  name: 'HumanEvalDataset',
  datasets: [...[...CODES, ...MORE_CODES].map((code) => `${PREFIX}${code}`), 'shadow_humaneval_python', BIG.dataset],
  columns: [
    ['prompt', 'content'],
    ['test', 'tests'],
  ],
  recognises: (row) =>
    isPublished(row)
      ? 'entry_point' in row && 'test' in row
      : typeof row.test === 'string' && typeof row.content === 'string' && 'entry_point' in labelsOf(row),

  prompt(row, config, dataset) {
    const language = problemLanguage(row, dataset);
    if (isPublished(row)) return functionPrompt(row, config, language);
    return olderPrompt(row, config, language.fence);
  },

  async evaluate(row, request, grading) {
    const { dataset } = request;
    const language = problemLanguage(row, dataset);
    if (!isPublished(row)) return runOlder(row, request, grading, language);
    const tests = textColumn(row, isPython(row) ? 'test' : 'tests');
    const call = isPython(row) ? callOf(tests, row.entry_point) : '';
    const problem = { prompt: textColumn(row, 'prompt'), tests, call, stops: row.stop_tokens };
    if (!isPython(row) || isFreeform(request.config)) return runFunction(problem, language, request, grading);
    const completion = trimAtUnindented(request.completion);
    return runFunction(problem, language, { ...request, completion }, grading);
  },

  split(row) {
    const asserts = isPython(row) ? flatAsserts(String(row.test ?? '')) : null;
    return asserts?.map((test) => ({ ...row, test })) ?? null;
  },
};

const CHECK = /^def check\(\w+\):[ \t]*$/;
const ASSERT = /^[ \t]+assert\b/;

/** One copy of the test per assertion of check(), if it contains nothing else; otherwise null. */
function flatAsserts(test: string): string[] | null {
  const lines = test.trimEnd().split('\n');
  const head = lines.findIndex((line) => CHECK.test(line));
  if (head < 0) return null;
  const body = lines.slice(head + 1).filter((line) => line.trim() !== '' && !line.trim().startsWith('#'));
  if (!body.every((line) => ASSERT.test(line) && isWholeLine(line))) return null;
  const before = lines.slice(0, head + 1).join('\n');
  return body.map((line) => `${before}\n${line}\n`);
}

/** No bracket or string continues on the next line. */
function isWholeLine(line: string): boolean {
  const bare = line.replace(/"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'/g, '').replace(/#.*/, '');
  const count = (pattern: RegExp) => bare.match(pattern)?.length ?? 0;
  return !/["'\\]/.test(bare) && count(/[([{]/g) === count(/[)\]}]/g);
}

type ProblemLanguage = ReturnType<typeof multiPlLanguage>;

function problemLanguage(row: ProblemRow, dataset: string): ProblemLanguage {
  const named = dataset.startsWith(PREFIX) && humanEval.datasets.includes(dataset);
  if (named) return multiPlLanguage(dataset.slice(PREFIX.length));
  if (dataset === BIG.dataset) return { ...multiPlLanguage('python'), run: 'pytest', wholeBlock: false };
  const own = isPublished(row) ? row.language : labelsOf(row).programming_language;
  return multiPlLanguage(String(own ?? 'python'));
}

/**
 * HumanEval's tests define check(candidate) but leave the call to the judge. Upstream adds the call for three dataset
 * names only, so under any other name every completion passes; here the test text decides.
 */
export const callOf = (tests: string, entryPoint: unknown): string =>
  /^def check\(/m.test(tests) && !/^check\(/m.test(tests) ? `\ncheck(${String(entryPoint)})` : '';

export function olderPrompt(row: ProblemRow, { extra, locale }: Parameters<DatasetClass['prompt']>[1], fence: string) {
  const content = textColumn(row, 'content');
  const ask = locale === 'zh' ? ASK.zh : ASK.en;
  const prompt = extra.is_freeform ? `\`\`\`${fence}\n${content}\n\`\`\`\n\n${ask}` : content;
  return { id: problemIdOf(row), prompt, labels: labelsOf(row) };
}

/** The older layout puts nothing before the program, and cuts a completion at plain stop tokens only. */
async function runOlder(
  row: ProblemRow,
  request: Parameters<DatasetClass['evaluate']>[1],
  grading: Parameters<DatasetClass['evaluate']>[2],
  language: ProblemLanguage,
) {
  const { dataset, config, completion } = request;
  const labels = labelsOf(row);
  const test = textColumn(row, 'test');
  const freeform = isFreeform(config);
  const code = !freeform
    ? trimAtStops(completion, labels.stop_tokens)
    : language.wholeBlock
      ? await codeIn(request, language.fence, grading)
      : trimAtStops(firstBlock(completion, language.fence).code, labels.stop_tokens);
  const own = freeform ? code : `${textColumn(row, 'content')}\n${code}`;
  const joined = `${own}\n${test}${language.run === 'python' ? callOf(test, labels.entry_point) : ''}`;
  const fullCode = language.run === 'java' ? joined.replaceAll('class Problem', 'class Main') : joined;
  const answer = await grade(
    {
      code: fullCode,
      language: language.run,
      compile_timeout: config.compile_timeout || 20,
      run_timeout: config.run_timeout || (dataset === BIG.dataset ? BIG.seconds : 20),
    },
    grading,
  );
  return singleRun(request, code, fullCode, answer);
}
