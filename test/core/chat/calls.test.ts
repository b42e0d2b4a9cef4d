import { describe, expect, test } from 'vitest';
import { readAssistantText } from '../../../src/core/chat/assistant-parts.ts';
import { splitInlineResults } from '../../../src/core/chat/inline-results.ts';
import { readToolSchemas, typesOf } from '../../../src/core/chat/tool-schemas.ts';

const parts = (text: string, options = {}) =>
  readAssistantText(text, options).parts.map(({ kind, start, end, ...more }) => [
    kind + ('open' in more && more.open ? ', open' : ''),
    text.slice(start, end),
  ]);
const CALL = '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>';

describe('reasoning in a turn', () => {
  test.each<[string, string[][]]>([
    [
      '<think>\na\n</think>\nb',
      [
        ['think', '<think>\na\n</think>'],
        ['text', '\nb'],
      ],
    ],
    [
      'a\n</think>\nb',
      [
        ['think', 'a\n</think>'],
        ['text', '\nb'],
      ],
    ],
    ['<think>\na', [['think, open', '<think>\na']]],
    [
      `<think>\na\n${CALL}\nb`,
      [
        ['think, open', '<think>\na\n'],
        ['call', CALL],
        ['text', '\nb'],
      ],
    ],
    [
      `<think>\na\n${CALL}\nb</think>c`,
      [
        ['think', '<think>\na\n'],
        ['call', CALL],
        ['think', '\nb</think>'],
        ['text', 'c'],
      ],
    ],
    ['write <think> here', [['text', 'write <think> here']]],
    [
      '  <think>a</think>',
      [
        ['text', '  '],
        ['think', '<think>a</think>'],
      ],
    ],
    [
      'a</think><think>b</think>',
      [
        ['think', 'a</think>'],
        ['think', '<think>b</think>'],
      ],
    ],
    [
      '[THINK]a[/THINK]b',
      [
        ['think', '[THINK]a[/THINK]'],
        ['text', 'b'],
      ],
    ],
    ['', []],
  ])('%j', (text, wanted) => {
    expect(parts(text)).toEqual(wanted);
  });

  test('on the channel of analysis goes to its end token, for that template alone', () => {
    const text = '<|channel|>analysis<|message|>why<|end|><|start|>assistant<|channel|>final<|message|>so';
    expect(parts(text, { names: ['harmony'] })[0]).toEqual([
      'think',
      '<|channel|>analysis<|message|>why<|end|><|start|>assistant',
    ]);
    expect(parts(text).map(([kind]) => kind)).not.toContain('think');
  });
});

describe('calls in a turn', () => {
  const calls = (text: string) =>
    readAssistantText(text).calls.map(({ name, arguments: args, error }) => [name, args, error]);

  test.each<[string, unknown[]]>([
    [CALL, [['f', {}, null]]],
    [
      `${CALL}${CALL}`,
      [
        ['f', {}, null],
        ['f', {}, null],
      ],
    ],
    ['<tool_call>\n{"name": "f"', [[null, null, 'no closing </tool_call>']]],
    [
      '<tool_call>\n<function=f>\n<parameter=a>\n1\n</parameter>\n<parameter=b>\nx\ny\n</parameter>\n</function>\n</tool_call>',
      [['f', { a: '1', b: 'x\ny' }, null]],
    ],
    ['<tool_call>\n<function=>\n</function>\n</tool_call>', [[null, null, '<function=> has no name']]],
    ['<tool_call>\n<function=f\n</function>\n</tool_call>', [['f', null, '<function=NAME has no >']]],
    ['<|tool_call>call:f{ü:1,größe:<|"|>x<|"|>}<tool_call|>', [['f', { ü: 1, größe: 'x' }, null]]],
    [
      '<tool_call>f\n<arg_key>a</arg_key><arg_value>1</arg_value><arg_key>b</arg_key><arg_value>x y</arg_value></tool_call>',
      [['f', { a: 1, b: 'x y' }, null]],
    ],
    [
      '<function_calls>\n<invoke name="f">\n<parameter name="a">1</parameter>\n</invoke>\n<invoke name="g">\n</invoke>\n</function_calls>',
      [
        ['f', { a: '1' }, null],
        ['g', {}, null],
      ],
    ],
    [
      '<tool_call>\n[{"name": "f", "arguments": {}}, {"name": "g", "arguments": {"a": 1}}]\n</tool_call>',
      [
        ['f', {}, null],
        ['g', { a: 1 }, null],
      ],
    ],
    ['<|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{"a": 1}<|tool_call_end|>', [['f', { a: 1 }, null]]],
    [
      '<｜tool▁call▁begin｜>function<｜tool▁sep｜>f\n```json\n{"a": 1}\n```<｜tool▁call▁end｜>',
      [['f', { a: 1 }, null]],
    ],
    [
      '<｜tool▁call▁begin｜>f<｜tool▁sep｜>[1]<｜tool▁call▁end｜>',
      [['f', null, 'the arguments are not a JSON object']],
    ],
  ])('%j', (text, wanted) => {
    const found = calls(text).map(([name, args, error]) => [
      name,
      args === null ? null : JSON.parse(JSON.stringify(args)),
      error,
    ]);
    expect(found).toEqual(wanted);
  });

  test('the type of a parameter comes from the schemas of the prompt', () => {
    const schema = { name: 'f', parameters: { properties: { a: { type: 'integer' }, b: { type: ['a'] } } } };
    const schemas = readToolSchemas(
      `text about <tools></tools> XML tags:\n<tools>\n${JSON.stringify({ type: 'function', function: schema })}\nno JSON\n\n<tool>${JSON.stringify({ ...schema, name: 'g' })}</tool>\n</tools>`,
    );
    expect(schemas).toHaveLength(2);
    const typeOf = typesOf(schemas);
    expect([typeOf('f', 'a'), typeOf('g', 'a'), typeOf('f', 'b'), typeOf('f', 'c'), typeOf('h', 'a')]).toEqual([
      'integer',
      'integer',
      null,
      null,
      null,
    ]);
    expect(readToolSchemas('<tools></tools> only named')).toEqual([]);
  });
});

describe('results inside of a turn of the model', () => {
  const split = (text: string, role = 'assistant') =>
    splitInlineResults(text, {
      role,
      confidence: 'marked',
      pieces: [{ kind: 'text', start: 0, end: text.length }],
    }).map((turn) => [
      turn.role,
      turn.confidence,
      turn.pieces
        .filter(({ kind }) => kind === 'text')
        .map(({ start, end }) => text.slice(start, end))
        .join(''),
    ]);

  test('are separate turns; text after the first is judged', () => {
    expect(split('a <search>q</search>\n<information>r</information> b')).toEqual([
      ['assistant', 'marked', 'a <search>q</search>\n'],
      ['tool', 'inferred', 'r'],
      ['assistant', 'inferred', ' b'],
    ]);
    expect(split('```python\nx\n```\n```output\n4\n```\nso')).toEqual([
      ['assistant', 'marked', '```python\nx\n```\n'],
      ['tool', 'inferred', '4'],
      ['assistant', 'inferred', '\nso'],
    ]);
  });

  test('without their end reach to the end, and need a call right before them', () => {
    expect(split('<code>x</code><interpreter>4')).toEqual([
      ['assistant', 'marked', '<code>x</code>'],
      ['tool', 'inferred', '4'],
    ]);
    expect(split('see <information>r</information>')).toHaveLength(1);
    expect(split('a <search>q</search><information>r</information>', 'user')).toHaveLength(1);
  });
});
