import { type DatasetClass, grade, labelsOf, type ProblemRow, problemIdOf, singleRun, textColumn } from './dataset.ts';
import CHECK from './pal_math.py';
import { looksLikeTestProgram, testAsset } from './test-column.ts';

const ANSWER = 'answer.json';
const OPEN = '```python\n';
const HEAD = 'def solution():\n';

/** Accepted: solution() returns the number, or the expression, of the problem's answer. */
export const palMath: DatasetClass = {
  name: 'PalMathDataset',
  datasets: ['palmath'],
  columns: ['id', 'content', 'test', 'labels'],
  recognises: (row) =>
    looksLikeTestProgram(row) !== null && looksLikeTestProgram(row)?.code === undefined && hasAnswer(row),

  prompt: (row) => ({ id: problemIdOf(row), prompt: textColumn(row, 'content'), labels: labelsOf(row) }),

  async evaluate(row, request, grading) {
    const { compile_timeout, run_timeout } = request.config;
    const code = solutionIn(request.completion);
    const fullCode = CHECK.replace('#<INSERT>', () => code);
    const limits = { compile_timeout: compile_timeout || 20, run_timeout: run_timeout || 20 };
    const files = testAsset(row);
    const answer = await grade({ code: fullCode, language: 'python', ...limits, files }, grading);
    return singleRun(request, code, fullCode, answer);
  },
};

const hasAnswer = (row: ProblemRow): boolean => ANSWER in testAsset(row);

/** A Python block that defines solution(), up to its closing fence, or ''. */
function solutionIn(completion: string): string {
  const open = completion.indexOf(OPEN);
  const head = open < 0 ? -1 : completion.indexOf(HEAD, open + OPEN.length);
  const close = head < 0 ? -1 : completion.indexOf('```', head + HEAD.length);
  return close < 0 ? '' : completion.slice(open + OPEN.length, close);
}
