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
  recordText,
} from '../dump/long-record.ts';
import { type ParsedLine, parsedRecord, recordIn } from '../dump/parse-line.ts';
import { piecesOf, type ValuePiece } from '../dump/pieces.ts';
import { fileShapeOf } from '../dump/shape.ts';
import type { ShapeAnswer, ShapeRequest } from '../dump/shape-thread.ts';
import type { Rollout, Span, Turn } from '../rollout/rollout.ts';

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

/** What one step of a heavy record needs, and the next does not, is collected between them: its function has ended. */
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
  const text = recordText(place);
  if (isHeavy(place)) collectGarbage();
  return { hash: hashText('sha256', text), read: recordIn(text, place.context, place.part) };
}

function crossingOf({ error, findings, rollout }: ParsedLine, hash: string): Crossing {
  if (rollout === null) return { rollout, error, findings, slices: [], hash };
  const places = textPlaces(rollout.spans);
  const slices = rollout.turns.map((turn) => sliceOf(turn, places, rollout.texts));
  const turns = rollout.turns.map((turn, i) => (slices[i] === null ? turn : { ...turn, text: '' }));
  return { rollout: { ...rollout, turns }, error, findings: [], slices, hash };
}

function sliceOf(turn: Turn, places: ReadonlyMap<number, Span | null>, texts: Rollout['texts']) {
  const span = places.get(turn.index);
  if (span == null || texts[span.field]?.slice(span.start, span.end) !== turn.text) return null;
  return { field: span.field, start: span.start, end: span.end };
}

/** A turn's only text span; null if it has several. */
function textPlaces(spans: readonly Span[]): ReadonlyMap<number, Span | null> {
  const places = new Map<number, Span | null>();
  for (const span of spans) if (span.kind === 'text') places.set(span.turn, places.has(span.turn) ? null : span);
  return places;
}
