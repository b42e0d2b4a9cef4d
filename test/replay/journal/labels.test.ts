import { spawn } from 'node:child_process';
import { appendFileSync, chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { describe, expect, test } from 'vitest';
import { Journal } from '../../../src/replay/journal/journal.ts';
import { keepLabel, LABELS, reportedLabels, standingLabels } from '../../../src/replay/journal/labels.ts';
import { directoryWith, root } from '../../program.ts';

const fresh = () => mkdtempSync(join(tmpdir(), 'rollout-viewer-labels-'));
const said = (journal: Journal, record = 'r') =>
  standingLabels(journal, record).map(({ rater, label, note, turn, quote }) => [rater, label, note, turn, quote]);

const place = (rater: string, record = 'r') => ({ record, locator: `l:${record}`, rater });

test('the latest label of each rater counts; a note and a label do not remove each other', () => {
  const journal = Journal.of(null, { journal: fresh() });
  keepLabel(journal, place('anna'), { label: 'a', turn: 3, quote: 'so' });
  keepLabel(journal, place('ben'), { note: 'look at the call' });
  keepLabel(journal, place('anna'), { note: 'but the tool was down' });
  expect(said(journal)).toEqual([
    ['anna', 'a', 'but the tool was down', 3, 'so'],
    ['ben', null, 'look at the call', null, null],
  ]);
  keepLabel(journal, place('anna'), { label: 'b' });
  keepLabel(journal, place('ben'), { note: null });
  expect(said(journal)).toEqual([['anna', 'b', 'but the tool was down', null, null]]);
  expect(said(journal, 'another')).toEqual([]);
});

test('they are there at the next start, and nothing that was said is taken out of the file', () => {
  const directory = fresh();
  const journal = Journal.of(null, { journal: directory });
  for (const label of ['a', 'b', null, 'c']) keepLabel(journal, place('anna'), { label });
  journal.close();
  expect(said(Journal.of(null, { journal: directory }))).toEqual([['anna', 'c', null, null, null]]);
  const [file] = readdirSync(directory);
  expect(readFileSync(join(directory, file!), 'utf8').trim().split('\n')).toHaveLength(4);
});

describe('a folder that several people share', () => {
  const line = (rater: string, label: string) =>
    `${JSON.stringify({ kind: 'label', layout: 2, at: '2026-01-01', record: 'r', locator: 'l', rater, label })}\n`;

  test('each has a file in it, and the labels count for the raters that are in them', () => {
    const directory = fresh();
    writeFileSync(join(directory, 'label-4711.jsonl'), line('ben', 'a') + line('carla', 'b'));
    const journal = Journal.of(null, { journal: directory });
    keepLabel(journal, place('anna'), { label: 'a' });
    expect(said(journal).map(([rater, label]) => `${rater} ${label}`)).toEqual(['ben a', 'carla b', 'anna a']);
    expect(readFileSync(join(directory, 'label-4711.jsonl'), 'utf8')).not.toContain('anna');
  });

  test.runIf(process.geteuid?.() === 0)(
    'those of another user count too, and results of theirs do not (skipped but for root)',
    async () => {
      const { chownSync } = await import('node:fs');
      const directory = fresh();
      chmodSync(directory, 0o777);
      const theirs = join(directory, 'label-4711.jsonl');
      writeFileSync(theirs, line('ben', 'a'));
      const results = join(directory, 'replay.jsonl');
      writeFileSync(results, line('ben', 'a').replace('"label"', '"replay"'));
      for (const path of [theirs, results, directory]) chownSync(path, 4711, 4711);
      const env = { XDG_STATE_HOME: fresh() };
      const journal = Journal.of(null, { journal: directory, env });
      keepLabel(journal, place('anna'), { label: 'b' });
      expect(journal.problem).toBeNull();
      expect(said(journal).map(([rater]) => rater)).toEqual(['ben', 'anna']);
      expect(readdirSync(directory)).toContain(`label-${process.geteuid?.()}.jsonl`);
      const { name: _name, isShared: _isShared, ...rest } = LABELS;
      expect(journal.entries({ name: 'replay', ...rest }, 'r')).toEqual([]);
    },
  );

  test('what came with a dump is reported, and counts for nobody', () => {
    const directory = directoryWith({ 'data/1.jsonl': '', '.rollout-viewer/data/label.jsonl': line('anna', 'a') });
    const journal = Journal.of(join(directory, 'data'), { env: { XDG_STATE_HOME: fresh() } });
    expect(said(journal)).toEqual([]);
    expect(reportedLabels(journal, 'r').map(({ by, labels }) => [by, labels[0]?.label])).toEqual([
      ['what came with the dump', 'a'],
    ]);
  });
});

test('a line that is no label is ignored: no rater, a label that is a number, a turn below 0', () => {
  const directory = fresh();
  const head = { kind: 'label', layout: 2, at: '2026-01-01', record: 'r', locator: 'l' };
  const lines = [{ rater: '' }, { rater: 'a', label: 7 }, { rater: 'a', turn: -1 }, { label: 'a' }];
  const journal = Journal.of(null, { journal: directory });
  keepLabel(journal, place('anna'), { label: 'a' });
  const [file] = readdirSync(directory);
  appendFileSync(join(directory, file!), lines.map((one) => `${JSON.stringify({ ...head, ...one })}\n`).join(''));
  expect(said(Journal.of(null, { journal: directory })).map(([rater]) => rater)).toEqual(['anna']);
});

test('a process that is killed while it labels leaves every label that was said, and a file that goes on', async () => {
  const directory = fresh();
  const bundle = join(fresh(), 'labels.mjs');
  await build({
    stdin: {
      contents: `
        import { Journal } from './src/replay/journal/journal.ts';
        import { keepLabel } from './src/replay/journal/labels.ts';
        const journal = Journal.of(null, { journal: process.argv[2] });
        for (let i = 0; i < 1e9; i++) {
          keepLabel(journal, { record: 'r' + i, locator: 'l', rater: 'anna' }, { label: 'b', note: 'x'.repeat(i % 999) });
          process.stdout.write(i + '\\n');
        }`,
      resolveDir: root,
    },
    bundle: true,
    platform: 'node',
    format: 'esm',
    outfile: bundle,
  });
  const child = spawn(process.execPath, [bundle, directory], { stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  await new Promise<void>((resolve) => {
    child.stdout.on('data', (bytes) => {
      text += bytes;
      if (text.length > 2000) child.kill('SIGKILL');
    });
    child.on('close', () => resolve());
  });
  const whole = text.slice(0, text.lastIndexOf('\n')).split('\n');
  expect(whole.length).toBeGreaterThan(100);
  const journal = Journal.of(null, { journal: directory });
  for (const i of whole) expect(standingLabels(journal, `r${i}`)[0]?.label, i).toBe('b');
  keepLabel(journal, place('anna', 'after'), { label: 'c' });
  expect(standingLabels(Journal.of(null, { journal: directory }), 'after')[0]?.label).toBe('c');
  expect(existsSync(bundle)).toBe(true);
});
