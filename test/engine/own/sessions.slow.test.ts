// Sessions in numbers, and a server of sessions that is killed in the middle of a run.
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { mapOrdered } from '../../../src/core/async/map-ordered.ts';
import { SessionClient } from '../../../src/sandbox/sessions/client.ts';
import { bin, directoryWith, rolloutViewer } from '../../program.ts';
import { dumpLines } from '../../support/dump-lines.ts';
import { countOf } from '../../support/tier.ts';
import { scriptedModel } from '../scripted-model.ts';

const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

/** Our server of sessions as a process, once it listens. */
async function server(args: readonly string[]): Promise<{ child: ChildProcess; url: string }> {
  const child = spawn(process.execPath, [bin, 'sandbox', ...args], { stdio: ['ignore', 'ignore', 'pipe'] });
  children.push(child);
  let said = '';
  child.stderr!.on('data', (text: Buffer) => {
    said += text;
  });
  await expect.poll(() => said).toMatch(/listening on http/);
  return { child, url: /listening on (\S+)/.exec(said)![1]! };
}

const squares = () => {
  const test = [1, 2, 3].map((n) => ({ input: { stdin: `${n}` }, output: { stdout: `${n * n}` } }));
  return directoryWith({ 'squares.jsonl': JSON.stringify({ id: 7, content: 'Square', test, labels: {} }) });
};

describe('sessions on our server', () => {
  const AT_ONCE = countOf(48, 512);
  const OPENED = countOf(1000, 20_000);

  test(`${OPENED} opened, ${AT_ONCE} that act at once, each in its own files`, async () => {
    const { url } = await server(['--port', '0']);
    const client = new SessionClient({ endpoint: url });
    const rows = Array.from({ length: OPENED }, (_, index) => `row-${index}`);
    const sids = await mapOrdered(rows, (row) => client.startInstance(row), { concurrency: AT_ONCE });
    expect(new Set(sids).size).toBe(OPENED);
    const acting = sids.filter((_, index) => index % Math.floor(OPENED / AT_ONCE) === 0).slice(0, AT_ONCE);
    const act = (sid: string, code: string) => client.processAction(sid, `\`\`\`bash\n${code}\n\`\`\``);
    const first = await Promise.all(acting.map((sid) => act(sid, `echo ${sid} > mine.txt`)));
    expect(first.filter(({ error }) => error !== null).map(({ error }) => error!.message)).toEqual([]);
    const second = await Promise.all(acting.map((sid) => act(sid, 'cat mine.txt')));
    expect(second.map(({ content }) => content.trim())).toEqual(acting);
    const ended = await mapOrdered(sids, async (sid) => (await client.postprocess(sid)).error, {
      concurrency: AT_ONCE,
    });
    expect(ended.filter((error) => error !== null)).toEqual([]);
  });

  test('a killed one answers 404 with a reason for what it has lost, and the run makes those rollouts again', async () => {
    const data = join(squares(), 'squares.jsonl');
    const { child, url } = await server(['--port', '0', '--dataset', `squares=${data}`]);
    const { port } = new URL(url);
    let turns = 0;
    const model = await scriptedModel(async ({ messages }) => {
      // The first turns have been played when it is killed.
      if (++turns === 7) {
        child.kill('SIGKILL');
        await server(['--port', port, '--dataset', `squares=${data}`]);
      }
      return { text: messages.length < 3 ? '```python\nprint(1)\n```' : '```python\nprint(int(input()) ** 2)\n```' };
    });
    const tasks = directoryWith({
      'tasks.jsonl': '{"prompt": [{"role": "user", "content": "Square"}], "data_source": "swedev", "instance_id": 7}\n',
    });
    const out = join(tasks, 'dump');
    const { code, stderr } = await rolloutViewer([
      ...['rollout', join(tasks, 'tasks.jsonl'), '--model-url', model.url, '--model', 'm', '--out', out],
      ...['--session-url', url, '-n', '6', '--max-assistant-turns', '2'],
    ]);
    await model.close();
    expect(stderr).toMatch(/no session \d+: this server began at .*made again|cannot reach the sandbox.*made again/);
    expect(stderr).toContain('6 of 6 rollouts');
    expect(code).toBe(0);
    const records = dumpLines(join(out, '1.jsonl'));
    expect(records.map(({ score }) => score)).toEqual([1, 1, 1, 1, 1, 1]);
  });
});
