import { readdirSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { worldProblem } from '../../../src/sandbox/worlds/problem.ts';
import { directoryWith, rolloutViewer } from '../../program.ts';

const skips = (await worldProblem()) !== null;

type Called = readonly [name: string, args: object];

/** Calls that keep and lose the state of a shell, fail, run too long, print bytes, and edit. */
const CALLS: readonly (readonly Called[])[] = [
  [['bash', { command: 'mkdir -p /tmp/rvf && cd /tmp/rvf && export X=5 && f() { echo f$1; }' }]],
  [['bash', { command: 'pwd; echo $X; f 2; false' }]],
  [
    ['str_replace_editor', { command: 'create', path: '/tmp/rvf/n', file_text: 'a\nb\n' }],
    ['bash', { command: 'cat /tmp/rvf/n; echo err >&2; exit 3' }],
  ],
  [['bash', { command: "echo $X; pwd; printf 'no newline'" }]],
  [['str_replace_editor', { command: 'str_replace', path: '/tmp/rvf/n', old_str: 'b', new_str: 'c' }]],
  [['str_replace_editor', { command: 'undo_edit', path: '/tmp/rvf/n' }]],
  [['bash', { command: 'echo begin; sleep 60' }]],
  [['bash', { command: "cat /tmp/rvf/n; printf '\\xff\\r\\n'; seq 3000" }]],
];

describe.skipIf(skips)('rollouts made in a world (skipped where no world can be made)', () => {
  let server: Server;
  let modelUrl = '';
  /** Replies before those of the script. */
  let before = 0;

  beforeAll(async () => {
    server = createServer(async (request, response) => {
      let body = '';
      for await (const part of request) body += String(part);
      const { messages } = JSON.parse(body) as { messages: { role: string }[] };
      const at = messages.filter(({ role }) => role === 'assistant').length;
      const calls = CALLS[at - before];
      const toolCalls = calls?.map(([name, args], i) => ({
        ...{ id: `c${at}-${i}`, type: 'function', function: { name, arguments: JSON.stringify(args) } },
      }));
      const message = { role: 'assistant', content: calls ? '' : 'done', ...(toolCalls && { tool_calls: toolCalls }) };
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ choices: [{ index: 0, finish_reason: calls ? 'tool_calls' : 'stop', message }] }));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    modelUrl = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/v1`;
  });
  afterAll(() => server.close());

  const made = async (...args: string[]) => {
    const out = join(directoryWith({}), 'out');
    const { code, stderr } = await rolloutViewer([
      ...args,
      ...['--image', 'host', '--yes', '--model-url', modelUrl, '--model', 'm', '--out', out],
    ]);
    expect([0, 1], stderr).toContain(code);
    const name = readdirSync(out).find((one) => one.endsWith('.jsonl'));
    return `${join(out, name ?? '')}:1`;
  };
  const verdicts = async (locator: string) => {
    const { stdout } = await rolloutViewer(['replay', locator, '--image', 'host', '--yes', '--json']);
    return stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
      .map(({ call, verdict, reason }) =>
        ['same', 'normalised'].includes(verdict) ? 'same' : `${call} ${verdict}: ${reason}`,
      );
  };
  const count = CALLS.flat().length;

  test('what `rollout --image` records replays to the same', async () => {
    before = 0;
    const tasks = join(directoryWith({ 'tasks.jsonl': '{"prompt":"Go."}\n' }), 'tasks.jsonl');
    const locator = await made('rollout', tasks, '--workdir', '/tmp', '--time-limit', '3');
    expect(await verdicts(locator)).toEqual(Array(count).fill('same'));
  });

  test.each(['tool', 'user'])(
    'so does a branch of `fork --image`, whose first results came from a %s',
    async (role) => {
      before = 1;
      const call = {
        id: 'c0',
        type: 'function',
        function: { name: 'bash', arguments: '{"command":"cd /tmp; echo one"}' },
      };
      const editor = {
        ...call,
        id: 'c1',
        function: { name: 'str_replace_editor', arguments: '{"command":"view","path":"/no"}' },
      };
      const view = 'ERROR:\nInvalid `path` parameter: /no. The path /no does not exist. Please provide a valid path.';
      const messages =
        role === 'tool'
          ? [
              { role: 'assistant', content: null, tool_calls: [call, editor] },
              { role: 'tool', tool_call_id: 'c0', content: 'one\n' },
              { role: 'tool', tool_call_id: 'c1', content: view },
            ]
          : [
              { role: 'assistant', content: 'Look.\n\n```bash\ncd /tmp; echo one\n```' },
              { role: 'user', content: '<returncode>0</returncode>\n<output>\none\n</output>' },
            ];
      const record = {
        messages: [{ role: 'user', content: 'Go.' }, ...messages, { role: 'assistant', content: 'done' }],
      };
      const dump = directoryWith({ 'r.jsonl': `${JSON.stringify(record)}\n` });
      const turn = messages.length + 1;
      const locator = await made(
        'fork',
        `${join(dump, 'r.jsonl')}:1#t${turn}`,
        '--workdir',
        '/tmp',
        '--time-limit',
        '3',
      );
      const all = await verdicts(locator);
      // The agent whose results come from a user has no editor: its calls were refused, and are not run.
      const isRefused = (one: string) => role === 'user' && one.endsWith('skipped: the call was refused then');
      expect(all.filter((one) => one !== 'same' && !isRefused(one))).toEqual([]);
      expect(all.length).toBeGreaterThan(CALLS.length);
    },
  );
});
