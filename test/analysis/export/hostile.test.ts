// Records that no trainer would write, through every format.
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { conversationOf, type ExportConversation, withWholeTurns } from '../../../src/analysis/export/conversation.ts';
import { firstLimit } from '../../../src/analysis/export/limits.ts';
import { EXPORT_FORMATS } from '../../../src/analysis/export/registry.ts';
import { Dump } from '../../../src/core/dump/dump.ts';
import type { DumpRecord } from '../../../src/core/dump/dump-file.ts';
import { parseLine } from '../../../src/core/dump/parse-line.ts';
import { printJson } from '../../../src/core/json/print.ts';

const text = fc.constantFrom(
  '',
  ' ',
  'ok',
  '東京 👩‍💻',
  'x\ud83d',
  '<|im_end|>',
  '<tool_call>',
  '{"a": 1}',
  'a\u2028b',
  '</think>',
  '<image>',
  '{{idx}}',
  '{{ROUND1}}',
);
const call = fc.record(
  {
    id: fc.constantFrom('c1', 'c2', 'c3'),
    type: fc.constant('function'),
    function: fc.record({
      name: fc.constantFrom('calc', 'calc', 'search', 'bad name!', ''),
      arguments: fc.constantFrom('{"e": "1"}', '{"q": "東"}', '{}', '', '[1]', '{"n": 12345678901234567890}', { e: 1 }),
    }),
  },
  { requiredKeys: ['type', 'function'] },
);
const message = fc.oneof(
  fc.record({ role: fc.constantFrom('user', 'system', 'critic'), content: text }),
  fc.record(
    {
      role: fc.constant('assistant'),
      content: fc.oneof(text, fc.constant(null)),
      reasoning_content: text,
      tool_calls: fc.array(call, { minLength: 1, maxLength: 3 }),
    },
    { requiredKeys: ['role', 'content'] },
  ),
  fc.record(
    { role: fc.constant('tool'), content: text, tool_call_id: fc.constantFrom('c1', 'c2', 'c3', 'c9') },
    { requiredKeys: ['role', 'content'] },
  ),
);
/** Calls with their results, and words after them. */
const round = fc
  .tuple(fc.uniqueArray(call, { selector: ({ id }) => id, minLength: 1, maxLength: 2 }), text)
  .map(([calls, content]) => [
    { role: 'user', content: 'Go on.' },
    { role: 'assistant', content, tool_calls: calls },
    ...calls.map(({ id }) => ({ role: 'tool', content, tool_call_id: id })),
    { role: 'assistant', content: 'Done.' },
  ]);
const messages = fc.oneof(
  fc.array(message, { minLength: 1, maxLength: 8 }),
  fc.array(round, { minLength: 1, maxLength: 2 }).map((rounds) => rounds.flat()),
);
const ids = fc.integer({ min: 0, max: 5 }).chain((length) =>
  fc.record(
    {
      prompt_ids: fc.array(fc.nat(9), { maxLength: 3 }),
      response_ids: fc.array(fc.nat(9), { minLength: length, maxLength: length }),
      response_mask: fc.array(fc.constantFrom(0, 1, 1), { minLength: length, maxLength: length }),
      rollout_log_probs: fc.array(fc.constantFrom(-0.5, -1e-7, null, 'NaN'), {
        minLength: length,
        maxLength: length + 1,
      }),
      advantages: fc.array(fc.constantFrom(0.5, null), { minLength: length, maxLength: length }),
      temperature: fc.constantFrom(1, 0, null),
    },
    { requiredKeys: ['prompt_ids', 'response_ids', 'response_mask'] },
  ),
);
const common = { score: fc.constantFrom(0, 1, null, 'NaN'), images: fc.constantFrom([], ['a.png']) };
const bySpeaker = (list: readonly { role: string; content: string | null }[]): string =>
  list.map(({ role, content }) => `<|im_start|>${role}\n${content ?? ''}<|im_end|>\n`).join('');
const record = fc.oneof(
  fc.record({ messages, ...common }),
  fc
    .tuple(fc.array(message, { maxLength: 3 }), fc.array(message, { maxLength: 5 }), ids, fc.record(common))
    .map(([before, after, tokens, more]) => ({
      input: `${bySpeaker(before)}<|im_start|>assistant\n`,
      output: `4<|im_end|>\n${bySpeaker(after)}`.trimEnd(),
      gts: '4',
      step: 1,
      ...tokens,
      ...more,
    })),
);

/** null for a record that holds no rollout. */
function read(value: unknown): ExportConversation | null {
  const raw = JSON.stringify(value);
  return conversationOf({ ...parseLine(raw, { validation: false }), raw, locator: 'a.jsonl:1' } as DumpRecord);
}

const CONVERSATIONS = fc.sample(record, { numRuns: 1200, seed: 7 }).flatMap((value) => read(value) ?? []);

interface Message {
  role: string;
  content: string;
  weight?: number;
  loss?: boolean;
  train?: boolean;
  tool_calls?: { id: string; function: { name: string; arguments: string } }[];
  tool_call_id?: string;
}

interface Row {
  messages?: Message[];
  conversations?: { from: string; value: string }[];
  system?: string | null;
  prompt: Message[];
  input_ids?: number[];
  tokens?: number[];
  loss_mask: (number | boolean)[];
  logprobs?: number[];
  rollout_log_probs?: number[];
  inference_logprobs?: number[];
  advantages?: number[];
}

/** Rows of a format whose losses nobody accepted, as a reader of JSON sees them. */
function* written(takes: string): Generator<{ name: string; one: ExportConversation; row: Row }> {
  for (const read of CONVERSATIONS) {
    for (const format of EXPORT_FORMATS) {
      if (format.takes !== takes) continue;
      const one = format.cutsText === true ? read : withWholeTurns(read);
      if (
        firstLimit(
          one,
          format.limits.filter((limit) => limit !== 'inferred'),
        ) !== null
      )
        continue;
      const row =
        format.takes === 'rollouts'
          ? format.row(one)
          : format.takes === 'prompts'
            ? format.row({ conversation: one, rollouts: 1, scores: [] }, 0)
            : format.takes === 'labels'
              ? format.row(one, true)
              : {};
      yield { name: format.name, one, row: JSON.parse(printJson(row)) as Row };
    }
  }
}

test('messages have roles of templates, whole characters and a trained reply', () => {
  const seen = new Set<string>();
  for (const { name, one, row } of written('rollouts')) {
    if (name === 'messages' || row.messages === undefined) continue;
    seen.add(name);
    const { messages } = row;
    for (const { role, content } of messages) {
      expect(['system', 'developer', 'user', 'assistant', 'tool']).toContain(role);
      expect(content).not.toMatch(/\p{Surrogate}/u);
    }
    const replies = messages.filter(({ role }, at) => role === 'assistant' && at >= one.response);
    expect(replies.some(({ weight = 1, loss = true, train = true }) => weight === 1 && loss && train)).toBe(true);
    // A loader without a mask for single replies trains them all.
    if (name === 'trl' || name === 'nemo-rl' || name === 'verl')
      for (const { role, trained } of one.messages) if (role === 'assistant') expect(trained).not.toBe(false);
    expect(one.hasPictures).toBe(false);
  }
  expect([...seen].sort()).toEqual(['axolotl', 'ms-swift', 'nemo-rl', 'openai', 'trl', 'verl']);
});

test("calls of OpenAI's file have ids, names, JSON and one result each, and a reply is last", () => {
  let calls = 0;
  for (const { name, row } of written('rollouts')) {
    if (name !== 'openai') continue;
    const messages: Message[] = row.messages ?? [];
    expect(messages.at(-1)?.role).toBe('assistant');
    let open: string[] = [];
    for (const { role, tool_calls = [], tool_call_id = '' } of messages) {
      if (role === 'tool') {
        expect(open).toContain(tool_call_id);
        open = open.filter((id) => id !== tool_call_id);
        continue;
      }
      expect(open).toEqual([]);
      for (const { id, function: asked } of tool_calls) {
        calls++;
        open.push(id);
        expect(asked.name).toMatch(/^[\w-]{1,64}$/);
        expect(typeof JSON.parse(asked.arguments)).toBe('object');
      }
      expect(new Set(open).size).toBe(open.length);
    }
  }
  expect(calls).toBeGreaterThan(0);
});

test('turns alternate as LLaMA-Factory and ms-swift want them, without text that they replace', () => {
  const seen = new Set<string>();
  for (const { name, one, row } of written('rollouts')) {
    if (name !== 'llama-factory' && name !== 'ms-swift') continue;
    seen.add(name);
    const [first, ...others] = one.messages;
    if (first?.role === 'system') expect(first.content).not.toBe('');
    for (const { role, text } of one.messages) {
      expect(text).not.toContain('<image>');
      if (role === 'user') expect(text).not.toMatch(/\{\{(idx|ROUND1)\}\}/);
    }
    if (row.conversations !== undefined) {
      expect(row.system ?? '').toBe(first?.role === 'system' ? first.content : '');
      expect(row.conversations.length % 2).toBe(0);
      for (const [at, { from, value }] of row.conversations.entries()) {
        expect(at % 2 === 0 ? ['human', 'observation'] : ['gpt', 'function_call']).toContain(from);
        // Its loader takes the reasoning away by the tags, and the rest must be JSON.
        if (from !== 'function_call') continue;
        const calls = JSON.parse(value.replace(/<think>\n.*?\n<\/think>\n\n/s, ''));
        expect(Object.keys(calls)).toEqual(['name', 'arguments']);
      }
      continue;
    }
    const roles = (first?.role === 'system' ? others : one.messages).map(({ role }) => role);
    // Results are joined, and then a question or results come before each reply.
    expect(roles.join(' ')).toMatch(/^user assistant(?: (?:user|tool(?: tool)*) assistant)*$/);
  }
  expect(seen.size).toBe(2);
});

test('batches hold ids, masks and finite numbers of one length', () => {
  const seen = new Set<string>();
  for (const { name, one, row } of written('rollouts')) {
    const { tokens } = one;
    const ids = row.input_ids ?? row.tokens;
    if (ids === undefined || tokens === null) continue;
    seen.add(name);
    expect(ids).toEqual([...(tokens.promptIds ?? []), ...tokens.responseIds]);
    const mask = row.loss_mask;
    expect(mask.slice(-tokens.mask.length || mask.length).map(Number)).toEqual(tokens.mask);
    for (const key of ['logprobs', 'rollout_log_probs', 'inference_logprobs', 'advantages'] as const) {
      const list = row[key];
      if (list === undefined) continue;
      expect(list.length).toBe(key === 'rollout_log_probs' ? tokens.responseIds.length : ids.length);
      expect(list.every(Number.isFinite)).toBe(true);
    }
    // Recorded values go out whole, or not at all.
    if (one.hasLogprobs)
      expect('logprobs' in row || 'rollout_log_probs' in row || 'inference_logprobs' in row).toBe(true);
  }
  expect([...seen].sort()).toEqual(['areal', 'prime-rl-batch', 'slime']);
});

test('prompts and answers have a message before the reply', () => {
  for (const takes of ['prompts', 'labels'])
    for (const { row } of written(takes)) expect(row.prompt.length).toBeGreaterThan(0);
});

test('what is said in place of a reply that is not recorded goes out in no format', async () => {
  const span = {
    object: 'trace.span',
    id: 's',
    trace_id: 't',
    started_at: '2026-01-01T00:00:00+00:00',
    span_data: { type: 'response', response_id: 'resp_1' },
  };
  const path = join(mkdtempSync(join(tmpdir(), 'unrecorded-')), 'traces.jsonl');
  writeFileSync(path, `${JSON.stringify(span)}\n`);
  const dump = Dump.open([path]);
  const [file] = dump.files;
  await file!.buildIndex(() => true);
  const conversation = conversationOf(file!.read(0));
  dump.close();
  expect(conversation?.messages.map(({ text }) => text)).toEqual(['[the reply resp_1 is not recorded here]']);
  for (const format of EXPORT_FORMATS) expect(firstLimit(conversation!, format.limits), format.name).toBe('unrecorded');
});
