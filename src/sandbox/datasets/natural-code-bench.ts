import type { RunCodeInput } from '../protocol.ts';
import { type DatasetClass, grade, labelsOf, type ProblemRow, problemIdOf, singleRun, textColumn } from './dataset.ts';
import { javaBlocks, javaFiles } from './java-files.ts';
import { looksLikeTestProgram, type TestProgram, testProgram } from './test-column.ts';

/** Seconds; one problem counts primes. */
const SLOW = { id: '52', python: 40 };
const SECONDS = 20;

/** Accepted: pytest, or JUnit, passes the test classes. */
export const naturalCodeBench: DatasetClass = {
  name: 'NaturalCodeBenchDataset',
  datasets: ['ncb_python_zh', 'ncb_python_en', 'ncb_java_zh', 'ncb_java_en'],
  columns: ['id', 'content', 'test', 'labels'],
  recognises: (row) => 'original_id' in labelsOf(row) && looksLikeTestProgram(row)?.code !== undefined,

  prompt: (row) => ({ id: problemIdOf(row), prompt: textColumn(row, 'content'), labels: labelsOf(row) }),

  async evaluate(row, request, grading) {
    const { dataset, completion, config, id } = request;
    const program = isPython(row, dataset)
      ? pytestOf(completion, testProgram(row))
      : junitOf(completion, testProgram(row));
    const slow = isPython(row, dataset) && String(id) === SLOW.id;
    const run_timeout = config.run_timeout || (slow ? SLOW.python : SECONDS);
    const answer = await grade({ ...program.request, run_timeout }, grading);
    return singleRun(request, program.code, program.shown, answer);
  },
};

const isPython = (row: ProblemRow, dataset: string): boolean =>
  dataset.includes('python') || (!dataset.includes('java') && labelsOf(row).execution_language === 'python');

interface JudgedProgram {
  code: string;
  shown: string;
  request: RunCodeInput;
}

function pytestOf(completion: string, { code: test, asset }: TestProgram): JudgedProgram {
  const code = `import pytest\n${pythonIn(completion)}`;
  const shown = `import pytest\n\n${code}\n\n${test}`;
  return { code, shown, request: { code: shown, language: 'pytest', files: asset } };
}

/** Each type goes into a separate file. */
export function junitOf(completion: string, { code: test, asset }: TestProgram): JudgedProgram {
  const blocks = javaBlocks(completion);
  const files = [...javaFiles([...blocks, test])];
  const encoded = files.map(([name, text]) => [name, Buffer.from(text).toString('base64')] as const);
  return {
    code: blocks.join('\n\n'),
    shown: files.map(([name, text]) => `// ${name}\n\n${text}\n\n`).join(''),
    request: { code: '', language: 'junit', files: { ...asset, ...Object.fromEntries(encoded) } },
  };
}

/** Upstream's program when it finds no code: it fails, as it should. */
const NOTHING = 'NaN';
/** How unfenced code begins; it extends to the end of the text. */
const BEGINNINGS = ['import ', 'from ', 'class ', 'def '];

function pythonIn(completion: string): string {
  const tag = inside(completion, '[Python]', '[/Python]');
  if (tag !== null && !tag.includes('```')) return tag;
  if (tag !== null && !completion.includes('```python')) return inside(completion, '[Python]', '```') ?? '';
  if (completion.includes('```')) return fenceOf(completion, completion.includes('```python') ? '```python' : '```');
  const imports = ['from ', 'import '].filter((word) => completion.includes(word));
  const beginning =
    imports.length > 0
      ? Math.min(...imports.map((word) => completion.indexOf(word)))
      : completion.indexOf(BEGINNINGS.find((word) => completion.includes(word)) ?? NOTHING);
  return beginning < 0 ? NOTHING : completion.slice(beginning);
}

function inside(text: string, open: string, close: string): string | null {
  const from = text.indexOf(open);
  const to = from < 0 ? -1 : text.indexOf(close, from + open.length);
  return to < 0 ? null : text.slice(from + open.length, to);
}

/** Both fences are alone on their lines. */
function fenceOf(text: string, fence: string): string {
  let open = text.indexOf(`${fence}\n`);
  if (open < 0) open = text.indexOf(`${fence}\r`);
  const close = open < 0 ? -1 : text.indexOf('\n```', open + fence.length + 1);
  return close < 0 ? NOTHING : text.slice(open + fence.length + 1, close);
}
