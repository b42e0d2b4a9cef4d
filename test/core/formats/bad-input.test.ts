import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { jsonOf } from '../../../src/core/dump/containers/foreign-values.ts';
import { Dump } from '../../../src/core/dump/dump.ts';
import { parseLine } from '../../../src/core/dump/parse-line.ts';
import { printJson } from '../../../src/core/json/print.ts';
import type { Rollout } from '../../../src/core/rollout/rollout.ts';

const read = (text: string): Rollout => parseLine(text, { validation: false }).rollout!;

async function rolloutsOf(files: Record<string, string>): Promise<Rollout[]> {
  const folder = mkdtempSync(join(tmpdir(), 'bad-input-'));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  const dump = Dump.open([folder]);
  const rows = [];
  for (const file of dump.files) {
    await file.buildIndex(() => true);
    for (let record = 0; record < file.count; record++) rows.push(file.read(record));
  }
  dump.close();
  return rows.flatMap(({ rollout }) => rollout ?? []);
}

const node = (parent: number | null, role: string, ids: number[], mask: boolean[]) => ({
  parent,
  message: { role, content: role },
  sampled: role === 'assistant',
  token_ids: ids,
  mask,
});
const episode = (id: string) =>
  JSON.stringify({
    id: `e${id}`,
    env: { id: 'x' },
    task: { key: 'k' },
    run: { type: 'train', work: { step: 1 } },
    traces: [
      {
        id,
        task: {},
        rewards: { correct: null },
        nodes: [node(null, 'user', [1, 2], [false, false]), node(0, 'assistant', [3, 4], [true, true])],
      },
    ],
  });

describe('what writers leave behind', () => {
  test('empty lists of ids record nothing: no mask of zeros', () => {
    const message = {
      type: 'message',
      role: 'assistant',
      content: 'a',
      prompt_token_ids: [],
      generation_token_ids: [],
    };
    const record = { responses_create_params: { input: 'q' }, response: { output: [message] }, reward: 1 };
    const rollout = read(JSON.stringify(record));
    expect(rollout.tokens).toBeUndefined();
    expect(rollout.lossMask).toBeNull();
    expect(rollout.turns.map(({ trained }) => trained)).toEqual([false, false]);
    expect(rollout.findings.filter(({ check }) => check === 'mask_zero')).toEqual([]);
    const group = { tokens: [[]], masks: [[]], scores: [0], messages: [[{ role: 'assistant', content: 'a' }]] };
    expect(parseLine(JSON.stringify(group), { validation: false }, 1).rollout!.tokens).toBeUndefined();
  });

  test('a reward that is NaN, and none, are no 0', () => {
    const step = '{"prompt": ["q", "q"], "responses": ["a", "b"], "scores": [NaN, 0.0], "global_step": [1, 1]}';
    expect([1, 2].map((part) => parseLine(step, { validation: false }, part).rollout!.score)).toEqual([null, 0]);
    expect(read(episode('t'))).toMatchObject({ score: null });
  });

  test('integers of a parquet file beyond 2^53 keep their digits', () => {
    const uid = 2n ** 60n + 1n;
    const text = printJson(
      jsonOf({ step: 3n, uid, prompt: 'q', completion: 'a', reward: 1, tokens: new BigInt64Array([1n]) }),
    );
    expect(text).toContain(String(uid));
    expect(read(text)).toMatchObject({ step: 3, score: 1 });
  });

  test('a number of calls that no response can hold does not count', () => {
    const record = { prompt_tokens: [1], response_tokens: [2, 3], prompt_idx: 0, request_info: { num_calls: 1e308 } };
    expect(read(JSON.stringify(record)).turns.flatMap(({ toolCalls }) => toolCalls)).toEqual([]);
  });

  test('a step that lost its conversation leaves the others theirs', () => {
    const said = [
      { role: 'user', content: 'q' },
      { role: 'assistant', content: 'a' },
    ];
    const step = { model_response: 'a', action: 'a', reward: 1 };
    const steps = [
      { ...step, chat_completions: -100 },
      { ...step, chat_completions: said },
    ];
    const rollout = read(JSON.stringify({ task: 'q', reward: 1, steps }));
    expect([rollout.format, rollout.responseTurn, rollout.turns.length]).toEqual(['tunix', 1, 2]);
  });

  test('annotations that never came, of a trace that is not there, or too short, leave the others as they are', async () => {
    const update = (trace: string, branches: object[]) =>
      `${JSON.stringify({ trace_id: trace, branches, info: {} })}\n`;
    const [first, second, third] = await rolloutsOf({
      'traces/stream/00000.jsonl': `${episode('a')}\n${episode('b')}\n${episode('c')}\n{"id": "torn`,
      'traces/annotations/trainer/00000.jsonl':
        update('a', [{ index: 0, advantages: [0, 0, 1, 2] }]) +
        update('b', [{ index: 7, advantages: [1] }]) +
        update('nobody', [{ index: 0, advantages: [1, 1, 1, 1] }]) +
        '{"trace_id": "c", "bran',
    });
    expect(first?.tokens?.more?.advantages).toEqual([1, 2]);
    expect(second?.tokens?.more).toBeUndefined();
    expect(third?.tokens?.more).toBeUndefined();
  });
});
