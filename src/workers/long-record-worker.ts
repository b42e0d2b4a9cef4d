import { parentPort } from 'node:worker_threads';
import { loadAnew } from '../chat/rendered.ts';
import {
  type LongRecordAnswer,
  type LongRecordPlace,
  type LongRecordRequest,
  type RolloutPiece,
  recordText,
} from '../dump/long-record.ts';
import { parseLine } from '../dump/parse-line.ts';
import type { Rollout, RolloutTokens, Span, Turn } from '../rollout/rollout.ts';

/** About so many bytes cross to the main thread at once: it takes them over in a few ms. */
const PIECE = 300_000;
const TURN_BYTES = 400;
const SPAN_BYTES = 100;
const NUMBER_BYTES = 8;

let pieces: RolloutPiece[] = [];

parentPort?.on('message', async ({ id, request }: { id: number; request: LongRecordRequest }) => {
  let answer: LongRecordAnswer;
  try {
    if ('open' in request) await loadAnew(request.open.context.anew);
    answer = 'open' in request ? open(request.open) : { kind: 'piece', piece: pieces[request.piece]! };
  } catch (error) {
    answer = { kind: 'unreadable', problem: (error as Error).message };
  }
  parentPort?.postMessage({ id, answer });
});

function open(place: LongRecordPlace): LongRecordAnswer {
  const { error, findings, rollout } = parseLine(recordText(place), place.context, place.part);
  pieces = rollout === null ? [] : [...piecesOf(rollout)];
  return { kind: 'opened', error, findings, rollout: rollout && withoutPieces(rollout), pieces: pieces.length };
}

const withoutPieces = (rollout: Rollout): Rollout => {
  const { tokens, ...rest } = rollout;
  const bare: Rollout = { ...rest, texts: {}, turns: [], spans: [] };
  if (tokens === undefined) return bare;
  const { promptIds, promptLogprobs, logprobs, more } = tokens;
  const empty: RolloutTokens = { promptIds: promptIds && [], responseIds: [], mask: [], logprobs: logprobs && [] };
  return { ...bare, tokens: { ...empty, ...(more && { more }), ...(promptLogprobs && { promptLogprobs }) } };
};

function* piecesOf({ texts, turns, spans, tokens }: Rollout): Generator<RolloutPiece> {
  // A history of messages has a text for each.
  for (const share of shares(Object.entries(texts), ([, text]) => TURN_BYTES + text.length))
    yield { kind: 'texts', texts: share };
  const places = textPlaces(spans);
  for (const share of shares(turns, (turn) => TURN_BYTES + weightOf(turn))) {
    const slices = share.map((turn) => sliceOf(turn, places, texts));
    yield { kind: 'turns', turns: share.map((turn, i) => (slices[i] === null ? turn : { ...turn, text: '' })), slices };
  }
  for (const share of shares(spans, () => SPAN_BYTES)) yield { kind: 'spans', spans: share };
  for (const list of ['promptIds', 'responseIds', 'mask', 'logprobs'] as const)
    for (const values of shares(tokens?.[list] ?? [], () => NUMBER_BYTES)) yield { kind: 'tokens', list, values };
}

const weightOf = ({ text, parts, toolCalls }: Turn): number =>
  text.length + parts.length * SPAN_BYTES + toolCalls.reduce((sum, { raw }) => sum + 2 * raw.length, 0);

/** The text of a turn mostly is a piece of a long text that crosses anyway. */
function sliceOf(turn: Turn, places: ReadonlyMap<number, Span | null>, texts: Rollout['texts']) {
  const span = places.get(turn.index);
  if (span == null || texts[span.field]?.slice(span.start, span.end) !== turn.text) return null;
  return { field: span.field, start: span.start, end: span.end };
}

/** The one span of text that a turn has; null where it has more. */
function textPlaces(spans: readonly Span[]): ReadonlyMap<number, Span | null> {
  const places = new Map<number, Span | null>();
  for (const span of spans) if (span.kind === 'text') places.set(span.turn, places.has(span.turn) ? null : span);
  return places;
}

function* shares<Item>(items: readonly Item[], bytesOf: (item: Item) => number): Generator<Item[]> {
  let share: Item[] = [];
  let bytes = 0;
  for (const item of items) {
    share.push(item);
    bytes += bytesOf(item);
    if (bytes < PIECE) continue;
    yield share;
    share = [];
    bytes = 0;
  }
  if (share.length > 0) yield share;
}
