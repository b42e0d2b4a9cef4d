import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { rolloutsOf } from './rollouts-of.ts';

const home = mkdtempSync(join(tmpdir(), 'harbor-'));
afterAll(() => rmSync(home, { recursive: true }));

const result = {
  id: '1',
  task_name: 'hello-world',
  trial_name: 'hello-world__x',
  agent_info: { name: 'claude-code', version: '2.1' },
  verifier_result: { rewards: { reward: 1 } },
  exception_info: null,
  started_at: '2026-05-04T09:00:00Z',
  finished_at: '2026-05-04T09:10:00Z',
};
const lines = (events: readonly object[]): string => events.map((event) => `${JSON.stringify(event)}\n`).join('');

/** The rollouts of a job with one trial that holds these files. */
async function trial(name: string, files: Record<string, string>, more: object = {}) {
  const folder = join(home, name);
  const all = { 'result.json': JSON.stringify({ ...result, ...more }), 'trial.log': '', ...files };
  for (const [file, text] of Object.entries(all)) {
    const path = join(folder, 'hello-world__x', file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  return await rolloutsOf(folder);
}

const claude = (sessionId: string, texts: readonly string[], more: object = {}): object[] =>
  texts.map((text, at) => ({
    type: at % 2 === 0 ? 'user' : 'assistant',
    sessionId,
    uuid: `${sessionId}${at}`,
    parentUuid: at === 0 ? null : `${sessionId}${at - 1}`,
    timestamp: '2026-05-04T09:01:00Z',
    message: { role: at % 2 === 0 ? 'user' : 'assistant', content: [{ type: 'text', text }] },
    ...more,
  }));

describe("a trial of Harbor without a trajectory shows its agent's own session", () => {
  test('Claude Code, with a subagent, and another session that is named', async () => {
    const project = 'agent/sessions/projects/-app';
    const use = { type: 'tool_use', id: 'a', name: 'Bash', input: { command: 'ls' } };
    const failed = { type: 'tool_result', tool_use_id: 'a', content: 'no such file', is_error: true };
    const said = (type: string, uuid: string, parentUuid: string, block: object) => ({
      type,
      sessionId: 's',
      uuid,
      parentUuid,
      message: { role: type, content: [block] },
    });
    const events = [
      ...claude('s', ['Say hello.', 'I look.']),
      said('assistant', 'u', 's1', use),
      said('user', 'r', 'u', failed),
      said('assistant', 'e', 'r', { type: 'text', text: 'Hello.' }),
    ];
    const found = await trial('claude', {
      'agent/claude-code.txt': 'printed lines',
      [`${project}/s.jsonl`]: lines(events),
      [`${project}/s/subagents/agent-x.jsonl`]: lines(
        claude('s', ['Look', 'Seen'], { isSidechain: true, agentId: 'x' }),
      ),
      [`${project}/t.jsonl`]: lines(claude('t', ['a title', 'A title'])),
    });
    expect(found).toHaveLength(1);
    const [rollout] = found;
    expect(rollout?.turns.map(({ role }) => role)).toEqual(['user', 'assistant', 'assistant', 'tool', 'assistant']);
    expect(rollout).toMatchObject({
      format: 'harbor',
      score: 1,
      group: 'hello-world',
      uid: 'hello-world__x',
      lossMask: null,
    });
    expect(rollout?.findings.map(({ check }) => check)).toContain('tool_error');
    expect(rollout?.contexts?.map(({ kind, own }) => [kind, own?.turns.length])).toEqual([
      ['main', undefined],
      ['subagent', 2],
    ]);
    expect(rollout?.extras.unread_files).toEqual(['agent/sessions/projects/-app/t.jsonl']);
    const [late] = await trial(
      'late',
      { [`${project}/s.jsonl`]: lines(events) },
      { exception_info: { exception_type: 'AgentTimeoutError' }, verifier_result: null },
    );
    expect(late).toMatchObject({ score: null, ended: { how: 'aborted' } });
  });

  test('Codex', async () => {
    const item = (payload: object) => ({ type: 'response_item', timestamp: '2026-01-01T00:00:00Z', payload });
    const text = (role: string, type: string) => item({ type: 'message', role, content: [{ type, text: role }] });
    const events = [
      { type: 'session_meta', timestamp: '2026-01-01T00:00:00Z', payload: { id: 's' } },
      text('user', 'input_text'),
      text('assistant', 'output_text'),
    ];
    const [rollout] = await trial('codex', { 'agent/sessions/2026/01/01/rollout-1.jsonl': lines(events) });
    expect(rollout?.turns.map(({ role }) => role)).toEqual(['user', 'assistant']);
    expect(rollout?.score).toBe(1);
  });
});

test('a trial whose agent left nothing that can be read says so', async () => {
  const [rollout] = await trial('other', { 'agent/aider.txt': 'printed', 'agent/sessions/x.jsonl': '{"odd":1}\n' });
  expect(rollout?.turns).toMatchObject([{ role: 'unknown', isLost: true, confidence: 'unknown' }]);
  expect(rollout?.turns[0]?.text).toContain('agent/aider.txt, agent/sessions');
  expect(rollout?.score).toBe(1);
  const [nothing] = await trial('nothing', { 'verifier/reward.txt': '1' });
  expect(nothing?.turns).toEqual([]);
});
