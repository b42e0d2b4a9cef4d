import { type DatasetClass, grade, labelsOf, problemIdOf, singleRun, textColumn } from './dataset.ts';
import { snippet } from './freeform.ts';

/** Accepted: the module, with the ports the problem declares, passes the test bench. VerilogEval. */
export const verilog: DatasetClass = {
  name: 'VerilogDataset',
  datasets: ['verilogeval_human', 'verilogeval_machine'],
  columns: ['id', 'code_preface', 'description', 'test', 'labels'],
  recognises: (row) => 'code_preface' in row,

  prompt(row, { is_fewshot }) {
    const { system_prompt, question_prompt, fewshot } = labelsOf(row);
    const module = `\`\`\`verilog\n${textColumn(row, 'code_preface')}\`\`\``;
    const asked = [system_prompt, question_prompt, textColumn(row, 'description'), module].join('\n');
    const prompt =
      is_fewshot && fewshot ? `${String(fewshot)}\n\n----------------\n\nQuestion:\n${asked}\n\nAnswer:` : asked;
    return { id: problemIdOf(row), prompt, labels: {} };
  },

  async evaluate(row, request, grading) {
    const { compile_timeout, run_timeout } = request.config;
    const test = textColumn(row, 'test');
    const { code } = snippet(request.completion, 'verilog');
    const fullCode = `${textColumn(row, 'code_preface')}\n${code}`;
    const limits = { compile_timeout: compile_timeout || 60, run_timeout: run_timeout || 30 };
    const answer = await grade({ code: `${test}\n${fullCode}`, language: 'verilog', ...limits }, grading);
    return singleRun(request, code, fullCode, answer, { test_code: test });
  },
};
