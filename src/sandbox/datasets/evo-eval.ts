import { codeIn, type DatasetClass, grade, labelsOf, singleRun, textColumn } from './dataset.ts';
import { firstBlock } from './freeform.ts';
import { callOf, olderPrompt } from './human-eval.ts';
import { isFreeform } from './multi-pl-e.ts';
import { passAtK } from './pass-at-k.ts';

/** HumanEval's problems, modified. Code is extracted from prompt and completion together. */
export const evoEval: DatasetClass = {
  name: 'EvoEvalDataset',
  datasets: ['evoeval'],
  columns: ['id', 'content', 'test', 'labels'],
  recognises: (row) => String(row.id).startsWith('EvoEval_'),
  metricsFunction: passAtK(`    return re.findall(r'EvoEval_(.*)_EvoEval', result.id)[0]`),

  prompt: (row, config) => olderPrompt(row, config, 'python'),

  async evaluate(row, request, grading) {
    const { config, completion } = request;
    const freeform = isFreeform(config);
    const test = textColumn(row, 'test');
    const whole = `${olderPrompt(row, config, 'python').prompt}\n${completion}`;
    const code = freeform ? await codeIn(request, 'python', grading) : firstBlock(whole, 'python').code;
    const fullCode = `${code}\n${test}${callOf(test, labelsOf(row).entry_point)}`;
    const limits = { compile_timeout: config.compile_timeout || 20, run_timeout: config.run_timeout || 20 };
    const answer = await grade({ code: fullCode, language: 'python', ...limits }, grading);
    return singleRun(request, freeform ? code : completion, fullCode, answer);
  },
};
