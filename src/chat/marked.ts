import { addPiece, type ChatTurn, toolTurns } from './chat-turn.ts';

/** Does the text keep its special tokens? Decided by its first token, since a model may write the same characters later. */
export const isMarked = (text: string): boolean => /^\s*(?:<\|endoftext\|>\s*)*<\|im_start\|>/.test(text);

const START = '<|im_start|>';
const END = /<\|im_end\|>\n?|<\|endoftext\|>/g;

/**
 * Turns of ChatML text that was decoded with its special tokens. Every border is certain.
 * Whatever stands between an end token and the next start (padding, blanks) is a marker of the turn before.
 */
export function segmentMarked(text: string): ChatTurn[] {
  const turns: ChatTurn[] = [];
  let start = text.indexOf(START);
  let markerStart = 0;
  while (start !== -1) {
    const next = text.indexOf(START, start + START.length);
    const limit = next === -1 ? text.length : next;
    const lineEnd = text.indexOf('\n', start);
    const bodyStart = lineEnd === -1 || lineEnd >= limit ? limit : lineEnd + 1;
    const role = text.slice(start + START.length, bodyStart).trim() || 'assistant';
    END.lastIndex = bodyStart;
    const end = END.exec(text);
    const bodyEnd = end === null || end.index >= limit ? limit : end.index;
    if (role === 'user' && text.startsWith('<tool_response>', bodyStart)) {
      const split = toolTurns(text, markerStart, bodyStart, bodyEnd, 'marked');
      const last = split.at(-1);
      if (last) addPiece(last, 'marker', bodyEnd, limit);
      turns.push(...split);
    } else {
      const turn: ChatTurn = { role, confidence: 'marked', pieces: [] };
      addPiece(turn, 'marker', markerStart, bodyStart);
      addPiece(turn, 'text', bodyStart, bodyEnd);
      addPiece(turn, 'marker', bodyEnd, limit);
      turns.push(turn);
    }
    markerStart = limit;
    start = next;
  }
  return turns;
}
