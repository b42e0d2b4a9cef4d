import { codeIn, type DatasetClass, grade, labelsOf, problemIdOf, singleRun, textColumn } from './dataset.ts';
import { INSERT, testProgram } from './test-column.ts';

/** Accepted: the code, inserted at #<INSERT> in the test, passes the unit tests that come as a file beside it. */
export const aider: DatasetClass = {
  name: 'AiderBenchmarkDataset',
  datasets: ['aider_benchmark_v1'],
  columns: ['id', 'content', 'test', 'labels'],
  recognises: (row) => labelsOf(row).category === 'aider',

  prompt(row, { extra }) {
    const labels = labelsOf(row);
    const format = `\`\`\`python\n${String(labels.reference ?? '')}\n\`\`\``;
    const asked = `\n${textColumn(row, 'content')}\n\nPlease generate the code in the following format:\n${format}\n`;
    const prompt = extra.autoeval_wrap_prompt
      ? `Please answer in English with Markdown format. Below is the problem:\n${asked}\nYour response here:\n`
      : asked;
    return { id: problemIdOf(row), prompt, labels };
  },

  async evaluate(row, request, grading) {
    const { code: test, asset } = testProgram(row);
    const code = await codeIn(request, 'python', grading);
    const fullCode = test.replaceAll(INSERT, () => code);
    const run_timeout = request.config.run_timeout || 60;
    const answer = await grade({ code: fullCode, language: 'python', run_timeout, files: asset }, grading);
    const tests = Object.values(asset).map((content) => Buffer.from(content, 'base64').toString());
    return singleRun(request, code, fullCode, answer, { test_code: tests.join('\n\n') });
  },
};
