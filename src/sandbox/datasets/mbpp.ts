import {
  type DatasetClass,
  grade,
  jsonColumn,
  labelsOf,
  type ProblemRow,
  problemIdOf,
  singleRun,
  textColumn,
} from './dataset.ts';
import { firstBlock } from './freeform.ts';
import { before } from './python-text.ts';

/** Anything after these is the completion's own test, or another task. */
const STOPS = ['\nassert', '\n"""'];
const task = (content: string, tests: string): string =>
  `You are an expert Python programmer, and here is your task: ${content} Your code should pass these tests:\n\n${tests}`;

/** Three problems of MBPP's prompt split, with its reference solutions. */
const SHOTS: [string, string[], string][] = [
  [
    'Write a function to find the similar elements from the given two tuple lists.',
    [
      'assert similar_elements((3, 4, 5, 6),(5, 7, 4, 10)) == (4, 5)',
      'assert similar_elements((1, 2, 3, 4),(5, 4, 3, 7)) == (3, 4)',
      'assert similar_elements((11, 12, 14, 13),(17, 15, 14, 13)) == (13, 14)',
    ],
    'def similar_elements(test_tup1, test_tup2):\r\n  res = tuple(set(test_tup1) & set(test_tup2))\r\n  return (res) ',
  ],
  [
    'Write a python function to identify non-prime numbers.',
    ['assert is_not_prime(2) == False', 'assert is_not_prime(10) == True', 'assert is_not_prime(35) == True'],
    'import math\r\ndef is_not_prime(n):\r\n    result = False\r\n    for i in range(2,int(math.sqrt(n)) + 1):\r\n        if n % i == 0:\r\n            result = True\r\n    return result',
  ],
  [
    'Write a function to find the largest integers from a given list of numbers using heap queue algorithm.',
    [
      'assert heap_queue_largest( [25, 35, 22, 85, 14, 65, 75, 22, 58],3)==[85, 75, 65] ',
      'assert heap_queue_largest( [25, 35, 22, 85, 14, 65, 75, 22, 58],2)==[85, 75] ',
      'assert heap_queue_largest( [25, 35, 22, 85, 14, 65, 75, 22, 58],5)==[85, 75, 65, 58, 35]',
    ],
    'import heapq as hq\r\ndef heap_queue_largest(nums,n):\r\n  largest_nums = hq.nlargest(n, nums)\r\n  return largest_nums',
  ],
];

/** Accepted: the set-up, the code and all asserts run to the end in one program. */
export const mbpp: DatasetClass = {
  name: 'MBPPDataset',
  datasets: ['mbpp'],
  columns: ['id', 'content', 'labels', ['test_list', 'test']],
  recognises: (row) => testsOf(row).every((test) => typeof test === 'string') && testsOf(row).length > 0,

  prompt(row, { is_fewshot }) {
    const content = textColumn(row, 'content');
    const tests = testsOf(row).map(String);
    const shots = SHOTS.map(([text, asserts, code]) => `${task(text, asserts.join('\n'))}\n[BEGIN]\n${code}\n[DONE]\n`);
    const prompt = is_fewshot
      ? `${shots.join('')}${task(content, tests.slice(0, 2).join('\n'))}\n[BEGIN]\n`
      : task(content, tests.join('\n'));
    return { id: problemIdOf(row), prompt, labels: labelsOf(row) };
  },

  async evaluate(row, request, grading) {
    const { config } = request;
    const tests = testsOf(row).map(String);
    const found = firstBlock(before(request.completion, '[DONE]'), 'python').code;
    const own = STOPS.reduce(before, found);
    const code = before(`${String(labelsOf(row).test_setup_code ?? '')}\n${own}`, 'if __name__ ==');
    const asked = config.is_fewshot ? tests.slice(-1) : tests;
    const fullCode = `${code}${asked.map((test) => `\n${test}\n`).join('')}`;
    const run_timeout = config.run_timeout || 20;
    const answer = await grade({ code: fullCode, language: 'python', run_timeout }, grading);
    return singleRun(request, code, fullCode, answer);
  },

  split: (row) => testsOf(row).map((test) => ({ ...row, test_list: [test] })),
};

function testsOf(row: ProblemRow): unknown[] {
  const name = row.test_list === undefined ? 'test' : 'test_list';
  try {
    const tests = jsonColumn(row, name);
    return Array.isArray(tests) ? tests : [];
  } catch {
    return [];
  }
}
