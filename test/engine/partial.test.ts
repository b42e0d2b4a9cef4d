// A step that ends by its deadline in the middle of a turn: the sampled part is kept, and continued in the next run.
import { readFileSync } from 'node:fs';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { runCollection, type Settings } from '../../src/engine/index.ts';
import { directoryWith } from '../program.ts';
import { dumpLines } from '../support/dump-lines.ts';
import { byteTokenizer, CHAT_TEMPLATE, IM_END, TOKENIZER_JSON } from './byte-tokenizer.ts';

const CALL = 'I add.\n<tool_call>\n{"name": "calculator", "arguments": {"a": 2, "b": 3, "op": "+"}}\n</tool_call>';
const tokenizer = byteTokenizer();
const idsOf = (text: string) => tokenizer.encode(text);

let server: Server;
afterEach(() => {
  server.close();
  server.closeAllConnections();
});

interface Asked {
  url: string;
  rid?: string;
  input_ids?: number[];
}

/**
 * As SGLang: the second turn hangs in its middle until it is aborted, and is then given as far as it came. Once the weights have changed it is continued.
 * @param aborts whether the server knows /abort_request
 */
async function sglang(aborts: boolean) {
  const asked: Asked[] = [];
  const hanging = new Map<string, ServerResponse>();
  let version = 1;
  const answer = (response: ServerResponse, text: string, type: string, end: number[]) => {
    const ids = [...idsOf(text), ...end];
    response.setHeader('content-type', 'application/json').end(
      JSON.stringify({
        text,
        output_ids: ids,
        meta_info: {
          finish_reason: { type },
          prompt_tokens: 1,
          completion_tokens: ids.length,
          weight_version: String(version),
          output_token_logprobs: ids.map((id) => [-version / 4, id, null]),
        },
      }),
    );
  };
  server = createServer(async (request, response) => {
    let body = '';
    for await (const part of request) body += part;
    const said = JSON.parse(body) as Omit<Asked, 'url'>;
    asked.push({ url: request.url!, ...said });
    if (request.url === '/abort_request') {
      if (!aborts) return void response.writeHead(404).end();
      response.end('{}');
      const open = hanging.get(said.rid!);
      return open && answer(open, '#### ', 'abort', []);
    }
    const text = tokenizer.decode(said.input_ids!, false);
    if (!text.includes('<tool_response>')) return answer(response, CALL, 'stop', [IM_END]);
    if (version === 1) return void hanging.set(said.rid!, response);
    return answer(response, text.endsWith('#### ') ? '5' : '#### 5', 'stop', [IM_END]);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    newWeights: () => {
      version = 2;
    },
  };
}

function workplace(url: string) {
  const folder = directoryWith({
    'tokenizer.json': JSON.stringify(TOKENIZER_JSON),
    'tokenizer_config.json': JSON.stringify({ eos_token: '<|im_end|>', chat_template: CHAT_TEMPLATE }),
    'tools.yaml': 'tools: [{class_name: calculator}]',
    'tasks.jsonl': '{"prompt": "2+3?", "ground_truth": "5", "data_source": "gsm8k"}\n',
  });
  const out = join(folder, 'out');
  const settings = {
    model_url: url,
    model: 'm',
    api: 'generate',
    tokenizer: folder,
    tools: join(folder, 'tools.yaml'),
    out,
  } as Settings;
  const said: string[] = [];
  const run = (resume: boolean) =>
    runCollection({
      tasksPath: join(folder, 'tasks.jsonl'),
      settings: resume ? settings : { ...settings, deadline: 3 },
      resume,
      say: (message) => said.push(message),
    });
  const partial = () => readFileSync(join(out, '.rollout-viewer/partial.jsonl'), 'utf8');
  return { run, said, partial, lines: () => dumpLines(join(out, '1.jsonl')) };
}

describe('a deadline in the middle of a turn', () => {
  it('aborts at SGLang, and keeps what was sampled with its log probabilities and weights', async () => {
    const { url, asked, newWeights } = await sglang(true);
    const { run, said, partial, lines } = workplace(url);
    expect(await run(false)).toMatchObject({ done: 0, failed: 0, ended: 'ended by the deadline of 3 s' });
    const [first, second, abort] = asked;
    expect([first!.url, second!.url, abort!.url]).toEqual(['/generate', '/generate', '/abort_request']);
    expect(abort!.rid).toBe(second!.rid);
    expect(partial()).toContain('"open_turn":true');
    expect(lines()).toEqual([]);

    newWeights();
    expect(await run(true)).toMatchObject({ done: 1, failed: 0, meanScore: 1 });
    const third = asked[3]!;
    expect(third.input_ids).toEqual([...second!.input_ids!, ...idsOf('#### ')]);
    const [line] = lines();
    const turns = [[...idsOf(CALL), IM_END], idsOf('#### '), [...idsOf('5'), IM_END]];
    const sampled = line.response_ids.filter((_: number, at: number) => line.response_mask[at] === 1);
    expect(sampled).toEqual(turns.flat());
    const probabilities = line.rollout_log_probs.filter((_: number, at: number) => line.response_mask[at] === 1);
    expect(probabilities).toEqual(turns.flatMap((turn, at) => turn.map(() => (at === 2 ? -0.5 : -0.25))));
    const end = line.response_ids.length;
    expect(line.weight_versions).toEqual([
      { start: 0, end: turns[0]!.length, version: '1' },
      { start: end - turns[1]!.length - turns[2]!.length, end: end - turns[2]!.length, version: '1' },
      { start: end - turns[2]!.length, end, version: '2' },
    ]);
    expect(line.messages.at(-1)).toMatchObject({ role: 'assistant', content: '#### 5' });
    expect(said).toEqual([]);
  });

  it('closes the connection of a server that aborts nothing, and asks for the turn again', async () => {
    const { url, asked, newWeights } = await sglang(false);
    const { run, lines } = workplace(url);
    expect(await run(false)).toMatchObject({ done: 0, failed: 0, ended: 'ended by the deadline of 3 s' });
    newWeights();
    expect(await run(true)).toMatchObject({ done: 1, meanScore: 1 });
    expect(asked.at(-1)!.input_ids).toEqual(asked[1]!.input_ids);
    const [line] = lines();
    expect(line.tool_calls).toMatchObject([{ name: 'calculator', result: '5' }]);
    expect(tokenizer.decode(line.response_ids, true)).toBe(line.output);
  });
});
