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

/** Accepted: the code, the set-up and all asserts run through in one program. */
export const mbpp: DatasetClass = {
  name: 'MBPPDataset',
  wantsProgram: false,

  prompt(row) {
    const content = textColumn(row, 'content');
    const tests = testsOf(row);
    // Upstream's table holds the finished prompt in some versions and the bare task in others.
    const finished = tests[0] === undefined || content.includes(tests[0]);
    const task = `You are an expert Python programmer, and here is your task: ${content} Your code should pass these tests:`;
    return { id: idOf(row), prompt: finished ? content : `${task}\n\n${tests.join('\n')}`, labels: labelsOf(row) };
  },

  async evaluate(row, request, grading) {
    const code = await codeIn(request, 'python', grading);
    const setup = String(labelsOf(row).test_setup_code ?? '');
    const fullCode = `${code}\n${setup}\n${testsOf(row).join('\n')}`;
    const run_timeout = request.config.run_timeout || 20;
    return singleRun(
      request,
      code,
      fullCode,
      await grade({ code: fullCode, language: 'python', run_timeout }, grading),
    );
  },
};

function testsOf(row: Row): string[] {
  const tests = jsonColumn(row, 'test');
  return Array.isArray(tests) ? tests.map(String) : [String(tests)];
}
