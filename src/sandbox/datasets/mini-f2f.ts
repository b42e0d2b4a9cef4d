import type { TestConfig } from '../protocol.ts';
import {
  codeIn,
  type DatasetClass,
  grade,
  labelsOf,
  type ProblemRow,
  problemIdOf,
  singleRun,
  textColumn,
} from './dataset.ts';
import { strip } from './python-text.ts';

/** Lean first builds the parts of Mathlib it needs. */
const SECONDS = 300;
const FENCES = ['```lean4', '```lean', '```'];

/** Accepted: Lean builds the file, the theorem is still in it, and no `sorry` remains. */
export const miniF2f: DatasetClass = {
  name: 'MiniF2FLean4Dataset',
  datasets: ['minif2f_lean4_test', 'minif2f_lean4_valid'],
  columns: ['id', 'content', 'labels'],
  recognises: (row) => typeof row.content === 'string' && /\btheorem\s/.test(row.content) && row.test === undefined,

  prompt(row, config) {
    const ask =
      config.locale === 'en' ? 'Please finish the following theorem in Lean4:' : '请使用 Lean4 完成下面的证明：';
    const prompt = fromTemplate(row, config) ?? `${ask}\n\n\`\`\`lean\n${textColumn(row, 'content')}\n\`\`\``;
    return { id: problemIdOf(row), prompt, labels: labelsOf(row) };
  },

  async evaluate(row, request, grading) {
    const { completion, config } = request;
    const theorem = `theorem ${String(problemIdOf(row))}`;
    const whole = completion.includes(theorem) ? completion : continued(row, completion, config);
    const code = await codeIn({ ...request, completion: whole }, 'lean', grading);
    const fullCode = leanFile(code);
    const run_timeout = config.run_timeout || SECONDS;
    const answer = await grade({ code: fullCode, language: 'lean', run_timeout }, grading);
    const proven = fullCode.includes(theorem) && !answer.run_result?.stdout?.includes("declaration uses 'sorry'");
    return singleRun(request, code, fullCode, answer, { accepted: answer.status === 'Success' && proven });
  },
};

/** A block that only continues the theorem's statement. */
function continued(row: ProblemRow, completion: string, config: TestConfig): string {
  const text = strip(completion);
  if (!text.startsWith('```') && !text.endsWith('```')) return completion;
  const statement = fromTemplate(row, config) ?? `\`\`\`lean\n${textColumn(row, 'content')}\n`;
  const fence = FENCES.find((mark) => text.startsWith(mark));
  const rest = fence === undefined ? completion : completion.slice(completion.indexOf(fence) + fence.length);
  return statement.replaceAll('sorry', '') + rest;
}

/** `{column}` in config.extra.prompt_template. */
function fromTemplate(row: ProblemRow, { extra }: TestConfig): string | null {
  if (extra.prompt_template === undefined) return null;
  return String(extra.prompt_template).replace(/\{(\w+)\}/g, (_, name: string) => textColumn(row, name));
}

/** Imports and `open` come first; the answer's imports are dropped, since all of Mathlib is imported. */
function leanFile(code: string): string {
  const own = code.split('\n').filter((line) => !strip(line).startsWith('import '));
  const opened = (line: string) => strip(line).startsWith('open ');
  const rest = strip(own.filter((line) => !opened(line)).join('\n'));
  return ['import Mathlib', ...own.filter(opened), '', rest].join('\n');
}
