import { describe, expect, test } from 'vitest';
import { parseLine } from '../../../src/core/dump/parse-line.ts';
import type { JsonObject } from '../../../src/core/json/value.ts';
import { ServerEvents } from '../../../src/engine/model/sse.ts';
import { anthropicProtocol } from '../../../src/engine/record/anthropic-protocol.ts';
import { chatProtocol } from '../../../src/engine/record/chat-protocol.ts';
import {
  differenceAt,
  HISTORY_RULES,
  type HistoryRule,
  requestItems,
} from '../../../src/engine/record/history-items.ts';
import type { ModelProtocol } from '../../../src/engine/record/protocol.ts';
import { isReply, RecordedReplies } from '../../../src/engine/record/recorded-replies.ts';
import { replyBytes } from '../../../src/engine/record/reply-bytes.ts';
import { responsesProtocol } from '../../../src/engine/record/responses-protocol.ts';

const ALL = new Set(HISTORY_RULES);
const user = (content: string) => ({ role: 'user', content });
const call = { id: 'call_1', type: 'function', function: { name: 'add', arguments: '{"a":1}' } };
const asked = { role: 'assistant', content: 'I add.', tool_calls: [call] };
const result = { role: 'tool', tool_call_id: 'call_1', content: '2' };
const record = { messages: [user('what is 1 + 1?'), asked, result, { role: 'assistant', content: 'two' }] };
const rolloutOf = (held: object) => {
  const { rollout } = parseLine(JSON.stringify(held), { validation: false });
  if (rollout === null) throw new Error('not read');
  return rollout;
};
const chat = (...messages: JsonObject[]) => {
  const request = chatProtocol.request({ messages });
  if (request === null) throw new Error('no request');
  return request;
};

describe('replies from a record', () => {
  test('each request with the recorded history gets its reply', () => {
    const replies = new RecordedReplies(rolloutOf(record), ALL);
    expect(replies.answer(chat(user('what is 1 + 1?')))).toMatchObject({
      turn: 1,
      text: 'I add.',
      calls: [{ id: 'call_1', name: 'add' }],
    });
    expect(replies.answer(chat(user('what is 1 + 1?'), asked, result))).toMatchObject({
      turn: 3,
      text: 'two',
      calls: [],
    });
    expect(replies.asked).toEqual([1, 3]);
  });

  test('blocks of a message are the same side by side and below each other; what a call says is not', () => {
    const blocks = ['You are an agent.', 'Be brief.'].map((text) => ({ type: 'text', text }));
    const shown = rolloutOf({ messages: [{ role: 'system', content: blocks }, ...record.messages] });
    const replies = new RecordedReplies(shown, ALL);
    const system = { role: 'system', content: blocks };
    expect(isReply(replies.answer(chat(system, user('what is 1 + 1?'))))).toBe(true);
    const spaced = { ...asked, tool_calls: [{ ...call, function: { name: 'add', arguments: '{"a":"1 0"}' } }] };
    const glued = { ...asked, tool_calls: [{ ...call, function: { name: 'add', arguments: '{"a":"10"}' } }] };
    expect(differenceAt(requestItems([spaced]), requestItems([glued]), ALL)).toBe(0);
  });

  test('another request is a difference, with both messages', () => {
    const replies = new RecordedReplies(rolloutOf(record), ALL);
    expect(replies.answer(chat(user('what is 1 + 1?'), asked, { ...result, content: '3' }))).toEqual({
      turn: 3,
      at: 2,
      recorded: 'tool:\n2',
      fresh: 'tool:\n3',
    });
    expect(
      replies.answer(chat(user('what is 1 + 1?'), asked, result, { role: 'assistant', content: 'two' }, user('more'))),
    ).toMatchObject({ recorded: null });
  });

  test('other tools are a difference, their order is not', () => {
    const tool = (name: string) => ({ type: 'function', function: { name } });
    const held = { ...record, tools: [tool('add'), tool('take')] };
    const request = (...names: string[]) => ({ ...chat(user('what is 1 + 1?')), tools: names.map(tool) });
    expect(isReply(new RecordedReplies(rolloutOf(held), ALL).answer(request('take', 'add')))).toBe(true);
    expect(new RecordedReplies(rolloutOf(held), ALL).answer(request('add'))).toMatchObject({
      recorded: 'tools: add, take',
      fresh: 'tools: add',
    });
  });

  test('an edited reply replaces the recorded one and its calls', () => {
    const replies = new RecordedReplies(rolloutOf(record), ALL, new Map([[1, 'It is two.']]));
    expect(replies.answer(chat(user('what is 1 + 1?')))).toMatchObject({ turn: 1, text: 'It is two.', calls: [] });
  });
});

const PROTOCOLS: readonly ModelProtocol[] = [chatProtocol, responsesProtocol, anthropicProtocol];
describe.each(PROTOCOLS.map((protocol) => [protocol.name, protocol] as const))(
  'a recorded reply over %s',
  (name, protocol) => {
    test.each([false, true])('is read as it was recorded, streamed: %s', (isStreamed) => {
      const replies = new RecordedReplies(rolloutOf(record), ALL);
      const reply = replies.answer(chat(user('what is 1 + 1?')));
      if (!isReply(reply)) throw new Error('differs');
      const { body, type } = replyBytes(name, reply, 'm', isStreamed);
      expect(type).toBe(isStreamed ? 'text/event-stream' : 'application/json');
      const reader = new ServerEvents();
      const events = isStreamed ? [...reader.push(body), ...reader.end()].filter((text) => text !== '[DONE]') : [];
      const read = isStreamed
        ? protocol.streamed(
            events.map((text) => JSON.parse(text)),
            true,
          )
        : protocol.reply(JSON.parse(body.toString()));
      expect(read?.isCut).toBe(false);
      expect(requestItems(read?.messages ?? [])).toEqual([
        { role: 'assistant', text: 'I add.', calls: [{ name: 'add', arguments: { a: 1 } }] },
      ]);
    });
  },
);

describe('differences that do not matter', () => {
  const isSame = (a: string, b: string, but: HistoryRule | null = null) =>
    differenceAt(
      requestItems([user(a)]),
      requestItems([user(b)]),
      new Set(HISTORY_RULES.filter((rule) => rule !== but)),
    ) === null;
  test.each<[HistoryRule, string, string]>([
    ['dates', 'Today is 2026-01-02 03:04:05.', 'Today is 2027-11-12 13:14:15.'],
    ['dates', 'It is Monday, Nov 23, 2026', 'It is Tuesday, Dec 1, 2026'],
    ['ids', 'Chunk ID: 76512b', 'Chunk ID: d9aac4'],
    ['ids', 'session 0b5e9e34-70f5-4a5e-8d6a-3b2f1c0d9e8f', 'session 1c6f0f45-81a6-4b6f-9e7b-4c3a2d1e0f9a'],
    ['directories', 'in /tmp/run-a1/src there is /tmp/run-a1/src/app.py', 'in /home/me/x there is /home/me/x/app.py'],
    ['spaces', 'a  b\n', 'a b'],
  ])('%s: %s', (rule, one, two) => {
    expect(isSame(one, two)).toBe(true);
    expect(isSame(one, two, rule)).toBe(false);
  });

  test('durations: seconds in a result, not in a task', () => {
    const said = (role: string, content: string) => requestItems([{ role, content }]);
    const [one, two] = ['1 passed in 0.02s', '1 passed in 0.31s'];
    expect(differenceAt(said('tool', one), said('tool', two), ALL)).toBe(null);
    expect(differenceAt(said('user', one), said('user', two), ALL)).toBe(0);
  });

  test.each([
    ['a', 'b'],
    ['open /tmp/x/main.py', 'open /tmp/x/other.py'],
    ['12 of 13', '12 of 14'],
  ])('%s is not %s', (one, two) => {
    expect(isSame(one, two)).toBe(false);
  });
});
