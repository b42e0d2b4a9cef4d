import fc from 'fast-check';
import { expect, test } from 'vitest';
import { finished } from '../../../src/core/async/finished.ts';
import { packSpans, unpackingSpans } from '../../../src/core/dump/packed-spans.ts';
import type { Span } from '../../../src/core/rollout/rollout.ts';

const span = fc.record<Span>({
  field: fc.oneof(fc.constantFrom('input', 'output', '__proto__', ''), fc.string()),
  start: fc.nat(2 ** 29),
  end: fc.nat(2 ** 29),
  turn: fc.nat(200_000),
  kind: fc.constantFrom('text', 'marker'),
  trained: fc.constantFrom(true, false, null),
});

test('spans that were packed are those that were', () => {
  fc.assert(
    fc.property(fc.array(span), (spans) => {
      expect(finished(unpackingSpans(structuredClone(packSpans(spans))))).toEqual(spans);
    }),
  );
});
