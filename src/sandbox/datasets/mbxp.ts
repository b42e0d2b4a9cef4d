import type { TestConfig } from '../protocol.ts';
import { RequestError } from '../request-error.ts';
import { type DatasetClass, grade, labelsOf, type ProblemRow, problemIdOf, singleRun, textColumn } from './dataset.ts';
import { snippet } from './freeform.ts';
import { INSERT, looksLikeTestProgram, testProgram } from './test-column.ts';

const WORDS = {
  en: { ask: 'Question:', answer: 'Answer:', wrap: 'Please answer in English with Markdown format. ####Instruction:' },
  zh: { ask: '问题：', answer: '答案：', wrap: '请用中文回答，并用Markdown格式。####Instruction:' },
};
const RULE = '----------------';
/** A program that exits before its tests is rejected; only in these two languages, as upstream. */
const LEAVES_EARLY = /exit\(\s*0\s*\)/;
const GUARDED = ['python', 'cpp'];
const SECONDS = 30;

/** Accepted: the code, inserted at #<INSERT> in the test, runs to the end. MBXP, HumanEvalDS and OODTest. */
export const mbxp: DatasetClass = {
  name: 'MBXPDataset',
  datasets: ['mbxp_v1_en', 'humanevalds_v1_en', 'oodtest_v1_zh', 'humanevalds_v2_en', 'mbxp_v2_en'],
  columns: ['id', 'content', 'test', 'labels'],
  recognises(row) {
    const { task_id, programming_language, category } = labelsOf(row);
    const program = looksLikeTestProgram(row);
    return Boolean(task_id && programming_language && category !== 'aider' && program?.code?.includes(INSERT));
  },

  prompt(row, config, dataset) {
    const labels = labelsOf(row);
    const question = textColumn(row, 'content');
    const { ask, answer, wrap } = WORDS[dataset.includes('_en') ? 'en' : 'zh'];
    const context = labels.docs ? String(labels.docs) : null;
    const fewshot = config.is_fewshot ? fewshotOf(row, labels, config) : null;
    const asked = `${ask}${question}\n\n${answer}\n`;
    const parts = [...(context ? [context] : []), ...(context && fewshot ? [RULE] : []), ...(fewshot ? [fewshot] : [])];
    const wrapped = config.extra.autoeval_wrap_prompt === true && !fewshot ? `${wrap}\n${question}\nResponse:\n` : null;
    const last = wrapped ?? (parts.length > 0 ? asked : question);
    return { id: problemIdOf(row), prompt: [...parts, last].join('\n\n'), labels };
  },

  async evaluate(row, request, grading) {
    const { dataset, config, completion } = request;
    const labels = labelsOf(row);
    const language = String(labels.programming_language ?? '');
    const mode = config.extra.autoeval_extract_code_mode ?? 'first';
    if (mode !== 'first' && mode !== 'all') {
      throw new RequestError(500, `Invalid autoeval_extract_code_mode: ${String(mode)}`);
    }
    const { code: test, asset } = testProgram(row);
    const method = language === 'csharp' || (language === 'java' && dataset.startsWith('humanevalds'));
    const { code, type } = snippet(completion, language, {
      exact: mode === 'first',
      all: mode === 'all',
      keepPackage: true,
      method,
    });
    const [head, ...rest] = test.split(INSERT);
    if (rest.length === 0) throw new RequestError(500, `the test of the problem does not say ${INSERT}`);
    const fullCode = `${head}${code}${rest[0]}`;
    const limits = { compile_timeout: SECONDS, run_timeout: SECONDS };
    const run = labels.execution_language;
    const answer = await grade({ code: fullCode, language: run, ...limits, files: asset }, grading);
    let accepted = answer.status === 'Success' && !(GUARDED.includes(String(run)) && LEAVES_EARLY.test(code));
    // rackunit reports a failure but exits with 0.
    if (language === 'racket' && answer.run_result?.stderr?.includes('FAILURE')) accepted = false;
    return singleRun(request, code, fullCode, answer, { accepted, test_code: test, extracted_type: type });
  },
};

function fewshotOf(row: ProblemRow, labels: Record<string, unknown>, { extra }: TestConfig): string {
  const task = String(labels.task_id ?? '');
  const own = (extra.autoeval_custom_fewshot ?? {}) as Record<string, unknown>;
  const fewshot = own[task.split('/')[0] ?? ''] ?? own.default ?? labels.fewshot;
  if (fewshot === undefined) throw new RequestError(500, `Missing fewshot of ${task || String(problemIdOf(row))}`);
  return String(fewshot);
}
