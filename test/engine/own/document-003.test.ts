// The session protocol of the design document, from the command line, against services that take it literally.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { parseJson } from '../../../src/core/json/parse.ts';
import { directoryWith, rolloutViewer } from '../../program.ts';
import { dumpLines } from '../../support/dump-lines.ts';
import { scriptedModel } from '../scripted-model.ts';

// biome-ignore lint/suspicious/noExplicitAny: lines of a dump and requests, looked into freely.
type Line = any;

const SID = '5671949450826943757';
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

interface Service {
  url: string;
  /** Path and body of each request, in order. */
  seen: { path: string; text: string }[];
}

/** Answers 422 to whatever comes without its sid; `lost` answers 404 to actions, as a service that was started again. */
async function service(options: { sid?: string; lost?: boolean; reward?: object } = {}): Promise<Service> {
  const { sid = SID, lost = false, reward = { reward: 0.9, f2p_count: 9, f2p_total: 10 } } = options;
  const seen: Service['seen'] = [];
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const text = Buffer.concat(parts).toString();
    const path = request.url!;
    seen.push({ path, text });
    const answer = (status: number, body: object) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    if (path === '/start_instance') return answer(200, { sid });
    const given = (parseJson(text) as { sid?: unknown }).sid;
    if (String(given) !== sid) return answer(422, { detail: 'sid is missing' });
    if (path === '/process_action') {
      return lost ? answer(404, { detail: `no session ${sid}` }) : answer(200, { content: 'No errors found in test.' });
    }
    if (path === '/postprocess') return answer(200, {});
    return path === '/compute_reward' ? answer(200, reward) : answer(404, {});
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => {
    server.close();
    server.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

async function play(tasks: string, args: readonly string[], turns: readonly string[]) {
  const model = await scriptedModel(({ messages }) => {
    const spoken = messages.filter(({ role }: { role: string }) => role === 'assistant').length;
    return { text: turns[Math.min(spoken, turns.length - 1)]! };
  });
  closing.push(() => model.close());
  const folder = directoryWith({ 'tasks.jsonl': tasks });
  const out = join(folder, 'dump');
  const ended = await rolloutViewer([
    ...['rollout', join(folder, 'tasks.jsonl'), '--model-url', model.url, '--model', 'm', '--out', out, ...args],
  ]);
  let records: Line[] = [];
  try {
    records = dumpLines(join(out, '1.jsonl'));
  } catch {
    // No rollout was kept.
  }
  return { ...ended, records, out };
}

const TASK = `{"prompt": [{"role": "user", "content": "q"}], "data_source": "swedev", "instance_id": 3864552457764042195}\n`;

describe('a session as the environment', () => {
  test('starts with the instance, acts with each turn, and ends with postprocess and compute_reward', async () => {
    const { url, seen } = await service();
    const { code, records, stderr } = await play(
      TASK,
      ['--session-url', url, '--session-stop', 'DONE'],
      ['def solve():\n    pass', 'look again', 'DONE'],
    );
    expect(stderr).toContain('mean score 0.900');
    expect(code).toBe(0);
    expect(seen.map(({ path }) => path)).toEqual([
      '/start_instance',
      '/process_action',
      '/process_action',
      '/postprocess',
      '/compute_reward',
    ]);
    expect(seen[0]!.text).toBe('{"instance_hash":3864552457764042195}');
    expect(JSON.parse(seen[1]!.text).content).toBe('def solve():\n    pass');
    const [record] = records;
    expect(record).toMatchObject({ score: 0.9, sid: SID, status: 'SUCCEEDED', finish_reason: 'stop' });
    expect(record.reward).toMatchObject({
      name: 'session',
      metadata: { sid: SID, f2p_count: 9, f2p_total: 10, response: { reward: 0.9 } },
    });
    expect(record.messages.map(({ role, content }: Line) => [role, content])).toEqual([
      ['user', 'q'],
      ['assistant', 'def solve():\n    pass'],
      ['user', 'No errors found in test.'],
      ['assistant', 'look again'],
      ['user', 'No errors found in test.'],
      ['assistant', 'DONE'],
    ]);
    const masked = record.spans.filter(({ trained }: Line) => !trained);
    const observation = masked.find(
      ({ field, turn, kind }: Line) => field === 'output' && turn === 2 && kind === 'text',
    );
    expect(record.output.slice(observation.start, observation.end)).toBe('No errors found in test.');
  });

  test('sends the last turn that the limit allows, too', async () => {
    const { url, seen } = await service();
    const { records } = await play(TASK, ['--session-url', url, '--max-assistant-turns', '1'], ['print(1)']);
    expect(seen.map(({ path }) => path)).toEqual([
      '/start_instance',
      '/process_action',
      '/postprocess',
      '/compute_reward',
    ]);
    expect(records[0].messages).toHaveLength(2);
    expect(records[0].status).toBe('MAX_STEPS_REACHED');
  });

  test('takes several services in turn, each for the whole life of a session', async () => {
    const services = [await service({ sid: '1' }), await service({ sid: '2', reward: { f2p_count: 1, f2p_total: 4 } })];
    const { records } = await play(
      TASK,
      [...services.flatMap(({ url }) => ['--session-url', url]), '-n', '4', '--max-assistant-turns', '2'],
      ['a', 'b'],
    );
    expect(records.map(({ score, sid }) => [sid, score]).sort()).toEqual([
      ['1', 0.9],
      ['1', 0.9],
      ['2', 0.25],
      ['2', 0.25],
    ]);
    for (const { seen } of services) expect(seen.filter(({ path }) => path === '/compute_reward')).toHaveLength(2);
  });

  test('that is lost is no rollout: it is reported, and made again', async () => {
    const { url } = await service({ lost: true });
    const { code, records, stderr } = await play(TASK, ['--session-url', url], ['a']);
    expect(records).toEqual([]);
    expect(stderr).toContain(`does not know session ${SID} any more`);
    expect(stderr).toContain('--resume continues');
    expect(code).toBe(1);
  });

  test('needs an instance_id, and says so before anything is asked', async () => {
    const { url, seen } = await service();
    const { code, stderr } = await play('{"prompt": "q", "data_source": "swedev"}\n', ['--session-url', url], ['a']);
    expect(code).toBe(2);
    expect(stderr).toContain('task 1: no instance_id, in the row or its extra_info; a session is started with it');
    expect(seen).toEqual([]);
  });

  test('is scored by a reward service that wants the sid, if one is named', async () => {
    const { url } = await service();
    const judge = await service({ reward: { reward: 0.4 } });
    const { records } = await play(
      TASK,
      [
        '--session-url',
        url,
        '--max-assistant-turns',
        '1',
        '--reward',
        'http',
        '--reward-url',
        `${judge.url}/compute_reward`,
      ],
      ['a'],
    );
    expect(records[0]).toMatchObject({ score: 0.4, reward: { name: 'http', metadata: { response: { reward: 0.4 } } } });
    expect(parseJson(judge.seen[0]!.text)).toMatchObject({ sid: SID, solution_str: 'a', data_source: 'swedev' });
  });
});

describe('a session as a tool that the model calls', () => {
  test("starts with the task's instance_id, and its sid is sent to the reward service", async () => {
    const { url, seen } = await service();
    const yaml = directoryWith({ 't.yaml': `tools: [{class_name: session, config: {session_url: "${url}"}}]` });
    const call = '<tool_call>\n{"name": "session", "arguments": {"content": "print(1)"}}\n</tool_call>';
    const { records } = await play(
      TASK,
      ['--tools', join(yaml, 't.yaml'), '--reward', 'http', '--reward-url', `${url}/compute_reward`],
      [call, 'done'],
    );
    expect(seen[0]!.text).toBe('{"instance_hash":3864552457764042195}');
    expect(records[0]).toMatchObject({ score: 0.9, sid: SID, reward_scores: { session: 0.9 } });
  });
});
