import fc from 'fast-check';
import { expect, test } from 'vitest';
import { recorderFormat } from '../../../src/core/formats/recorder.ts';
import type { JsonObject } from '../../../src/core/json/value.ts';
import { historyAt } from '../../../src/core/rollout/contexts.ts';
import { chatProtocol } from '../../../src/engine/record/chat-protocol.ts';
import { messageKey } from '../../../src/engine/record/conversation-tree.ts';
import { RolloutRecorder } from '../../../src/engine/record/rollout-recorder.ts';

interface Event {
  type: string;
  [key: string]: unknown;
}
interface Message {
  role: string;
  content: string;
  tool_calls?: unknown[];
}

/** A recorder that keeps its events in memory, by rollout. */
function memoryRecorder() {
  const files = new Map<string, Event[]>();
  const recorder = new RolloutRecorder({
    open: (name) => {
      const events: Event[] = [];
      files.set(name, events);
      return { append: (event) => events.push({ type: 'none', ...event }), close: () => {} };
    },
    isOneRollout: false,
    now: () => new Date(0),
  });
  /** Sends a request; its replies come when the result is called. */
  const ask = (messages: Message[], name: string | null) => {
    const request = chatProtocol.request({ messages: messages as never });
    if (request === null) throw new Error('no request');
    const underWay = recorder.begin(chatProtocol, request, name);
    return (...replies: Message[]) =>
      recorder.end(underWay, {
        status: 200,
        reply: chatProtocol.reply({ choices: replies.map((message) => ({ message })) as never }),
        problem: null,
        firstByte: 0,
        seconds: 0,
      });
  };
  return { files, ask };
}

const textOf = (messages: readonly Message[]): string => messages.map(({ content }) => content).join('|');

/** The histories of a record as its reader shows them: all that the model saw for the last turn of each, and that turn. */
function historiesIn(events: readonly Event[]): { kind: string; text: string }[] {
  const record = { session_of: 'recorder', events } as unknown as JsonObject;
  const rollout = recorderFormat.read(record, { validation: false });
  const contexts = rollout.contexts ?? [{ kind: 'main' }];
  return contexts.map(({ kind }, at) => {
    const last = rollout.turns.findLast(({ context = 0 }) => context === at)?.index ?? 0;
    return {
      kind,
      text: historyAt(rollout, last)
        .map(({ text }) => text)
        .join('|'),
    };
  });
}

const user = (content: string): Message => ({ role: 'user', content });
const system = (content: string): Message => ({ role: 'system', content });

interface History {
  kind: 'main' | 'branch' | 'compaction' | 'subagent';
  messages: Message[];
  /** It waits for a reply, or the agent has left it. */
  isClosed: boolean;
}

const steps = fc.array(
  fc.record({
    rollout: fc.nat({ max: 3 }),
    act: fc.constantFrom('go on', 'go on', 'branch', 'compact', 'subagent', 'subagent'),
    at: fc.nat({ max: 5 }),
    prompt: fc.constantFrom('p', 'q'),
    hasCalls: fc.boolean(),
    hasOwnSystem: fc.boolean(),
    isSlow: fc.boolean(),
  }),
  { minLength: 1, maxLength: 40 },
);
type Step = typeof steps extends fc.Arbitrary<(infer One)[]> ? One : never;

const hasOpenCalls = ({ messages }: History): boolean => messages.at(-1)?.tool_calls !== undefined;

/**
 * Makes rollouts at once, as agents do. Main histories go on, are left for a branch, or are compacted between calls; subagents run side by
 * side while a call waits.
 */
function make(drawn: readonly Step[], replyText: (rollout: number, count: number) => string, isNamed: boolean) {
  const { files, ask } = memoryRecorder();
  const made = new Map<number, History[]>();
  const slow: (() => void)[] = [];
  let count = 0;
  for (const { rollout, act, at, prompt, hasCalls, hasOwnSystem, isSlow } of drawn) {
    const histories = made.get(rollout) ?? [];
    made.set(rollout, histories);
    const fresh = `${prompt}${count++}`;
    const trunk = histories.find((one) => one.kind !== 'subagent' && !one.isClosed);
    let history: History | undefined;
    if (histories.length === 0) {
      history = { kind: 'main', messages: [system('s'), user(prompt)], isClosed: false };
      histories.push(history);
    } else if (act === 'subagent' && trunk !== undefined && hasOpenCalls(trunk)) {
      history = { kind: 'subagent', messages: [system(hasOwnSystem ? 'sub' : 's'), user(fresh)], isClosed: false };
      histories.push(history);
    } else if (act === 'subagent') {
      history = histories.filter((one) => one.kind === 'subagent' && !one.isClosed)[at];
      history?.messages.push(user(fresh));
    } else if (trunk !== undefined && act === 'compact' && !hasOpenCalls(trunk)) {
      trunk.isClosed = true;
      history = { kind: 'compaction', messages: [system('s'), user(`so far: ${fresh}`)], isClosed: false };
      histories.push(history);
    } else if (trunk !== undefined && act === 'branch' && trunk.messages.length > 3) {
      trunk.isClosed = true;
      const replies = trunk.messages.flatMap(({ role }, place) => (role === 'assistant' ? [place] : [])).slice(0, -1);
      const kept = trunk.messages.slice(0, (replies[at % replies.length] ?? 0) + 1);
      history = { kind: 'branch', messages: [...kept, user(fresh)], isClosed: false };
      histories.push(history);
    } else if (trunk !== undefined) {
      trunk.messages.push(user(prompt === 'p' ? 'go on' : fresh));
      history = trunk;
    }
    if (history === undefined) continue;
    const one = history;
    const isUnit = one.kind === 'compaction' || one.kind === 'subagent';
    const answer = ask(one.messages, isNamed ? String(rollout) : null);
    const reply: Message = {
      role: 'assistant',
      content: replyText(rollout, count),
      ...(hasCalls && !(isUnit && one.kind === 'subagent')
        ? { tool_calls: [{ id: `c${count}`, type: 'function', function: { name: 'f', arguments: '{}' } }] }
        : {}),
    };
    one.isClosed = true;
    const finish = () => {
      answer(reply);
      one.messages.push(reply);
      one.isClosed = false;
    };
    if (isSlow) slow.push(finish);
    else {
      finish();
      slow.splice(at % (slow.length + 1), 1)[0]?.();
    }
  }
  for (const finish of slow) finish();
  return { files, made };
}

const sorted = (lists: string[][]) => lists.map((list) => [...list].sort().join('\n')).sort();

test('named conversations with branches, compactions and parallel subagents come out as they were made', () => {
  fc.assert(
    fc.property(steps, (drawn) => {
      const { files, made } = make(drawn, (rollout, count) => `r${rollout} ${count}`, true);
      expect(files.size).toBe(made.size);
      const line = ({ kind, text }: { kind: string; text: string }) => `${kind} ${text}`;
      for (const [rollout, histories] of made) {
        const events = files.get(String(rollout)) ?? [];
        expect(historiesIn(events).map(line)).toEqual(
          histories.map(({ kind, messages }) => line({ kind, text: textOf(messages) })),
        );
        expect(events.some(({ ambiguous }) => ambiguous === true)).toBe(false);
      }
    }),
    { numRuns: 500 },
  );
});

/** Nothing in a history that starts from scratch names its rollout, so it is one. */
const isOfItself = ({ kind }: History): boolean => kind === 'compaction' || kind === 'subagent';

/** Histories by the rollout that they can be known to belong to. */
function known(made: Iterable<History[]>): string[][] {
  const groups: string[][] = [];
  for (const histories of made) {
    let last: string[] | null = null;
    for (const history of histories) {
      if (last === null || isOfItself(history)) {
        const group = [textOf(history.messages)];
        groups.push(group);
        if (history.kind !== 'subagent') last = group;
      } else last.push(textOf(history.messages));
    }
  }
  return groups;
}

test('unnamed conversations made at once are kept apart by their replies, none joined falsely', () => {
  fc.assert(
    fc.property(steps, (drawn) => {
      const { files, made } = make(drawn, (rollout, count) => `r${rollout} ${count}`, false);
      const found = [...files.values()].map((events) => historiesIn(events).map(({ text }) => text));
      expect(sorted(found)).toEqual(sorted(known(made.values())));
      expect([...files.values()].flat().some(({ ambiguous }) => ambiguous === true)).toBe(false);
    }),
    { numRuns: 500 },
  );
});

test('equal prompts with equal replies are distinguished, or said to be ambiguous', () => {
  let [doubts, rollouts] = [0, 0];
  fc.assert(
    fc.property(steps, (drawn) => {
      const { files, made } = make(drawn, (_, count) => `same ${count % 2}`, false);
      const groups = known(made.values());
      for (const events of files.values()) {
        rollouts++;
        const isDoubted = events.some(({ ambiguous }) => ambiguous === true);
        if (isDoubted) doubts++;
        const texts = historiesIn(events).map(({ text }) => text);
        const isOfOne = groups.some((group) => texts.every((text) => group.some((whole) => whole.startsWith(text))));
        expect(isOfOne || isDoubted).toBe(true);
      }
    }),
    { numRuns: 500 },
  );
  expect(doubts).toBeGreaterThan(0);
  expect(doubts).toBeLessThan(rollouts / 2);
});

test('each choice of one answer is a history, and so is an answer to a history that is asked twice at once', () => {
  const { files, ask } = memoryRecorder();
  const reply = (content: string): Message => ({ role: 'assistant', content });
  ask([user('q')], 'a')(reply('1'), reply('2'));
  ask([user('q'), reply('2'), user('more')], 'a')(reply('3'));
  const [first, second] = [1, 2].map(() => ask([user('q'), reply('1'), user('more')], 'a'));
  first?.(reply('4'));
  second?.(reply('5'));
  expect(historiesIn(files.get('a') ?? [])).toEqual([
    { kind: 'main', text: 'q|1|more|4' },
    { kind: 'branch', text: 'q|2|more|3' },
    { kind: 'branch', text: 'q|1|more|5' },
  ]);
});

/** Ways in which agents send a reply back: its reasoning dropped, what the model made up behind its action cut, its calls as text. */
const WAYS: readonly ((reply: Message) => Message)[] = [
  (reply) => reply,
  ({ content }) => ({ role: 'assistant', content: content.replace(/^<think>.*<\/think>/s, '') }),
  ({ content }) => ({ role: 'assistant', content: content.replace(/Observation:.*/s, '') }),
  ({ content, tool_calls: calls }) => ({
    role: 'assistant',
    content: `${content}${calls === undefined ? '' : `\nCalling tools:\n${JSON.stringify(calls)}`}`,
  }),
];

test('a reply that an agent sends back in words of its own goes on in its history, which says so', () => {
  const turn = fc.record({ way: fc.nat({ max: WAYS.length - 1 }), hasCall: fc.boolean(), rollout: fc.nat({ max: 1 }) });
  fc.assert(
    fc.property(fc.array(turn, { minLength: 1, maxLength: 12 }), fc.boolean(), (turns, isNamed) => {
      const { files, ask } = memoryRecorder();
      const sent: Message[][] = [
        [system('s'), user('q')],
        [system('s'), user('q')],
      ];
      for (const [at, { way, hasCall, rollout }] of turns.entries()) {
        const messages = sent[rollout] ?? [];
        const reply: Message = {
          role: 'assistant',
          content: `<think>hm ${at}</think>I do ${at} of ${rollout}.\nObservation: made up`,
          ...(hasCall
            ? { tool_calls: [{ id: `c${at}`, type: 'function', function: { name: 'f', arguments: '{}' } }] }
            : {}),
        };
        ask(messages, isNamed ? String(rollout) : null)(reply);
        messages.push(WAYS[way]?.(reply) ?? reply, user(`Observation: ${at}`));
      }
      const used = [...new Set(turns.map(({ rollout }) => rollout))];
      expect(files.size).toBe(used.length);
      for (const [at, rollout] of used.entries()) {
        const histories = historiesIn(files.get(isNamed ? String(rollout) : `rollout-${at + 1}`) ?? []);
        expect(histories.map(({ kind }) => kind)).toEqual(['main']);
        // The last reply was not sent back.
        const seen = textOf(sent[rollout]?.slice(0, -2) ?? []);
        expect(histories[0]?.text.startsWith(seen)).toBe(true);
      }
    }),
    { numRuns: 200 },
  );
});

test('a call that an agent writes as text has the message behind it as its result', () => {
  const { files, ask } = memoryRecorder();
  const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } };
  ask([user('q')], 'a')({ role: 'assistant', content: '', tool_calls: [call] });
  ask([user('q'), { role: 'assistant', content: 'Calling tools: f {}' }, user('Observation: 2')], 'a');
  const record = { session_of: 'recorder', events: files.get('a') } as unknown as JsonObject;
  const { turns } = recorderFormat.read(record, { validation: false });
  expect(turns.map(({ role }) => role)).toEqual(['user', 'assistant', 'given_assistant', 'user']);
  expect(turns[1]?.toolCalls[0]?.resultTurn).toBe(3);
  expect(turns[2]?.retells).toBe(1);
});

test('a reply that a client sends back with other keys is the same message', () => {
  const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{"a": 1, "b": [2]}' } };
  const sent = { role: 'assistant', content: null, refusal: null, tool_calls: [call], reasoning_content: 'hm' };
  const back = {
    role: 'assistant',
    content: '',
    tool_calls: [{ ...call, function: { name: 'f', arguments: '{"b":[2],"a":1}' } }],
  };
  expect(messageKey(sent)).toBe(messageKey(back));
  expect(
    messageKey({ role: 'user', content: [{ type: 'text', text: 'x', cache_control: { type: 'ephemeral' } }] }),
  ).toBe(messageKey({ role: 'user', content: 'x' }));
  expect(messageKey({ role: 'assistant', content: 'x' })).not.toBe(messageKey({ role: 'user', content: 'x' }));
  expect(messageKey({ role: 'tool', tool_call_id: 'a', content: 'x' })).not.toBe(
    messageKey({ role: 'tool', tool_call_id: 'b', content: 'x' }),
  );
});
