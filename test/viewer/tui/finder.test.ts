import { afterEach, describe, expect, test } from 'vitest';
import { Dump } from '../../../src/core/dump/dump.ts';
import { LONG_RECORD } from '../../../src/core/dump/long-record.ts';
import type { Data } from '../../../src/viewer/tui/rows/data.ts';
import { allRows } from '../../../src/viewer/tui/rows/rows.ts';
import { Finder } from '../../../src/viewer/tui/runner/finder.ts';
import type { FindReport } from '../../../src/viewer/tui/state/action.ts';
import type { FindJob } from '../../../src/viewer/tui/state/find.ts';
import { initialState } from '../../../src/viewer/tui/state/state.ts';
import { toolRollout, writeDump } from '../../support/dump.ts';

let remove = (): void => {};
let dump: Dump;
afterEach(() => {
  dump.close();
  remove();
});

/** An indexed dump without a parsed record: a search has to parse. */
async function opened(records: readonly object[]): Promise<void> {
  const written = writeDump({ '1.jsonl': records });
  remove = written.remove;
  dump = Dump.open([written.dir]);
  await dump.index(dump.files[0]!);
}

async function seek(job: FindJob): Promise<{ record: number | null; nth: number }> {
  const news: FindReport[] = [];
  const seeker = new Finder({
    data: { dump, rows: () => allRows(dump.files) } as unknown as Data,
    state: () => initialState(80, 24),
    report: (one) => news.push(one),
  });
  await seeker.start(job);
  const last = news.at(-1)!;
  if (last.type !== 'found') throw new Error('nothing was found');
  return { record: last.place?.record ?? null, nth: last.nth };
}

const at = (record: number) => ({ file: dump.files[0]!, record });
const fine = (keys: object = {}): object => ({ ...toolRollout(1, 1, 1), ...keys });
const failed = (): object =>
  fine({ output: (toolRollout(1, 1, 0) as { output: string }).output.replace('\n99\n', '\nno stdout here\n') });

describe('a search over records that nobody looked at yet', () => {
  test('finds the next one with an error, forth and back, and counts over records', async () => {
    await opened([failed(), fine(), failed(), fine(), failed()]);
    expect(await seek({ kind: 'landmark', landmark: 'error', from: at(0), by: 1 })).toEqual({ record: 2, nth: 1 });
    expect(await seek({ kind: 'landmark', landmark: 'error', from: at(0), by: 2 })).toEqual({ record: 4, nth: 1 });
    expect(await seek({ kind: 'landmark', landmark: 'error', from: at(4), by: -1 })).toEqual({ record: 2, nth: 1 });
    // Fewer than were asked for: as far as it goes.
    expect(await seek({ kind: 'landmark', landmark: 'error', from: at(4), by: -9 })).toEqual({ record: 0, nth: 1 });
    expect(await seek({ kind: 'landmark', landmark: 'error', from: at(4), by: 1 })).toEqual({ record: null, nth: 0 });
  });

  test('in records that a thread reads as well', async () => {
    const long = { filler: 'x'.repeat(1_600_000) };
    await opened([fine(), { ...failed(), ...long }, fine({ ...long, uid: 'bb-1' }), fine({ uid: 'bb-2' })]);
    expect(dump.files[0]!.index.length(1)).toBeGreaterThan(LONG_RECORD);
    expect(await seek({ kind: 'landmark', landmark: 'error', from: at(0), by: 1 })).toEqual({ record: 1, nth: 1 });
    expect(await seek({ kind: 'landmark', landmark: 'error', from: at(1), by: 1 })).toEqual({ record: null, nth: 0 });
    expect((await seek({ kind: 'id', id: 'bb-1', from: at(0) })).record).toBe(2);
    expect((await seek({ kind: 'id', id: 'bb', from: at(2) })).record).toBe(3);
  });

  test('an id is looked for behind the cursor, then from the beginning; one that only the text holds does not count', async () => {
    await opened([
      fine({ uid: 'aa-1' }),
      fine({ output: 'the id aa-2 is not mine' }),
      fine({ request_id: 'aa-3' }),
      fine({ uid: 'ü-4' }),
    ]);
    expect((await seek({ kind: 'id', id: 'aa', from: at(0) })).record).toBe(2);
    expect((await seek({ kind: 'id', id: 'aa', from: at(2) })).record).toBe(0);
    expect((await seek({ kind: 'id', id: 'aa-1', from: at(0) })).record).toBe(0);
    expect((await seek({ kind: 'id', id: 'ü', from: null })).record).toBe(3);
    expect((await seek({ kind: 'id', id: 'aa-2', from: at(1) })).record).toBe(null);
  });

  test('is over when it is cancelled, without a word', async () => {
    await opened(Array.from({ length: 3000 }, () => fine()));
    const news: FindReport[] = [];
    const seeker = new Finder({
      data: { dump, rows: () => allRows(dump.files) } as unknown as Data,
      state: () => initialState(80, 24),
      report: (one) => news.push(one),
    });
    const done = seeker.start({ kind: 'landmark', landmark: 'reward', from: at(0), by: 1 });
    seeker.cancel();
    await done;
    expect(news.some(({ type }) => type === 'found')).toBe(false);
  });
});
