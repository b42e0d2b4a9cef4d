import { join } from 'node:path';
import fc from 'fast-check';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { describe, expect, test } from 'vitest';
import type { DumpRecord } from '../../../src/core/dump/dump-file.ts';
import { parseLine } from '../../../src/core/dump/parse-line.ts';
import { recordJson } from '../../../src/viewer/commands/row-json.ts';
import { ask, directoryWith, jsonLines, verlLine } from '../../program.ts';

interface Shown {
  turns: {
    index: number;
    role: string;
    text: string;
    trained: boolean;
    confidence: string;
    reward: number | null;
    tool_calls: Record<string, unknown>[];
  }[];
  spans: { field: 'input' | 'output'; start: number; end: number; turn: number; kind: string; trained: boolean }[];
  loss_mask: Record<string, unknown> | null;
  rewards: Record<string, unknown>;
  findings: { check: string; turn: number | null; message: string }[];
  tool_calls: number;
  group: string | null;
}

const shown = async (keys: Record<string, unknown>, ...more: Record<string, unknown>[]): Promise<Shown> => {
  const directory = directoryWith({ '1.jsonl': [keys, ...more].map(verlLine).join('') });
  const { stdout } = await ask(['show', '--json', join(directory, '1.jsonl:1')]);
  return jsonLines(stdout)[0] as unknown as Shown;
};

const call = (name: string, args: unknown = {}) =>
  `<tool_call>\n${JSON.stringify({ name, arguments: args })}\n</tool_call>`;
const result = (text: string) => `\nuser\n<tool_response>\n${text}\n</tool_response>\nassistant\n`;

describe('show --json', () => {
  test('pairs calls with their results in order; only parsed calls take one', async () => {
    const row = await shown({
      output: `<tool_call>\n{"name": "broken"\n</tool_call>\n${call('f', { x: 1 })}\n${call('g')}${result('one')}done`,
    });
    const calls = row.turns.flatMap((turn) => turn.tool_calls);
    expect(calls.map(({ index, name, arguments: args, result_turn }) => [index, name, args, result_turn])).toEqual([
      [0, null, null, null],
      [1, 'f', { x: 1 }, 2],
      [2, 'g', {}, null],
    ]);
    expect(calls[0]!.error).toMatch(/not JSON/);
    expect(calls[0]!.raw).toBe('\n{"name": "broken"\n');
    expect(row.findings.map(({ check }) => check)).toEqual(['call_unparsed', 'call_without_result']);
    expect(row.tool_calls).toBe(3);
  });

  test('finds calls inside reasoning, and reasoning that is never closed', async () => {
    const row = await shown({ output: `<think>\nLet me try.\n${call('f')}${result('1')}<think>\nso` });
    expect(row.turns.map((turn) => turn.role)).toEqual(['user', 'assistant', 'tool', 'assistant']);
    expect(row.turns[1]!.tool_calls.length).toBe(1);
    expect(row.findings.map(({ check, turn }) => [check, turn])).toEqual([
      ['unclosed', 1],
      ['unclosed', 3],
    ]);
    expect(row.findings[1]!.message).toMatch(/ends inside <think>/);
  });

  test('trains the text of the response that the model wrote, and nothing else', async () => {
    const row = await shown({ output: `Look: ${call('f')}${result('42')}It is 42.` });
    const trained = row.spans.filter((span) => span.trained);
    expect(
      trained.every(
        (span) => span.field === 'output' && span.kind === 'text' && row.turns[span.turn]!.role === 'assistant',
      ),
    ).toBe(true);
    const chars = trained.reduce((sum, span) => sum + span.end - span.start, 0);
    expect(chars).toBe(`Look: ${call('f')}It is 42.`.length);
    expect(row.loss_mask).toEqual({
      source: 'inferred',
      trained_chars: chars,
      unknown_chars: 0,
      total_chars: `Look: ${call('f')}${result('42')}It is 42.`.length,
      trained_tokens: null,
      total_tokens: null,
    });
  });

  test('a <tool_response> that no role line precedes is the model\u2019s own text', async () => {
    const row = await shown({ output: `${call('f')}\n<tool_response>\n42\n</tool_response>\nso 42` });
    expect(row.turns.length).toBe(2);
    expect(row.turns[1]!.trained).toBe(true);
    expect(row.findings.map(({ check }) => check)).toContain('own_tool_response');
  });

  test.each([
    ['Error when executing tool: x', 'tool_error'],
    ["Unknown function 'x'. Available tools: [...]", 'tool_error'],
    ["Invalid JSON in arguments for 'x': y", 'tool_error'],
    ["Error executing tool 'x': y", 'tool_error'],
    ['no stdout here', 'tool_error'],
    ['\n Tool call failed: x', 'tool_error'],
    ['Traceback (most recent call last):\n  File "a.py", line 1\nNameError: x', 'tool_error'],
    ['abc...(truncated)...def', 'tool_cut'],
    ['abc...(truncated)', 'tool_cut'],
    ['(truncated)...def', 'tool_cut'],
  ])('the result %j is %s', async (text, check) => {
    const row = await shown({ output: `${call('f')}${result(text)}ok` });
    expect(row.findings).toMatchObject([{ check, turn: 2 }]);
  });

  test('a score is the rollout\u2019s own; flat lists are laid on turns only where they fit', async () => {
    const output = `${call('f')}${result('1')}${call('g')}${result('2')}ok`;
    const fits = await shown({ output, score: 0.5, tool_rewards: [0.1, -0.05], turn_scores: [1] });
    expect(fits.rewards).toMatchObject({
      total: 0.5,
      per_turn: [null, null, 0.1, null, -0.05, null],
      unaligned: [{ field: 'turn_scores', values: [1] }],
    });
    const odd = await shown({ output, tool_rewards: [0.1] });
    expect(odd.rewards).toMatchObject({
      per_turn: [null, null, null, null, null, null],
      unaligned: [{ field: 'tool_rewards', values: [0.1] }],
    });
    const talk = await shown({ output: 'a\nuser\nno\nassistant\nb', turn_scores: [0] });
    expect(talk.rewards).toMatchObject({ per_turn: [null, null, 0, null] });
  });

  test('advantage is recomputed from the scores of the group', async () => {
    const row = await shown(
      { score: 1 },
      { score: 0 },
      { score: 0 },
      { score: 0 },
      { score: 1, input: 'user\nother\nassistant\n' },
    );
    expect(row.rewards.advantage).toBeCloseTo(1.499997, 5);
    const alone = await shown({ score: 1 }, { score: 0 });
    expect([alone.group, alone.rewards.advantage]).toEqual([null, null]);
  });

  test('spans cover both fields exactly, whatever the strings are', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc
        .array(
          fc.constantFrom('user\n', 'assistant\n', 'tool\n', call('f'), result('x'), '<think>', 'a', '\n', '\ud83d'),
        )
        .map((parts) => parts.join('')),
    );
    fc.assert(
      fc.property(text, text, (input, output) => {
        const line = parseLine(JSON.stringify({ input, output }), { validation: false });
        const row = {
          ...line,
          locator: 'x:1',
          file: { stream: '', step: null },
          bytes: 1,
          sample: 1,
        } as unknown as DumpRecord;
        const { spans, turns } = recordJson(row, null, null) as unknown as Shown;
        const rebuilt = { input: '', output: '' };
        const bodies = turns.map(() => '');
        for (const span of spans) {
          const field = { input, output }[span.field];
          expect(span.start).toBe(rebuilt[span.field].length);
          const piece = field.slice(span.start, span.end);
          rebuilt[span.field] += piece;
          if (span.kind === 'text') bodies[span.turn] += piece;
          if (span.kind === 'marker') expect(span.trained).not.toBe(true);
        }
        expect(rebuilt).toEqual({ input, output });
        expect(turns.map((turn) => turn.text)).toEqual(bodies);
      }),
      { numRuns: 300 },
    );
  });
});

describe('show', () => {
  test('makes every sign that a terminal would obey visible, piped or not', async () => {
    const hostile = '\u001b[2Jred\u001b]0;title\u0007 \u009b31m \u202etxt \u0000 \u007f \r ok';
    const directory = directoryWith({ '1.jsonl': verlLine({ output: hostile }) });
    for (const how of ['--plain', '--markdown']) {
      const { stdout } = await ask(['show', how, join(directory, '1.jsonl:1')]);
      expect(stdout).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
      expect(stdout).toContain('␛[2Jred');
    }
  });

  test('a locator may hold colons, name a turn, and is refused with a reason', async () => {
    const directory = directoryWith({ 'a:b/1:2.jsonl': `\n${verlLine()}` });
    const path = join(directory, 'a:b/1:2.jsonl');
    expect((await ask(['show', `${path}:2#t1`])).stdout).toBe('[assistant]\n\n2\n');
    const refused = await Promise.all(
      [`${path}.gone`, `${path}:1`, `${path}:9`, `${path}:2#t7`, `${directory}:1`].map((locator) =>
        ask(['show', locator]),
      ),
    );
    expect(refused.map(({ code }) => code)).toEqual([2, 2, 2, 2, 2]);
    expect(refused.map(({ stderr }) => stderr.replace(/^.*: (?=\D)/, '').trim())).toEqual([
      expect.stringMatching(/not found|no such/i),
      'a blank line',
      'its last line is 2',
      'this rollout has 2 turns, t0 to t1',
      expect.stringMatching(/not one file; name one, such as/),
    ]);
  });

  test('a bad record is shown raw, with the reason', async () => {
    const directory = directoryWith({ '1.jsonl': 'half a \u001b line' });
    const { stdout, code } = await ask(['show', join(directory, '1.jsonl:1')]);
    expect(stdout).toBe('[bad record]\n\nnot JSON at character 1: expected a value\n\n[raw]\n\nhalf a ␛ line\n');
    expect(code).toBe(0);
  });

  test('a row of a parquet file is shown as its line would be, in each form, wherever its group lies', async () => {
    const rows = Array.from({ length: 3000 }, (_, at) => ({
      input: `user\nWhat is ${at < 20 ? 1 : at < 2980 ? at : 2} + 1?\nassistant\n`,
      output: `${at}`,
      score: at % 3,
      step: 1,
    }));
    const columnData = (['input', 'output', 'score', 'step'] as const).map((name) => ({
      name,
      data: rows.map((row) => row[name]),
    }));
    const directory = directoryWith({
      '1.jsonl': rows.map((row) => `${JSON.stringify(row)}\n`).join(''),
      '1.parquet': new Uint8Array(parquetWriteBuffer({ columnData, rowGroupSize: 300 })),
    });
    for (const form of ['--json', '--plain', '--jsonl', '--markdown', '--mapping', '--csv'])
      for (const line of [1, 16, 17, 1500, 2990]) {
        const [plain, packed] = await Promise.all(
          ['jsonl', 'parquet'].map((kind) => ask(['show', form, join(directory, `1.${kind}:${line}`)])),
        );
        expect(packed?.stdout.replaceAll('1.parquet', '1.jsonl')).toBe(plain?.stdout);
      }
  });
});
