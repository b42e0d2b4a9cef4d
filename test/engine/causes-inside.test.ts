// The causes that lie in a task, a tool, a simulated user, a session, made to happen on loopback: what becomes of the rollout.
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FAULT_TABLE } from '../../src/engine/index.ts';
import { directoryWith } from '../program.ts';
import { breaks, workplace } from './broken-run.ts';
import { CHAT_TEMPLATE, TOKENIZER_JSON } from './byte-tokenizer.ts';
import { type Served, type Services, services, serving, TROUBLES, type Trouble } from './faulty-servers.ts';

let all: Services;
/** Plays the user. */
let user: Served;
beforeAll(async () => {
  all = await services();
  user = await serving((_, response) => {
    const choices = [{ message: { content: '###STOP###' }, finish_reason: 'stop' }];
    response.end(JSON.stringify({ choices, usage: { prompt_tokens: 5, completion_tokens: 5 } }));
  });
});
afterAll(() => {
  for (const one of [...Object.values(all), user]) one.close();
});

const fileOf = (name: string, text: string) => join(directoryWith({ [name]: text }), name);

describe('a fault around the model leaves no line, is said once, and is made again', () => {
  it('a simulated user whose model is away', async () => {
    const config = `{model_url: "${user.url}/v1", model: m, persona: A pupil.}`;
    const interaction_config = fileOf(
      'i.yaml',
      `interaction: [{name: pupil, class_name: model_user, config: ${config}}]`,
    );
    const place = workplace({
      model: all.model,
      settings: { interaction_config },
      task: { extra_info: { interaction_kwargs: { name: 'pupil' } } },
    });
    const trouble = TROUBLES['a redirect in a circle'];
    const healed = await breaks(user, trouble, 'user_fault', /the simulated user: .*HTTP 307/, place);
    expect(healed).toHaveLength(2);
  });

  it('a session that its service does not know any more, after two more tries', async () => {
    const started: string[] = [];
    const forgets: Trouble = (response, { url }) => {
      if (url === '/start_instance') started.push(url);
      if (url === '/start_instance') response.end('{"sid": "9"}');
      else response.writeHead(404).end('{"detail": "no such session"}');
    };
    const place = workplace({
      model: all.model,
      settings: { session_url: [all.session.url] },
      task: { instance_id: 3 },
    });
    all.session.be(forgets);
    expect(await place.run({ max_assistant_turns: 2 })).toMatchObject({ done: 0, failed: 2 });
    all.session.be(null);
    // Two rollouts, three times each.
    expect(started).toHaveLength(6);
    expect([place.rows(), place.unmade()]).toEqual([[], ['state_lost', 'state_lost']]);
    expect(place.said.filter((line) => line.includes('[state_lost'))).toHaveLength(1);
    const healed = await place.run({ max_assistant_turns: 2 }, true);
    expect(healed).toMatchObject({ done: 2, failed: 0, meanScore: 0.25 });
  });

  it('a prompt that is longer than the server’s window', async () => {
    const trouble: Trouble = (response) =>
      void response
        .writeHead(400)
        .end('{"error": {"message": "This model has a maximum context length of 4 tokens."}}');
    const said = /maximum context length of 4 tokens/;
    await breaks(all.model, trouble, 'prompt_too_long', said, workplace({ model: all.model }));
  });

  it('a template that does not take the conversation', async () => {
    const folder = (chat_template: string) =>
      directoryWith({
        'tokenizer.json': JSON.stringify(TOKENIZER_JSON),
        'tokenizer_config.json': JSON.stringify({ eos_token: '<|im_end|>', chat_template }),
      });
    const refuses = `{{ raise_exception('only strict roles') }}${CHAT_TEMPLATE}`;
    const place = workplace({ model: all.model, settings: { api: 'completions', tokenizer: folder(refuses) } });
    expect(await place.run()).toMatchObject({ done: 0, failed: 2 });
    expect(place.unmade()).toEqual(['prompt_not_rendered', 'prompt_not_rendered']);
    expect(place.said.filter((line) => line.includes('[prompt_not_rendered'))).toEqual([
      expect.stringContaining('the chat template: only strict roles'),
    ]);
  });
});

describe('what the model did is scored', () => {
  it('up to the limit of turns, with a call that is not run', async () => {
    const tools = '{class_name: calculator}';
    const place = workplace({ model: all.model, tools, settings: { max_assistant_turns: 1 } });
    expect(await place.run()).toMatchObject({ done: 2, unscored: 0, meanScore: 0 });
    expect(place.rows()).toMatchObject([
      { cause: 'turn_limit', score: 0 },
      { cause: 'turn_limit', score: 0 },
    ]);
  });

  it('with a tool that raised, which the model reads and a person sees', async () => {
    const code = 'export class Fickle { async execute() { throw new Error("not today"); } }';
    const file = fileOf('fickle.mjs', code);
    const schema =
      'tool_schema: {type: function, function: {name: code_interpreter, parameters: {type: object, properties: {code: {type: string}}}}}';
    const place = workplace({ model: all.model, tools: `{class_name: "${file}#Fickle", config: {}, ${schema}}` });
    expect(await place.run()).toMatchObject({ done: 2, unscored: 0, meanScore: 1 });
    expect(place.said).toContainEqual(
      expect.stringMatching(/tool 'code_interpreter' raised an exception: .*not today/),
    );
    for (const row of place.rows() as unknown as { tool_calls: object[]; warnings: string[] }[]) {
      expect(row.tool_calls).toMatchObject([{ fault: 'tool', result: expect.stringContaining('not today') }]);
      expect(row.warnings).toEqual([expect.stringContaining('raised an exception')]);
    }
  });
});

it('no row of the table lets a fault of the world, or of the set-up, end as a score', () => {
  for (const { fault, outcome } of Object.values(FAULT_TABLE))
    if (fault === 'world' || fault === 'ours') expect(outcome).not.toBe('scored');
});
