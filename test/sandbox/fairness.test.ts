// Places among clients, on a backend that runs and ends on command.
import { describe, expect, test } from 'vitest';
import { type Backend, DEFAULT_RUN_LIMITS, type Job, type Outcome } from '../../src/sandbox/server/backends/backend.ts';
import { setClient } from '../../src/sandbox/server/clients.ts';
import { Places } from '../../src/sandbox/server/places.ts';

const OUTCOME: Outcome = { compile: null, run: null, files: new Map() };

function stage(options: { processors?: number; most?: number; maxQueue?: number; memory?: number }) {
  const begun: { client: string; end: () => void }[] = [];
  const backend: Backend = {
    name: 'bubblewrap',
    languages: new Set(['python']),
    limits: new Set(),
    execute: (job) => new Promise((resolve) => begun.push({ client: String(job.code), end: () => resolve(OUTCOME) })),
    close: async () => {},
  };
  const places = new Places({ processors: 2, most: 64, memory: 2 ** 40, maxQueue: 1000, ...options });
  const { execute } = places.before(backend);
  const ask = (client: string): Promise<Outcome> => {
    const { signal } = new AbortController();
    setClient(signal, client);
    const job: Job = {
      language: 'python',
      code: client,
      stdin: null,
      files: new Map(),
      fetchFiles: [],
      compileTimeout: 1,
      runTimeout: 1,
      limits: DEFAULT_RUN_LIMITS,
    };
    return execute(job, signal);
  };
  const settled = () => new Promise((resolve) => setImmediate(resolve));
  const names = () => begun.map(({ client }) => client);
  return { places, ask, begun, names, settled };
}

describe('places are shared by client', () => {
  test('clients have turns, whoever asked more', async () => {
    const { ask, begun, names, settled } = stage({ processors: 1 });
    const asked = [...Array.from({ length: 50 }, () => ask('flood')), ask('one'), ask('two'), ask('one')];
    await settled();
    for (let ended = 0; ended < 8; ended++) {
      begun[ended]?.end();
      await settled();
      await settled();
    }
    // Two fit at once; then each client in its turn.
    expect(
      names()
        .slice(0, 8)
        .filter((name) => name !== 'flood'),
    ).toEqual(['one', 'two', 'one']);
    for (let at = 0; at < begun.length; at++) {
      begun[at]?.end();
      await settled();
      await settled();
    }
    await Promise.all(asked);
    expect(begun.length).toBe(53);
  });

  test('of many places one client leaves a quarter to others', async () => {
    const { ask, names, settled } = stage({ processors: 1000, most: 64 });
    for (let asked = 0; asked < 100; asked++) void ask('flood');
    await settled();
    expect(names().length).toBe(48);
    void ask('one');
    await settled();
    expect(names().at(-1)).toBe('one');
  });

  test('of few places one client may have all', async () => {
    const { ask, names, settled } = stage({ processors: 1000, most: 4 });
    for (let asked = 0; asked < 6; asked++) void ask('one');
    await settled();
    expect(names().length).toBe(4);
  });

  test('a queue that one client fills has room for another', async () => {
    const { ask, places, settled } = stage({ processors: 0.5, most: 1, maxQueue: 40 });
    const refused = await Promise.all(
      Array.from({ length: 60 }, () =>
        Promise.race([
          ask('flood').then(
            () => 'ran',
            (error: Error) => error.message,
          ),
          settled().then(() => 'waits'),
        ]),
      ),
    );
    expect(refused.filter((said) => String(said).startsWith('the queue is full')).length).toBe(29);
    expect(places.waiting).toBe(30);
    void ask('one');
    await settled();
    expect(places.waiting).toBe(31);
  });

  test('memory that others are thought to take keeps no newcomer out', async () => {
    const { ask, names, settled } = stage({ processors: 1000, memory: 256 * 2 ** 20 });
    for (let asked = 0; asked < 10; asked++) void ask('flood');
    await settled();
    expect(names().length).toBe(4);
    void ask('one');
    await settled();
    expect(names().at(-1)).toBe('one');
  });
});
