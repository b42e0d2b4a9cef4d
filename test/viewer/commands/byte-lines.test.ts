import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ByteLines, hasDigits, hasSixDigits } from '../../../src/viewer/commands/byte-lines.ts';

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc.string({ unit: 'binary-ascii', maxLength: 60 }),
);
const step = fc.oneof(
  fc.record({ do: fc.constant('text' as const), text }),
  fc.record({ do: fc.constant('piece' as const), text }),
  fc.record({
    do: fc.constant('digits' as const),
    value: fc.oneof(fc.nat(), fc.constantFrom(0, -0, 9, 10, 2 ** 31 - 1)),
  }),
  fc.record({ do: fc.constant('sixDigits' as const), value: fc.nat({ max: 2 ** 24 - 1 }) }),
  fc.record({ do: fc.constant('take' as const) }),
);

test('bytes are those of the texts in their order, whatever is taken in between', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const lines = new ByteLines();
      let wanted = Buffer.alloc(0);
      const taken: [Buffer, Buffer][] = [];
      for (const one of steps) {
        if (one.do === 'text') lines.text(one.text);
        if (one.do === 'piece') lines.piece(Buffer.from(one.text));
        if (one.do === 'text' || one.do === 'piece') wanted = Buffer.concat([wanted, Buffer.from(one.text)]);
        if (one.do === 'digits') {
          lines.digits(one.value);
          lines.digits(one.value, 44);
          wanted = Buffer.concat([wanted, Buffer.from(`${one.value}${one.value},`)]);
        }
        if (one.do === 'sixDigits') {
          lines.sixDigits(one.value);
          wanted = Buffer.concat([wanted, Buffer.from(one.value.toString(16).padStart(6, '0'))]);
        }
        expect(lines.length).toBe(wanted.length);
        if (one.do !== 'take') continue;
        taken.push([lines.take(), wanted]);
        wanted = Buffer.alloc(0);
      }
      taken.push([lines.take(), wanted]);
      for (const [found, expected] of taken) expect(found.equals(expected)).toBe(true);
    }),
  );
});

test('what was written stays when there is no more room', () => {
  const lines = new ByteLines();
  const line = `${'a€'.repeat(5000)}\n`;
  for (let i = 0; i < 40; i++) lines.text(line);
  expect(lines.isFull).toBe(true);
  expect(lines.take().toString()).toBe(line.repeat(40));
});

test('numbers are whole as far as their digits can be written', () => {
  for (const value of [0, -0, 1, 2 ** 24, 2 ** 31 - 1]) expect(hasDigits(value)).toBe(true);
  for (const value of [-1, 0.5, 2 ** 31, Number.NaN, Number.POSITIVE_INFINITY]) expect(hasDigits(value)).toBe(false);
  expect([0, 2 ** 24 - 1, 2 ** 24, -1].map(hasSixDigits)).toEqual([true, true, false, false]);
});
