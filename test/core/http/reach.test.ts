import { createServer, type Server } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { reachModel } from '../../../src/core/http/reach.ts';

let server: Server | null = null;
afterEach(() => {
  server?.close();
  server = null;
});

const listen = (port = 0): Promise<number> =>
  new Promise((resolve) => {
    server = createServer((socket) => socket.destroy());
    server.listen(port, '127.0.0.1', () => resolve((server!.address() as { port: number }).port));
  });

/** A port that nothing listens on. */
async function freePort(): Promise<number> {
  const port = await listen();
  await new Promise((resolve) => server!.close(resolve));
  return port;
}

describe('a model server', () => {
  it('that listens is there at once, and nothing is said', async () => {
    const told: string[] = [];
    await reachModel(`http://127.0.0.1:${await listen()}/v1`, { seconds: 5, onWait: (text) => told.push(text) });
    expect(told).toEqual([]);
  });

  it('that does not is named with its address and what to do', async () => {
    const url = `http://127.0.0.1:${await freePort()}/v1`;
    const told: string[] = [];
    await expect(reachModel(url, { seconds: 0.6, onWait: (text) => told.push(text) })).rejects.toThrow(
      new RegExp(`--model-url ${url}: connect ECONNREFUSED .*start it, or name another address`),
    );
    expect(told).toEqual([expect.stringContaining(`${url}: connect ECONNREFUSED`)]);
  });

  it('that starts a moment later is waited for', async () => {
    const port = await freePort();
    const onWait = () => void listen(port);
    await reachModel(`http://127.0.0.1:${port}/v1`, { seconds: 120, onWait });
  });

  it('is no longer waited for once that is broken off', async () => {
    const stop = new AbortController();
    const waiting = reachModel(`http://127.0.0.1:${await freePort()}/v1`, {
      seconds: 60,
      signal: stop.signal,
      onWait: () => stop.abort(new Error('enough')),
    });
    await expect(waiting).rejects.toThrow('enough');
  });
});
