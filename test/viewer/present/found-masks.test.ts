import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Rollout, Span } from '../../../src/core/rollout/rollout.ts';
import { partlyTrained } from '../../../src/viewer/present/transcript/turn-mask.ts';

test('partly trained turns are those whose text spans are not all trained alike', () => {
  const span = fc.record({
    turn: fc.nat(3),
    kind: fc.constantFrom('text' as const, 'marker' as const),
    trained: fc.constantFrom(true, false, null),
  });
  fc.assert(
    fc.property(fc.array(span, { maxLength: 12 }), (drawn) => {
      const spans: Span[] = drawn.map((one, i) => ({ ...one, field: 'f', start: i, end: i + 1 }));
      const ofTurn = (turn: number): Span[] => spans.filter((one) => one.kind === 'text' && one.turn === turn);
      const turns = [0, 1, 2, 3].map((index) => ({ index, text: 'x'.repeat(ofTurn(index).length) }));
      const texts = { f: 'x'.repeat(spans.length) };
      const found = partlyTrained({ spans, turns, texts } as unknown as Rollout);
      for (const { index } of turns) {
        const own = ofTurn(index);
        const isPartly = own.some(({ trained }) => trained !== own[0]?.trained);
        expect(found.get(index)?.map(({ trained }) => trained)).toEqual(
          isPartly ? own.map(({ trained }) => trained) : undefined,
        );
      }
    }),
  );
});
