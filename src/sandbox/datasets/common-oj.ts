import { mapOrdered } from '../../core/async/map-ordered.ts';
import { errorMessage } from '../../core/text/thrown.ts';
import type { EvalTestCase, Language, RunCodeResponse, SubmitRequest, TestConfig } from '../protocol.ts';
import { parseFloatText } from '../pydantic.ts';
import { RequestError } from '../request-error.ts';
import {
  codeIn,
  type DatasetClass,
  type Grading,
  grade,
  jsonColumn,
  labelsOf,
  type ProblemRow,
  problemIdOf,
  textColumn,
} from './dataset.ts';

type Names = Record<'default' | 'cpp' | 'python' | 'java', string>;
const ASK: Record<'en' | 'zh', Names> = {
  en: {
    default:
      'Write a complete program with an entry point in {language}. It reads standard input and writes the result to standard output.',
    cpp: 'Write a complete C++ program with a main function. It reads standard input and writes the result to standard output.',
    python: 'Write a complete Python script. It reads standard input and writes the result to standard output.',
    java: 'Write a complete Java program: a public class Main with public static void main(String[] args). It reads System.in and writes the result to System.out.',
  },
  zh: {
    default: '请用 {language} 写出带有入口的完整程序，从标准输入读取数据，并把结果写到标准输出。',
    cpp: '请用 C++ 写出带有 main 函数的完整程序，从标准输入读取数据，并把结果写到标准输出。',
    python: '请写出完整的 Python 脚本，从标准输入读取数据，并把结果写到标准输出。',
    java: '请写出完整的 Java 程序：公共类 Main，含 public static void main(String[] args)，从 System.in 读取数据，并把结果写到 System.out。',
  },
};
const COMPILED: Language[] = ['cpp', 'go', 'java'];
const LONGEST_SHOWN = 1000;

interface StdioCase {
  input: Record<string, string>;
  output: Record<string, string>;
}

/** Accepted: every test's output equals the expected one; stops at the first failure unless `extra.run_all_cases`. */
export const commonOj: DatasetClass = {
  name: 'CommonOJDataset',
  datasets: ['code_contests'],
  columns: ['id', 'content', 'test', 'labels'],
  recognises(row) {
    try {
      return casesOf(row).length > 0;
    } catch {
      return false;
    }
  },
  wantsProgram: true,

  prompt(row, { locale, language }) {
    const names = ASK[locale === 'zh' ? 'zh' : 'en'];
    const ask = names[language as keyof Names] ?? names.default.replace('{language}', String(language));
    return { id: problemIdOf(row), prompt: `${textColumn(row, 'content')}\n\n${ask}`, labels: labelsOf(row) };
  },

  async evaluate(row, request, grading) {
    const { language } = request.config;
    if (language === null) {
      throw new RequestError(400, 'config.language field must exist for CommonOJDataset, got None');
    }
    const cases = casesOf(row);
    const code = await codeIn(request, language, grading);
    const tests = await runCases(cases, code, language, request, grading);
    return {
      id: request.id,
      accepted: tests.every((test) => test.passed),
      extracted_code: code,
      full_code: null,
      test_code: null,
      tests,
      extracted_type: null,
      extra: null,
    };
  },
};

/** Raised to stop the cases still running; not a real error. */
const ENOUGH = new Error('a case failed');

async function runCases(
  cases: StdioCase[],
  code: string,
  language: Language,
  { config }: SubmitRequest,
  grading: Grading,
): Promise<EvalTestCase[]> {
  const done: (EvalTestCase | undefined)[] = cases.map(() => undefined);
  const all = Boolean(config.extra.run_all_cases);
  const one = async (test: StdioCase, signal: AbortSignal, index: number) => {
    const outcome = await runCase(test, code, language, config, { ...grading, signal });
    done[index] = outcome;
    // Earlier cases may still be running: the rest can be dropped only if the failed case is the first open one.
    const open = done.indexOf(undefined);
    const reached = done.slice(0, open < 0 ? undefined : open);
    if (!all && reached.some((result) => result?.passed === false)) throw ENOUGH;
  };
  try {
    await mapOrdered(cases, one, { concurrency: grading.casesAtOnce, signal: grading.signal });
  } catch (error) {
    grading.signal?.throwIfAborted();
    if (error !== ENOUGH) {
      throw new RequestError(500, `Failed to check stdio test case: ${errorMessage(error)}`);
    }
  }
  const failed = done.findIndex((result) => result?.passed === false);
  const told = all || failed < 0 ? done : done.slice(0, failed + 1);
  return told.filter((result) => result !== undefined);
}

async function runCase(
  test: StdioCase,
  code: string,
  language: Language,
  config: TestConfig,
  grading: Grading,
): Promise<EvalTestCase> {
  const compiled = COMPILED.includes(language);
  const answer = await grade(
    {
      code,
      language,
      stdin: test.input.stdin ?? null,
      compile_timeout: (compiled && config.compile_timeout) || 10,
      run_timeout: config.run_timeout || (compiled ? 10 : 20),
    },
    grading,
  );
  const passed = answer.status === 'Success' && sameLines(stdoutOf(answer), test.output.stdout ?? '');
  const shown =
    passed && !config.extra.return_full_case ? { input: cutTexts(test.input), output: cutTexts(test.output) } : test;
  return { passed, exec_info: grading.keep(answer), test_info: { ...shown } };
}

const stdoutOf = (answer: RunCodeResponse) => answer.run_result?.stdout ?? '';

/** Compares line by line, ignoring case and surrounding white space; numeric lines may differ by 1e-5 of the expected value. */
export function sameLines(actual: string, expected: string): boolean {
  const got = actual.trim().split('\n');
  const want = expected.trim().split('\n');
  return got.length === want.length && got.every((line, index) => sameLine(line, want[index] ?? ''));
}

function sameLine(actual: string, expected: string): boolean {
  if (actual.trim().toLowerCase() === expected.trim().toLowerCase()) return true;
  const got = parseFloatText(actual);
  const want = parseFloatText(expected);
  return got !== undefined && want !== undefined && Math.abs(got - want) / Math.max(Math.abs(want), 1e-10) < 1e-5;
}

/** Cuts the middle out of long texts, so an answer with a thousand big cases stays readable. */
function cutTexts(texts: Record<string, string>): Record<string, string> {
  const half = LONGEST_SHOWN / 2;
  return Object.fromEntries(
    Object.entries(texts).map(([name, text]) =>
      text.length > LONGEST_SHOWN ? [name, `${text.slice(0, half)}...${text.slice(-half)}`] : [name, text],
    ),
  );
}

function casesOf(row: ProblemRow): StdioCase[] {
  const tests = jsonColumn(row, 'test');
  if (!Array.isArray(tests)) throw new RequestError(500, '"test" of the problem is not a list of cases');
  return tests.map((test, index) => {
    const { input, output } = (test ?? {}) as Partial<StdioCase>;
    if (typeof input?.stdin !== 'string' || typeof output?.stdout !== 'string') {
      throw new RequestError(500, `case ${index} of the problem has no input.stdin or output.stdout text`);
    }
    return { input, output };
  });
}
