import { readAssistantText } from '../chat/assistant-parts.ts';
import type { ChatTurn } from '../chat/chat-turn.ts';
import { orTrained, type Trained } from '../rollout/loss-mask.ts';
import type { Span, ToolCall, Turn } from '../rollout/rollout.ts';

/** A prompt and a response that lie in two fields of a record, one behind the other. */
export interface Conversation {
  promptField: string;
  responseField: string;
  prompt: string;
  response: string;
  validation: boolean;
}

export interface LaidOut {
  turns: Turn[];
  spans: Span[];
  /** The first turn with text or a marker in the response. */
  responseTurn: number;
}

/** Lays chat turns out on the fields they came from: spans by field, parsed calls, and the trained text by role. */
export function layOut(chatTurns: readonly ChatTurn[], conversation: Conversation): LaidOut {
  const { prompt, response } = conversation;
  const text = prompt + response;
  const boundary = prompt.length;
  const spans: Span[] = [];
  const turns: Turn[] = [];
  let responseTurn = chatTurns.length;
  let callIndex = 0;
  for (const [index, chatTurn] of chatTurns.entries()) {
    let body = '';
    let trained: Trained = false;
    for (const piece of chatTurn.pieces) {
      if (piece.kind === 'text') body += text.slice(piece.start, piece.end);
      for (const span of splitAt(boundary, piece.start, piece.end, conversation)) {
        // The response's assistant text is trained; prompt, tool and user text and every role header are masked.
        const isTrained =
          piece.kind === 'text' &&
          chatTurn.role === 'assistant' &&
          span.field === conversation.responseField &&
          !conversation.validation;
        if (piece.kind === 'text') trained = orTrained(trained, isTrained);
        if (span.field === conversation.responseField) responseTurn = Math.min(responseTurn, index);
        spans.push({ ...span, turn: index, kind: piece.kind, trained: isTrained });
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
      const { parts, calls } = readAssistantText(body);
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

function* splitAt(boundary: number, start: number, end: number, { promptField, responseField }: Conversation) {
  if (start < boundary) yield { field: promptField, start, end: Math.min(end, boundary) };
  if (end > boundary) yield { field: responseField, start: Math.max(start, boundary) - boundary, end: end - boundary };
}

/** Results belong, in order, to the parsed calls of the assistant turn before them; a call that was not parsed was not executed. */
function pairResults(turns: readonly Turn[]): void {
  let waiting: ToolCall[] = [];
  for (const turn of turns) {
    if (turn.role === 'tool') {
      const call = waiting.shift();
      if (call) call.resultTurn = turn.index;
    } else {
      waiting = turn.toolCalls.filter((call) => call.error === null);
    }
  }
}
