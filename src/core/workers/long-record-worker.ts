import { hash as hashText } from 'node:crypto';
import { parentPort } from 'node:worker_threads';
import { loadEncoding } from '../chat/rendered.ts';
import {
  type Crossing,
  type LongRecordAnswer,
  type LongRecordPlace,
  type LongRecordRequest,
  recordText,
} from '../dump/long-record.ts';
import { parseLine } from '../dump/parse-line.ts';
import { piecesOf, type ValuePiece } from '../dump/pieces.ts';
import type { Rollout, Span, Turn } from '../rollout/rollout.ts';

let pieces: Iterator<ValuePiece> = [][Symbol.iterator]();

parentPort?.on('message', async ({ id, request }: { id: number; request: LongRecordRequest }) => {
  let answer: LongRecordAnswer;
  try {
    if ('open' in request) {
      await loadEncoding(request.open.context.encoding);
      pieces = piecesOf(crossing(request.open));
    }
    const next = pieces.next();
    answer = { piece: next.done === true ? null : next.value };
  } catch {
    answer = {};
  }
  parentPort?.postMessage({ id, answer });
});

function crossing(place: LongRecordPlace): Crossing {
  const text = recordText(place);
  const hash = hashText('sha256', text);
  const { error, findings, rollout } = parseLine(text, place.context, place.part);
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
