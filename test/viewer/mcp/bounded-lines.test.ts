import fc from 'fast-check';
import { expect, test } from 'vitest';
import { BoundedLines } from '../../../src/viewer/mcp/bounded-lines.ts';

const MOST = 300;
const request = fc
  .record({
    id: fc.oneof(fc.integer(), fc.string()),
    text: fc.string({ maxLength: 800, unit: 'grapheme' }),
    order: fc.nat(3),
  })
  .map(({ id, text, order }) => {
    const params = { method: 'x', params: { text, id: 'another' } };
    const forms = [
      { ...params, jsonrpc: '2.0', id },
      { jsonrpc: '2.0', id, ...params },
      { id, jsonrpc: '2.0', ...params },
      { ...params, id, jsonrpc: '2.0' },
    ];
    // Longer ids than the ends that are kept belong to nobody.
    return { id, line: JSON.stringify(forms[order]) };
  })
  .filter(({ id }) => JSON.stringify(id).length < 100);

test('lines pass whole, however they come, and a long one is refused by its id', () => {
  fc.assert(
    fc.property(fc.array(request), fc.array(fc.integer({ min: 1, max: 500 }), { minLength: 1 }), (requests, sizes) => {
      const refused: unknown[] = [];
      const lines = new BoundedLines(MOST, (id) => refused.push(id));
      const bytes = Buffer.from(requests.map(({ line }) => `${line}\n`).join(''));
      for (let at = 0, turn = 0; at < bytes.length; turn++) {
        const size = sizes[turn % sizes.length] ?? 1;
        lines.write(bytes.subarray(at, at + size));
        at += size;
      }
      const isLong = ({ line }: { line: string }) => Buffer.byteLength(line) + 1 > MOST;
      const passed = requests.filter((one) => !isLong(one)).map(({ line }) => `${line}\n`);
      expect(lines.read()?.toString() ?? '').toBe(passed.join(''));
      expect(refused).toEqual(requests.filter(isLong).map(({ id }) => id));
    }),
  );
});

test('a long line without an id has none', () => {
  const refused: unknown[] = [];
  const lines = new BoundedLines(MOST, (id) => refused.push(id));
  lines.write(`${'[1,'.repeat(500)}\nshort\n`);
  expect([refused, String(lines.read())]).toEqual([[null], 'short\n']);
});
