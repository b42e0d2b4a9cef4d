import { codeIn, type DatasetClass, grade, labelsOf, problemIdOf, singleRun, textColumn } from './dataset.ts';
import { extractCode } from './extraction.ts';
import { passAtK } from './pass-at-k.ts';
import { before, strip } from './python-text.ts';

/** Accepted: the function and its asserts run to the end in one program. */
export const mhpp: DatasetClass = {
  name: 'MHPPDataset',
  datasets: ['mhpp'],
  columns: ['id', 'content', 'test', 'labels'],
  recognises: (row) => 'difficulty_type' in labelsOf(row),
  metricsFunction: passAtK(`    return result.tests[0].test_info['difficulty_type']`),

  /** The first assert becomes the docstring's example. */
  prompt(row, { extra }) {
    const content = textColumn(row, 'content');
    const asked = extra.pretrain_mode ? extractCode(content, 'python') : content;
    const docstring = asked.slice(0, asked.lastIndexOf('"""'));
    const prompt = `${docstring}\n    e.g. ${before(textColumn(row, 'test'), '\n')} """`;
    return { id: problemIdOf(row), prompt, labels: labelsOf(row) };
  },

  async evaluate(row, request, grading) {
    const first = await codeIn(request, 'python', grading);
    // A completion that defines no function continues the prompt.
    const whole = { ...request, completion: `${textColumn(row, 'content')}\n${request.completion}` };
    const code = strip(first) === '' ? await codeIn(whole, 'python', grading) : first;
    const fullCode = `${code}\n${textColumn(row, 'test')}`;
    const run_timeout = request.config.run_timeout || 20;
    const answer = await grade({ code: fullCode, language: 'python', run_timeout }, grading);
    return singleRun(request, code, fullCode, answer, { test_info: labelsOf(row) });
  },
};
