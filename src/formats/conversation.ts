import { readAssistantText } from '../chat/assistant-parts.ts';
import type { TypeOf } from '../chat/calls/call.ts';
import type { ChatTurn, TurnPiece } from '../chat/chat-turn.ts';
import { orTrained, type Trained } from '../rollout/loss-mask.ts';
import type { Span, ToolCall, Turn } from '../rollout/rollout.ts';

/** Whether a writer trains what ends a sampled turn; null where the record does not say which writer it was. */
export interface EndRule {
  /** The end token, which the model samples. */
  token: Trained;
  /** The line break that the template writes behind it. */
  newline: Trained;
}

export const UNKNOWN_END: EndRule = { token: null, newline: null };

/** A prompt and a response that lie in two fields of a record, one behind the other. */
export interface PromptAndResponse {
  promptField: string;
  responseField: string;
  prompt: string;
  response: string;
  validation: boolean;
  end: EndRule;
  /** Call grammars that the template names. */
  grammars: readonly string[];
  typeOf: TypeOf;
}

export interface LaidOut {
  turns: Turn[];
  spans: Span[];
  /** The first turn with text or a marker in the response. */
  responseTurn: number;
}

/** Lays chat turns out on the fields they came from: spans by field, parsed calls, and the trained text by role. */
export function layOut(chatTurns: readonly ChatTurn[], conversation: PromptAndResponse): LaidOut {
  const text = conversation.prompt + conversation.response;
  const spans: Span[] = [];
  const turns: Turn[] = [];
  let responseTurn = chatTurns.length;
  let callIndex = 0;
  for (const [index, chatTurn] of chatTurns.entries()) {
    let body = '';
    let trained: Trained = false;
    for (const piece of chatTurn.pieces) {
      if (piece.kind === 'text') body += text.slice(piece.start, piece.end);
      for (const span of spansOf(chatTurn, piece, text, conversation)) {
        if (span.kind === 'text') trained = orTrained(trained, span.trained);
        if (span.field === conversation.responseField) responseTurn = Math.min(responseTurn, index);
        spans.push({ ...span, turn: index });
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
      turn.toolCalls = calls.map(
        (call): ToolCall => ({
          index: callIndex++,
          id: null,
          name: call.name,
          arguments: call.arguments,
          raw: call.raw,
          error: call.error,
          resultTurn: null,
        }),
      );
    }
    turns.push(turn);
  }
  pairResults(turns);
  return { turns, spans, responseTurn };
}

/** The spans of a piece: of each field its part, an end token apart from what the template writes behind it. */
function* spansOf(
  turn: ChatTurn,
  piece: TurnPiece,
  text: string,
  conversation: PromptAndResponse,
): Generator<Omit<Span, 'turn'>> {
  const { promptField, responseField, prompt, validation, end } = conversation;
  const boundary = prompt.length;
  const { kind } = piece;
  if (piece.start < boundary)
    yield { field: promptField, start: piece.start, end: Math.min(piece.end, boundary), kind, trained: false };
  if (piece.end <= boundary) return;
  const from = Math.max(piece.start, boundary) - boundary;
  const to = piece.end - boundary;
  const part = (start: number, stop: number, trained: Trained): Omit<Span, 'turn'> => ({
    field: responseField,
    start,
    end: stop,
    kind,
    trained: validation ? false : trained,
  });
  if (turn.confidence === 'unknown' || turn.unmasked === true) yield part(from, to, null);
  else if (turn.role !== 'assistant') yield part(from, to, false);
  else if (kind === 'text') yield part(from, to, piece.isGiven !== true);
  else if (piece.isEnd !== true) yield part(from, to, false);
  else {
    const token = text.slice(piece.start, piece.end).trimEnd().length;
    const cut = Math.max(from, Math.min(to, piece.start - boundary + token));
    if (cut > from) yield part(from, cut, end.token);
    if (to > cut) yield part(cut, to, end.newline);
  }
}

/** Results belong, in order, to the calls of the assistant turn before them. A call that was not read was not run, unless there is a result for each. */
function pairResults(turns: readonly Turn[]): void {
  for (const [at, turn] of turns.entries()) {
    if (turn.toolCalls.length === 0) continue;
    const results: Turn[] = [];
    for (let next = at + 1; turns[next]?.role === 'tool'; next++) results.push(turns[next]!);
    const read = turn.toolCalls.filter(({ error }) => error === null);
    const asked = results.length === turn.toolCalls.length ? turn.toolCalls : read;
    for (const [i, call] of asked.entries()) call.resultTurn = results[i]?.index ?? null;
  }
}
