import { readAssistantText } from '../chat/assistant-parts.ts';
import type { TypeOf } from '../chat/calls/call.ts';
import type { ChatTurn, TurnPiece } from '../chat/chat-turn.ts';
import { itemAt } from '../lists/at.ts';
import { orTrained, type Trained } from '../rollout/loss-mask.ts';
import type { Span, Turn } from '../rollout/rollout.ts';
import { shownCalls } from './turns.ts';

/** Whether a writer trains the ends of sampled turns; null if the record does not identify the writer. */
export interface EndRule {
  /** The end token, which the model samples. */
  token: Trained;
  /** The line break that the template writes after it. */
  newline: Trained;
}

export const UNKNOWN_END: EndRule = { token: null, newline: null };

/** A prompt and a response in two fields of a record, one after the other. */
export interface PromptAndResponse {
  promptField: string;
  responseField: string;
  prompt: string;
  response: string;
  validation: boolean;
  end: EndRule;
  /** Call grammars named by the template. */
  grammars: readonly string[];
  typeOf: TypeOf;
}

export interface LaidOut {
  turns: Turn[];
  spans: Span[];
  /** The first turn with text or a marker in the response. */
  responseTurn: number;
}

/** Maps chat turns onto the fields they came from: spans by field, parsed calls, and the trained text by role. */
export function layOut(chatTurns: readonly ChatTurn[], conversation: PromptAndResponse): LaidOut {
  const spans: Span[] = [];
  const turns: Turn[] = [];
  let responseTurn = chatTurns.length;
  let callIndex = 0;
  for (const [index, chatTurn] of chatTurns.entries()) {
    let body = '';
    let trained: Trained = false;
    for (const piece of chatTurn.pieces) {
      if (piece.kind === 'text') body += textOfPiece(piece, conversation);
      for (const span of pieceSpans(chatTurn, piece, index, conversation)) {
        if (span.kind === 'text') trained = orTrained(trained, span.trained);
        if (span.field === conversation.responseField) responseTurn = Math.min(responseTurn, index);
        spans.push(span);
      }
    }
    const turn: Turn = {
      index,
      role: chatTurn.role,
      text: body,
      trained,
      confidence: chatTurn.confidence,
      reward: null,
      toolCalls: [],
      parts: body === '' ? [] : [{ kind: 'text', start: 0, end: body.length }],
    };
    if (chatTurn.role === 'assistant') {
      const { parts, calls } = readAssistantText(body, {
        names: conversation.grammars,
        answered: chatTurns[index + 1]?.role === 'tool',
        typeOf: conversation.typeOf,
      });
      turn.parts = parts;
      turn.toolCalls = shownCalls(calls, callIndex);
      callIndex += calls.length;
    }
    turns.push(turn);
  }
  pairResults(turns);
  return { turns, spans, responseTurn };
}

/** A piece's text. Avoids concatenating prompt and response, which may be long. */
function textOfPiece({ start, end }: TurnPiece, { prompt, response }: PromptAndResponse): string {
  const boundary = prompt.length;
  if (end <= boundary) return prompt.slice(start, end);
  const own = response.slice(Math.max(0, start - boundary), end - boundary);
  return start < boundary ? prompt.slice(start) + own : own;
}

/** The spans of a piece: its part of each field, with an end token separate from the template text after it. */
function pieceSpans(chatTurn: ChatTurn, piece: TurnPiece, turn: number, conversation: PromptAndResponse): Span[] {
  const spans: Span[] = [];
  const { promptField, responseField, prompt, validation, end } = conversation;
  const boundary = prompt.length;
  const { kind } = piece;
  if (piece.start < boundary)
    spans.push({
      field: promptField,
      start: piece.start,
      end: Math.min(piece.end, boundary),
      turn,
      kind,
      trained: false,
    });
  if (piece.end <= boundary) return spans;
  const from = Math.max(piece.start, boundary) - boundary;
  const to = piece.end - boundary;
  const part = (start: number, stop: number, trained: Trained): void => {
    spans.push({ field: responseField, start, end: stop, turn, kind, trained: validation ? false : trained });
  };
  if (chatTurn.confidence === 'unknown' || chatTurn.unmasked === true) part(from, to, null);
  else if (chatTurn.role !== 'assistant') part(from, to, false);
  else if (kind === 'text') part(from, to, piece.isGiven !== true);
  else if (piece.isEnd !== true) part(from, to, false);
  else {
    const token = textOfPiece(piece, conversation).trimEnd().length;
    const cut = Math.max(from, Math.min(to, piece.start - boundary + token));
    if (cut > from) part(from, cut, end.token);
    if (to > cut) part(cut, to, end.newline);
  }
  return spans;
}

/**
 * Results belong, in order, to the calls of the previous assistant turn. A call that was not parsed was not run, unless
 * each call has a result.
 */
function pairResults(turns: readonly Turn[]): void {
  for (const [at, turn] of turns.entries()) {
    if (turn.toolCalls.length === 0) continue;
    const results: Turn[] = [];
    for (let next = at + 1; turns[next]?.role === 'tool'; next++) results.push(itemAt(turns, next));
    const read = turn.toolCalls.filter(({ error }) => error === null);
    const asked = results.length === turn.toolCalls.length ? turn.toolCalls : read;
    for (const [i, call] of asked.entries()) call.resultTurn = results[i]?.index ?? null;
  }
}
