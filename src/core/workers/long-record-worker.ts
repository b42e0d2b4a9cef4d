import { hash as hashText } from 'node:crypto';
import { parentPort } from 'node:worker_threads';
import { collectGarbage } from '../async/collected.ts';
import { loadEncoding } from '../chat/rendered.ts';
import {
  type Crossing,
  isHeavy,
  type LongRecordAnswer,
  type LongRecordPlace,
  type LongRecordRequest,
  NOTHING_CROSSES,
  recordText,
} from '../dump/long-record.ts';
import { tooLarge } from '../dump/memory-limit.ts';
import { packSpans } from '../dump/packed-spans.ts';
import { type ParsedLine, parsedRecord, recordIn } from '../dump/parse-line.ts';
import { piecesOf, type ValuePiece } from '../dump/pieces.ts';
import { fileShapeOf } from '../dump/shape.ts';
import type { ShapeAnswer, ShapeRequest } from '../dump/shape-thread.ts';
import type { Span } from '../rollout/rollout.ts';

let pieces: Iterator<ValuePiece> = [][Symbol.iterator]();

parentPort?.on('message', async ({ id, request }: { id: number; request: LongRecordRequest | ShapeRequest }) => {
  let answer: LongRecordAnswer | ShapeAnswer;
  try {
    if ('shape' in request) answer = firstShape(request.shape);
    else {
      if ('open' in request) {
        await loadEncoding(request.open.context.encoding);
        pieces = piecesOf(crossing(request.open));
      }
      const next = pieces.next();
      answer = { piece: next.done === true ? null : next.value };
    }
  } catch {
    answer = {};
  }
  parentPort?.postMessage({ id, answer });
});

function firstShape({ path, context }: ShapeRequest['shape']): ShapeAnswer {
  const shape = fileShapeOf(path, context);
  return shape.kind === 'session' ? {} : { shape };
}

/** Garbage is collected between the steps of a heavy record, once the function of each has ended. */
function crossing(place: LongRecordPlace): Crossing {
  const whole = wholeOf(place);
  if (isHeavy(place)) collectGarbage();
  return whole;
}

function wholeOf(place: LongRecordPlace): Crossing {
  const { hash, read } = readAt(place);
  if (isHeavy(place)) collectGarbage();
  return crossingOf(parsedRecord(read, place.context), hash);
}

function readAt(place: LongRecordPlace) {
  const error = tooLarge(place.context.memory, place.length);
  if (error !== null) return { hash: '', read: { json: undefined, error } };
  const text = recordText(place);
  if (isHeavy(place)) collectGarbage();
  return { hash: hashText('sha256', text), read: recordIn(text, place.context, place.part) };
}

function crossingOf({ error, findings, rollout }: ParsedLine, hash: string): Crossing {
  if (rollout === null) return { ...NOTHING_CROSSES, error, findings, hash };
  const { spans, texts } = rollout;
  const of = textSpans(spans);
  const places = Int32Array.from(rollout.turns, ({ index, text }) => {
    const at = of.get(index) ?? -1;
    const span = spans[at];
    return span !== undefined && texts[span.field]?.slice(span.start, span.end) === text ? at : -1;
  });
  const turns = rollout.turns.map((turn, i) => (places[i] === -1 ? turn : { ...turn, text: '' }));
  return { rollout: { ...rollout, turns, spans: [] }, error, findings: [], spans: packSpans(spans), places, hash };
}

/** The index of each turn's only text span; -1 if it has several. */
function textSpans(spans: readonly Span[]): ReadonlyMap<number, number> {
  const found = new Map<number, number>();
  for (const [at, { kind, turn }] of spans.entries()) if (kind === 'text') found.set(turn, found.has(turn) ? -1 : at);
  return found;
}
