import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ByteLines } from '../../../src/viewer/commands/byte-lines.ts';

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc.string({ unit: 'binary-ascii', maxLength: 60 }),
);
const step = fc.oneof(
  fc.record({ do: fc.constant('text' as const), text }),
  fc.record({ do: fc.constant('piece' as const), text }),
  fc.record({ do: fc.constant('again' as const), from: fc.nat(), to: fc.nat() }),
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
        if (one.do === 'again') {
          const [from, to] = [one.from, one.to].map((at) => at % (wanted.length + 1)).sort((a, b) => a - b);
          lines.again(from ?? 0, to ?? 0);
          wanted = Buffer.concat([wanted, wanted.subarray(from, to)]);
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
