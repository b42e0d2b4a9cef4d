// A headless Chromium, spoken to over its own debugging protocol: a page is opened, and scripts run in it.
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { WebSocket } from 'undici';

export const chromiumPath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(
  existsSync,
);

interface Tab {
  /** The value of the script, awaited. */
  run(script: string): Promise<unknown>;
  /** Waits until the script is true. */
  until(script: string): Promise<void>;
}

export interface Browser {
  open(url: string): Promise<Tab>;
  close(): Promise<void>;
}

type Message = { id?: number; result?: Record<string, unknown>; error?: { message: string } };

export async function startChromium(): Promise<Browser> {
  const profile = mkdtempSync(join(tmpdir(), 'chromium-'));
  const flags = ['--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run'];
  const child = spawn(
    chromiumPath ?? 'chromium',
    [...flags, '--remote-debugging-port=0', `--user-data-dir=${profile}`, 'about:blank'],
    // A separate group: its helper processes are ended with it.
    { stdio: ['ignore', 'ignore', 'pipe'], detached: true },
  );
  const socket = new WebSocket(await debuggerOf(child));
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve);
    socket.addEventListener('error', reject);
  });
  const waiting = new Map<number, (message: Message) => void>();
  socket.addEventListener('message', ({ data }) => {
    const message = JSON.parse(String(data)) as Message;
    if (message.id !== undefined) waiting.get(message.id)?.(message);
  });
  let last = 0;
  const send = async (method: string, params: object, sessionId?: string): Promise<Record<string, unknown>> => {
    const id = ++last;
    const answered = new Promise<Message>((resolve) => waiting.set(id, resolve));
    socket.send(JSON.stringify({ id, method, params, ...(sessionId && { sessionId }) }));
    const { result, error } = await answered;
    if (error) throw new Error(`${method}: ${error.message}`);
    return result ?? {};
  };
  return {
    async open(url) {
      const { targetId } = await send('Target.createTarget', { url });
      const { sessionId } = await send('Target.attachToTarget', { targetId, flatten: true });
      const run = async (expression: string): Promise<unknown> => {
        const params = { expression, awaitPromise: true, returnByValue: true };
        const { result, exceptionDetails } = await send('Runtime.evaluate', params, String(sessionId));
        if (exceptionDetails) throw new Error(JSON.stringify(exceptionDetails));
        return (result as { value?: unknown }).value;
      };
      const until = async (script: string): Promise<void> => {
        while (!(await run(script))) await new Promise((resolve) => setTimeout(resolve, 50));
      };
      return { run, until };
    },
    async close() {
      socket.close();
      const ended = new Promise((resolve) => child.once('exit', resolve));
      if (child.exitCode !== null || child.signalCode !== null) return;
      process.kill(-child.pid!, 'SIGKILL');
      await ended;
      // The profile goes with the folder of all tests: a process that is just ending may still write to it.
    },
  };
}

function debuggerOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`chromium ended with ${code}`)));
    createInterface({ input: child.stderr! }).on('line', (line) => {
      const url = /DevTools listening on (ws:\S+)/.exec(line)?.[1];
      if (url !== undefined) resolve(url);
    });
  });
}
