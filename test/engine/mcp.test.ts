// Tools of a real MCP server (@modelcontextprotocol/server-everything), over stdio and streamable HTTP, from consent to dump.
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { reachModel } from '../../src/core/http/reach.ts';
import { directoryWith, rolloutViewer, root } from '../program.ts';
import { dumpLines } from '../support/dump-lines.ts';
import { type ScriptedModel, scriptedModel } from './scripted-model.ts';

const SERVER = join(root, 'node_modules/@modelcontextprotocol/server-everything/dist/index.js');

let model: ScriptedModel;
let served: ChildProcess | null = null;
afterEach(async () => {
  await model?.close();
  served?.kill();
  served = null;
});

async function play(servers: object, calls: { name: string; arguments: string }[], flags: string[], tools = '') {
  model = await scriptedModel(({ messages }) =>
    messages.at(-1).role === 'tool'
      ? { text: 'That is it.' }
      : { text: '', calls: calls.map((one, at) => ({ id: `c${at}`, ...one })) },
  );
  const folder = directoryWith({
    'tasks.jsonl': '{"prompt": "Say it.", "ground_truth": "it", "data_source": "gsm8k"}\n',
    'servers.json': JSON.stringify({ mcpServers: servers }),
  });
  // Named by its whole path: consent must find the same file as the run does.
  const named = directoryWith({
    'tools.yaml': `tools: [{class_name: verl.tools.mcp_base_tool.MCPBaseTool, config: {type: mcp}, mcp: {mcp_servers_config_path: ${join(folder, 'servers.json')}${tools}}}]`,
  });
  const out = join(folder, 'out');
  const ended = await rolloutViewer(
    [
      ...['rollout', join(folder, 'tasks.jsonl'), '--model-url', model.url, '--model', 'm', '--out', out],
      ...['--tools', join(named, 'tools.yaml'), ...flags],
    ],
    { cwd: folder },
  );
  return { ...ended, out, tools: join(named, 'tools.yaml'), records: dumpLines(join(out, '1.jsonl')) };
}

const stdio = { everything: { command: process.execPath, args: [SERVER, 'stdio'] } };
const echo = { name: 'echo', arguments: '{"message": "hello there"}' };

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

describe('an MCP server that is a program', () => {
  it('is asked for before it runs: without a terminal it is refused with a sentence, and nothing starts', async () => {
    const folder = directoryWith({});
    const trace = join(folder, 'started');
    const program = {
      it: { command: process.execPath, args: ['-e', `require('fs').writeFileSync(${JSON.stringify(trace)}, '')`] },
    };
    const { code, stderr } = await play(program, [echo], []);
    expect(code).toBe(2);
    expect(stderr).toMatch(
      /the MCP server `.*node.*` \(.*tools\.yaml:1.*\) runs in .*, with your rights: give --yes to allow it/,
    );
    expect(existsSync(trace)).toBe(false);
  });

  it('runs its tools, and leaves with the run', async () => {
    const { code, records, stderr } = await play(stdio, [echo], ['--yes'], ', tool_selected_list: [echo]');
    expect(stderr).toContain('with your rights');
    expect(code).toBe(0);
    expect(records).toMatchObject([
      {
        tools: [{ function: { name: 'echo', parameters: { properties: { message: { type: 'string' } } } } }],
        tool_calls: [{ name: 'echo', arguments: { message: 'hello there' }, result: 'Echo: hello there', error: null }],
        metrics: { echo: [{ status: 'success' }] },
      },
    ]);
    expect(model.requests[0].tools.map((tool: { function: { name: string } }) => tool.function.name)).toEqual(['echo']);
  });

  it('runs a recorded call of its tools again', async () => {
    const { out, tools } = await play(stdio, [echo], ['--yes']);
    const again = await rolloutViewer(['replay', join(out, '1.jsonl'), '--tools', tools, '--yes', '--json']);
    expect(again.stderr).toContain('the MCP server');
    expect(JSON.parse(again.stdout)).toMatchObject({ name: 'echo', status: 'same', verdict: 'same' });
  });

  it('gives pictures to the model as parts, and to the dump as files', async () => {
    const picture = { name: 'get-tiny-image', arguments: '{}' };
    const { records, out } = await play(stdio, [picture], ['--yes']);
    const parts = records[0].messages[2].content;
    expect(parts[0]).toMatchObject({ type: 'image', kind: 'image/png', sha256: expect.any(String) });
    expect(readFileSync(join(out, parts[0].file)).length).toBe(parts[0].bytes);
    expect(readFileSync(join(out, '1.jsonl'), 'utf8')).not.toContain('base64');
    expect(model.requests[1].messages[2].content[0].image_url.url).toMatch(/^data:image\/png;base64,/);
  });

  it('reports arguments that the server refuses as the model’s error, and a missing tool at the start', async () => {
    const wrong = { name: 'get-sum', arguments: '{"a": "x"}' };
    const { records } = await play(stdio, [wrong], ['--yes']);
    expect(records[0].tool_calls[0]).toMatchObject({ fault: 'model', error: expect.stringContaining('a') });
    await model.close();
    const missing = await play(stdio, [echo], ['--yes'], ', tool_selected_list: [nothing]');
    expect(missing).toMatchObject({ code: 2, stderr: expect.stringContaining("no server has 'nothing'") });
  });
});

it('an MCP server over streamable HTTP needs no consent; one that is gone is a fault of the world', async () => {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/mcp`;
  served = spawn(process.execPath, [SERVER, 'streamableHttp'], {
    env: { ...process.env, PORT: String(port) },
    stdio: 'ignore',
  });
  await reachModel(url, { seconds: 120, signal: undefined, onWait: () => {} });
  const { records, stderr } = await play({ everything: { url } }, [echo], []);
  expect(stderr).not.toContain('with your rights');
  expect(records[0].tool_calls[0]).toMatchObject({ name: 'echo', result: 'Echo: hello there' });
  served.kill();
  await new Promise((resolve) => served!.once('exit', resolve));
  await model.close();
  const gone = await play({ everything: { url } }, [echo], []);
  expect(gone.code).toBe(2);
  expect(gone.stderr).toContain("MCP server 'everything'");
});
