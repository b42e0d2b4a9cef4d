import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { type ScriptedModel, scriptedModel } from '../../engine/scripted-model.ts';
import { directoryWith } from '../../program.ts';
import { app, close, open, reopen } from './replay-run.ts';

let model: ScriptedModel | null = null;

afterEach(async () => {
  await close();
  await model?.close();
  model = null;
});

/** An agent with a tool that adds one; WRONG adds two, HANG never asks. */
const AGENT = `
if (process.env.HANG) await new Promise((resolve) => setTimeout(resolve, 1e8));
const messages = [{ role: 'user', content: process.env.ROLLOUT_VIEWER_PROMPT }];
for (let i = 0; i < 6; i++) {
  const response = await fetch(process.env.OPENAI_BASE_URL + '/chat/completions', {
    method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ model: 'm', stream: true, messages }),
  });
  if (!response.ok) process.exit(3);
  let content = '';
  const calls = [];
  for (const line of (await response.text()).split('\\n')) {
    if (!line.startsWith('data: {')) continue;
    const { delta } = JSON.parse(line.slice(6)).choices[0] ?? {};
    content += delta?.content ?? '';
    for (const call of delta?.tool_calls ?? []) {
      const own = (calls[call.index] ??= { id: '', type: 'function', function: { name: '', arguments: '' } });
      own.id += call.id ?? '';
      own.function.name += call.function?.name ?? '';
      own.function.arguments += call.function?.arguments ?? '';
    }
  }
  messages.push({ role: 'assistant', content, ...(calls.length > 0 ? { tool_calls: calls } : {}) });
  if (calls.length === 0) break;
  for (const call of calls) {
    const { a } = JSON.parse(call.function.arguments);
    messages.push({ role: 'tool', tool_call_id: call.id, content: String(a + (process.env.WRONG ? 2 : 1)) });
  }
}`;
const agent = `${process.execPath} ${join(directoryWith({ 'agent.mjs': AGENT }), 'agent.mjs')}`;

/** Behind the agent's path, whose length decides where the line breaks. */
const RUNNING = /running,[\s│]+\^c[\s│]+cancels/;

const call = { id: 'c0', type: 'function', function: { name: 'add', arguments: '{"a":1}' } };
const RECORD = {
  messages: [
    { role: 'user', content: 'add one' },
    { role: 'assistant', content: 'I add.', tool_calls: [call] },
    { role: 'tool', tool_call_id: 'c0', content: '2' },
    { role: 'assistant', content: 'It is two.' },
  ],
};

test('a takes the agent that made the rollout; its branch is below the original, and is found again', async () => {
  model = await scriptedModel(() => ({ text: 'It is exactly two.' }));
  await open({ '1.jsonl': [RECORD] }, ['--model-url', model.url, '--model', 'qwen'], { rows: 50, columns: 150 });
  app.press('l', 'l', 'a');
  await app.sees('continue from t3 with qwen');
  app.press('a');
  app.type(`${agent}\r`);
  await app.sees('here, with all your rights: continue from t3 with the agent');
  expect(model.requests).toHaveLength(0);
  app.press('Enter');
  await app.sees(/▾ branch 0 from t3, /);
  await app.sees('It is exactly two.');
  expect(model.requests).toHaveLength(1);
  app.press('q');
  await app.exits();
  await reopen([], { rows: 50, columns: 150 });
  app.press('G');
  await app.sees(/▸ branch 0 from t3, /);
});

/** Continues from the last reply with the agent, in an environment that makes it misbehave. */
async function runAgent(setting: string, url: string): Promise<void> {
  const live = ['--model-url', url, '--model', 'qwen', '--agent', `${setting} ${agent}`];
  await open({ '1.jsonl': [RECORD] }, live, { rows: 50, columns: 150 });
  app.press('l', 'l', 'a');
  await app.sees(`with the agent ${setting}`);
  app.press('Enter');
}

test('an agent that goes another way is stopped, and the two are side by side', async () => {
  model = await scriptedModel(() => ({ text: 'never' }));
  await runAgent('WRONG=1', model.url);
  await app.sees(/1:1 score –.* and .*-t3-/);
  await app.sees('went another way before t3: the request for t3, in its message 2');
  expect(model.requests).toHaveLength(0);
});

test('^c stops an agent that hangs', async () => {
  model = await scriptedModel(() => ({ text: 'never' }));
  await runAgent('HANG=1', model.url);
  await app.sees(RUNNING);
  app.press('ctrl+c');
  await app.sees('cancelled');
  await app.seesNot(RUNNING);
});
