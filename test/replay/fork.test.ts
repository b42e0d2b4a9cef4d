// Going on from a recorded turn with a model server on loopback.
import { readFileSync } from 'node:fs';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { parseLine } from '../../src/core/dump/parse-line.ts';
import { ChatCompletionsModel, type RolloutEvent, rewardRouter } from '../../src/engine/index.ts';
import {
  branchesOf,
  decideCost,
  decideTurns,
  decidingTurns,
  forkPrefix,
  forkRollout,
  prefixText,
  ReplayTools,
} from '../../src/replay/index.ts';
import { Journal } from '../../src/replay/journal/journal.ts';
import { recordKey } from '../../src/replay/journal/record-key.ts';
import { call } from '../engine/fake-model.ts';
import { type Reply, type ScriptedModel, scriptedModel } from '../engine/scripted-model.ts';
import { backend, closeBackend, madeLine, rowsOf } from './fixture.ts';

const models: ScriptedModel[] = [];
afterEach(async () => {
  for (const model of models.splice(0)) await model.close();
});
afterAll(closeBackend);

async function scripted(reply: (body: { messages: { role: string; content: string }[] }, number: number) => Reply) {
  const server = await scriptedModel((body, { number }) => reply(body, number));
  models.push(server);
  return { server, model: new ChatCompletionsModel('tiny', { url: server.url, attempts: 1 }) };
}

async function setUp(codes = ['print(2 + 2)', 'print(3 + 3)']) {
  const line = await madeLine(codes, { keys: { data_source: 'openai/gsm8k' } });
  const { path, rows } = await rowsOf([line]);
  const tools = new ReplayTools();
  tools.use((await backend()).run);
  const interpreter = tools.for('code_interpreter')!.tool;
  const shared = { row: rows[0]!, tools: [interpreter], rewards: rewardRouter(), journal: Journal.of(path) };
  return { path, line, row: rows[0]!, shared };
}

async function branches(options: Parameters<typeof forkRollout>[0]) {
  const all = [];
  for await (const branch of forkRollout(options)) all.push(branch);
  return all;
}

describe('the prefix', () => {
  test('ends before the assistant turn that is made again, or with the turn that is answered', async () => {
    const { row } = await setUp();
    const roles = (turn: number) =>
      forkPrefix(row.rollout!, turn, { offersTools: true }).messages.map(({ role }) => role);
    expect(row.rollout!.turns.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'assistant',
      'tool',
      'assistant',
    ]);
    expect(roles(3)).toEqual(['user', 'assistant', 'tool']);
    expect(roles(2)).toEqual(['user', 'assistant', 'tool']);
    expect(roles(1)).toEqual(['user']);
  });

  test('pairs calls with their results, as servers demand', async () => {
    const { row } = await setUp();
    const { messages } = forkPrefix(row.rollout!, 5, { offersTools: true });
    const [, asks, answers] = messages;
    expect(asks).toMatchObject({ content: '', tool_calls: [{ function: { name: 'code_interpreter' } }] });
    expect(JSON.parse(asks!.tool_calls![0]!.function.arguments)).toEqual({ code: 'print(2 + 2)' });
    expect(answers).toMatchObject({ role: 'tool', content: '4\n', tool_call_id: asks!.tool_calls![0]!.id });
  });

  test('leaves the tools that the template wrote out of the system text', () => {
    const [line = ''] = readFileSync('fixtures/rollout_data/train/3.jsonl', 'utf8').split('\n');
    const { rollout } = parseLine(line, { validation: false });
    const system = (offersTools: boolean) => forkPrefix(rollout!, 2, { offersTools }).messages[0]!.content;
    expect(system(false)).toContain('<tools>');
    expect(system(true)).not.toContain('<tools>');
    expect(system(true)).toMatch(/^You solve word problems/);
  });

  test('takes the texts that the user edited', async () => {
    const { row } = await setUp();
    const edits = new Map([[0, 'What is 5 + 5?']]);
    expect(forkPrefix(row.rollout!, 1, { offersTools: true, edits }).messages).toEqual([
      { role: 'user', content: 'What is 5 + 5?' },
    ]);
  });
});

describe('a branch', () => {
  test('continues with tools, streams its turns, is scored, kept beside the dump, and found again', async () => {
    const { path, line, row, shared } = await setUp();
    const before = readFileSync(path);
    const { model, server } = await scripted((body) =>
      body.messages.at(-1)!.role === 'tool' && body.messages.length > 4
        ? { text: 'So it is 4.\n#### 4' }
        : { text: `Let me see.\n${call('code_interpreter', { code: 'print(10 + 1)' })}` },
    );
    const events: RolloutEvent[] = [];
    const [branch] = await branches({ ...shared, model, turn: 3, onEvent: (_, event) => events.push(event) });
    expect(server.requests[0].messages).toHaveLength(3);
    expect(branch).toMatchObject({ status: 'SUCCEEDED', score: 1, reward: { name: 'gsm8k', error: null } });
    expect(branch!.turns.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'assistant',
      'tool',
      'assistant',
    ]);
    expect(branch!.turns[4]!.text).toBe('11\n');
    expect(branch!.difference).toMatchObject({ turn: 3, offset: 0 });
    expect(events.filter((event) => event.kind === 'delta').length).toBeGreaterThan(0);
    expect(events.flatMap((event) => (event.kind === 'message' ? [event.turn] : []))).toEqual([3, 4, 5]);

    expect(readFileSync(path)).toEqual(before);
    const [kept] = branchesOf(Journal.of(path), recordKey(line));
    expect(kept).toMatchObject({ turn: 3, branch: 0, model: 'tiny', score: 1, edited: false });
    const written = parseLine(readFileSync(kept!.path, 'utf8').trim(), { validation: false });
    expect(written.rollout).toMatchObject({ format: 'rollout-viewer', score: 1, uid: kept!.uid });
    expect(written.rollout!.extras.fork).toMatchObject({ locator: row.locator, turn: 3, record: recordKey(line) });
  });

  test('that says what the record says has no difference, and later branches have new numbers', async () => {
    const { path, line, shared } = await setUp(['print(2 + 2)']);
    const { model } = await scripted(() => ({ text: 'The answer is 4.\n#### 4' }));
    const [same] = await branches({ ...shared, model, turn: 3 });
    expect(same).toMatchObject({ difference: null, score: 1 });
    const more = await branches({ ...shared, model, turn: 3, n: 3 });
    expect(more.map(({ branch }) => branch).sort()).toEqual([1, 2, 3]);
    expect(branchesOf(Journal.of(path), recordKey(line))).toHaveLength(4);
  });

  test('that is cut off is kept as far as it came', async () => {
    const { path, line, shared } = await setUp();
    const stop = new AbortController();
    const { model } = await scripted((_, number) =>
      number === 0 ? { text: call('code_interpreter', { code: 'print(1)' }) } : { text: 'never', delay: 20_000 },
    );
    const [branch] = await branches({
      ...shared,
      model,
      turn: 1,
      signal: stop.signal,
      onEvent: (_, event) => {
        if (event.kind === 'message' && event.message.role === 'tool')
          setTimeout(() => stop.abort(new Error('stop')), 20);
      },
    });
    expect(branch).toMatchObject({ status: 'FAILED', error: 'cancelled', score: null });
    expect(branch!.turns.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool']);
    expect(branchesOf(Journal.of(path), recordKey(line))).toHaveLength(1);
  });

  test('that breaks off within a turn keeps the beginning of it', async () => {
    const { path, line, shared } = await setUp();
    const { model } = await scripted(() => ({ text: 'The answer is not there yet, but it comes', dropAfter: 2 }));
    const [branch] = await branches({ ...shared, model, turn: 3 });
    expect(branch).toMatchObject({ status: 'FAILED', score: null });
    expect('The answer is not there yet, but it comes'.startsWith(branch!.partial!)).toBe(true);
    expect(branch!.partial!.length).toBeGreaterThan(0);
    const [kept] = branchesOf(Journal.of(path), recordKey(line));
    const written = JSON.parse(readFileSync(kept!.path, 'utf8')) as { fork: { partial: string } };
    expect(written.fork.partial).toBe(branch!.partial);
  });

  test('says how its prefix was made, and which tools cannot run here', async () => {
    const [line = ''] = readFileSync('fixtures/rollout_data/train/3.jsonl', 'utf8').split('\n');
    const { path, rows } = await rowsOf([line]);
    const { model, server } = await scripted(() => ({ text: call('code_interpreter', { code: 'print(1)' }) }));
    const shared = { tools: [], rewards: rewardRouter(), journal: Journal.of(path) };
    const turn = rows[0]!.rollout!.turns.findIndex(({ role }) => role === 'assistant');
    const [branch] = await branches({ ...shared, row: rows[0]!, model, turn });
    expect(branch!.prefix).toMatchObject({ from: 'judged', turns: turn, missing: ['code_interpreter'] });
    // It stays in the prompt, and a branch that calls it ends there.
    expect(server.requests[0].tools).toMatchObject([{ function: { name: 'code_interpreter' } }]);
    expect(server.requests).toHaveLength(1);
    expect(branch).toMatchObject({ status: 'FAILED', error: expect.stringContaining('no tool here runs') });
    expect(prefixText(branch!.prefix)).toContain('nothing here runs code_interpreter');
  });

  test('of a server that refuses is reported, and leaves nothing behind', async () => {
    const { path, line, shared } = await setUp();
    const { model } = await scripted(() => ({ status: 404, body: '{"error": "no such model"}' }));
    const [branch] = await branches({ ...shared, model, turn: 3 });
    expect(branch).toMatchObject({ status: 'FAILED', error: expect.stringContaining('no such model') });
    expect(branchesOf(Journal.of(path), recordKey(line))).toEqual([]);
  });
});

test('which turn decided: branches from each turn, the share that succeeds, and what it costs', async () => {
  const { row, shared } = await setUp();
  const rollout = row.rollout!;
  const turns = decidingTurns(rollout).map(({ index }) => index);
  expect(turns).toEqual([1, 3, 5]);
  expect(decideCost(rollout, turns, 2)).toMatchObject({ branches: 6, calls: 6 });
  // From the last turn on half of the branches are right, before it none is.
  let asked = 0;
  const { model } = await scripted(({ messages }) => ({
    text: messages.length < 5 ? '#### 5' : asked++ % 2 === 0 ? '#### 4' : '#### 5',
  }));
  const fates = [];
  for await (const fate of decideTurns({ ...shared, model, turns, n: 4 })) fates.push(fate);
  expect(
    fates.map(({ turn, branches, succeeded, share, failed }) => [turn, branches, succeeded, share, failed]),
  ).toEqual([
    [1, 4, 0, 0, 0],
    [3, 4, 0, 0, 0],
    [5, 4, 2, 0.5, 0],
  ]);
  expect(fates[2]!.low).toBeCloseTo(0.15, 2);
  expect(fates[2]!.high).toBeCloseTo(0.85, 2);
});
