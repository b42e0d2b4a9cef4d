import fc from 'fast-check';
import { expect, test } from 'vitest';
import { JsonBytes } from '../../../src/core/json/json-bytes.ts';
import { printJson } from '../../../src/core/json/print.ts';

/** Beside each character that the printer escapes, and each that it does not. */
const EDGES = [0x7f, 0x9f, 0xad, 0x61c, 0x180e, 0x200b, 0x200f, 0x2028, 0x202e, 0x2060, 0x206f, 0xfeff, 0xfff9, 0xfffb];
const edge = fc.tuple(fc.constantFrom(...EDGES), fc.integer({ min: -1, max: 1 }));
const text = fc.array(
  fc.oneof(
    fc.string({ unit: 'binary', maxLength: 6 }),
    fc.string({ maxLength: 20 }),
    edge.map(([code, off]) => String.fromCodePoint(code + off)),
  ),
  { maxLength: 8 },
);
const utf8 = fc.oneof(
  { weight: 4, arbitrary: text.map((parts) => new TextEncoder().encode(parts.join(''))) },
  fc.uint8Array({ maxLength: 30 }),
);

test('bytes become the JSON that the printer makes of their text', () => {
  fc.assert(
    fc.property(fc.array(utf8, { maxLength: 5 }), fc.constantFrom(1, 100, 10_000), (texts, size) => {
      const json = new JsonBytes(size);
      for (const one of texts) {
        json.addText(one);
        json.add(',"é":');
      }
      const plain = texts.map((one) => `${printJson(new TextDecoder().decode(one))},"é":`);
      expect(json.take().toString()).toBe(plain.join(''));
      expect(json.length).toBe(0);
    }),
    { numRuns: 2000 },
  );
});

test('every character stands as the printer has it', () => {
  const json = new JsonBytes(100);
  for (let code = 0; code < 0x11000; code++) {
    if (code >= 0xd800 && code < 0xe000) continue;
    const one = `a${String.fromCodePoint(code)}`;
    json.addText(Buffer.from(one));
    const printed = json.take().toString();
    if (printed !== printJson(one)) expect(printed).toBe(printJson(one));
  }
});
