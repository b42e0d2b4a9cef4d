import { expect } from 'vitest';

/** Waits until so many programs run on a server, and so many wait for a place. */
export const placesAre = (url: string, running: number, waiting: number): Promise<void> =>
  expect
    .poll(async () => {
      const { headers } = await fetch(`${url}/v1/ping`);
      return ['x-sandbox-running', 'x-sandbox-waiting'].map((name) => Number(headers.get(name)));
    })
    .toEqual([running, waiting]);
