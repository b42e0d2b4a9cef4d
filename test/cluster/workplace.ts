// A model and a sandbox with latency on loopback, and a run of rollouts that use both.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { scriptedModel } from '../engine/scripted-model.ts';
import { directoryWith } from '../program.ts';
import { dumpLines } from '../support/dump-lines.ts';

export const TASKS = 40;
export const N = 2;
export const CAP = 3;

/** The most that was in flight at once, since it was set to 0. */
export interface Busiest {
  sandbox: number;
  model: number;
}

/** SandboxFusion's `/run_code`, as far as `print(N)` goes. No `print(N)` ends before `opened`. */
export async function slowSandbox(busiest: Busiest, milliseconds = 40, opened?: Promise<void>) {
  let inFlight = 0;
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const part of request) body += part;
    busiest.sandbox = Math.max(busiest.sandbox, ++inFlight);
    await new Promise((resolve) => setTimeout(resolve, milliseconds));
    const { code } = JSON.parse(body);
    if (code.startsWith('print(')) await opened;
    inFlight--;
    const stdout = `${/\d+/.exec(code)}\n`;
    const run_result = { status: 'Finished', execution_time: 0, return_code: 0, stdout, stderr: '' };
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ status: 'Success', run_result }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    inFlight: () => inFlight,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

/**
 * Calls `code_interpreter` with the task's number, and gives what it prints as the answer.
 * @param together it answers nobody before so many ask at once
 */
export async function slowModel(busiest: Busiest, delay = 20, together = 1) {
  let inFlight = 0;
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return scriptedModel(
    async ({ messages, tools }) => {
      busiest.model = Math.max(busiest.model, ++inFlight);
      if (inFlight >= together) open();
      await opened;
      await new Promise((resolve) => setTimeout(resolve, delay));
      inFlight--;
      const last = messages.at(-1);
      const isAnswered = messages.some(({ role }: { role: string }) => role === 'assistant');
      if (isAnswered) return { text: `#### ${/\d+/.exec(last.content)}` };
      const code = `print(${/\d+/.exec(last.content)})`;
      // An agent reads the calls in the text.
      if (!tools)
        return {
          text: `<tool_call>\n${JSON.stringify({ name: 'code_interpreter', arguments: { code } })}\n</tool_call>`,
        };
      return { calls: [{ name: 'code_interpreter', arguments: JSON.stringify({ code }) }] };
    },
    { keepRequests: false },
  );
}

export interface Places {
  redis: string;
  model: string;
  sandbox: string;
  /** The time of a program; a real one may need more on a busy machine. */
  seconds?: number;
}

let runs = 0;
/** A separate run: its folder, its keys at the Redis, and the same run without a queue. */
export function workplace({ redis, model, sandbox, seconds = 2 }: Places, files: Record<string, string> = {}) {
  const folder = directoryWith({
    'tasks.jsonl': Array.from({ length: TASKS }, (_, at) =>
      JSON.stringify({ prompt: String(at), ground_truth: String(at), data_source: 'gsm8k' }),
    ).join('\n'),
    'tools.yaml': `tools: [{class_name: code_interpreter, config: {sandbox_fusion_url: "${sandbox}", num_workers: 64, rate_limit: ${CAP}, default_timeout: ${seconds}}}]`,
    ...files,
  });
  const url = `${redis}?prefix=test${process.pid}-${runs++}`;
  const args = [
    ...['rollout', 'tasks.jsonl', '--model', 'm', '--model-url', model, '--tools', 'tools.yaml'],
    ...['-n', String(N), '--concurrency', '64'],
  ];
  return {
    folder,
    url,
    args,
    queued: [...args, '--out', 'queued', '--queue', url],
    alone: [...args, '--out', 'alone'],
    made: () => dumpLines(join(folder, 'queued/1.jsonl')).length,
    /** The lines of a dump but for times, in the order of their uids. */
    lines: (out: 'queued' | 'alone') => linesOf(join(folder, out, '1.jsonl')),
  };
}

/** The lines of a dump but for times and request ids, in the order of their uids. */
export const linesOf = (path: string) =>
  dumpLines(path)
    .map(({ request_id, started_at, duration, generations, tool_calls, ...line }) => ({
      ...line,
      generations: generations.map(({ started, duration, ...one }: Record<string, unknown>) => one),
      tool_calls: (tool_calls ?? []).map(({ started, duration, waited, ...one }: Record<string, unknown>) => one),
    }))
    .sort((a, b) => a.uid.localeCompare(b.uid));
