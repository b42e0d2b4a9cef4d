// Rollouts under way: rows that stay where they are, a transcript that grows, and the record that a finished one becomes.
import { appendFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { MONO } from '../../../src/viewer/present/theme.ts';
import { bodyPanes, pageView } from '../../../src/viewer/tui/views/panes.ts';
import { TestScreen } from '../../support/screen.ts';

let screen: TestScreen;
afterEach(() => screen.close());

const finished = (uid: string, score: number) => ({ input: 'user\nq\nassistant\n', output: 'a', score, step: 3, uid });
const ids = ['a_0_0', 'b_0_0', 'c_0_0'];

class Writer {
  readonly directory: string;
  readonly #state: string;

  constructor(directory: string) {
    this.directory = directory;
    this.#state = join(directory, '.rollout-viewer');
    mkdirSync(join(this.#state, 'live'), { recursive: true });
  }

  says(running: readonly string[], more: object = {}): void {
    const rollouts = running.map((uid) => ({
      task: ids.indexOf(uid),
      rollout: 0,
      step: 3,
      uid,
      at: 'generating',
      turns: 2,
      seconds: 5,
      quiet: 1,
      file: `3-${ids.indexOf(uid)}-0.jsonl`,
    }));
    const state = {
      time: new Date().toISOString(),
      pid: process.pid,
      host: hostname(),
      at: { generating: running.length },
    };
    writeFileSync(join(this.#state, 'live.json'), JSON.stringify({ ...state, rollouts, ...more }));
  }

  writes(uid: string, messages: readonly [role: string, content: string][], from = 0): void {
    const nodes = messages.map(([role, content], i) => ({
      parent: from + i === 0 ? null : from + i - 1,
      message: { role, content },
      sampled: role === 'assistant',
    }));
    appendFileSync(
      join(this.#state, 'live', `3-${ids.indexOf(uid)}-0.jsonl`),
      `${JSON.stringify({ trace: uid, ...(from === 0 ? { open: { id: uid }, dispatch: { step: 3 } } : {}), nodes })}\n`,
    );
  }

  ends(uid: string, score: number): void {
    rmSync(join(this.#state, 'live', `3-${ids.indexOf(uid)}-0.jsonl`), { force: true });
    appendFileSync(join(this.directory, '3.jsonl'), `${JSON.stringify(finished(uid, score))}\n`);
  }
}

async function started(): Promise<Writer> {
  screen = await TestScreen.open({ '3.jsonl': [finished('z_0_0', 0)] }, 120, 20);
  const writer = new Writer(dirname(screen.dump.files[0]!.path));
  writer.says(ids);
  for (const uid of ids) writer.writes(uid, [['user', `question of ${uid}`]]);
  screen.do({ type: 'page-open', subject: { kind: 'under-way' } });
  await looked();
  return writer;
}

/** The program's work once a second. */
async function looked(): Promise<void> {
  // The first look is the page's own.
  lines();
  await screen.data.underWay.look();
  screen.data.changed();
  screen.do({ type: 'live-changed' });
}

const scene = () => ({ state: screen.state, data: screen.data, theme: MONO, name: '' });
const plain = (line: string): string => line.replace(/\x1b\[[\d;]*m/g, '');
const lines = (): string[] => pageView(scene(), 120, 18).map(plain);
const rows = (): string[] => lines().slice(3);

describe('rollouts under way', () => {
  test('are rows; one that ends keeps its row and becomes its record, and the cursor stays on its row', async () => {
    const writer = await started();
    expect(rows().map((line) => line.slice(2, 12).trim())).toEqual(['1.1', '2.1', '3.1']);
    screen.do({ type: 'scroll', by: 1, unit: 'line' });
    writer.ends('a_0_0', 0.5);
    writer.says(['b_0_0', 'c_0_0']);
    await screen.dump.refresh(screen.dump.files[0]!);
    await looked();
    expect(rows()[0]).toMatch(/^ {2}1\.1 .*done, 0\.50/);
    expect(rows()[1]).toMatch(/^› 2\.1 .*generating/);
    screen.do({ type: 'top', line: null }, { type: 'open' });
    expect(screen.selected).toBe('3.jsonl:2');
  });

  test('are read as they grow, and read on in their record when they are finished', async () => {
    const writer = await started();
    screen.do({ type: 'scroll', by: 1, unit: 'line' }, { type: 'open' });
    await looked();
    const shown = () => screen.data.record(screen.state.list.cursor!).rollout!.turns.map(({ text }) => text);
    expect(shown()).toEqual(['question of b_0_0']);
    writer.writes('b_0_0', [['assistant', 'a first answer']], 1);
    await looked();
    expect(shown()).toEqual(['question of b_0_0', 'a first answer']);
    writer.ends('b_0_0', 1);
    writer.says(['a_0_0', 'c_0_0']);
    await looked();
    // Its file is gone and its line not yet read: what was read stays.
    expect(shown()).toEqual(['question of b_0_0', 'a first answer']);
    await screen.dump.refresh(screen.dump.files[0]!);
    await looked();
    expect(screen.selected).toBe('3.jsonl:2');
    expect(screen.state.page?.isAside).toBe(true);
  });

  test('that two rows call alike are one, and no row is lost', async () => {
    const writer = await started();
    writer.says(['a_0_0', 'a_0_0', 'b_0_0', 'c_0_0']);
    await looked();
    expect(rows()).toHaveLength(3);
  });

  test('say that their writer is gone, and say nothing where no run writes', async () => {
    const writer = await started();
    writer.says(ids, { pid: 2 ** 22 + 1, time: new Date(Date.now() - 5000).toISOString() });
    await looked();
    expect(lines()[1]).toMatch(/its writer is gone/);
    rmSync(join(writer.directory, '.rollout-viewer'), { recursive: true });
    await looked();
    expect(rows().every((line) => line.includes('ended'))).toBe(true);
  });
});

test('a transcript under way is drawn', async () => {
  const writer = await started();
  writer.writes('a_0_0', [['assistant', 'what came so far']], 1);
  screen.do({ type: 'open' });
  await looked();
  const drawn = bodyPanes(scene())
    .flatMap((pane) => pane.lines())
    .map(plain)
    .join('\n');
  expect(drawn).toContain('what came so far');
});
