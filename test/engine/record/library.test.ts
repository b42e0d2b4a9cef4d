import { createServer } from 'node:http';
import { expect, test } from 'vitest';
import { Dump } from '../../../src/core/dump/dump.ts';
import { startRecording } from '../../../src/engine/record/library.ts';
import { directoryWith } from '../../program.ts';

test('a program records what goes by, names its rollouts and gives them scores', async () => {
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(
      JSON.stringify({ choices: [{ finish_reason: 'stop', message: { role: 'assistant', content: 'yes' } }] }),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const out = directoryWith({});
  const recording = await startRecording({
    out,
    modelUrl: `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`,
  });
  try {
    const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'is it?' }] });
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(`${recording.urlOf('one')}/v1/chat/completions`, { method: 'POST', headers, body });
    expect(answer.status).toBe(200);
    await answer.text();
    expect(recording.reward('none', { score: 1 })).toBe(false);
    expect(recording.reward('one', { score: 0.5 })).toBe(true);
  } finally {
    await recording.close();
    server.closeAllConnections();
    server.close();
  }
  const dump = Dump.open([out]);
  const [file] = dump.files;
  await file?.buildIndex(() => true);
  const rollout = file?.read(0).rollout;
  dump.close();
  expect([rollout?.uid, rollout?.score, rollout?.turns.map(({ text }) => text)]).toEqual([
    'one',
    0.5,
    ['is it?', 'yes'],
  ]);
});

test('an invalid address is a TypeError', async () => {
  await expect(startRecording({ out: directoryWith({}), modelUrl: 'nowhere' })).rejects.toThrow(TypeError);
});
