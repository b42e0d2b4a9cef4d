import { mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Dump } from '../../../src/core/dump/dump.ts';
import { MONO } from '../../../src/viewer/present/theme.ts';
import type { PageSubject } from '../../../src/viewer/tui/state/page.ts';
import { pageView } from '../../../src/viewer/tui/views/panes.ts';
import { smallRun, writeDump } from '../../support/dump.ts';
import { TestScreen } from '../../support/screen.ts';

const PAGES: readonly PageSubject[] = [
  { kind: 'groups', k: 1 },
  { kind: 'matrix' },
  { kind: 'charts' },
  { kind: 'chart', name: 'score' },
  { kind: 'histogram', name: 'chars' },
  { kind: 'movement' },
  { kind: 'movement', statistics: true },
  { kind: 'moved', name: 'score' },
  { kind: 'errors' },
  { kind: 'triage', n: 5, seed: 1 },
];

const asOfTau = (i: number) => ({
  task_id: i >> 1,
  trial: i & 1,
  reward: i % 3 === 0 ? 1 : 0,
  info: { task: { user_id: `u${i}`, actions: [], instruction: 'Ask.', outputs: [] } },
  traj: [
    { role: 'system', content: 'You help.' },
    { role: 'user', content: `Where is my order ${i}?` },
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: `c${i}`, type: 'function', function: { name: 'get_order', arguments: `{"id":${i}}` } }],
    },
    {
      role: 'tool',
      tool_call_id: `c${i}`,
      name: 'get_order',
      content: i % 2 ? 'Error: order not found' : 'On its way.',
    },
    { role: 'assistant', content: `Order ${i} is on its way.` },
  ],
});

const asOfVerifiers = (i: number) => ({
  example_id: i >> 1,
  prompt: [{ role: 'user', content: `Add ${i} and 1.` }],
  completion: [{ role: 'assistant', content: `It is ${i + 1}.` }],
  answer: String(i + 1),
  reward: i % 2,
  task: 'sum',
});

let dir: string;
let remove: () => void;
const facts = mkdtempSync(join(tmpdir(), 'pages-twice-'));

beforeAll(() => {
  ({ dir, remove } = writeDump({
    ...smallRun(3, 8),
    'tau/results.json': [JSON.stringify(Array.from({ length: 8 }, (_, i) => asOfTau(i)))],
    'verifiers/results.jsonl': Array.from({ length: 8 }, (_, i) => asOfVerifiers(i)),
  }));
});
afterAll(() => {
  remove();
  rmSync(facts, { recursive: true });
});

/** Every page as a screen shows it, once it knows all. */
async function pages(kept: string | null): Promise<string[]> {
  const dump = Dump.open([dir], kept === null ? {} : { facts: kept });
  const screen = await TestScreen.over(dump, () => {}, 140, 40);
  await dump.start();
  await dump.whenLooked();
  try {
    const shown: string[] = [];
    for (const subject of PAGES) {
      screen.do({ type: 'page-open', subject });
      const look = (): string =>
        pageView({ state: screen.state, data: screen.data, theme: MONO, name: '' }, 140, 38).join('\n');
      look();
      const { facts: known, workedOut, groups } = screen.data;
      while (known.isBusy || workedOut.isBusy || groups.isBusy) {
        await new Promise((resolve) => setTimeout(resolve, 2));
        look();
      }
      shown.push(look());
    }
    for (const file of dump.files) file.keep();
    await dump.whenKept();
    return shown;
  } finally {
    screen.close();
  }
}

const STATES: readonly [string, (path: string, bytes: Buffer) => void][] = [
  ['kept', (path, bytes) => writeFileSync(path, bytes, { mode: 0o600 })],
  [
    'of another version',
    (path, bytes) => {
      const other = Buffer.from(bytes);
      other.write('0'.repeat(64), bytes.toString('latin1').indexOf('"version":"') + 11, 'latin1');
      writeFileSync(path, other, { mode: 0o600 });
    },
  ],
  ['cut', (path, bytes) => truncateSync(path, bytes.length >> 1)],
  ['gone', (path) => rmSync(path)],
];

describe('a page says the same whatever became of what was kept', () => {
  let first: readonly string[];
  let whole: ReadonlyMap<string, Buffer>;
  beforeAll(async () => {
    first = await pages(null);
    expect(await pages(facts)).toEqual(first);
    whole = new Map(readdirSync(facts).map((name) => [join(facts, name), readFileSync(join(facts, name))]));
    expect(whole.size).toBeGreaterThanOrEqual(5);
  });

  test('and it has something to say', () => {
    for (const [i, text] of first.entries()) {
      expect(text, PAGES[i]?.kind).not.toContain('reading all rollouts');
      expect(text.length, PAGES[i]?.kind).toBeGreaterThan(200);
    }
    expect(first.join('\n')).toContain('get_order');
  });

  test.each(STATES)('%s', async (_, change) => {
    for (const [path, bytes] of whole) writeFileSync(path, bytes, { mode: 0o600 });
    for (const [path, bytes] of whole) change(path, bytes);
    expect(await pages(facts)).toEqual(first);
  });
});
