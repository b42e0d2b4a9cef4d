// vLLM's completions with token ids, from the command line: exact ids, a deadline in the middle of a turn, and going on with it.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { parseLine } from '../../src/core/dump/parse-line.ts';
import type { Rollout } from '../../src/core/rollout/rollout.ts';
import { tokenTable } from '../../src/core/rollout/token-table.ts';
import { runCollection, type Settings } from '../../src/engine/index.ts';
import { directoryWith } from '../program.ts';
import { dumpLines } from '../support/dump-lines.ts';
import { byteTokenizer, CHAT_TEMPLATE, IM_END, TOKENIZER_JSON } from './byte-tokenizer.ts';
import { scriptedModel } from './scripted-model.ts';

const tokenizer = byteTokenizer();
const ANSWER = 'The answer that takes its time.\n#### 4';
let server: Server;
afterEach(() => {
  server.close();
  server.closeAllConnections();
});

/** As vLLM: ids in, ids out; a stream of `step` tokens, which pauses after `stopsAfter` of them until it is mended. */
async function vllm(text: string, stall: { after: number | null }) {
  const asked: { prompt: number[]; max_tokens?: number; stream?: boolean }[] = [];
  const closed = { count: 0 };
  server = createServer(async (request, response) => {
    let body = '';
    for await (const part of request) body += part;
    if (request.method === 'GET') return void response.end('{}');
    const wanted = JSON.parse(body);
    asked.push(wanted);
    const whole = [...tokenizer.encode(text), IM_END];
    // The tokens sampled before the turn was broken off are at the prompt's end.
    const behind = tokenizer.decode(wanted.prompt, false).split('<|im_start|>assistant\n').at(-1)!;
    const ids = whole.slice(tokenizer.encode(behind).length);
    const piece = (some: number[], finish_reason: string | null) => ({
      choices: [
        {
          text: tokenizer.decode(some, false),
          token_ids: some,
          finish_reason,
          logprobs: { token_logprobs: some.map((id) => -id / 512) },
        },
      ],
    });
    const judged = wanted.prompt.map((id: number, at: number) =>
      at === 0 ? null : { [id]: { logprob: -id / 512, rank: 2 }, 999: { logprob: -0.1, rank: 1 } },
    );
    const usage = { prompt_tokens: wanted.prompt.length, completion_tokens: ids.length };
    if (!wanted.stream) {
      const { choices } = piece(ids, 'stop');
      if (wanted.prompt_logprobs !== undefined) Object.assign(choices[0]!, { prompt_logprobs: judged });
      return void response.end(JSON.stringify({ choices, usage }));
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.on('close', () => closed.count++);
    const say = (one: object) => response.write(`data: ${JSON.stringify(one)}\n\n`);
    for (let at = 0; at < ids.length; at += 4) {
      if (stall.after !== null && at >= stall.after) return;
      say(piece(ids.slice(at, at + 4), at + 4 >= ids.length ? 'stop' : null));
    }
    say({ choices: [], usage });
    response.end('data: [DONE]\n\n');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, asked, closed };
}

function workplace(url: string, more: Partial<Settings> = {}) {
  const folder = directoryWith({
    'tasks.jsonl': '{"prompt": "2 + 2?", "ground_truth": "4", "data_source": "gsm8k"}\n',
    'tokenizer.json': JSON.stringify(TOKENIZER_JSON),
    'tokenizer_config.json': JSON.stringify({ eos_token: '<|im_end|>', chat_template: CHAT_TEMPLATE }),
  });
  const said: string[] = [];
  const run = (own: Partial<Settings> = {}, resume = false) =>
    runCollection({
      tasksPath: join(folder, 'tasks.jsonl'),
      settings: {
        model_url: url,
        model: 'm',
        api: 'completions',
        tokenizer: join(folder, 'tokenizer.json'),
        out: join(folder, 'out'),
        ...more,
        ...own,
      } as Settings,
      resume,
      say: (message) => said.push(message),
    });
  return { run, said, rows: () => dumpLines(join(folder, 'out/1.jsonl')) };
}

const sampled = [...tokenizer.encode(ANSWER), IM_END];

describe('vLLM, token in and token out', () => {
  it('ids, mask and log probabilities are the server’s own', async () => {
    const { url, asked } = await vllm(ANSWER, { after: null });
    const { run, rows, said } = workplace(url);
    expect(await run()).toMatchObject({ done: 1, meanScore: 1 });
    expect(said).toEqual([]);
    const [row] = rows();
    expect(asked).toMatchObject([{ prompt: row.prompt_ids, return_token_ids: true, skip_special_tokens: false }]);
    expect(row.response_ids).toEqual(sampled);
    expect(row.response_mask).toEqual(sampled.map(() => 1));
    expect(row.rollout_log_probs.map(Math.fround)).toEqual(sampled.map((id) => Math.fround(-id / 512)));
    expect(row.output).toBe(ANSWER);
  });

  it('prompt_logprobs keeps one for each token of the prompt', async () => {
    const { url, asked } = await vllm(ANSWER, { after: null });
    const { run, rows, said } = workplace(url, { prompt_logprobs: 1 });
    expect(await run()).toMatchObject({ done: 1, meanScore: 1 });
    expect(said).toEqual([]);
    expect(asked).toMatchObject([{ prompt_logprobs: 1, stream: false }]);
    const [row] = rows();
    const own = row.prompt_ids.map((id: number, at: number) => (at === 0 ? null : Math.fround(-id / 512)));
    expect(row.prompt_log_probs.map((one: number | null) => (one === null ? null : Math.fround(one)))).toEqual(own);
    const read = parseLine(JSON.stringify(row), { validation: false }).rollout!.tokens!;
    expect(read.promptLogprobs).toEqual(row.prompt_log_probs);
    expect(tokenTable({ tokens: read, rewards: { advantage: null } } as Rollout, null)!.rows[1]!.values).toEqual([
      row.prompt_log_probs[1],
    ]);
  });

  it('prompt_logprobs of SGLang are asked for with the first turn alone', async () => {
    const asked: { input_ids: number[]; logprob_start_len?: number }[] = [];
    const call = '<tool_call>\n{"name": "calculator", "arguments": {"a": 2, "b": 2, "op": "+"}}\n</tool_call>';
    server = createServer(async (request, response) => {
      let body = '';
      for await (const part of request) body += part;
      const wanted = JSON.parse(body);
      asked.push(wanted);
      const ids = [...tokenizer.encode(asked.length === 1 ? call : '#### 4'), IM_END];
      const pairs = (some: number[]) => some.map((id) => [-id / 512, id, null]);
      const [, ...rest] = pairs(wanted.input_ids);
      const given = wanted.logprob_start_len === 0 ? [[null, wanted.input_ids[0], null], ...rest] : [];
      const meta_info = {
        finish_reason: { type: 'stop' },
        prompt_tokens: wanted.input_ids.length,
        completion_tokens: ids.length,
        input_token_logprobs: given,
        output_token_logprobs: pairs(ids),
      };
      response.end(JSON.stringify({ text: '', output_ids: ids, meta_info }));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const tools = join(directoryWith({ 'tools.yaml': 'tools: [{class_name: calculator}]' }), 'tools.yaml');
    const { run, rows } = workplace(url, { api: 'generate', prompt_logprobs: 0, tools });
    expect(await run()).toMatchObject({ done: 1, meanScore: 1 });
    expect(asked.map((one) => one.logprob_start_len)).toEqual([0, undefined]);
    const [row] = rows();
    const own = row.prompt_ids.map((id: number, at: number) => (at === 0 ? null : Math.fround(-id / 512)));
    expect(row.prompt_log_probs.map((one: number | null) => (one === null ? null : Math.fround(one)))).toEqual(own);
  });

  it('a deadline keeps the tokens of the turn that it meets; the next run goes on behind them', async () => {
    const stall = { after: 8 as number | null };
    const { url, asked, closed } = await vllm(ANSWER, stall);
    const { run, rows } = workplace(url);
    const broken = await run({ deadline: 1 });
    expect(broken).toMatchObject({ done: 0, failed: 0, ended: 'ended by the deadline of 1 s' });
    expect(closed.count).toBe(1);
    stall.after = null;
    expect(await run({ deadline: 60 }, true)).toMatchObject({ done: 1, meanScore: 1, ended: null });
    expect(asked[1]!.prompt).toEqual([...asked[0]!.prompt, ...sampled.slice(0, 8)]);
    const [row] = rows();
    expect(row.response_ids).toEqual(sampled);
    expect(row.response_mask).toEqual(sampled.map(() => 1));
    expect(row.messages).toMatchObject([{ role: 'user' }, { role: 'assistant', content: ANSWER }]);
  });
});

it('a user who is a model with a persona answers turns without a call, and ends the conversation', async () => {
  const user = await scriptedModel(({ messages }) =>
    messages.filter(({ role }: { role: string }) => role === 'assistant').length < 2
      ? { text: 'Are you sure?' }
      : { text: 'Thanks. ###STOP###' },
  );
  const model = await scriptedModel(({ messages }) => ({ text: `#### ${messages.length}` }));
  server = createServer();
  try {
    const folder = directoryWith({
      'tasks.jsonl': `${JSON.stringify({ prompt: '2 + 2?', ground_truth: '3', data_source: 'gsm8k', extra_info: { interaction_kwargs: { name: 'shopper', mood: 'grumpy' } } })}\n`,
      'users.yaml': `interaction: [{name: shopper, class_name: model_user, config: {model_url: "${user.url}", model: u, persona: "You are {mood}."}}]`,
    });
    const out = join(folder, 'out');
    const settings = {
      model_url: model.url,
      model: 'm',
      out,
      interaction_config: join(folder, 'users.yaml'),
    } as Settings;
    const summary = await runCollection({
      tasksPath: join(folder, 'tasks.jsonl'),
      settings,
      resume: false,
      say: () => {},
    });
    expect(summary).toMatchObject({ done: 1, meanScore: 1 });
    const [row] = dumpLines(join(out, '1.jsonl'));
    expect(row.messages.map(({ role, content }: { role: string; content: string }) => [role, content])).toEqual([
      ['user', '2 + 2?'],
      ['assistant', '#### 1'],
      ['user', 'Are you sure?'],
      ['assistant', '#### 3'],
      ['user', 'Thanks.'],
    ]);
    // To the user's model the roles are the other way round.
    expect(user.requests[0].messages[0].content).toContain('You are grumpy.');
    expect(user.requests[0].messages.slice(1)).toEqual([
      { role: 'assistant', content: '2 + 2?' },
      { role: 'user', content: '#### 1' },
    ]);
  } finally {
    await Promise.all([user.close(), model.close()]);
  }
});
