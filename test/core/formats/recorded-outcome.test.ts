import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { failureOf } from '../../../src/core/rollout/tool-failure.ts';
import { rolloutsOf } from './rollouts-of.ts';

const folder = mkdtempSync(join(tmpdir(), 'recorded-outcome-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** The failed results of a file's only rollout, as `kind`, and how it ended. */
async function read(name: string, lines: readonly object[], isDocument = false) {
  const path = join(folder, name);
  writeFileSync(
    path,
    isDocument ? JSON.stringify(lines[0]) : lines.map((line) => `${JSON.stringify(line)}\n`).join(''),
  );
  const [rollout] = await rolloutsOf(path);
  const errors = rollout!.findings.filter(({ check }) => check === 'tool_error');
  return { kinds: errors.map(({ error }) => error!.kind), ended: rollout!.ended.how };
}

const call = (id: string) => ({ id, type: 'function', function: { name: 'bash', arguments: '{}' } });
const asked = (...ids: string[]) => ({ role: 'assistant', content: '', tool_calls: ids.map(call) });
const result = (id: string, content: string, more: object) => ({ role: 'tool', tool_call_id: id, content, ...more });
const miniSwe = (...messages: object[]) => ({
  trajectory_format: 'mini-swe-agent-1',
  info: { exit_status: 'Submitted', model_stats: {} },
  messages: [{ role: 'user', content: 'Fix it.' }, ...messages],
});
const acted = { role: 'assistant', content: '```bash\nls\n```', extra: { actions: [{ command: 'ls' }] } };

describe("what the writer recorded of a result is the call's outcome, whatever its text looks like", () => {
  test('flags of messages', async () => {
    const messages = [
      { role: 'user', content: 'Go.' },
      asked('a', 'b', 'c', 'd', 'e'),
      result('a', 'nothing odd', { isError: true }),
      result('b', 'Error: it only looks so', { is_error: false }),
      result('c', 'late', { error: { type: 'timeout', message: 'Command timed out' } }),
      result('d', 'Error: no note beside it', {}),
      result('e', 'Traceback (most recent call last):\nValueError: x', { status: 'error' }),
    ];
    expect((await read('messages.jsonl', [{ messages }])).kinds).toEqual(['other', 'timeout', 'rejected', 'exception']);
  });

  test('pi', async () => {
    const say = (message: object, at: number) => ({
      type: 'message',
      id: String(at),
      timestamp: '2026-01-01T00:00:00Z',
      message,
    });
    const toolCalls = ['1', '2'].map((id) => ({ type: 'toolCall', id, name: 'bash', arguments: {} }));
    const lines = [
      { type: 'session', id: 's', cwd: '/', timestamp: '2026-01-01T00:00:00Z' },
      say({ role: 'user', content: 'Go.' }, 1),
      say({ role: 'assistant', content: toolCalls, stopReason: 'toolUse' }, 2),
      say({ role: 'toolResult', toolCallId: '1', content: [{ type: 'text', text: 'no matches' }], isError: true }, 3),
      say(
        {
          role: 'toolResult',
          toolCallId: '2',
          content: [{ type: 'text', text: 'Error: 3 lines of a log' }],
          isError: false,
        },
        4,
      ),
      say({ role: 'assistant', content: [{ type: 'text', text: 'Done.' }], stopReason: 'aborted' }, 5),
    ];
    expect(await read('pi.jsonl', lines)).toEqual({ kinds: ['other'], ended: 'aborted' });
  });

  test('Claude Code', async () => {
    const line = (type: string, message: object, more: object = {}) => ({
      type,
      sessionId: 's',
      uuid: `${uuid++}`,
      message,
      ...more,
    });
    let uuid = 0;
    const use = (id: string) => ({ type: 'tool_use', id, name: 'Bash', input: {} });
    const answer = (id: string, content: string, more: object) => ({
      type: 'tool_result',
      tool_use_id: id,
      content,
      ...more,
    });
    const lines = [
      line('user', { role: 'user', content: 'Go.' }),
      line('assistant', { role: 'assistant', content: [use('a'), use('b'), use('c')] }),
      line('user', { role: 'user', content: [answer('a', '1 test failed', { is_error: true })] }),
      line('user', { role: 'user', content: [answer('b', 'Error: of a log', { is_error: false })] }),
      line(
        'user',
        { role: 'user', content: [answer('c', 'stopped', {})] },
        { toolUseResult: 'Error: interrupted by the user' },
      ),
    ];
    expect((await read('claude.jsonl', lines)).kinds).toEqual(['exception', 'other']);
    const printed = [
      { type: 'system', session_id: 's', subtype: 'init' },
      { ...lines[0], session_id: 's' },
      { ...lines[1], session_id: 's' },
      { type: 'result', session_id: 's', subtype: 'error_max_turns', is_error: true },
    ];
    expect((await read('printed.jsonl', printed)).ended).toBe('length');
  });

  test('Codex', async () => {
    const item = (payload: object) => ({ type: 'response_item', timestamp: '2026-01-01T00:00:00Z', payload });
    const event = (payload: object) => ({ type: 'event_msg', timestamp: '2026-01-01T00:00:00Z', payload });
    const ids = ['a', 'b', 'c', 'd', 'e', 'f'];
    const output = (id: string, text: string) => item({ type: 'function_call_output', call_id: id, output: text });
    const lines = [
      { type: 'session_meta', timestamp: '2026-01-01T00:00:00Z', payload: { id: 's' } },
      item({ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Go.' }] }),
      ...ids.map((id) => item({ type: 'function_call', call_id: id, name: 'shell', arguments: '{}' })),
      output('a', JSON.stringify({ output: 'no such test', metadata: { exit_code: 1, duration_seconds: 0.1 } })),
      output('b', JSON.stringify({ output: 'Error: of a log', metadata: { exit_code: 0, duration_seconds: 0.1 } })),
      output('c', 'Exit code: 124\nWall time: 10 seconds\nOutput:\ncommand timed out'),
      output('d', 'Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code 2\nOutput:\nno'),
      output('e', 'no'),
      event({ type: 'exec_command_end', call_id: 'e', exit_code: 3 }),
      output('f', 'Error: of a log'),
      event({ type: 'mcp_tool_call_end', call_id: 'f', result: { Ok: { content: [], isError: false } } }),
      event({ type: 'turn_aborted', reason: 'interrupted' }),
    ];
    expect(await read('codex.jsonl', lines)).toEqual({
      kinds: ['exception', 'timeout', 'exception', 'exception'],
      ended: 'aborted',
    });
  });

  test('Gemini CLI', async () => {
    const toolCall = (id: string, status: string, response: object) => ({
      id,
      name: 'shell',
      args: {},
      status,
      result: [{ functionResponse: { id, name: 'shell', response } }],
    });
    const chat = {
      sessionId: 's',
      projectHash: 'p',
      messages: [
        { id: '1', type: 'user', content: 'Go.' },
        {
          id: '2',
          type: 'gemini',
          content: '',
          toolCalls: [
            toolCall('a', 'error', { error: 'it broke' }),
            toolCall('b', 'success', { output: 'Error: of a log' }),
            toolCall('c', 'cancelled', { output: '' }),
          ],
        },
      ],
    };
    expect((await read('gemini.json', [chat], true)).kinds).toEqual(['other', 'other']);
  });

  test('mini-swe-agent, by the note or by the words around the output', async () => {
    const ran = (returncode: number, content: string) => ({ role: 'user', content, extra: { returncode } });
    const noted = miniSwe(
      acted,
      ran(1, 'nothing found'),
      acted,
      ran(0, 'Traceback (most recent call last):\nValueError: of a log'),
    );
    expect((await read('mini.json', [noted], true)).kinds).toEqual(['exception']);
    const said = (text: string) => ({ role: 'tool', content: text });
    const worded = miniSwe(
      acted,
      said('<returncode>1</returncode>\n<output>\nno\n</output>'),
      acted,
      said('<returncode>0</returncode>\n<output>\nError: of a log\n</output>'),
      acted,
      said('<returncode>124</returncode>\n<output>\n</output>'),
    );
    expect((await read('worded.json', [worded], true)).kinds).toEqual(['exception', 'timeout']);
  });

  test('OpenHands: a command that goes on has not failed', async () => {
    const ids = [1, 2, 3];
    const run = (id: number) => ({
      id,
      source: 'agent',
      action: 'run',
      args: { command: 'ls' },
      tool_call_metadata: { tool_call_id: `c${id}` },
    });
    const seen = (id: number, exit_code: number) => ({
      id: id + 10,
      source: 'agent',
      cause: id,
      observation: 'run',
      content: 'Error: of a log',
      extras: { metadata: { exit_code } },
      tool_call_metadata: { tool_call_id: `c${id}` },
    });
    const history = [
      { id: 0, source: 'user', action: 'message', args: { content: 'Go.' } },
      ...ids.flatMap((id) => [run(id), seen(id, [0, 2, -1][id - 1]!)]),
    ];
    expect((await read('openhands.jsonl', [{ instance_id: 'x', history }])).kinds).toHaveLength(1);
  });

  test('Inspect: a timeout is one, and a sample that broke was ended', async () => {
    const sample = {
      id: 1,
      epoch: 1,
      input: 'Go.',
      target: '',
      error: { message: 'RuntimeError: the sandbox is gone', traceback: '' },
      messages: [
        { role: 'user', content: 'Go.' },
        { role: 'assistant', content: '', tool_calls: [{ id: 'a', function: 'bash', arguments: {} }] },
        {
          role: 'tool',
          tool_call_id: 'a',
          content: '',
          error: { type: 'timeout', message: 'Command timed out before completing.' },
        },
      ],
    };
    expect(await read('sample.jsonl', [sample])).toEqual({ kinds: ['timeout'], ended: 'aborted' });
  });

  test('tau2: a flag on the result', async () => {
    const messages = [
      { role: 'user', content: 'Go.' },
      {
        role: 'assistant',
        content: '',
        tool_calls: [
          { id: 'a', name: 'book', arguments: {} },
          { id: 'b', name: 'book', arguments: {} },
        ],
      },
      { role: 'tool', id: 'a', content: 'User not found', requestor: 'assistant', error: true },
      { role: 'tool', id: 'b', content: '{"error": "as data"}', requestor: 'assistant', error: false },
    ];
    const run = { id: 'r', task_id: 't', messages, termination_reason: 'user_stop', reward_info: { reward: 1 } };
    expect(await read('tau2.jsonl', [run])).toEqual({ kinds: ['other'], ended: 'stop' });
  });
});

describe('the failures of search tools, sandboxes and networks are recognised by their words', () => {
  test.each([
    ['{"result": "Search request failed or timed out after retries."}', 'unavailable'],
    ['{"result": "Search error: API Call Failed: Connection Error (…)"}', 'unavailable'],
    ['{"result": "Search error: API Request Error: 500 Server Error"}', 'unavailable'],
    ['{"result": "Search error: API Request Exception during batch search: x"}', 'unavailable'],
    ['{"result": "Search execution failed: list index out of range"}', 'tool_failure'],
    ['{"result": "Error processing search results: x"}', 'tool_failure'],
    ['{"result": "Unknown API state (api_response is None and error_msg is None)."}', 'unavailable'],
    ['Search error: API Call Failed: Timeout', 'unavailable'],
    ['Connection refused', 'unavailable'],
    ['{"result": "Connection refused"}', 'unavailable'],
    ['[Errno 111] Connection refused', 'unavailable'],
    ['upstream connect error or disconnect/reset before headers. reset reason: connection timeout', 'unavailable'],
    ['ConnectTimeout: HTTPConnectionPool(host="x", port=80)', 'unavailable'],
    ['Exit code 1\nno such file', 'exception'],
    ['all is well\n[Command finished with exit code 2]', 'exception'],
  ])('%s', (text, kind) => expect(failureOf(text, null)?.kind).toBe(kind));

  test.each([
    '{"result": "No search results found."}',
    '{"result": "Doc 1 (Title: Search error handling)\\nHow a search error: is handled"}',
    'The page says: Connection refused',
    'all is well\n[Command finished with exit code 0]',
    'Exit code 0\nfine',
  ])('and this is not: %s', (text) => expect(failureOf(text, null)).toBe(null));
});

describe('an error that a record has of its own', () => {
  const messages = [
    { role: 'user', content: 'Go.' },
    { role: 'assistant', content: 'I begin.' },
  ];
  const ended = async (record: object) => (await read('whole.jsonl', [record])).ended;

  test('ends its rollout, unless a reason is recorded', async () => {
    expect(await ended({ messages, error: 'EngineDeadError: the worker is gone' })).toBe('aborted');
    expect(await ended({ messages, error: { type: 'Timeout', message: 'the server fell silent' } })).toBe('aborted');
    expect(await ended({ messages, error: 'lost', finish_reason: 'stop' })).toBe('stop');
    for (const error of [null, '', 'None', 0, false, {}, []]) expect(await ended({ messages, error })).toBe('unknown');
  });

  test('is the reward function’s in a dump of texts', async () => {
    const record = { input: 'user\nGo.\nassistant\n', output: 'I begin.', score: 0, step: 1, error: 'no answer found' };
    expect(await ended(record)).not.toBe('aborted');
  });

  test('is a sample’s where a log failed before it was scored', async () => {
    const sample = { id: 1, epoch: 1, input: 'Go.', target: '', messages };
    const log = (more: object, own: object = {}) =>
      read(
        'log.json',
        [{ version: 2, eval: { task: 't' }, plan: {}, samples: [{ ...sample, ...own }], ...more }],
        true,
      );
    const failed = { status: 'error', error: { message: 'the provider refused', traceback: '' } };
    expect((await log(failed)).ended).toBe('aborted');
    expect((await log({ status: 'cancelled' })).ended).toBe('aborted');
    expect((await log(failed, { scores: { match: { value: 'C' } } })).ended).not.toBe('aborted');
    expect((await log({ status: 'success' })).ended).not.toBe('aborted');
  });

  test('counts for a result before the first reply, whose words alone do not', async () => {
    const given = [
      { role: 'user', content: 'Go.' },
      asked('a', 'b'),
      result('a', 'late', { is_error: true }),
      result('b', 'Traceback (most recent call last):\nKeyError: 1', {}),
    ];
    const record = { prompt: given, completion: [{ role: 'assistant', content: 'So it is.' }], reward: 0 };
    expect((await read('given.jsonl', [record])).kinds).toHaveLength(1);
  });
});
