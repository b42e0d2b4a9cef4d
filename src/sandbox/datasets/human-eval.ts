import { codeIn, type DatasetClass, grade, idOf, labelsOf, type Row, singleRun, textColumn } from './dataset.ts';

/** Datasets whose language is not in the row: what the fence says, and what runs it. */
const LANGUAGES: Record<string, { extract: string; run: string }> = {
  humaneval_python: { extract: 'python', run: 'python' },
  shadow_humaneval_python: { extract: 'python', run: 'python' },
  humaneval_cpp: { extract: 'cpp', run: 'cpp' },
  humaneval_typescript: { extract: 'typescript', run: 'typescript' },
  humaneval_bash: { extract: 'bash', run: 'bash' },
  humaneval_csharp: { extract: 'csharp', run: 'csharp' },
  humaneval_go: { extract: 'go', run: 'go_test' },
  humaneval_java: { extract: 'java', run: 'java' },
  evoeval: { extract: 'python', run: 'python' },
  bigcodebench: { extract: 'python', run: 'pytest' },
};
const ASK = {
  en: 'Complete the code above so that it does what its docstring says. Answer with the whole code, in Markdown.',
  zh: '请按照 docstring 的要求补全上面的代码，给出完整的代码，并用 Markdown 代码块包裹。',
};

const isFreeform = (extra: Record<string, unknown>) => Boolean(extra.is_freeform);
const languagesOf = (dataset: string, row: Row) => {
  const own = labelsOf(row).programming_language;
  return LANGUAGES[dataset] ?? { extract: String(own ?? ''), run: own };
};

/**
 * Accepted: the function and its tests run through in one program. By default the completion continues the prompt;
 * with `extra.is_freeform` it is an answer in prose that holds the whole function.
 */
export const humanEval: DatasetClass = {
  name: 'HumanEvalDataset',
  wantsProgram: false,

  prompt(row, config, dataset) {
    const content = textColumn(row, 'content');
    if (!isFreeform(config.extra)) return { id: idOf(row), prompt: content, labels: labelsOf(row) };
    const ask = config.locale === 'zh' ? ASK.zh : ASK.en;
    const prompt = `\`\`\`${languagesOf(dataset, row).extract}\n${content}\n\`\`\`\n\n${ask}`;
    return { id: idOf(row), prompt, labels: labelsOf(row) };
  },

  async evaluate(row, request, grading) {
    const { dataset, config } = request;
    const labels = labelsOf(row);
    const test = textColumn(row, 'test');
    const { extract, run } = languagesOf(dataset, row);
    const freeform = isFreeform(config.extra);
    const code = freeform ? await codeIn(request, extract, grading) : upToStop(request.completion, labels.stop_tokens);
    const parts = freeform ? [code, test] : [textColumn(row, 'content'), code, test];
    if (run === 'python' && definesCheckOnly(test)) parts.push(`check(${String(labels.entry_point)})`);
    const joined = parts.join('\n');
    const fullCode = run === 'java' ? joined.replaceAll('class Problem', 'class Main') : joined;
    const answer = await grade(
      {
        code: fullCode,
        language: run,
        compile_timeout: config.compile_timeout || 20,
        run_timeout: config.run_timeout || (dataset === 'bigcodebench' ? 60 : 20),
      },
      grading,
    );
    return singleRun(request, code, fullCode, answer);
  },
};

/**
 * HumanEval's tests define check(candidate) and leave the call to the judge. Upstream adds the call for three dataset
 * names only, so that under any other name every completion passes; here the test text decides.
 */
const definesCheckOnly = (test: string) => /^def check\(/m.test(test) && !/^check\(/m.test(test);

function upToStop(completion: string, stops: unknown): string {
  let text = completion;
  for (const stop of Array.isArray(stops) ? stops : []) {
    const at = text.indexOf(String(stop));
    if (at >= 0) text = text.slice(0, at);
  }
  return text;
}
