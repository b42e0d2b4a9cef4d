import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { ByteScan } from '../../../src/analysis/search/byte-scan.ts';
import { sieveOf } from '../../../src/analysis/search/sieve.ts';
import { matcher } from '../../../src/analysis/text-search.ts';

const folder = mkdtempSync(join(tmpdir(), 'sieve-'));
const file = join(folder, 'line');
afterAll(() => rmSync(folder, { recursive: true }));

/** The places in the file that a scan reports. */
function placesIn(scan: ByteScan, from = 0, to = Number.MAX_SAFE_INTEGER): number[] {
  const places: number[] = [];
  const fd = openSync(file, 'r');
  scan.scan(fd, from, to, (at) => {
    places.push(at);
    return at + 1;
  });
  closeSync(fd);
  return places;
}

const passes = (pattern: string, line: string): boolean => {
  const sieve = sieveOf(pattern);
  if (sieve === null) return true;
  writeFileSync(file, line);
  return placesIn(new ByteScan(sieve)).length > 0;
};
const finds = (pattern: string, text: string): boolean => {
  let holds = false;
  matcher(pattern).find(text, () => {
    holds = true;
    return false;
  });
  return holds;
};

test('no line with a hit is passed over, however its text is written or put together', () => {
  const piece = fc.constantFrom(
    'answer',
    'ANSWER',
    'skip it',
    'é',
    '个',
    '"',
    '\\',
    '\n',
    '\u001b',
    ' ',
    'x',
    '\u212a',
    'ſ',
  );
  const pattern = fc.constantFrom(
    'answer',
    'Answer',
    'answer it',
    '\\Vanswer',
    'an.*wer',
    'answers?',
    'x|answer',
    'kip it',
    'the answer+',
    'é answer',
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), pattern, fc.nat(), fc.boolean(), (pieces, wanted, cut, isAscii) => {
      const text = pieces.join('');
      if (!finds(wanted, text)) return;
      const at = text.length === 0 ? 0 : cut % (text.length + 1);
      const written = JSON.stringify({ a: text.slice(0, at), b: text.slice(at) });
      const ascii = written.replace(
        /[\u007f-\uffff]/g,
        (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
      );
      expect(passes(wanted, isAscii ? ascii : written)).toBe(true);
    }),
    { numRuns: 1000 },
  );
});

test('a line without it is passed over', () => {
  expect(passes('no such thing', JSON.stringify({ a: 'such, no things' }))).toBe(false);
  expect(passes('elephants?', JSON.stringify({ a: 'nothing' }))).toBe(false);
  expect(sieveOf('(a|b)')).toBeNull();
});

/** The plain way: every place of every needle, and of the escape that may replace one. */
function plainPlaces(bytes: Buffer, needles: readonly string[], ignoresCase: boolean): number[] {
  const fold = (one: Buffer): Buffer => Buffer.from(one.map((byte) => (ignoresCase ? byte | 0x20 : byte)));
  const places = new Set<number>();
  const folded = fold(bytes);
  for (const needle of [...needles, '\\u00'].map((one) => fold(Buffer.from(one))))
    for (let at = folded.indexOf(needle); at !== -1; at = folded.indexOf(needle, at + 1)) places.add(at);
  return [...places].sort((a, b) => a - b);
}

test('every place is reported once and in order, also across what is read in one go', () => {
  const chunk = 256 << 10;
  const bytes = Buffer.alloc(chunk * 2 + 100, 'ab ');
  for (const at of [0, 15, 16, 1000, chunk - 3, chunk - 1, chunk, chunk + 17, chunk * 2 - 5, bytes.length - 6])
    bytes.write('Needle', at);
  bytes.write('needle', 77);
  bytes.write('\\u00e9', 300);
  writeFileSync(file, bytes);
  for (const ignoresCase of [true, false])
    for (const needles of [['Needle'], ['Nee', 'dle'], ['dl', 'Needle']])
      expect(placesIn(new ByteScan({ needles, ignoresCase }))).toEqual(plainPlaces(bytes, needles, ignoresCase));
  expect(placesIn(new ByteScan({ needles: ['Needle'], ignoresCase: false }), 16, 1006)).toEqual([16, 300, 1000]);
  expect(placesIn(new ByteScan({ needles: ['Needle'], ignoresCase: false }), 16, 1005)).toEqual([16, 300]);
});

test('bytes are compared as the plain way compares them', () => {
  const word = fc.stringMatching(/^[A-Za-z0-9_ ]{2,9}$/);
  fc.assert(
    fc.property(
      fc.array(fc.oneof(word, fc.string({ maxLength: 20 })), { maxLength: 40 }),
      word,
      word,
      fc.boolean(),
      fc.nat(),
      (parts, a, b, ignoresCase, pick) => {
        const held = [...parts, a, b.toUpperCase(), a].sort((x, y) => ((x.length * 7 + pick) % 5) - (y.length % 5));
        const bytes = Buffer.from(held.join(''));
        writeFileSync(file, bytes);
        expect(placesIn(new ByteScan({ needles: [a, b], ignoresCase }))).toEqual(
          plainPlaces(bytes, [a, b], ignoresCase),
        );
      },
    ),
    { numRuns: 300 },
  );
});
