import { codeIn, type DatasetClass, grade, labelsOf, problemIdOf, singleRun, textColumn } from './dataset.ts';
import TESTING_UTIL from './live_code_bench.py';

const SECONDS_A_CASE = 6;
/** For all cases together; the program stops earlier by itself, depending on its number of cases. */
const MOST_SECONDS = 160;

const encodedInput = (text: string) => Buffer.from(text).toString('base64');

const SHOTS = `Question: read two integers from one line and print their sum.
Answer:
\`\`\`python
a, b = map(int, input().split())
print(a + b)
\`\`\`

Question: class Solution, method largest(self, nums: List[int]) -> int, gives the largest of nums.
Answer:
\`\`\`python
class Solution:
    def largest(self, nums: List[int]) -> int:
        return max(nums)
\`\`\`

`;

/** @param seconds for each case; @param most for all */
const testProgram = (seconds: number, most: number): string => `import testing_util

testing_util.main(seconds=${seconds}, most=${most})
`;

/** Accepted: every case passes, whether the solution reads stdin or is a method. */
export const liveCodeBench: DatasetClass = {
  name: 'LiveCodeBenchDataset',
  datasets: ['live_code_bench_v1'],
  columns: ['id', 'content', 'test', 'labels'],
  // A published table stores its cases as a compressed pickle.
  recognises: (row) =>
    typeof row.test === 'string' && (row.test.startsWith('eJ') || row.test.includes('"input_output"')),
  wantsProgram: true,

  prompt: (row, { is_fewshot }) => ({
    id: problemIdOf(row),
    prompt: `${is_fewshot ? SHOTS : ''}${textColumn(row, 'content')}`,
    labels: labelsOf(row),
  }),

  async evaluate(row, request, grading) {
    const { run_timeout } = request.config;
    const code = await codeIn(request, 'python', grading);
    const test = typeof row.test === 'string' ? row.test : JSON.stringify(row.test);
    const program = testProgram(Math.trunc(run_timeout || SECONDS_A_CASE), MOST_SECONDS);
    const files = {
      'test_cases.txt': encodedInput(test),
      'code.py': encodedInput(code),
      'testing_util.py': encodedInput(TESTING_UTIL),
    };
    const answer = await grade({ code: program, language: 'python', run_timeout: MOST_SECONDS, files }, grading);
    return singleRun(request, code, code, answer, { test_code: program });
  },
};
