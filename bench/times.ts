import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LiveRun } from '../src/analysis/live-run.ts';
import { Dump } from '../src/core/dump/dump.ts';
import { MONO } from '../src/viewer/present/theme.ts';
import { Keymap } from '../src/viewer/tui/keys/keymap.ts';
import { Pages } from '../src/viewer/tui/pages/pages.ts';
import { DumpData } from '../src/viewer/tui/rows/dump-data.ts';
import { freshPage } from '../src/viewer/tui/state/page.ts';
import { initialState } from '../src/viewer/tui/state/state.ts';
import { pageView } from '../src/viewer/tui/views/panes.ts';
import { figure, percentile } from './support/measure.ts';

const ROLLOUTS = 5000;

/** A step of 5,000 rollouts with recorded times as a picture, drawn again as a key would. */
export async function run(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'times-'));
  const dump = await written(folder);
  const none = () => {};
  const data = new DumpData(
    { dump, live: new LiveRun(dump, []), keys: new Keymap(), pages: new Pages() },
    { changed: none, rowsChanged: none, found: none },
  );
  const subject = { kind: 'step-times', place: { file: dump.files[0]!, record: 0 } } as const;
  const times: number[] = [];
  for (let i = 0; i < 30; i++) {
    const start = performance.now();
    const state = {
      ...initialState(200, 50),
      page: { ...freshPage(subject, null), sort: { column: i % 8, descending: true } },
    };
    const lines = pageView({ state, data, theme: MONO, name: '' }, 200, 48);
    times.push(performance.now() - start);
    if (lines.length < 48) throw new Error('the picture has not all of its lines');
  }
  figure(
    `${ROLLOUTS} rollouts of a step as a picture`,
    `${percentile(times, 0.5).toFixed(1)} ms`,
    `the slowest of 30: ${Math.max(...times).toFixed(1)} ms`,
    null,
    '≤ 100 ms',
  );
  data.close();
  dump.close();
  rmSync(folder, { recursive: true });
}

async function written(folder: string): Promise<Dump> {
  const lines = Array.from({ length: ROLLOUTS }, (_, i) =>
    JSON.stringify({
      nodes: [
        { message: { role: 'user', content: `question ${i}` }, sampled: false },
        { parent: 0, message: { role: 'assistant', content: 'answer' }, sampled: true },
      ],
      rewards: { correct: { score: i % 2, weight: 1 } },
      timing: {
        start: 1000 + (i % 97),
        boot: { start: 1000 + (i % 97), end: 1001 + (i % 97) },
        scoring: { start: 1010 + (i % 89) + (i % 97), end: 1011 + (i % 89) + (i % 97) },
      },
      calls: [{ node: 1, time: { start: 1001 + (i % 97), end: 1009 + (i % 89) + (i % 97) } }],
    }),
  );
  writeFileSync(join(folder, '1.jsonl'), `${lines.join('\n')}\n`);
  const dump = Dump.open([folder]);
  await dump.start();
  await dump.whenLooked();
  return dump;
}
