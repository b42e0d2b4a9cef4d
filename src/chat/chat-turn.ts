import type { Confidence, Role } from '../rollout/rollout.ts';

/** A piece of a conversation's text; `start` and `end` are UTF-16 offsets into prompt + response. */
export interface Piece {
  start: number;
  end: number;
  kind: 'text' | 'marker';
}

/** One turn as it lies in the text. The pieces of all turns, end to end, cover the text exactly. */
export interface ChatTurn {
  role: Role;
  confidence: Confidence;
  pieces: Piece[];
}

/** Appends a piece, leaving out empty ones, so that a cover has no holes and no zero-length spans. */
export function addPiece(turn: ChatTurn, kind: Piece['kind'], start: number, end: number): void {
  if (end > start) turn.pieces.push({ start, end, kind });
}

const OPEN = '<tool_response>';
const CLOSE = '</tool_response>';

/**
 * Lays the body of a user turn that begins with `<tool_response>` out as one tool turn for each response in it
 * (Qwen's template puts the results of parallel calls into one user turn). `header` is the start of the turn's marker.
 * A closing tag counts only where the next opening tag or the body's end follows, so that a result may hold the tag as text.
 */
export function toolTurns(
  text: string,
  header: number,
  bodyStart: number,
  bodyEnd: number,
  confidence: ChatTurn['confidence'],
): ChatTurn[] {
  const turns: ChatTurn[] = [];
  let markerStart = header;
  let at = bodyStart;
  while (at < bodyEnd) {
    const turn: ChatTurn = { role: 'tool', confidence, pieces: [] };
    turns.push(turn);
    let textStart = text.indexOf(OPEN, at) + OPEN.length;
    if (textStart < bodyEnd && text[textStart] === '\n') textStart++;
    addPiece(turn, 'marker', markerStart, textStart);
    const close = closingTag(text, textStart, bodyEnd);
    if (close === -1) {
      addPiece(turn, 'text', textStart, bodyEnd);
      return turns;
    }
    const textEnd = close > textStart && text[close - 1] === '\n' ? close - 1 : close;
    addPiece(turn, 'text', textStart, textEnd);
    at = close + CLOSE.length;
    const rest = skipBlank(text, at, bodyEnd);
    if (text.startsWith(OPEN, rest) && rest < bodyEnd) {
      addPiece(turn, 'marker', textEnd, at);
      markerStart = at;
      at = rest;
    } else {
      // Blank text behind the last response belongs to the template; other text is kept as the result's own.
      addPiece(turn, 'marker', textEnd, rest);
      addPiece(turn, 'text', rest, bodyEnd);
      return turns;
    }
  }
  return turns;
}

function closingTag(text: string, from: number, end: number): number {
  // Searched in the body alone: a tag that is missing here would be looked for through all of the text.
  const body = text.slice(from, end);
  let last = -1;
  for (let close = body.indexOf(CLOSE); close !== -1; close = body.indexOf(CLOSE, close + 1)) {
    last = from + close;
    const rest = skipBlank(text, last + CLOSE.length, end);
    if (rest >= end || text.startsWith(OPEN, rest)) return last;
  }
  return last;
}

function skipBlank(text: string, from: number, end: number): number {
  let at = from;
  while (at < end && (text[at] === '\n' || text[at] === ' ')) at++;
  return at;
}
