// A run of the engine that is killed while somebody looks on.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { LiveRun } from '../../../src/analysis/live-run.ts';
import { Dump } from '../../../src/core/dump/dump.ts';
import { Follower } from '../../../src/core/dump/follow.ts';
import { Keymap } from '../../../src/viewer/tui/keys/keymap.ts';
import { Pages } from '../../../src/viewer/tui/pages/pages.ts';
import { underWayPage } from '../../../src/viewer/tui/pages/under-way.ts';
import { DumpData } from '../../../src/viewer/tui/rows/dump-data.ts';
import { scriptedModel } from '../../engine/scripted-model.ts';
import { bin, directoryWith, jsonLines } from '../../program.ts';

const RUNNING = 48;

test('a writer that was killed is distinguished from a slow one, and no row is doubled or lost', async () => {
  // Every other task is answered at once, the others never.
  const model = await scriptedModel(
    async ({ messages }) => {
      if (Number(messages.at(-1).content) % 2 === 0) return { text: 'done' };
      await new Promise((resolve) => setTimeout(resolve, 600_000).unref());
      return { text: 'late' };
    },
    { keepRequests: false },
  );
  const tasks = Array.from({ length: 2 * RUNNING }, (_, i) =>
    JSON.stringify({ prompt: String(i), ground_truth: String(i), data_source: 'gsm8k' }),
  );
  const cwd = directoryWith({ 'tasks.jsonl': tasks.join('\n') });
  const flags = ['--model', 'm', '--out', 'dump', '--concurrency', String(2 * RUNNING)];
  const run = spawn(process.execPath, [bin, 'rollout', 'tasks.jsonl', '--model-url', model.url, ...flags], {
    cwd,
    stdio: 'ignore',
  });
  const ended = new Promise((resolve) => run.on('exit', resolve));
  const folder = join(cwd, 'dump');
  const lines = () => {
    try {
      return jsonLines(readFileSync(join(folder, '1.jsonl'), 'utf8'));
    } catch {
      return [];
    }
  };
  await until(() => lines().length === RUNNING || run.exitCode !== null);
  const dump = Dump.open([folder], { waits: true, holdBack: 'while-arriving' });
  await dump.start();
  const follower = new Follower(dump);
  const none = (): void => {};
  const data = new DumpData(
    { dump, live: new LiveRun(dump, []), keys: new Keymap(), pages: new Pages() },
    { changed: none, rowsChanged: none, found: none },
  );
  try {
    const page = () => underWayPage(data.underWay, null);
    const looked = async () => {
      data.underWay.watch();
      await data.underWay.look();
      return page();
    };
    await until(async () => (await looked()).length === RUNNING && page().head![0]!.includes('live'));
    // The messages of each can be read, and each is there once.
    await until(async () => {
      await looked();
      return data.underWay.rows.every((row) => data.underWay.placeOf(row) !== null);
    });
    const names = Array.from({ length: RUNNING }, (_, i) => page().keyOf!(i));
    expect(new Set(names).size).toBe(RUNNING);
    const [first] = data.underWay.rows;
    const place = data.underWay.placeOf(first!)!;
    await until(async () => {
      await looked();
      return place.file.count === 1;
    });
    expect(dump.read(place).rollout!.turns.at(-1)!.role).toBe('user');

    run.kill('SIGKILL');
    await ended;
    await until(async () => (await looked()).head![0]!.includes('its writer is gone'));
    expect(Array.from({ length: page().length }, (_, i) => page().keyOf!(i))).toEqual(names);
    expect(lines().length + page().length).toBe(2 * RUNNING);
  } finally {
    run.kill('SIGKILL');
    follower.close();
    data.close();
    dump.close();
    await model.close();
  }
});

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 50));
}
