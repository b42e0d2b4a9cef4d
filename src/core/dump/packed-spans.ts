import { int32At, itemAt } from '../lists/at.ts';
import type { Span } from '../rollout/rollout.ts';

/** Spans as numbers: they cross to another thread without an object, and a copy of its words, for each. */
export interface PackedSpans {
  fields: string[];
  /** WIDTH for each. */
  numbers: Int32Array;
}

const WIDTH = 5;
const TRAINED: readonly Span['trained'][] = [false, true, null];
const KINDS = ['text', 'marker'] as const;
/** Spans unpacked between two pauses. */
const SHARE = 5000;

export function packSpans(spans: readonly Span[]): PackedSpans {
  const known = new Map<string, number>();
  const numbers = new Int32Array(spans.length * WIDTH);
  for (const [i, { field, start, end, turn, kind, trained }] of spans.entries()) {
    const at = known.get(field) ?? known.size;
    known.set(field, at);
    const said = KINDS.indexOf(kind) + KINDS.length * TRAINED.indexOf(trained);
    numbers.set([at, start, end, turn, said], i * WIDTH);
  }
  return { fields: [...known.keys()], numbers };
}

export function* unpackingSpans({ fields, numbers }: PackedSpans): Generator<void, Span[]> {
  const spans: Span[] = [];
  for (let at = 0; at < numbers.length; at += WIDTH) {
    const said = int32At(numbers, at + 4);
    spans.push({
      field: itemAt(fields, int32At(numbers, at)),
      start: int32At(numbers, at + 1),
      end: int32At(numbers, at + 2),
      turn: int32At(numbers, at + 3),
      kind: itemAt(KINDS, said % KINDS.length),
      trained: itemAt(TRAINED, Math.floor(said / KINDS.length)),
    });
    if (spans.length % SHARE === 0) yield;
  }
  return spans;
}
