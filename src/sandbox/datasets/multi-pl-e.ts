import type { Prompt, SubmitRequest, TestConfig } from '../protocol.ts';
import { RequestError } from '../request-error.ts';
import {
  codeIn,
  type DatasetClass,
  type Grading,
  grade,
  type ProblemRow,
  problemIdOf,
  singleRun,
  textColumn,
  withoutKey,
} from './dataset.ts';
import { firstBlock } from './freeform.ts';
import { oneGoFile } from './go-file.ts';
import { prelude } from './prelude.ts';
import { before } from './python-text.ts';
import { trimAtStops } from './stop-tokens.ts';

/** A language by its names in MultiPL-E, HumanEval's datasets and fences. */
interface SpokenLanguage {
  /** The fence word, which decides how the answer is cut. */
  fence: string;
  run: string;
  /** An answer is one block, as extractCode finds it; otherwise the first block, cut at the problem's stop tokens. */
  wholeBlock: boolean;
}

const spokenLanguage = (fence: string, run: string, wholeBlock = false): SpokenLanguage => ({ fence, run, wholeBlock });
const LANGUAGES: Record<string, SpokenLanguage> = {
  python: spokenLanguage('python', 'python', true),
  cpp: spokenLanguage('cpp', 'cpp'),
  ts: spokenLanguage('typescript', 'typescript', true),
  sh: spokenLanguage('bash', 'bash'),
  cs: spokenLanguage('csharp', 'csharp'),
  go: spokenLanguage('go', 'go_test', true),
  java: spokenLanguage('java', 'java'),
  lua: spokenLanguage('lua', 'lua', true),
  js: spokenLanguage('js', 'nodejs', true),
  php: spokenLanguage('php', 'php', true),
  pl: spokenLanguage('perl', 'perl', true),
  rkt: spokenLanguage('racket', 'racket', true),
  r: spokenLanguage('r', 'R', true),
  rs: spokenLanguage('rust', 'rust'),
  scala: spokenLanguage('scala', 'scala'),
  swift: spokenLanguage('swift', 'swift'),
  rb: spokenLanguage('ruby', 'ruby', true),
  d: spokenLanguage('d', 'D_ut', true),
  jl: spokenLanguage('julia', 'julia', true),
};
/** Other words for them. */
const SYNONYMS: Record<string, string> = {
  ...{ typescript: 'ts', bash: 'sh', csharp: 'cs', go_test: 'go', javascript: 'js', nodejs: 'js', perl: 'pl' },
  ...{ racket: 'rkt', R: 'r', rust: 'rs', ruby: 'rb', D_ut: 'd', julia: 'jl' },
};

/** @param word `ts`, `go_test.go`, `typescript` … */
export function multiPlLanguage(word: string): SpokenLanguage {
  const name = before(word, '.');
  const key = Object.hasOwn(SYNONYMS, name) ? (SYNONYMS[name] ?? name) : name;
  if (Object.hasOwn(LANGUAGES, key)) return LANGUAGES[key] ?? spokenLanguage(name, name);
  throw new RequestError(
    500,
    `the problem's language ${word || '""'} is not one of ${Object.keys(LANGUAGES).join(' ')}`,
  );
}

/** A function ends there; anything the model wrote after it is ignored. */
const ENDS: Record<string, string> = {
  ...{ julia: '\nend', lua: '\nend', ruby: '\nend' },
  ...{
    cpp: '\n}',
    csharp: '\n}',
    typescript: '\n}',
    perl: '\n}',
    r: '\n}',
    d: '\n}',
    go: '\n}',
    js: '\n}',
    php: '\n}',
  },
};
/** Provided by the tests. */
const MAIN: Record<string, string> = { d: 'void main', csharp: 'public static void Main' };

const ASK = {
  en: 'Please complete the above code according to the requirements in the docstring. Write the complete code and wrap it in markdown syntax. The code should not contain `Main` function.',
  zh: '请按照docstring的要求补全如上代码，写出完整的代码，代码要用markdown语法包裹。代码不要包含`Main`函数',
};

export const isFreeform = ({ extra }: TestConfig): boolean => Boolean(extra.is_freeform);

/** A problem in MultiPL-E's columns, or in those of HumanEval as published. */
export interface FunctionProblem {
  prompt: string;
  tests: string;
  /** Comes after the tests. */
  call: string;
  stops: unknown;
}

export function functionPrompt(row: ProblemRow, { extra, locale }: TestConfig, language: SpokenLanguage): Prompt {
  const prompt = textColumn(row, 'prompt');
  return {
    id: problemIdOf({ id: row.task_id ?? row.name ?? row.id }),
    prompt: extra.is_freeform
      ? `\`\`\`${language.fence}\n${prompt}\n\`\`\`\n\n${locale === 'zh' ? ASK.zh : ASK.en}`
      : prompt,
    labels: withoutKey(row, 'prompt'),
  };
}

/** Accepted: prompt and completion, or the function of a prose answer, run to the end with their tests. */
export async function runFunction(
  problem: FunctionProblem,
  language: SpokenLanguage,
  request: SubmitRequest,
  grading: Grading,
  seconds = 20,
) {
  const { config } = request;
  const code = await functionOf(problem, language, request, grading);
  const own = isFreeform(config) ? code : `${problem.prompt}\n${code}`;
  let fullCode = `${own}\n${problem.tests}${problem.call}`;
  fullCode = `${prelude(language.fence, fullCode)}${fullCode}`;
  if (language.fence === 'java') fullCode = fullCode.replaceAll('class Problem', 'class Main');
  if (language.fence === 'go') fullCode = oneGoFile(fullCode);
  const answer = await grade(
    {
      code: fullCode,
      language: language.run,
      compile_timeout: config.compile_timeout || 20,
      run_timeout: config.run_timeout || seconds,
    },
    grading,
  );
  return singleRun(request, code, fullCode, answer);
}

async function functionOf(
  { stops }: FunctionProblem,
  { fence, wholeBlock }: SpokenLanguage,
  request: SubmitRequest,
  grading: Grading,
): Promise<string> {
  if (!isFreeform(request.config)) {
    const code = trimAtStops(request.completion, stops);
    const end = ENDS[fence];
    return end !== undefined && code.includes(end) ? before(code, end) + end : code;
  }
  const code = wholeBlock
    ? await codeIn(request, fence, grading)
    : trimAtStops(firstBlock(request.completion, fence).code, stops);
  const main = MAIN[fence];
  return main === undefined ? code : before(code, main);
}

export const multiPlE: DatasetClass = {
  name: 'MultiPLEDataset',
  datasets: Object.keys(LANGUAGES).flatMap((code) => (code === 'python' ? [] : [`multiple_${code}`])),
  columns: ['prompt', 'tests', ['task_id', 'name']],
  recognises: (row) => 'tests' in row && 'prompt' in row && 'language' in row,

  prompt: (row, config, dataset) => functionPrompt(row, config, languageOf(row, dataset)),

  async evaluate(row, request, grading) {
    const problem = { prompt: textColumn(row, 'prompt'), tests: textColumn(row, 'tests'), call: '' };
    const language = languageOf(row, request.dataset);
    return runFunction({ ...problem, stops: row.stop_tokens }, language, request, grading);
  },
};

const languageOf = (row: ProblemRow, dataset: string): SpokenLanguage =>
  multiPlLanguage(
    multiPlE.datasets.includes(dataset) ? dataset.slice('multiple_'.length) : String(row.language ?? 'cpp'),
  );
