// Going on from recorded tokens with a server that takes ids.
import { afterAll, afterEach, expect, test } from 'vitest';
import { printJson } from '../../src/core/json/print.ts';
import type { JsonObject } from '../../src/core/json/value.ts';
import { RolloutRequest, rewardRouter, rolloutRecord, SglangGenerateModel } from '../../src/engine/index.ts';
import { CodeInterpreterTool } from '../../src/engine/tools/code-interpreter.ts';
import { forkRollout } from '../../src/replay/index.ts';
import { Journal } from '../../src/replay/journal/journal.ts';
import { recordedTokens } from '../../src/replay/recorded-tokens.ts';
import { byteTokenizer, IM_END } from '../engine/byte-tokenizer.ts';
import { call } from '../engine/fake-model.ts';
import { type Body, type ScriptedModel, scriptedModel } from '../engine/scripted-model.ts';
import { backend, closeBackend, rowsOf } from './fixture.ts';

const tokenizer = byteTokenizer();
const servers: ScriptedModel[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});
afterAll(closeBackend);

/** A server that says these texts, one a turn of the rollout, as ids. */
async function server(texts: readonly string[]) {
  let turn = 0;
  const model = await scriptedModel((_body: Body) => {
    const text = texts[Math.min(turn++, texts.length - 1)]!;
    const ids = [...tokenizer.encode(text), IM_END];
    return { text, ids, logprobs: ids.map(() => -0.5) };
  });
  servers.push(model);
  return { server: model, model: new SglangGenerateModel('m', tokenizer, { url: model.url, attempts: 1 }) };
}

async function recorded() {
  const { model } = await server([
    call('code_interpreter', { code: 'print(2 + 2)' }),
    call('code_interpreter', { code: 'print(3 + 3)' }),
    'It is 6.\n#### 6',
  ]);
  const tool = new CodeInterpreterTool({ enable_global_rate_limit: false }, undefined, (await backend()).run);
  const request = await new RolloutRequest({
    model,
    tokenizer,
    tools: [tool],
    messages: [{ role: 'user', content: 'What is 3 + 3?' }],
  }).run();
  const judgement = { name: 'gsm8k', score: 1, metadata: {}, error: null };
  const task = { key: 'task', groundTruth: '6', dataSource: 'openai/gsm8k' };
  const record = rolloutRecord(request, { task, rollout: 0, step: 1, model: 'm', gamma: 1, judgement });
  const { path, rows } = await rowsOf([printJson(record as JsonObject)]);
  return { tool, path, row: rows[0]!, rollout: rows[0]!.rollout! };
}

test('a branch goes on from the tokens that were recorded, up to the turn that is made again', async () => {
  const { tool, path, row, rollout } = await recorded();
  expect(rollout.turns.map(({ role }) => role)).toEqual([
    'user',
    'assistant',
    'tool',
    'assistant',
    'tool',
    'assistant',
  ]);
  const { server: second, model } = await server(['I say 7.\n#### 7']);
  const all = [];
  const shared = { row, model, tokenizer, tools: [tool], rewards: rewardRouter(), journal: Journal.of(path) };
  for await (const branch of forkRollout({ ...shared, turn: 3 })) all.push(branch);

  const { promptIds, responseIds, mask } = rollout.tokens!;
  const [sent] = second.requests.map(({ input_ids }) => input_ids as number[]);
  const firstRun = mask.indexOf(1);
  const gap = mask.indexOf(0, firstRun);
  const secondRun = mask.indexOf(1, gap);
  expect(sent).toEqual([...promptIds!, ...responseIds.slice(0, secondRun)]);
  expect(tokenizer.decode(sent!, false).endsWith('<|im_start|>assistant\n')).toBe(true);

  expect(all[0]!.prefix).toMatchObject({ template: 'none', rerendered: null });
  expect(all[0]!.turns.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant']);
  expect(all[0]!.turns[1]!.text).toContain('print(2 + 2)');
  expect(all[0]!.difference).toMatchObject({ turn: 3 });
});

test('if the tokens of a turn are unknown, the prefix is rendered, and the reason is reported', async () => {
  const { tool, path, row, rollout } = await recorded();
  const { promptIds, mask } = rollout.tokens!;
  const prefix = { messages: [{ role: 'user', content: '' }], turn: 1 };
  const decode = (ids: number[]) => tokenizer.decode(ids, false);
  const why = (tokens: object) =>
    recordedTokens({ ...rollout, tokens: { ...rollout.tokens!, ...tokens } }, prefix, decode) as string;
  expect(why({ promptIds: null })).toBe('the record holds no token ids of its prompt');
  expect(why({ mask: mask.slice(1) })).toBe('the record has not one bit of the mask for each token');
  expect(why({ mask: mask.map(() => 1) })).toBe('the mask has 1 trained runs for 3 replies');
  expect(recordedTokens(rollout, { ...prefix, turn: 2 }, decode)).toBe('the turn is not a recorded reply');
  expect(recordedTokens(rollout, prefix, decode)).toMatchObject({ ids: promptIds });

  expect(recordedTokens(rollout, prefix, () => 'another text')).toBe(
    'the recorded tokens do not decode to the text of t0: another tokenizer?',
  );
  // One run for each reply, but the second begins with the result of the tool.
  const turns = rollout.turns.map((turn) => (turn.index === 2 ? { ...turn, trained: true } : turn));
  expect(recordedTokens({ ...rollout, turns }, prefix, decode)).toBe('the mask trains other turns than the replies');

  const { model } = await server(['#### 8']);
  const edits = new Map([[2, '5']]);
  const shared = { row, model, tokenizer, tools: [tool], rewards: rewardRouter(), journal: Journal.of(path) };
  for await (const branch of forkRollout({ ...shared, turn: 2, edits }))
    expect(branch.prefix).toMatchObject({ template: 'tokenizer', rerendered: 'the turn was changed' });
});
