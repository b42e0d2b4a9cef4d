import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { finishedBetweenKeys } from '../../../src/core/async/finished.ts';
import { recordPieces, recordText } from '../../../src/core/dump/long-record.ts';
import { keyOfPieces, recordKey } from '../../../src/replay/journal/record-key.ts';
import { directoryWith } from '../../program.ts';

const parts = fc.oneof(
  fc.uint8Array({ maxLength: 9 }),
  fc.string({ unit: 'binary', maxLength: 9 }).map((text) => new TextEncoder().encode(text)),
  fc.constantFrom(Uint8Array.of(0xef, 0xbb, 0xbf), Uint8Array.of(0xed, 0xa0, 0x80), Uint8Array.of(0xf0, 0x9f, 0x98)),
);

test('the key of a record read in pieces is that of its text, whatever bytes it holds', async () => {
  const path = join(directoryWith({}), 'record');
  await fc.assert(
    fc.asyncProperty(fc.array(parts), fc.nat(3), fc.integer({ min: 1, max: 7 }), async (drawn, offset, size) => {
      const bytes = Buffer.concat([Buffer.alloc(offset, 'x'), ...drawn]);
      writeFileSync(path, `${bytes.toString('latin1')}rest`, 'latin1');
      const place = { path, offset, length: bytes.length - offset };
      const text = recordText(place);
      expect([...recordPieces(place, size)].join('')).toBe(text);
      expect(await finishedBetweenKeys(keyOfPieces(recordPieces(place, size)))).toBe(recordKey(text));
    }),
  );
});
