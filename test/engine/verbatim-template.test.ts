// Conversations of one form are rendered once: their text must be the one that the template writes.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Template } from '@huggingface/jinja';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json/value.ts';
import type { Message } from '../../src/engine/common/message.ts';
import { TemplateFrames } from '../../src/engine/model/template-frames.ts';
import { isVerbatim } from '../../src/engine/model/verbatim-template.ts';
import { tokenizerFile } from './verl-truth.ts';

const CHATML = `{% for message in messages %}{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n'}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}`;
const around = (body: string) => `{% for message in messages %}${body}{% endfor %}`;

describe('a template writes the text of messages unchanged', () => {
  it.each([
    CHATML,
    around('{{ message.content }}'),
    around('{% if message.content %}{{ message.content }}{% else %}nothing{% endif %}'),
    around("{% set said = '> ' + message.content %}{{ said }}{{ message.role | upper }}"),
    around('{% if message.content is string %}{{ message.content or "-" }}{% endif %}'),
    '{% set rest = messages[1:] %}{% for one in rest %}{% if rest[loop.index0 - 1].role == "user" %}{{ one.content }}{% endif %}{% endfor %}',
    "{% if messages[0]['role'] == 'system' %}{{ messages[0]['content'] ~ '!' }}{% endif %}{{ messages | length }}",
    '{% for tool in tools %}{{ tool | tojson }}{% endfor %}{{ messages[-1].content }}',
    '{% set ns = namespace(seen=false) %}{% for m in messages if m.role != "tool" %}{% set ns.seen = true %}{{ m.content }}{% endfor %}',
  ])('%s', (source) => expect(isVerbatim(new Template(source))).toBe(true));
});

describe('a template that makes something of what messages say is not taken for one that writes it', () => {
  it.each([
    around('{{ message.content | trim }}'),
    around('{{ message.content.strip() }}'),
    around('{{ message.content[:10] }}'),
    around('{{ message.content | length }}'),
    around('{{ message | tojson }}'),
    around('{{ message }}'),
    around("{% if '</think>' in message.content %}{{ message.content }}{% endif %}"),
    around("{% if message.content == 'x' %}y{% endif %}"),
    around('{% for key in message %}{{ message[key] }}{% endfor %}'),
    around('{% for key, value in message.items() %}{{ value }}{% endfor %}'),
    around("{% set key = 'content' %}{{ message[key] | length }}"),
    around('{% set said = message.content %}{{ said | upper }}'),
    around('{% if loop.previtem and loop.previtem.content == message.content %}again{% endif %}'),
    around("{% if loop['previtem'] %}{{ message.content }}{% endif %}"),
    around('{% set ns = namespace(said=message.content) %}{{ ns.said | length }}'),
    '{% set ns = namespace(said="") %}{% for m in messages %}{% set ns.said = m.content %}{% endfor %}{{ ns.said | length }}',
    '{% set all = [messages] %}{{ all | tojson }}',
    '{% set all = {"a": messages} %}{{ all.a[0].content | length }}',
    "{{ messages | map(attribute='content') | join }}",
    "{{ messages | selectattr('content', 'equalto', 'x') | list | length }}",
    '{% macro show(m) %}{{ m.content | trim }}{% endmacro %}{{ show(messages[0]) }}',
    '{% macro show() %}{{ messages[0].content }}{% endmacro %}{{ show() | trim }}',
    '{% set said %}{{ messages[0].content }}{% endset %}{{ said | trim }}',
    '{% filter upper %}{{ messages[0].content }}{% endfilter %}',
    '{% for m in messages if m.content == "x" %}{{ m.role }}{% endfor %}',
    '{{ (messages | first).content | trim }}',
    '{{ messages[0].content if messages[0].content != "x" else "y" }}',
    '{{ messages.pop().role }}',
    "{{ raise_exception('bad: ' + messages[0].content) }}",
  ])('%s', (source) => expect(isVerbatim(new Template(source))).toBe(false));
});

/** Texts that a template could trip over, beside any others. */
const said = fc.oneof(
  fc.constantFrom(
    '',
    ' ',
    '\n',
    '<|im_end|>',
    '{{ x }}',
    '{% endfor %}',
    '$&',
    '</think>',
    'ROLLOUTVIEWER0END',
    '\ud800',
  ),
  fc.string({ unit: 'binary', maxLength: 20 }),
);
const conversation = fc.array(
  fc.record(
    {
      role: fc.constantFrom('system', 'user', 'assistant', 'tool'),
      content: said,
      name: fc.constantFrom('a', 'b'),
      tool_call_id: fc.constantFrom('call_0', 'call_1'),
    },
    { requiredKeys: ['role', 'content'] },
  ),
  { maxLength: 6 },
);
const tools: JsonObject[] = [{ type: 'function', function: { name: 'add', parameters: { type: 'object' } } }];

function qwen(): string | null {
  const file = tokenizerFile('qwen2.5');
  if (file === null) return null;
  return JSON.parse(readFileSync(join(dirname(file), 'tokenizer_config.json'), 'utf8')).chat_template;
}

it.each([['ChatML', CHATML] as const, ['Qwen 2.5', qwen()] as const])(
  'what %s writes of a form that was met before is what the template writes',
  (_, source) => {
    if (source === null) return;
    const template = new Template(source);
    expect(isVerbatim(template)).toBe(true);
    const render = (messages: readonly Message[], own: readonly JsonObject[], add: boolean, kwargs: JsonObject) =>
      template.render({ ...kwargs, messages, ...(own.length > 0 ? { tools: own } : {}), add_generation_prompt: add });
    const frames = new TemplateFrames(render);
    const outcome = (work: () => string | null) => {
      try {
        return work();
      } catch (error) {
        return (error as Error).message;
      }
    };
    fc.assert(
      fc.property(conversation, fc.boolean(), fc.boolean(), (messages, add, hasTools) => {
        const own = hasTools ? tools : [];
        expect(outcome(() => frames.render(messages, own, add, {}))).toBe(
          outcome(() => render(messages, own, add, {})),
        );
      }),
      { numRuns: 500 },
    );
  },
);

it('a conversation with calls, pictures or more has none of these forms', () => {
  const frames = new TemplateFrames(() => '');
  const message = { role: 'assistant', content: 'x' };
  expect(frames.render([message], [], false, {})).toBe('');
  expect(frames.render([{ ...message, tool_calls: [] }], [], false, {})).toBeNull();
  expect(frames.render([{ ...message, reasoning_content: 'x' }], [], false, {})).toBeNull();
  expect(frames.render([{ ...message, content: [{ type: 'text', text: 'x' }] }], [], false, {})).toBeNull();
});

it('a form is rendered once, and again if more than the text differs', () => {
  let rendered = 0;
  const frames = new TemplateFrames(([message]) => `${++rendered} ${message!.content}`);
  const of = (message: Message, kwargs: JsonObject = {}) => frames.render([message], [], false, kwargs);
  expect([of({ role: 'user', content: 'a' }), of({ role: 'user', content: 'b' })]).toEqual(['1 a', '1 b']);
  expect(of({ role: 'user', content: '' })).toBe('2 ');
  expect(of({ role: 'tool', content: 'a' })).toBe('3 a');
  expect(of({ role: 'tool', content: 'a', tool_call_id: 'x' })).toBe('4 a');
  expect(of({ role: 'tool', content: 'a' }, { enable_thinking: false })).toBe('5 a');
  expect(of({ role: 'user', content: '$& ROLLOUTVIEWER' })).toBe('1 $& ROLLOUTVIEWER');
});
