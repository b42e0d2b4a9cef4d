import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { eventOf } from '../../../src/core/dump/containers/sessions.ts';
import { parseLine } from '../../../src/core/dump/parse-line.ts';
import { sessionOf } from '../../../src/core/formats/registry.ts';
import { isJsonObject, type JsonObject } from '../../../src/core/json/value.ts';
import { rolloutsOf } from './rollouts-of.ts';

const folder = mkdtempSync(join(tmpdir(), 'lost-lines-'));
afterAll(() => rmSync(folder, { recursive: true }));

const CALLS = [1, 2, 3, 4];
const time = (at: number) => `2026-01-01T00:00:${String(at).padStart(2, '0')}Z`;

/** A session of each writer: a prompt, four calls with a result each, and a last word; a line an event. */
const SESSIONS: Record<string, object[]> = {
  'claude-code': [
    claude(0, 'user', 'Go.'),
    ...CALLS.flatMap((n) => [
      claude(n * 2, 'assistant', [{ type: 'tool_use', id: `c${n}`, name: 'Bash', input: { command: `ls ${n}` } }]),
      claude(n * 2 + 1, 'user', [{ type: 'tool_result', tool_use_id: `c${n}`, content: `file ${n}` }]),
    ]),
    claude(20, 'assistant', [{ type: 'text', text: 'Done.' }]),
  ],
  codex: [
    { type: 'session_meta', timestamp: time(0), payload: { id: 's' } },
    item(1, { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Go.' }] }),
    ...CALLS.flatMap((n) => [
      item(n * 2, { type: 'function_call', call_id: `c${n}`, name: 'shell', arguments: '{}' }),
      item(n * 2 + 1, { type: 'function_call_output', call_id: `c${n}`, output: `file ${n}` }),
    ]),
    item(20, { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Done.' }] }),
  ],
  pi: [
    { type: 'session', id: 's', cwd: '/', timestamp: time(0) },
    said(1, { role: 'user', content: 'Go.' }),
    ...CALLS.flatMap((n) => [
      said(n * 2, { role: 'assistant', content: [{ type: 'toolCall', id: `c${n}`, name: 'bash', arguments: {} }] }),
      said(n * 2 + 1, { role: 'toolResult', toolCallId: `c${n}`, content: [{ type: 'text', text: `file ${n}` }] }),
    ]),
    said(20, { role: 'assistant', content: [{ type: 'text', text: 'Done.' }] }),
  ],
  'openhands-sdk': [
    { kind: 'MessageEvent', source: 'user', llm_message: { role: 'user', content: [{ type: 'text', text: 'Go.' }] } },
    ...CALLS.flatMap((n) => [
      {
        kind: 'ActionEvent',
        source: 'agent',
        tool_name: 'bash',
        tool_call_id: `c${n}`,
        tool_call: { id: `c${n}`, name: 'bash', arguments: '{}' },
      },
      {
        kind: 'ObservationEvent',
        source: 'environment',
        tool_call_id: `c${n}`,
        observation: { content: [{ type: 'text', text: `file ${n}` }] },
      },
    ]),
    {
      kind: 'MessageEvent',
      source: 'agent',
      llm_message: { role: 'assistant', content: [{ type: 'text', text: 'Done.' }] },
    },
  ],
};

function claude(at: number, type: string, content: unknown): object {
  return { type, sessionId: 's', uuid: `u${at}`, timestamp: time(at), message: { role: type, content } };
}
function item(at: number, payload: object): object {
  return { type: 'response_item', timestamp: time(at), payload };
}
function said(at: number, message: object): object {
  return { type: 'message', id: `m${at}`, timestamp: time(at), message };
}

const rolloutOf = (lines: readonly string[]) => {
  const events = lines.map((text, at) => eventOf(text, at + 1));
  const name = events.map((event) => sessionOf(event)?.name).find((one) => one !== undefined);
  const { rollout, error } = parseLine(JSON.stringify({ session_of: name, events }), { validation: false });
  expect(error).toBe(null);
  return rollout!;
};

/** Ways in which a line comes to be broken: cut, overwritten, joined with the half of another. */
const damage = fc.oneof(
  fc
    .double({ min: 0.05, max: 0.95, noNaN: true })
    .map((share) => (line: string) => line.slice(0, Math.max(1, Math.floor(line.length * share)))),
  fc
    .tuple(fc.double({ min: 0, max: 0.95, noNaN: true }), fc.constantFrom('\u0000', '"', '}', '{', '\ufffd\ufffd'))
    .map(([share, sign]) => (line: string) => {
      const at = Math.floor(line.length * share);
      return line.slice(0, at) + sign + line.slice(at + 1);
    }),
  fc.constantFrom('garbage', '[1, 2]', '17', '"text"', '\u0000\u0000\u0000').map((junk) => () => junk),
);

const isRead = (line: string): boolean => {
  try {
    return isJsonObject(JSON.parse(line) as JsonObject);
  } catch {
    return false;
  }
};

describe('a line of a session that cannot be read', () => {
  test('is reported at its place, and nothing is claimed of its content: 1,000 drawn ones', () => {
    const drawn = fc.record({
      name: fc.constantFrom(...Object.keys(SESSIONS)),
      at: fc.nat({ max: 9 }),
      damage,
    });
    fc.assert(
      fc.property(drawn, ({ name, at, damage: broken }) => {
        const lines = SESSIONS[name]!.map((event) => JSON.stringify(event));
        const place = at % lines.length;
        const line = broken(lines[place]!);
        // Some damage leaves an object with other words, indistinguishable from the true one.
        fc.pre(!isRead(line));
        const whole = rolloutOf(lines);
        const rollout = rolloutOf(lines.with(place, line));
        const found = rollout.findings.filter(({ check }) => check === 'lost_line');
        expect(found).toHaveLength(1);
        expect(found[0]!.message).toContain(`line ${place + 1} of the session`);
        const lost = rollout.turns[found[0]!.turn!]!;
        expect([lost.isLost, lost.confidence, lost.role]).toEqual([true, 'unknown', 'unknown']);
        // All that was read is there in its order, and no call is said to have no result.
        const texts = rollout.turns.filter((turn) => turn !== lost).map(({ role, text }) => `${role} ${text}`);
        const all = whole.turns.map(({ role, text }) => `${role} ${text}`);
        let next = 0;
        for (const text of all) if (text === texts[next]) next++;
        expect(next).toBe(texts.length);
        expect(all.length - texts.length).toBeLessThanOrEqual(1);
        expect(rollout.findings.map(({ check }) => check)).not.toContain('call_without_result');
      }),
      { numRuns: 1000 },
    );
  });

  test('is named by its physical line, blank lines counted, and a call before all of them is still without a result', async () => {
    const path = join(folder, 'session.jsonl');
    const lines = SESSIONS['claude-code']!.map((event) => JSON.stringify(event));
    writeFileSync(path, `${lines[0]}\n\n\n{"type": "assis\n${lines.slice(1, 3).join('\n')}\n${lines[3]}\n`);
    const [rollout] = await rolloutsOf(path);
    const of = (check: string) => rollout!.findings.filter((finding) => finding.check === check);
    expect(of('lost_line').map(({ message }) => message)).toEqual([
      'line 4 of the session cannot be read: not JSON at character 10; what it held is unknown',
    ]);
    expect(of('call_without_result')).toHaveLength(1);
  });
});

describe('lines and lists of histories', () => {
  test('a line of Atropos is a group, whatever its neighbours were asked', async () => {
    const path = join(folder, 'atropos.jsonl');
    const line = (scores: number[]) =>
      JSON.stringify({
        tokens: scores.map(() => [1, 2, 3]),
        masks: scores.map(() => [-100, 2, 3]),
        scores,
        messages: scores.map(() => [
          { role: 'user', content: 'The same.' },
          { role: 'assistant', content: 'Yes.' },
        ]),
      });
    writeFileSync(path, `${line([0, 1, 0, 1])}\n${line([1, 1, 0, 0])}\n`);
    const groups = (await rolloutsOf(path)).map(({ group }) => group);
    expect(groups).toHaveLength(8);
    expect(new Set(groups).size).toBe(2);
  });

  test('histories of NeMo-Gym that repeat themselves are one, and another one is a branch', async () => {
    const path = join(folder, 'nested.jsonl');
    const user = { type: 'message', role: 'user', content: 'What is 2+2?' };
    const call = { type: 'function_call', call_id: 'a', name: 'calculator', arguments: '{}' };
    const output = { type: 'function_call_output', call_id: 'a', output: '4' };
    const reply = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'It is 4.' }] };
    const histories = [
      [user, call, output],
      [user, call, output, reply],
      [{ ...user, content: 'Another.' }, reply],
    ];
    const record = { responses_create_params: { input: [] }, response: { output: histories }, reward: 1 };
    writeFileSync(path, `${JSON.stringify(record)}\n`);
    const [rollout] = await rolloutsOf(path);
    expect(rollout!.turns.map(({ role, context = 0 }) => `${context} ${role}`)).toEqual([
      '0 user',
      '0 function_call',
      '0 tool',
      '0 assistant',
      '1 user',
      '1 assistant',
    ]);
    expect([rollout!.responseTurn, rollout!.contexts?.length]).toEqual([1, 2]);
    expect(rollout!.extras.repeated_histories).toBe('1 of 3 lists, each continued by the next');
  });
});
