import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { ConnectionError } from '../../../src/core/http/connection-error.ts';
import { exchangePatiently, retryAfterMs, retryPauseMs, withRetry } from '../../../src/core/http/retry.ts';

/** The pauses between so many tries, in ms. */
const pauses = (attempts: number, firstDelayMs: number, asked: number): number[] =>
  Array.from({ length: attempts - 1 }, (_, i) => retryPauseMs(firstDelayMs, i + 1, asked));

describe('the pause between two tries', () => {
  test('doubles, and up to half of it is left to chance', () => {
    const found = pauses(4, 1000, 0);
    expect(found).toHaveLength(3);
    for (const [i, ms] of found.entries()) {
      expect(ms).toBeGreaterThanOrEqual(500 * 2 ** i - 1);
      expect(ms).toBeLessThanOrEqual(1000 * 2 ** i + 1);
    }
  });

  test('is no longer than 30 s by itself', () => {
    for (const ms of pauses(12, 1000, 0).slice(6)) expect(ms).toBeLessThanOrEqual(30_001);
  });

  test('is the longer of back-off and Retry-After', () => {
    expect(pauses(2, 100, 7000)).toEqual([7000]);
    const [ms] = pauses(2, 20_000, 7000);
    expect(ms).toBeGreaterThanOrEqual(10_000 - 1);
  });

  test('is 120 s at the most, whatever the server asks for', () => {
    expect(pauses(2, 100, 86_400_000)).toEqual([120_000]);
  });
});

test('work is tried as often as its policy says, and a failure that no retry may fix ends it', async () => {
  for (const [retryable, tries] of [
    [() => ({ reason: 'busy', retryAfterMs: 0 }), 3],
    [() => null, 1],
  ] as const) {
    let tried = 0;
    const work = withRetry({ attempts: 3, firstDelayMs: 1, retryable }, async () => {
      tried++;
      throw new Error('busy');
    });
    await expect(work).rejects.toThrow('busy');
    expect(tried).toBe(tries);
  }
});

test.each([
  ['3', 3000],
  [' 1.5 ', 1500],
  ['Thu, 01 Jan 1970 00:01:40 GMT', 40_000],
  ['Thu, 01 Jan 1970 00:00:00 GMT', 0],
  ['soon', 0],
  [undefined, 0],
])('Retry-After: %s is %d ms', (value, ms) => expect(retryAfterMs(value, 60_000)).toBe(ms));

describe('over a real connection', () => {
  let server: Server;
  afterEach(() => void server.closeAllConnections());
  const serving = async (statuses: number[]) => {
    let asked = 0;
    server = createServer((_request, response) => {
      response.statusCode = statuses[Math.min(asked++, statuses.length - 1)]!;
      response.end(`answer ${asked}`);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, asked: () => asked };
  };
  const request = (url: string) => ({ url, method: 'GET' as const, timeoutMs: 10_000 });

  test('a busy server is asked again, a refusal is final', async () => {
    const busy = await serving([503, 429, 200]);
    expect(await exchangePatiently(request(busy.url), { attempts: 3, firstDelayMs: 1 })).toMatchObject({ status: 200 });
    const refusing = await serving([400, 200]);
    expect(await exchangePatiently(request(refusing.url), { attempts: 3, firstDelayMs: 1 })).toMatchObject({
      status: 400,
    });
    expect(refusing.asked()).toBe(1);
  });

  test('the last busy answer is the answer', async () => {
    const { url, asked } = await serving([504]);
    expect(await exchangePatiently(request(url), { attempts: 2, firstDelayMs: 1 })).toMatchObject({ status: 504 });
    expect(asked()).toBe(2);
  });

  test('an address where nobody listens fails with the number of tries', async () => {
    const { url } = await serving([200]);
    await new Promise((resolve) => server.close(resolve));
    const failed = await exchangePatiently(request(url), { attempts: 3, firstDelayMs: 1 }).catch(
      (error: Error) => error,
    );
    expect(failed).toBeInstanceOf(ConnectionError);
    expect((failed as Error).message).toMatch(/ECONNREFUSED.*\(after 3 tries\)/);
  });
});
