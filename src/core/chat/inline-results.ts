import { itemAt, lastItem } from '../lists/at.ts';
import { addPiece, type ChatTurn } from './chat-turn.ts';

/**
 * Results inside the model's turn, without a header: Search-R1's `<information>`, ReTool's `<interpreter>`, ToRL's
 * fence `output`. A call must come right before. Records do not say whether the trainer masked them, and a model may
 * write them itself.
 */
const INLINE: readonly { holds: string; call: RegExp; close: RegExp }[] = [
  { holds: '<information>', call: /<\/search>\s*<information>/g, close: /<\/information>/g },
  { holds: '<interpreter>', call: /<\/code>\s*<interpreter>/g, close: /<\/interpreter>/g },
  { holds: '```output', call: /(?<=^|\n)```[ \t]*\n+```output[ \t]*\n/g, close: /\n```(?=\s|$)/g },
];

/**
 * Splits a model turn at the results in it. Text after the first one is inferred: a result may quote its own closing
 * tag.
 */
export function splitInlineResults(text: string, turn: ChatTurn): ChatTurn[] {
  if (turn.role !== 'assistant') return [turn];
  const body = turn.pieces.filter(({ kind }) => kind === 'text');
  const [first, last] = [body[0], body.at(-1)];
  if (first === undefined || last === undefined) return [turn];
  const cuts = cutsIn(text.slice(first.start, last.end), first.start);
  if (cuts.length === 0) return [turn];
  const turns: ChatTurn[] = [];
  let role: 'assistant' | 'tool' = 'assistant';
  let at = itemAt(turn.pieces, 0).start;
  for (const [i, edge] of [...cuts, null].entries()) {
    const part: ChatTurn = {
      role,
      confidence: i === 0 ? turn.confidence : turn.confidence === 'unknown' ? 'unknown' : 'inferred',
      pieces: [],
    };
    const end = edge?.at ?? lastItem(turn.pieces).end;
    for (const piece of turn.pieces) {
      const [start, stop] = [Math.max(piece.start, at), Math.min(piece.end, end)];
      if (stop > start) part.pieces.push({ ...piece, start, end: stop });
    }
    if (part.pieces.length > 0) turns.push(part);
    at = end;
    role = role === 'assistant' ? 'tool' : 'assistant';
  }
  return turns.map((part) => (part.role === 'tool' ? withoutTags(text, part) : part));
}

/** Offsets at which results begin and end, alternating. */
function cutsIn(body: string, offset: number): { at: number }[] {
  for (const { holds, call, close } of INLINE) {
    if (!body.includes(holds)) continue;
    const cuts: { at: number }[] = [];
    call.lastIndex = 0;
    for (let match = call.exec(body); match !== null; match = call.exec(body)) {
      const start = match.index + (/^<\/\w+>\s*/.exec(match[0])?.[0].length ?? match[0].lastIndexOf('```'));
      close.lastIndex = match.index + match[0].length - 1;
      const end = close.exec(body);
      cuts.push({ at: offset + start });
      if (end === null) return cuts;
      const stop = end.index + end[0].length;
      cuts.push({ at: offset + stop });
      call.lastIndex = stop;
    }
    if (cuts.length > 0) return cuts;
  }
  return [];
}

/** The tags of a result are markers. */
function withoutTags(text: string, turn: ChatTurn): ChatTurn {
  const [start, end] = [itemAt(turn.pieces, 0).start, lastItem(turn.pieces).end];
  const whole = text.slice(start, end);
  const open = /^(?:<\w+>|```output[ \t]*)\n?/.exec(whole)?.[0].length ?? 0;
  const close = /\n?(?:<\/\w+>|```)$/.exec(whole.slice(open))?.[0].length ?? 0;
  const laid: ChatTurn = { role: turn.role, confidence: turn.confidence, pieces: [], unmasked: true };
  addPiece(laid, 'marker', start, start + open);
  addPiece(laid, 'text', start + open, end - close);
  addPiece(laid, 'marker', end - close, end);
  return laid;
}
