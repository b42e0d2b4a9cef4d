import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { ask } from '../../program.ts';

const folder = mkdtempSync(join(tmpdir(), 'kept-row-'));
afterAll(() => rmSync(folder, { recursive: true }));

const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom(
    '',
    'a,b',
    'say "hi"',
    'two\nlines',
    'tab\there',
    '=1+1',
    '-1',
    'naïve 🙂',
    '\ud83d',
    '\u202e\u007f',
    'null',
  ),
);
/** Numbers as a writer of JSON may print them, NaN and long integers among them. */
const number = fc.oneof(
  fc.constantFrom('0', '-0', '-0.0', '1', '1e21', '-1.5e-9', '9007199254740993', '-123456789012345678901234567890'),
  fc.constantFrom('NaN', 'Infinity', '-Infinity', 'null', 'true'),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
);
const value = fc.oneof(
  number,
  text.map((one) => JSON.stringify(one)),
  fc.constantFrom('[1,"x"]', '{"a":{"b":NaN}}'),
);
const member = (key: string, own: fc.Arbitrary<string>) => own.map((json) => `${JSON.stringify(key)}:${json}`);
const reply = fc.constantFrom(
  '4',
  '<think>hm</think>4',
  '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>',
  '<tool_call>\n{"name": broken',
  'I give up, sorry.',
  '',
);
const rollout = fc
  .tuple(
    member(
      'input',
      fc.constantFrom('q', 'plain', 'other').map((one) => JSON.stringify(one)),
    ),
    member(
      'output',
      fc.oneof(reply, text).map((one) => JSON.stringify(one)),
    ),
    fc.subarray([0, 1, 2, 3, 4, 5]),
    member('score', number),
    member('step', fc.oneof(fc.constantFrom('0', '1', '2', '9007199254740993'), number)),
    member('uid', fc.oneof(fc.constantFrom('"u"', '"v"', '"p_0_1"'), value)),
    member('gts', value),
    fc.tuple(text, value).map(([key, json]) => `${JSON.stringify(`x${key}`)}:${json}`),
    member('task_id', value),
  )
  .map(([input, output, chosen, ...more]) => `{${[input, output, ...chosen.map((at) => more[at])].join(',')}}`);
const line = fc.oneof(
  { weight: 8, arbitrary: rollout },
  { weight: 1, arbitrary: fc.constantFrom('{"input":', '[]', 'no', '', '{"a":1}') },
);

const file = fc.tuple(
  fc.constantFrom('plain', 'odd, "name"', '=1', 'naïve 🙂'),
  fc.array(line, { minLength: 1, maxLength: 40 }),
);

test('rows printed from what was kept are those printed from the records, in JSON and CSV', async () => {
  let drawnDumps = 0;
  await fc.assert(
    // A command costs as much for ten files as for one.
    fc.asyncProperty(fc.array(file, { minLength: 1, maxLength: 10 }), async (files) => {
      const dump = join(folder, String(drawnDumps++));
      mkdirSync(dump);
      for (const [at, [name, lines]] of files.entries()) {
        const first = '{"input":"q","output":"4","score":1}';
        writeFileSync(join(dump, `${at} ${name}.jsonl`), [first, ...lines, ''].join('\n'));
      }
      await ask(['stats', dump]);
      for (const form of ['--json', '--csv']) {
        const read = await ask(['ls', form, '--no-cache', dump]);
        expect(await ask(['ls', form, dump])).toEqual(read);
        const sorted = await ask(['ls', form, '--no-cache', '--sort', 'score', dump]);
        expect(await ask(['ls', form, '--sort', 'score', dump])).toEqual(sorted);
      }
    }),
    { numRuns: 6 },
  );
});
