import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { errorMessage } from '../../core/text/thrown.ts';
import type { EvalResult, RunCodeResponse, SubmitRequest, TestConfig } from '../protocol.ts';
import { RequestError } from '../request-error.ts';
import {
  codeIn,
  type DatasetClass,
  type Grading,
  grade,
  labelsOf,
  type ProblemRow,
  problemIdOf,
  singleRun,
  textColumn,
} from './dataset.ts';
import { oneGoFile } from './go-file.ts';
import { junitOf } from './natural-code-bench.ts';
import { before, quoted, strip } from './python-text.ts';
import { INSERT, looksLikeTestProgram, type TestProgram, testProgram } from './test-column.ts';

const JEST_REPORT = 'jest-report.json';
const RULE = '----------------';

/** Accepted: the code and its test run to the end in one program and, with `extra.append_flag`, the last line was reached. */
export const autoEval: DatasetClass = {
  name: 'AutoEvalDataset',
  datasets: [],
  columns: ['id', 'content', 'test', 'labels'],
  recognises: (row) => Boolean(labelsOf(row).programming_language) && looksLikeTestProgram(row)?.code !== undefined,

  prompt(row, config) {
    return { id: problemIdOf(row), prompt: evalPrompt(row, config), labels: labelsOf(row) };
  },

  async evaluate(row, request, grading) {
    const { extra, compile_timeout, run_timeout } = request.config;
    const labels = labelsOf(row);
    const language = String(labels.programming_language ?? '');
    const runner = String(labels.execution_language ?? language);
    const test = testProgram(row);
    if (language === 'java') return withJunit(test, request, grading);
    const code = withoutEntryPoint(await codeIn(request, language, grading), language);
    const files = { ...test.asset };
    let fullCode = test.code;
    if (language === 'html' && !test.code.includes(INSERT)) files['index.html'] = Buffer.from(code).toString('base64');
    else fullCode = joinedCode(code, test.code, Boolean(extra.repr_code));
    if (runner === 'go' || runner === 'go_test') fullCode = oneGoFile(fullCode);
    const flag = extra.append_flag && runner === 'python' ? randomBytes(10).toString('hex') : undefined;
    if (flag !== undefined) fullCode += `\n\nprint("${flag}")`;

    const answer = await grade(
      {
        code: fullCode,
        language: runner,
        compile_timeout: compile_timeout || 40,
        run_timeout: run_timeout || 20,
        files,
        fetch_files: runner === 'jest' ? [JEST_REPORT] : [],
      },
      grading,
    );
    const reached = flag === undefined || Boolean(answer.run_result?.stdout?.includes(flag));
    const accepted = answer.status === 'Success' && reached;
    return singleRun(request, code, fullCode, answer, { accepted, extra: jestCases(answer) });
  },
};

/** Java goes into separate files, one per type. */
async function withJunit(test: TestProgram, request: SubmitRequest, grading: Grading): Promise<EvalResult> {
  const { compile_timeout, run_timeout } = request.config;
  const program = junitOf(request.completion, test);
  const limits = { compile_timeout: compile_timeout || 40, run_timeout: run_timeout || 20 };
  const answer = await grade({ ...program.request, ...limits }, grading);
  return singleRun(request, program.code, program.shown, answer, { extra: {} });
}

function evalPrompt(row: ProblemRow, config: TestConfig): string {
  const labels = labelsOf(row);
  const given = (name: string) => config.extra[name] ?? labels[name];
  const question = textColumn(row, 'content');
  const context = given('context');
  const fewshot = config.is_fewshot ? given('fewshot') : undefined;
  if (config.is_fewshot && !fewshot) throw new RequestError(500, `Missing fewshot for id ${String(problemIdOf(row))}`);
  const template = given('prompt_template');
  if (template) {
    const names: Record<string, unknown> = { question, fewshot, context, locale: config.locale };
    return String(template).replace(/\$(?:(\$)|([a-z_]+)|\{([a-z_]+)\})/g, (whole, dollar, bare, braced) => {
      if (dollar) return '$';
      const name = String(bare ?? braced);
      return Object.hasOwn(names, name) ? String(names[name] ?? '') : whole;
    });
  }
  if (!context && !fewshot) return question;
  const [ask, answer] = config.locale === 'zh' ? ['问题：', '答案：'] : ['Question:', 'Answer:'];
  const before = context && fewshot ? `${context}\n\n${RULE}\n\n${fewshot}` : String(context || fewshot);
  return `${before}\n\n${ask}${question}\n\n${answer}\n`;
}

/** The test goes after the code, or around it if it contains `#<INSERT>`. */
function joinedCode(code: string, test: string, asLiteral: boolean): string {
  const literal = (text: string) => (asLiteral ? quoted(text) : text);
  const [head, tail] = test.split(INSERT);
  if (head !== undefined && tail !== undefined) return head + literal(code) + tail;
  return `${literal(before(code, 'if __name__ =='))}\n${test}`;
}

const MAIN: Record<string, string[]> = { python: ['if __name__ == "__main__":'], cpp: ['int main()'] };

/** Drops code that would run when the test only wants to import it. */
function withoutEntryPoint(code: string, language: string): string {
  let text = language === 'go' ? code.replaceAll('package main', '') : code;
  for (const mark of [...(MAIN[language] ?? []), '# Example usage']) {
    if (text.includes(mark)) text = strip(before(text, mark));
  }
  return text;
}

const jestReport = z.object({
  testResults: z.array(
    z.object({
      testFilePath: z.string(),
      testResults: z.array(
        z.object({
          status: z.string(),
          fullName: z.string(),
          title: z.string(),
          ancestorTitles: z.array(z.string()),
          failureMessages: z.array(z.string()),
        }),
      ),
    }),
  ),
});

function jestCases(answer: RunCodeResponse): EvalResult['extra'] {
  const file = answer.files[JEST_REPORT];
  if (file === undefined) return {};
  let report: z.infer<typeof jestReport>;
  try {
    report = jestReport.parse(JSON.parse(Buffer.from(file, 'base64').toString()));
  } catch (error) {
    throw new RequestError(500, `${JEST_REPORT} is not a report of jest: ${errorMessage(error)}`);
  }
  const jest_cases = report.testResults.flatMap((suite) =>
    suite.testResults.map((test) => ({
      passed: test.status === 'passed',
      full_name: test.fullName,
      file: suite.testFilePath,
      suite: test.ancestorTitles.join(' > '),
      test: test.title,
      failure_messages: test.failureMessages,
    })),
  );
  return { jest_cases };
}
