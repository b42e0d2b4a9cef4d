// Every file that verl ships of its configuration: what is loaded, and what is named as missing.
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseInteractions, parseSettings, parseTools } from '../../src/engine/index.ts';
import { Corpus } from '../../src/engine/retrieval/corpus.ts';
import { serveCorpus } from '../../src/engine/retrieval/serve.ts';
import { templateSchema } from '../../src/engine/tools/schema.ts';
import type { Recorded } from '../support/shared-data.ts';
import { executeTool } from './execute-tool.ts';
import { recorded, verlData } from './verl-truth.ts';

const folder = join(verlData, 'configs');
const files = (() => {
  try {
    return readdirSync(folder, { recursive: true })
      .map(String)
      .filter(
        (name) =>
          /tool_config|\.yaml$/.test(name) && !/tool_config(s?)$/.test(name.replace(/\/[^/]*$/, '').concat('x')),
      )
      .filter(
        (name) => /\.ya?ml$|_config$/.test(name) && !name.endsWith('tool_configs') && !name.endsWith('/tool_config'),
      );
  } catch {
    return [];
  }
})();
const text = (name: string) => readFileSync(join(folder, name), 'utf8');
const why = files.length === 0 ? ' (skipped: no recorded files here)' : '';

describe(`verl's own files${why}`, () => {
  it.skipIf(files.length === 0)(
    'tools load with the schemas that verl shows its model (skipped without ../shared/data)',
    () => {
      for (const { path, verl, class_name } of recorded('configs.jsonl')) {
        const tools = parseTools(text(path), path);
        expect(tools).toHaveLength(1);
        if (verl !== null)
          expect([class_name, templateSchema(tools[0]!.getOpenAIToolSchema())]).toEqual([class_name, verl.in_prompt]);
      }
    },
  );

  it.skipIf(files.length === 0)(
    'trainer files say what a rollout is made with, and what has no meaning is named once (skipped without ../shared/data)',
    () => {
      for (const name of files.filter((one) => one.includes('multiturn_grpo') || one.endsWith('rollout.yaml'))) {
        const said: string[] = [];
        const settings = parseSettings(text(name), name, (message) => said.push(message));
        expect(said.length, name).toBeLessThanOrEqual(2);
        if (name.endsWith('rollout.yaml'))
          expect(settings).toMatchObject({
            temperature: 1,
            top_p: 1,
            max_response_length: 512,
            max_prompt_length: 512,
            n: 1,
          });
        else expect(settings.max_prompt_length, name).toBeGreaterThan(0);
      }
    },
  );

  it.skipIf(files.length === 0)(
    'interaction files load, and a class that is not known is named (skipped without ../shared/data)',
    () => {
      for (const name of files.filter((one) => one.includes('interaction_config'))) {
        const load = () => parseInteractions(text(name), name);
        if (name.includes('collabllm'))
          expect(load).toThrow('recipe.collabllm.collabllm_interation.CollabLLMInteraction): unknown class');
        else expect([...load().keys()]).toEqual(['gsm8k']);
      }
    },
  );
});

const TOOLS = '2026-01-29/examples/sglang_multiturn/config/tool_config';

/** A service on loopback that says what `answer` makes of each question. */
async function service(
  answer: (asked: Recorded) => unknown,
): Promise<{ url: string; asked: Recorded[]; close(): void }> {
  const asked: Recorded[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const part of request) body += part;
    asked.push(JSON.parse(body));
    response.setHeader('content-type', 'application/json').end(JSON.stringify(answer(asked.at(-1))));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked, close };
}

describe(`verl's own tool files do what they say${why}`, () => {
  const toolOf = (name: string, url?: string) => {
    const own = url === undefined ? text(name) : text(name).replace(/https?:\/\/[^"\s]+/, url);
    return parseTools(own, name)[0]!;
  };

  it.skipIf(files.length === 0).each([
    ['gsm8k', 'calc_gsm8k_reward', "'42'"],
    ['geo3k', 'calc_geo3k_reward', "'42'"],
  ])(
    '%s: the reward of an answer, and a price for one that is no better (skipped without ../shared/data)',
    async (file, name, shown) => {
      const tool = toolOf(`${TOOLS}/${file}_tool_config.yaml`);
      expect(tool.name).toBe(name);
      const { instanceId } = await tool.create('i', { ground_truth: '42' });
      const ask = (answer: string) => tool.execute(instanceId, { answer });
      expect(await ask('41')).toMatchObject({
        response: { text: "Current parsed answer='41' reward=0.0" },
        reward: -0.05,
      });
      expect(await ask('42')).toMatchObject({
        response: { text: `Current parsed answer=${shown} reward=1.0` },
        reward: 0,
      });
      expect(await ask('42')).toMatchObject({ reward: -0.05 });
      expect(await tool.calcReward(instanceId)).toBe(1);
      await tool.release(instanceId);
    },
  );

  it
    .skipIf(files.length === 0)
    .each([
      `${TOOLS}/sandbox_fusion_tool_config.yaml`,
      '2026-01-29/tests/workers/rollout/resource/tool_configs/sandbox_fusion_tool_config',
      'v0.6.1/recipe/retool/sandbox_fusion_tool_config.yaml',
    ])('%s: code runs in the sandbox that it names (skipped without ../shared/data)', async (name) => {
    const run_result = { status: 'Finished', execution_time: 0, return_code: 0, stdout: '4\n', stderr: '' };
    const sandbox = await service(() => ({ status: 'Success', message: '', run_result }));
    const { response } = await executeTool(toolOf(name, `${sandbox.url}/run_code`), { code: 'print(2+2)' });
    sandbox.close();
    expect(response.text.trim()).toBe('4');
    expect(sandbox.asked).toMatchObject([{ code: expect.stringContaining('print(2+2)'), language: 'python' }]);
  });

  it
    .skipIf(files.length === 0)
    .each([
      `${TOOLS}/search_tool_config.yaml`,
      '2026-01-29/tests/workers/rollout/resource/tool_configs/search_tool_config',
    ])('%s: queries go to the retrieval server that it names (skipped without ../shared/data)', async (name) => {
    const found = { document: { contents: 'Lima\nLima is the capital of Peru.' }, score: 1 };
    const retrieval = await service(() => ({ result: [[found]] }));
    const { response } = await executeTool(toolOf(name, `${retrieval.url}/retrieve`), {
      query_list: ['capital of Peru'],
    });
    retrieval.close();
    expect(JSON.parse(response.text)).toEqual({ result: 'Doc 1 (Title: Lima)\nLima is the capital of Peru.' });
    expect(retrieval.asked).toMatchObject([{ queries: ['capital of Peru'], topk: 3, return_scores: true }]);
  });

  it.skipIf(files.length === 0)(
    'image_zoom_in_tool cuts the task’s own picture, and answers in verl’s words (skipped without ../shared/data)',
    async () => {
      const tool = toolOf('v0.7.0/recipe/deepeyes/configs/image_zoom_in_tool_config.yaml');
      const image =
        'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC';
      const { instanceId } = await tool.create('r', { image });
      const { response } = await tool.execute(instanceId, { bbox_2d: [0, 0, 30, 40] });
      expect(response.text).toBe('Zoomed in on the image to the region [0, 0, 30, 40].');
      expect(response.images).toHaveLength(1);
      const { response: refused } = await tool.execute(instanceId, { bbox_2d: [9, 9, 9, 9] });
      expect(refused.text).toContain('The specified bounding box [9, 9, 9, 9] is invalid');
    },
  );

  it.skipIf(files.length === 0)(
    'the agents of LangGraph and CollabLLM are named as what they are (skipped without ../shared/data)',
    () => {
      for (const name of files.filter((one) => one.endsWith('agent.yaml'))) {
        expect(() => parseSettings(text(name), name), name).toThrow(name);
        expect(() => parseTools(text(name), name), name).toThrow(name);
      }
    },
  );

  it.skipIf(files.length === 0)('no file is left out (skipped without ../shared/data)', () => {
    const all = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    expect(all).toHaveLength(23);
  });
});

const TRAINER = `
defaults: [ppo_trainer]
data: {max_prompt_length: 1024, max_response_length: 2048, train_batch_size: 256, shuffle: true}
actor_rollout_ref:
  actor: {optim: {lr: 1e-6}}
  rollout:
    name: sglang
    n: 8
    temperature: 0.7
    response_length: \${data.max_response_length}
    prompt_length: \${oc.select:data.other,77}
    multi_turn: {enable: true, max_assistant_turns: 5, max_user_turns: null, tool_config_path: t.yaml, format: qwen}
trainer: {rollout_data_dir: out, total_epochs: 3}
custom_reward_function: {path: r.py, name: score}
`;

describe('a configuration of verl’s trainer', () => {
  it('is read by its own keys', () => {
    const said: string[] = [];
    expect(parseSettings(TRAINER, 'c.yaml', (message) => said.push(message))).toEqual({
      n: 8,
      temperature: 0.7,
      max_prompt_length: 77,
      max_response_length: 2048,
      batch_size: 256,
      max_assistant_turns: 5,
      tools: 't.yaml',
      tool_format: 'qwen',
      out: 'out',
      reward: 'r.py',
      function: 'score',
    });
    expect(said).toEqual([
      'c.yaml: without a meaning here: data.shuffle, actor_rollout_ref.actor, actor_rollout_ref.rollout.name, trainer.total_epochs',
    ]);
  });

  it('a reference that leads nowhere is named, and a mistyped key of our own file still is an error', () => {
    const said: string[] = [];
    const settings = parseSettings(`actor_rollout_ref: {rollout: {n: "\${no.such}"}}`, 'c.yaml', (text) =>
      said.push(text),
    );
    expect([settings, said]).toEqual([{}, [`c.yaml: not resolved: actor_rollout_ref.rollout.n (\${no.such})`]]);
    expect(() => parseSettings('temprature: 1', 'c.yaml')).toThrow("unknown key 'temprature'");
    expect(parseSettings('response_length: 5\ntool_config_path: t.yaml', 'c.yaml')).toEqual({
      max_response_length: 5,
      tools: 't.yaml',
    });
  });
});

describe('search', () => {
  const tool = (url: string) =>
    parseTools(
      `tools: [{class_name: verl.tools.search_tool.SearchTool, config: {retrieval_service_url: "${url}"}}]`,
      't.yaml',
    )[0]!;

  it('asks the embedded retrieval server as it would verl’s', async () => {
    const corpus = new Corpus();
    corpus.add({ id: '1', contents: 'Bonn\nBonn lies on the Rhine.' });
    corpus.add({ id: '2', contents: 'Lima\nLima is the capital of Peru.' });
    const server = await serveCorpus(corpus);
    const { response, metrics } = await executeTool(tool(server.url), { query_list: ['capital of Peru', 'Rhine'] });
    await server.close();
    expect(JSON.parse(response.text)).toEqual({
      result: 'Doc 1 (Title: Lima)\nLima is the capital of Peru.\n---\nDoc 1 (Title: Bonn)\nBonn lies on the Rhine.',
    });
    expect(metrics).toMatchObject({ query_count: 2, status: 'success', total_results: 2 });
  });

  it('what the model asks wrongly is its own fault, and what the service refuses is not', async () => {
    const { response } = await executeTool(tool('http://127.0.0.1:9/x'), { query_list: 'one' });
    expect(response).toMatchObject({ fault: 'model', text: expect.stringContaining("'query_list' is missing") });
    const refusing = createServer((_, answer) => void answer.writeHead(400).end('no'));
    await new Promise<void>((resolve) => refusing.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(refusing.address() as AddressInfo).port}/retrieve`;
    await expect(executeTool(tool(url), { query_list: ['a'] })).rejects.toMatchObject({ name: 'ConnectionError' });
    refusing.close();
    refusing.closeAllConnections();
  });
});

describe('launch arguments as verl takes them', () => {
  const read = (overrides: string[], text = '') => {
    const said: string[] = [];
    return { settings: parseSettings(text, 'c.yaml', (message) => said.push(message), overrides), said };
  };

  it('are settings, with a file or without one', () => {
    const { settings, said } = read([
      'actor_rollout_ref.rollout.n=2',
      '+actor_rollout_ref.rollout.multi_turn.max_user_turns=3',
      'data.max_response_length=1_024',
      'actor_rollout_ref.rollout.temperature=0.7',
      'actor_rollout_ref.rollout.top_p=1e-1',
      'actor_rollout_ref.model.path=Qwen/Qwen2.5-3B',
      'data.apply_chat_template_kwargs={enable_thinking:false,"a:b":1}',
      'trainer.n_gpus_per_node=8',
    ]);
    expect(settings).toEqual({
      n: 2,
      max_user_turns: 3,
      max_response_length: 1024,
      temperature: 0.7,
      top_p: 0.1,
      model: 'Qwen/Qwen2.5-3B',
      apply_chat_template_kwargs: { enable_thinking: false, 'a:b': 1 },
    });
    expect(said).toEqual([expect.stringContaining('trainer.n_gpus_per_node')]);
    const file = 'actor_rollout_ref: {rollout: {n: 4, temperature: 1}}\ndata: {max_prompt_length: 5}';
    expect(read(['actor_rollout_ref.rollout.n=2', '~data.max_prompt_length'], file).settings).toEqual({
      n: 2,
      temperature: 1,
    });
    expect(read(['actor_rollout_ref.rollout.n=2'], 'n: 4\nconcurrency: 7').settings).toEqual({ n: 2, concurrency: 7 });
    expect(read(['temperature=0.5']).settings).toEqual({ temperature: 0.5 });
  });

  it.each([
    [['n'], "'n': expected PATH=VALUE"],
    [['actor_rollout_ref.rollout.n=many'], 'n: expected a whole number'],
    [['nothing.of.the.kind=1'], 'nothing'],
    [['data.seed=[1'], "'data.seed=[1'"],
    [['algorithm.adv_estimator=nosuch'], /verl has no nosuch: gae, grpo/],
  ])('that are wrong are quoted: %s', (overrides, message) => {
    expect(() => read(overrides)).toThrow(message);
  });

  it('change no object but the configuration', () => {
    expect(() => read(['__proto__.polluted=1'])).toThrow();
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });
});
