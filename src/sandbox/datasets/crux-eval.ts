// CRUXEval and its translations: the model predicts a function's output, or its input. The answer is
// between [ANSWER] tags, and one assertion decides.
import type { Prompt, TestConfig } from '../protocol.ts';
import { RequestError } from '../request-error.ts';
import { type DatasetClass, grade, type ProblemRow, problemIdOf, singleRun, textColumn } from './dataset.ts';
import { before, strip } from './python-text.ts';

type Mode = 'input' | 'output';
const HOLE = '????';

/** How each language calls the function that the test has given a name. */
const CALLS: Record<string, string> = {
  ...{ csharp: 'F(????)', java: 'f(????)', scala: 'f(????)', swift: 'f(????)', perl: '$candidate->(????)' },
  ...{ ruby: 'candidate.call(????)', racket: '(candidate ????)', bash: '$(candidate ????)' },
};
const PLAIN_CALL = 'candidate(????)';
const callIn = (language: string) => (Object.hasOwn(CALLS, language) ? (CALLS[language] ?? PLAIN_CALL) : PLAIN_CALL);

export const cruxEval: DatasetClass = {
  name: 'CruxEvalDataset',
  datasets: ['cruxeval', 'cruxeval_x'],
  columns: ['id', 'code', 'input', 'output'],
  recognises: (row) => 'code' in row && 'input' in row && 'output' in row,

  prompt: (row, config) => cruxPrompt(row, config, config.extra.mode === 'input' ? 'input' : 'output'),

  /** Without a mode, every problem is asked in both. */
  prompts(rows, config) {
    const { mode } = config.extra;
    if (mode) return rows.map((row) => cruxPrompt(row, config, mode === 'input' ? 'input' : 'output'));
    return (['input', 'output'] as const).flatMap((each) => rows.map((row) => cruxPrompt(row, config, each)));
  },

  async evaluate(row, request, grading) {
    const { mode } = request.config.extra;
    if (mode === undefined) throw new RequestError(500, "'mode'", 'config.extra.mode says "input" or "output"');
    if (mode !== 'input' && mode !== 'output') throw new RequestError(500, `Invalid code_mode: ${String(mode)}`);
    const said = answerIn(request.completion);
    const language = translatedTo(row);
    const { code, answer } = language === null ? assertion(row, said, mode) : translated(row, said, mode, language);
    const limits = { compile_timeout: 30, run_timeout: 30 };
    const result = await grade({ code, language: language ?? 'python', ...limits }, grading);
    return singleRun(request, answer, code, result);
  },
};

/** The language of a row such as `java_12`; null for CRUXEval's original Python rows, which have no test around input and output. */
function translatedTo(row: ProblemRow): string | null {
  if (!textColumn(row, 'input').includes(HOLE) && !textColumn(row, 'output').includes(HOLE)) return null;
  const id = String(problemIdOf(row));
  return id.slice(0, Math.max(0, id.lastIndexOf('_')));
}

function answerIn(completion: string): string {
  const ended = ['# done', '[/ANSWER]'].reduce(before, completion);
  const tagged = ended.split('[ANSWER]')[1];
  return tagged === undefined ? ended : strip(tagged);
}

interface CruxJudgement {
  code: string;
  answer: string;
}

function assertion(row: ProblemRow, said: string, mode: Mode): CruxJudgement {
  const call = said.includes('assert f') ? `f${strip(said.split('assert f')[1] ?? '')}` : said;
  const side = mode === 'input' ? 0 : 1;
  const answer = call.includes('==') ? strip(call.split('==')[side] ?? '') : call;
  const other = mode === 'input' ? textColumn(row, 'output') : `f(${textColumn(row, 'input')})`;
  return { code: `${textColumn(row, 'code')}\nassert ${answer} == ${other}`, answer };
}

/** The test has a hole for the answer. */
function translated(row: ProblemRow, said: string, mode: Mode, language: string): CruxJudgement {
  const call = callIn(language);
  const whole = said.includes(before(call, HOLE)) ? said : call.replace(HOLE, () => said);
  const answer =
    mode === 'input'
      ? textColumn(row, 'input').replaceAll(call, () => whole)
      : textColumn(row, 'output').replaceAll(HOLE, () => said);
  return { code: textColumn(row, 'code') + answer, answer };
}

function cruxPrompt(row: ProblemRow, { extra }: TestConfig, mode: Mode): Prompt {
  const language = translatedTo(row);
  const code = textColumn(row, 'code');
  const text =
    language === null
      ? pythonPrompt(row, code, mode, extra)
      : translatedPrompt(`${code}${textColumn(row, mode)}`, mode, language);
  const prompt =
    extra.coding_wrap_prompt === true
      ? `Please respond in English and use Markdown format.####Instruction:\n${text}\nResponse:\n`
      : text;
  return { id: problemIdOf(row), prompt, labels: { mode } };
}

const ASK: Record<Mode, string> = {
  input:
    'You get a function f and what a call of it returned. Find arguments for which f returns exactly this; any that do are right, and one answer is enough.',
  output:
    'You get a function f and a call of it. Find what the call returns, as a literal, even if the function is wrong or unfinished.',
};

interface Shot {
  code: string;
  thought: Record<Mode, string>;
  call: string;
  result: string;
}
const SHOTS: Shot[] = [
  {
    code: 'def f(a, b):\n    return b + a',
    call: '"to", "pot"',
    result: '"potto"',
    thought: {
      input: 'f puts its second argument before its first. "potto" is "pot" and "to", so b is "pot" and a is "to".',
      output: 'a is "to" and b is "pot". f returns b + a, which is "pot" + "to", so "potto".',
    },
  },
  {
    code: 'def f(items):\n    return [x for x in items if x % 3 == 0]',
    call: '[3, 4, 9]',
    result: '[3, 9]',
    thought: {
      input: 'f keeps what 3 divides, in order. With [3, 4, 9] it drops 4 and keeps 3 and 9.',
      output: '3 % 3 is 0, 4 % 3 is 1, 9 % 3 is 0, so 3 and 9 stay.',
    },
  },
];

/** Uses the tags of the published harness, so that its stop words apply. */
function pythonPrompt(row: ProblemRow, code: string, mode: Mode, extra: Record<string, unknown>): string {
  const call = textColumn(row, 'input');
  const result = textColumn(row, 'output');
  if (mode === 'output' && extra.phind_output && !extra.use_cot) {
    const shots = SHOTS.map((shot) => `${shot.code}\nassert f(${shot.call}) == ${shot.result} # done\n`);
    const ask = 'Complete the last assertion with what the call returns, and end it with "# done". Write nothing else.';
    return [ask, ...shots, `${code}\nassert f(${call}) ==`].join('\n\n');
  }
  const question = (body: string, args: string, value: string) =>
    `[PYTHON]\n${body}\nassert ${mode === 'input' ? `f(??) == ${value}` : `f(${args}) == ??`}\n[/PYTHON]`;
  const think = (shot: Shot) => (extra.use_cot ? `[THOUGHT]\n${shot.thought[mode]}\n[/THOUGHT]\n` : '');
  const shots = SHOTS.map(
    (shot) =>
      `${question(shot.code, shot.call, shot.result)}\n${think(shot)}[ANSWER]\nassert f(${shot.call}) == ${shot.result}\n[/ANSWER]`,
  );
  const how = extra.use_cot
    ? 'Think step by step first. Then write the whole assertion between [ANSWER] and [/ANSWER].'
    : 'Write the whole assertion between [ANSWER] and [/ANSWER], and nothing else.';
  const last = `${question(code, call, result)}\n${extra.use_cot ? '[THOUGHT]' : '[ANSWER]'}\n`;
  return [`${ASK[mode]} ${how}`, ...shots, last].join('\n\n');
}

function translatedPrompt(code: string, mode: Mode, language: string): string {
  const what = mode === 'input' ? `the call, in place of ${callIn(language)},` : `what stands for ${HOLE}`;
  return `${ASK[mode]} The test of this ${language} program has a hole, ${HOLE}. Think step by step, and at the end write ${what} alone between [ANSWER] and [/ANSWER].\n\n\`\`\`${language}\n${code}\n\`\`\`\n`;
}
