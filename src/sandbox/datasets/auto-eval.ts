import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { EvalResult, RunCodeResponse, TestConfig } from '../protocol.ts';
import { RequestError } from '../request-error.ts';
import {
  codeIn,
  type DatasetClass,
  grade,
  idOf,
  jsonColumn,
  labelsOf,
  type Row,
  singleRun,
  textColumn,
} from './dataset.ts';

const INSERT = '#<INSERT>';
const JEST_REPORT = 'jest-report.json';
const RULE = '----------------';

/** Accepted: the code and its test run through in one program, and with `extra.append_flag` its last line was reached. */
export const autoEval: DatasetClass = {
  name: 'AutoEvalDataset',
  wantsProgram: false,

  prompt(row, config) {
    return { id: idOf(row), prompt: promptText(row, config), labels: labelsOf(row) };
  },

  async evaluate(row, request, grading) {
    const { extra, compile_timeout, run_timeout } = request.config;
    const labels = labelsOf(row);
    const language = String(labels.programming_language ?? '');
    const runner = String(labels.execution_language ?? language);
    if (language === 'java') {
      throw new RequestError(400, 'AutoEval problems in java (JUnit with split classes) are not supported here');
    }
    const test = testOf(row);
    const code = withoutEntryPoint(await codeIn(request, language, grading), language);
    const files = { ...test.asset };
    let fullCode = test.code;
    if (language === 'html' && !test.code.includes(INSERT)) files['index.html'] = Buffer.from(code).toString('base64');
    else fullCode = joined(code, test.code, Boolean(extra.repr_code));
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

function promptText(row: Row, config: TestConfig): string {
  const labels = labelsOf(row);
  const given = (name: string) => config.extra[name] ?? labels[name];
  const question = textColumn(row, 'content');
  const context = given('context');
  const fewshot = config.is_fewshot ? given('fewshot') : undefined;
  if (config.is_fewshot && !fewshot) throw new RequestError(500, `Missing fewshot for id ${String(idOf(row))}`);
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

const testColumn = z.object({ code: z.string(), asset: z.unknown().optional() });
const assetColumn = z.record(z.string(), z.string());

/** `asset`: file names → base64, or that as JSON text; anything else is none. */
function testOf(row: Row): { code: string; asset: Record<string, string> } {
  try {
    const { code, asset } = testColumn.parse(jsonColumn(row, 'test'));
    const files: unknown = typeof asset === 'string' ? JSON.parse(asset) : asset;
    return { code, asset: typeof files === 'object' && files !== null ? assetColumn.parse(files) : {} };
  } catch (error) {
    if (error instanceof RequestError) throw error;
    throw new RequestError(500, '"test" of the problem is not {code, asset}', (error as Error).message);
  }
}

/** The test goes after the code, or around the place where it says `#<INSERT>`. */
function joined(code: string, test: string, asLiteral: boolean): string {
  const literal = (text: string) => (asLiteral ? JSON.stringify(text) : text);
  const [before, after] = test.split(INSERT);
  if (before !== undefined && after !== undefined) return before + literal(code) + after;
  return `${literal(upTo(code, 'if __name__ =='))}\n${test}`;
}

const upTo = (text: string, mark: string) => (text.includes(mark) ? text.slice(0, text.indexOf(mark)) : text);

/** What would run when the test only wants to import it. */
function withoutEntryPoint(code: string, language: string): string {
  const marks =
    { python: ['if __name__ == "__main__":', "if __name__ == '__main__':"], cpp: ['int main()'] }[language] ?? [];
  let text = language === 'go' ? code.replaceAll('package main', '') : code;
  for (const mark of [...marks, '# Example usage']) if (text.includes(mark)) text = upTo(text, mark).trim();
  return text;
}

/** A Go file has one package clause, and its imports come first. */
function oneGoFile(code: string): string {
  const packages = new Set([...code.matchAll(/package\s+(\w+)/g)].map(([, name]) => name));
  const single = [...code.matchAll(/import\s+("[^"\n]+")/g)].map(([, name]) => name);
  const grouped = importGroups(code).flatMap(({ names }) => names.split('\n'));
  const imports = new Set([...single, ...grouped].map((name) => name?.trim()).filter(Boolean));
  const rest = code.replace(/package\s+\w+/g, '').replace(/import\s+"[^"\n]+"/g, '');
  let body = '';
  let at = 0;
  for (const { from, to } of importGroups(rest)) {
    body += rest.slice(at, from);
    at = to;
  }
  body += rest.slice(at);
  const head = [[...packages].map((name) => `package ${name}`), [...imports].map((name) => `import ${name}`)];
  return `${head.map((lines) => lines.join('\n')).join('\n\n')}\n\n${body}`;
}

/** Each `import (…)`. A lazy pattern would look for the end of one that has none from each place anew. */
function importGroups(code: string): { from: number; to: number; names: string }[] {
  const groups: { from: number; to: number; names: string }[] = [];
  let last = 0;
  for (const { index, 0: head } of code.matchAll(/import\s+\(/g)) {
    if (index < last) continue;
    const close = code.indexOf(')', index);
    if (close < 0) break;
    last = close + 1;
    groups.push({ from: index, to: last, names: code.slice(index + head.length, close) });
  }
  return groups;
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
    throw new RequestError(500, `${JEST_REPORT} is not a report of jest: ${(error as Error).message}`);
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
