// Rollouts written to files from the screen: which, in which form, and never into the dump.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { RunnerContext } from '../../../src/viewer/tui/runner/context.ts';
import { takeAway } from '../../../src/viewer/tui/runner/take-away.ts';
import type { TakenAway } from '../../../src/viewer/tui/state/effect.ts';
import { bin, directoryWith } from '../../program.ts';
import { smallRun } from '../../support/dump.ts';
import { TestScreen } from '../../support/screen.ts';

let screen: TestScreen;
const program = process.argv[1] ?? '';
beforeEach(() => {
  process.argv[1] = bin;
});
afterEach(() => {
  process.argv[1] = program;
  screen.close();
});

const typed = (text: string) =>
  screen.do(
    { type: 'prompt-open', prompt: 'command' },
    { type: 'prompt-change', value: text },
    { type: 'prompt-submit' },
  );
const jobs = () => screen.effects.flatMap((effect) => (effect.type === 'run' ? [effect.job] : []));
const written = () =>
  jobs().map((job) => (job.kind === 'write' ? { rows: job.rows?.length ?? 'all', ...job.what } : job.kind));

test('a page is made of the open rollout or the marked ones, a set of the list', async () => {
  screen = await TestScreen.open(smallRun(2, 4));
  typed('html a b.html');
  expect(written()).toEqual([{ rows: 1, form: 'page', path: 'a b.html' }]);
  typed('messages chat.jsonl');
  expect(written()).toEqual([{ rows: 'all', form: 'set', format: 'messages', path: 'chat.jsonl', options: [] }]);
  await screen.do({ type: 'filter', text: 'sample > 2' }).settled();
  typed('export trl my train.jsonl --drop --limit 3');
  expect(written()).toEqual([
    { rows: 4, form: 'set', format: 'trl', path: 'my train.jsonl', options: ['--drop', '--limit', '3'] },
  ]);
  screen.do({ type: 'back' }, { type: 'mark-row' }, { type: 'mark-row' });
  typed('html');
  expect(written()).toEqual([{ rows: 2, form: 'page', path: null }]);
});

test('the line says what is missing: the file, with what would be in it, or the format', async () => {
  screen = await TestScreen.open(smallRun(2, 4));
  typed('messages');
  expect(screen.state.prompt?.error?.message).toBe('a file for all rollouts');
  screen.do({ type: 'prompt-close' });
  typed('export trl');
  expect(screen.state.prompt?.error?.message).toBe('a file for all rollouts');
  screen.do({ type: 'prompt-close' });
  typed('export tlr x.jsonl');
  expect(screen.state.prompt?.error?.message).toContain('trl, ');
});

async function write(what: TakenAway): Promise<string> {
  let said = '';
  const { dump } = screen.data;
  const say = (text: string) => {
    said = text;
  };
  const options = { dump, env: process.env, words: [], journal: undefined, say };
  const jobs = { during: (work: (signal: AbortSignal) => Promise<void>) => work(new AbortController().signal) };
  const place = screen.state.list.cursor;
  if (place === null) throw new Error('no rollout');
  const rows = { length: 1, at: () => place, indexOf: () => 0, near: () => 0 };
  await takeAway({ options, jobs } as unknown as RunnerContext, { kind: 'write', rows, what });
  return said;
}

test('the file is the one that the command line writes; a place in the dump is refused, and so is another file', async () => {
  screen = await TestScreen.open(smallRun(2, 4));
  const out = directoryWith({ 'notes.html': 'mine' });
  const page = join(out, 'x.html');
  expect(await write({ form: 'page', path: page })).toContain('x.html: 1 rollout');
  expect(readFileSync(page, 'utf8')).toContain('<!doctype html>');
  const chat = join(out, 'chat.jsonl');
  await write({ form: 'set', format: 'messages', path: chat, options: [] });
  expect(JSON.parse(readFileSync(chat, 'utf8')).messages[0]).toHaveProperty('trained');
  const [dump = ''] = screen.data.dump.paths;
  await expect(write({ form: 'page', path: join(dump, 'x.html') })).rejects.toThrow('only read');
  await expect(write({ form: 'page', path: join(dump, 'train', 'x.html') })).rejects.toThrow('only read');
  await expect(write({ form: 'page', path: join(out, 'notes.html') })).rejects.toThrow('not a page');
  expect(existsSync(join(dump, 'x.html'))).toBe(false);
});
