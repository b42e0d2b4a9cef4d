// Pages that find something among all rollouts: hits of a search, what went wrong, another run, and the queue of what to read.
import { afterEach, describe, expect, test } from 'vitest';
import { MONO } from '../../../src/viewer/present/theme.ts';
import type { PageSubject } from '../../../src/viewer/tui/state/page.ts';
import { pageView } from '../../../src/viewer/tui/views/panes.ts';
import { type DumpFiles, smallRun, writeDump } from '../../support/dump.ts';
import { TestScreen } from '../../support/screen.ts';

let screen: TestScreen;
afterEach(() => screen.close());

const lines = (width = 120, height = 18): string[] =>
  pageView({ state: screen.state, data: screen.data, theme: MONO, name: '' }, width, height).map((line) =>
    line.replace(/\x1b\[[\d;]*m/g, ''),
  );

async function opened(files: DumpFiles, subject: PageSubject): Promise<string[]> {
  screen = await TestScreen.open(files, 120, 20);
  await screen.dump.start();
  screen.do({ type: 'page-open', subject });
  return settled();
}

/** The lines of the page once all that it waits for is known. */
async function settled(): Promise<string[]> {
  lines();
  while (screen.data.isBusy(screen.state)) {
    await new Promise((resolve) => setTimeout(resolve, 2));
    lines();
  }
  return lines();
}

const hits = (pattern: string, roles: readonly string[] | null = null, field: string | null = null): PageSubject => ({
  kind: 'hits',
  pattern,
  roles,
  field,
});

describe('hits in all rollouts', () => {
  test('are a row for each turn, with how many there are in it, and the words around', async () => {
    const shown = await opened(smallRun(2, 4), hits('first i compute'));
    expect(shown[0]).toContain('first i compute: 8 hits in 8 rollouts');
    expect(shown[3]).toMatch(/^› 1:1 t2 +assistant +0\.00 +1 +<think> ⏎ First I compute 100 - 1\./);
    expect(shown).toHaveLength(11);
  });

  test('Enter opens the turn at its hit, and n goes on from there', async () => {
    await opened(smallRun(2, 4), hits('left'));
    expect(lines()[0]).toContain('left: 32 hits in 8 rollouts');
    expect(lines()[3]).toMatch(/^› 1:1 t1 +user +0\.00 +1 /);
    screen.do({ type: 'scroll', by: 1, unit: 'line' }, { type: 'open' });
    await screen.settled();
    expect([screen.selected, screen.state.page?.isAside, screen.state.search?.value]).toEqual([
      '1.jsonl:1',
      true,
      'left',
    ]);
    expect(screen.state.transcript.turn).toBe(2);
    const first = screen.state.search!.at;
    expect(first).toBeGreaterThan(0);
    screen.do({ type: 'search-next', by: 1 });
    expect(screen.state.search?.at).toBe(first + 1);
    screen.do({ type: 'page-next', by: 1 });
    expect(screen.state.transcript.turn).toBe(4);
  });

  test('can be of a role or a field alone, in what the filter leaves, and none is said', async () => {
    const shown = await opened(smallRun(2, 8), hits('9', ['tool']));
    expect(shown[0]).toMatch(/9 in turns of tool: 24 hits in 16 rollouts/);
    screen.do({ type: 'page-open', subject: hits('99', null, 'gts') });
    expect((await settled())[0]).toContain('99 in gts: 8 hits in 8 rollouts');
    screen.do({ type: 'filter', text: 'step == 2' });
    await screen.settled();
    screen.do({ type: 'page-open', subject: hits('99', null, 'gts') });
    expect((await settled())[0]).toContain('99 in gts: 4 hits in 4 rollouts');
    screen.do({ type: 'page-open', subject: hits('nowhere at all') });
    expect((await settled()).at(-1)).toContain('no hit');
  });

  test('are no longer looked for once their page is gone', async () => {
    await opened(smallRun(1, 4), hits('left'));
    screen.do({ type: 'back' });
    screen.data.page(screen.state);
    screen.do({ type: 'page-open', subject: hits('left') });
    expect(screen.data.hits.isBusy || lines().length > 3).toBe(true);
    expect((await settled())[0]).toContain('16 hits');
  });
});

const failing = (step: number, result: string, score = 0) => ({
  input: 'user\nq\nassistant\n',
  output: `<tool_call>\n{"name": "search", "arguments": {"q": "a"}}\n</tool_call>\nuser\n<tool_response>\n${result}\n</tool_response>\nassistant\nso it is\n#### 4`,
  gts: '4',
  score,
  step,
});

describe('what went wrong', () => {
  const files: DumpFiles = {
    '1.jsonl': [failing(1, 'fine'), failing(1, 'NameError: name x is not defined')],
    '2.jsonl': [failing(2, 'Error: connection refused'), failing(2, 'Error: connection refused'), failing(2, '')],
  };

  test('is listed by tool and kind with its steps and its share of the calls; then how rollouts ended', async () => {
    const shown = await opened(files, { kind: 'errors' });
    expect(shown[0]).toContain('3 calls failed, 1 came back empty or cut; how 5 rollouts ended');
    const rows = shown.slice(3).map((line) => line.replace(/^[›\s]+/, '').split(/\s{2,}/));
    expect(rows[0]!.slice(0, 6)).toEqual(['search', 'unavailable', 'world', '2', '5', '40 %']);
    expect(rows.find(([, kind]) => kind === 'exception')!.slice(0, 6)).toEqual([
      'search',
      'exception',
      'NameError',
      'model',
      '1',
      '5',
    ]);
    expect(rows.find(([, kind]) => kind === 'empty')!.slice(0, 5)).toEqual(['search', 'empty', '1', '5', '20 %']);
    expect(rows.find(([tool]) => tool === 'ended')).toBeDefined();
  });

  test('Enter lists the rollouts of a kind; in the last column it opens the first', async () => {
    await opened(files, { kind: 'errors' });
    screen.do({ type: 'open' });
    expect([screen.state.page, screen.state.list.choice.filter?.text]).toEqual([null, 'error.kind == "unavailable"']);
    await screen.settled();
    expect(screen.data.rows(screen.state).length).toBe(2);
    screen.do({ type: 'undo' }, { type: 'page-open', subject: { kind: 'errors' } });
    await settled();
    screen.do({ type: 'page-column', by: 20 }, { type: 'open' });
    expect(screen.selected).toBe('2.jsonl:1');
    expect(screen.state.transcript.turn).toBe(2);
  });
});

describe('another run', () => {
  const record = (prompt: string, score: number | null) => ({
    input: `user\n${prompt}\nassistant\n`,
    output: `of ${prompt}: ${score}`,
    ...(score === null ? {} : { score }),
    step: 1,
  });

  test('is joined by prompt; Enter shows a rollout of each side by side, and only what is open can be gone to', async () => {
    const other = writeDump({ '7.jsonl': [record('p', 1), record('p', 0), record('q', 0), record('z', 1)] });
    try {
      const here = { '1.jsonl': [record('p', 0), record('q', 1), record('q', 1), record('n', 1)] };
      const shown = await opened(here, { kind: 'runs', path: other.dir });
      expect(shown[1]).toContain('won 1, lost 1, same 0, flips 2');
      expect(shown[2]).toContain('never scored 0, only in a 1, only in b 1');
      expect(shown[4]).toMatch(/^› lost, flip +-1\.00 +1\.00 +0\.00 +2 +1 +q/);
      expect(shown[5]).toMatch(/won, flip +\+0\.50 +0\.00 +0\.50 +1 +2 +p/);
      screen.do({ type: 'open' });
      expect((await settled()).join('\n')).toMatch(/of q: 1 +of q: 0/);
      screen.do({ type: 'page-column', by: 1 }, { type: 'open' });
      expect([screen.message?.slice(0, 20), screen.state.page?.isAside]).toEqual(['it is of another run', false]);
      screen.do({ type: 'page-column', by: -1 }, { type: 'open' });
      expect(screen.selected).toBe('1.jsonl:2');
    } finally {
      other.remove();
    }
  });

  test('that is not there, or has no rollouts, is said', async () => {
    const shown = await opened(smallRun(1, 4), { kind: 'runs', path: '/nowhere/run_b' });
    expect(shown[0]).toContain('run_b: /nowhere/run_b: no such file or directory');
  });
});

describe('what is to be read', () => {
  test('is a queue: a label leads on to the next, one that is given elsewhere does not', async () => {
    await opened(smallRun(2, 8), { kind: 'triage', n: 5, seed: 1 });
    screen.do({ type: 'open' });
    const first = screen.selected;
    screen.do({ type: 'list-menu', menu: 'label' }, { type: 'menu-key', key: 'h' });
    expect(screen.effects).toMatchObject([{ type: 'run', job: { kind: 'label', change: { label: 'h' } } }]);
    const [labelled] = screen.effects;
    const place = labelled?.type === 'run' && labelled.job.kind === 'label' ? labelled.job.rows.at(0) : null;
    expect(place && `${place.file.stem}.jsonl:${place.record + 1}`).toBe(first);
    expect([screen.state.page?.row, screen.selected === first]).toEqual([1, false]);
    expect(screen.message).toMatch(/^2 of 5: /);
    screen.do({ type: 'back' }, { type: 'back' });
    const alone = screen.selected;
    screen.do({ type: 'list-menu', menu: 'label' }, { type: 'menu-key', key: 'h' });
    expect(screen.selected).toBe(alone);
  });
});
