import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { extractCode, fencedBlocks } from '../../src/sandbox/datasets/extraction.ts';

const fence = '```';

describe('the code in a completion', () => {
  test.each([
    ['one block', `Here:\n${fence}python\nprint(1)\n${fence}\ndone`, 'python', 'print(1)'],
    [
      'the first of the wanted language',
      `${fence}sh\nls\n${fence}\n${fence}py\na\n${fence}\n${fence}py\nb\n${fence}`,
      'python',
      'a',
    ],
    ['else the first', `${fence}sh\nls\n${fence}\n${fence}\nb\n${fence}`, 'python', 'ls'],
    ['a fence that was cut off', `so:\n${fence}python\nx = 1\ny =`, 'python', 'x = 1\ny ='],
    ['a whole fence before a cut one', `${fence}\nwhole\n${fence}\n${fence}python\ncut`, 'python', 'whole'],
    ['an indented closing fence', `${fence}python\nx\n   ${fence}\n`, 'python', 'x'],
    ['empty lines at the end are not code', `${fence}python\nx\n\n  \n${fence}`, 'python', 'x'],
    ['backticks amid a line do not close', `${fence}python\ns = "${fence}"\n${fence}`, 'python', `s = "${fence}"`],
    [
      'a definition without any fence',
      'Sure!\nimport os\ndef f():\n    return 1\nThat is it.',
      'python',
      'import os\ndef f():\n    return 1\n',
    ],
    ['sql without any fence', 'Try\nselect *\nfrom t;\nok', 'sql', 'select *\nfrom t'],
    ['bash is every line', 'ls\n\npwd', 'bash', 'ls\npwd\n'],
    ['prose is no python', 'I do not know', 'python', ''],
    ['prose is no cpp', 'int main', 'cpp', ''],
    ['nothing', '', 'python', ''],
    ['a fence that never gets a line', `${fence}python`, 'python', ''],
  ])('%s', (_name, completion, language, code) => {
    expect(extractCode(completion, language)).toBe(code);
  });

  test('custom blocks win by their priority, and lose by it', () => {
    const block = (priority: number) => [{ priority, language: 'python', code: 'custom' }];
    const completion = `${fence}python\nx\n${fence}`;
    expect(extractCode(completion, 'python', block(40))).toBe('custom');
    expect(extractCode(completion, 'python', block(5))).toBe('x');
  });
});

// The matches of upstream's own pattern, ```([^\n]*)\n(.*?)\n\s*``` over the whole text.
const upstreamFences = (text: string) => [...text.matchAll(/```([^\n]*)\n(.*?)\n\s*```/gs)].map((match) => match[2]);

test('fences are found as upstream’s pattern finds them', () => {
  const piece = fc.constantFrom('```', '`', '\n', ' ', '\t', 'x', 'python', '\n\n', '```python\n', '\n```');
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
      const text = pieces.join('');
      expect(fencedBlocks(text).map((block) => block.code)).toEqual(upstreamFences(text));
    }),
    { numRuns: 2000 },
  );
});

test('any code without a fence in it comes back from a fenced block as it was', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (code) => {
      fc.pre(!code.includes('```') && code.trimEnd() === code && code !== '');
      expect(extractCode(`text\n${fence}python\n${code}\n${fence}\n`, 'python')).toBe(code);
    }),
  );
});

test('a hostile completion is read in one pass', () => {
  // Quadratic work on these would take minutes, so that the test would run out of time.
  for (const part of ['```\n', '\n', '``` ', '`', 'def f():\n', '#x\n', '  \n', '```\nx\n```\n']) {
    extractCode(part.repeat(300_000), 'python');
    extractCode(`\`\`\`python${part.repeat(300_000)}`, 'sql');
  }
});
