import { isJsonObject, type JsonObject, type JsonValue } from '../json/value.ts';
import { itemAt } from '../lists/at.ts';
import { outcomeIn } from '../rollout/outcome.ts';
import { resultMessage } from './blocks.ts';
import { type FoundMessage, messageFormat } from './build.ts';
import { contentText } from './content-text.ts';
import { type Format, NO_TRAINING, type Session } from './format.ts';
import { lostMessage } from './lost-line.ts';
import { idOf, objectsOf } from './values.ts';

/** The lines that `gemini --output-format stream-json` prints. */
export const geminiStream: Session = {
  name: 'gemini-stream',
  isEvent: (record) =>
    (record.type === 'init' && record.session_id !== undefined && record.model !== undefined) ||
    (record.type === 'tool_use' && record.tool_name !== undefined && record.tool_id !== undefined) ||
    (record.type === 'tool_result' && record.tool_id !== undefined && record.status !== undefined),
  keyOf: () => null,
};

export const geminiStreamFormat: Format = messageFormat({
  name: 'gemini-stream',
  ...NO_TRAINING,
  basis: 'documentation',
  mapping: {
    turns: 'lines of the type message; those of a reply that came in pieces (delta) are one turn',
    calls: 'tool_use, with tool_result behind it',
    status: 'status of the line result',
  },
  detects: (record) => record.session_of === geminiStream.name,
  find(record) {
    const messages: FoundMessage[] = [];
    let head: JsonObject = {};
    let end: JsonObject = {};
    const errors: JsonValue[] = [];
    /** A reply that may still get more pieces. */
    let open: FoundMessage | null = null;
    for (const [at, event] of objectsOf(record.events).entries()) {
      const place = `/events/${at}`;
      const lost = lostMessage(event, place);
      if (lost !== null) messages.push(lost);
      else if (event.type === 'init') head = event;
      else if (event.type === 'result') end = event;
      else if (event.type === 'error') errors.push(event.message ?? event.error ?? event);
      else if (event.type === 'message') {
        const text = contentText(event.content);
        const isReply = event.role === 'assistant' || event.role === 'model';
        if (isReply && event.delta === true && open !== null) {
          itemAt(open.texts, 0).text += text;
          continue;
        }
        open = {
          role: isReply ? 'assistant' : (idOf(event.role) ?? 'unknown'),
          texts: [{ pointer: `${place}/content`, text }],
        };
        messages.push(open);
        if (!isReply) open = null;
        continue;
      } else if (event.type === 'tool_use') {
        const call = { id: idOf(event.tool_id), name: idOf(event.tool_name), arguments: event.parameters };
        const last = messages.at(-1);
        if (open !== null && last === open) open.calls = [...(open.calls ?? []), call];
        else if (last?.role === 'function_call') last.calls!.push(call);
        else messages.push({ role: 'function_call', texts: [], calls: [call] });
        continue;
      } else if (event.type === 'tool_result') {
        const error = isJsonObject(event.error) ? event.error.message : event.error;
        messages.push(
          resultMessage(idOf(event.tool_id), `${place}/output`, contentText(event.output ?? error), outcomeIn(event)),
        );
      }
      open = null;
    }
    const { session_id, model } = head;
    return {
      known: new Set(['session_of', 'events']),
      messages,
      hasCallsApart: true,
      uid: idOf(session_id),
      status: idOf(end.status),
      extras: {
        ...(model === undefined ? {} : { model }),
        ...(end.stats === undefined ? {} : { usage: end.stats }),
        ...(errors.length === 0 ? {} : { errors }),
      },
    };
  },
});
