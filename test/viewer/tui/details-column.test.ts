import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { COLOURS, MONO } from '../../../src/viewer/present/theme.ts';
import { geometry, type PaneShape } from '../../../src/viewer/tui/rows/geometry.ts';
import { viewAtEnd } from '../../../src/viewer/tui/update/saved-views.ts';
import { bodyPanes, detailsView } from '../../../src/viewer/tui/views/panes.ts';
import { App } from '../../support/driver/app.ts';
import { smallRun, writeDump } from '../../support/dump.ts';
import { TestScreen } from '../../support/screen.ts';

const shape = (columns: number, listCells: number, more: Partial<PaneShape> = {}): PaneShape => ({
  columns,
  rows: 50,
  focus: 'transcript',
  zoom: false,
  hasDetails: true,
  bottom: 1,
  listColumns: [
    { key: 'x', title: 'x', short: 'x', width: listCells, min: listCells, rank: 0, align: 'left', text: () => '' },
  ],

  isChosen: false,
  hasHead: false,
  ...more,
});

/** Cells of the list, the transcript and the details. */
const widths = (of: PaneShape): number[] => {
  const { listWidth, transcriptWidth, detailsWidth } = geometry(of);
  return [listWidth, transcriptWidth, detailsWidth];
};

test('details have a column from 160 cells on, where the transcript keeps 90', () => {
  const list = geometry(shape(200, 54)).listWidth;
  expect(widths(shape(159, 20))[2]).toBe(0);
  expect(widths(shape(160, 20))[2]).toBeGreaterThanOrEqual(40);
  expect(widths(shape(160, 60))[2]).toBe(0);
  expect(widths(shape(200, 54))).toEqual([list, 90, 200 - list - 1 - 90 - 2]);
  const [, text = 0, details = 0] = widths(shape(300, 54));
  expect(details).toBe(Math.floor((300 - list - 1) * 0.4));
  expect(text).toBeGreaterThan(112);
});

test('a list gives up spare columns and blanks for the details, but no other column', () => {
  const column = (key: string, width: number, min: number, rank: number): PaneShape['listColumns'][number] => ({
    ...{ key, title: key, short: key, width, min, rank, align: 'left', text: () => '' },
  });
  const list = (...more: PaneShape['listColumns']): PaneShape =>
    shape(200, 0, { listColumns: [column('sample', 40, 40, 0), ...more, column('finding', 26, 5, 0)] });
  const keys = (of: PaneShape): string[] => geometry(of).columns.map(({ key }) => key);
  expect(widths(list(column('size', 7, 7, 5)))).toEqual([67, 90, 40]);
  expect(keys(list(column('size', 7, 7, 5)))).toEqual(['sample', 'finding']);
  expect(widths(list(column('turns', 18, 18, 3)))[2]).toBe(0);
  expect(keys(list(column('turns', 18, 18, 3)))).toEqual(['sample', 'turns', 'finding']);
});

test('they are hidden beside a pane of full width, and where the reader hides them', () => {
  expect(widths(shape(200, 54, { zoom: true }))).toEqual([0, 200, 0]);
  expect(widths(shape(200, 54, { zoom: true, focus: 'list' }))).toEqual([200, 0, 0]);
  expect(widths(shape(200, 54, { hasDetails: false }))[2]).toBe(0);
});

test('whatever the size, the panes and what separates them fill the screen', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 40, max: 400 }),
      fc.integer({ min: 4, max: 150 }),
      fc.boolean(),
      (columns, list, zoom) => {
        const [listWidth = 0, transcript = 0, details = 0] = widths(shape(columns, list, { zoom }));
        const between = (listWidth > 0 && transcript > 0 ? 1 : 0) + (details > 0 ? 2 : 0);
        expect(listWidth + transcript + details + between).toBe(columns);
        if (details > 0) expect([transcript >= 90, details >= 40]).toEqual([true, true]);
      },
    ),
  );
});

const screenOf = async (columns: number, use: (screen: TestScreen) => void): Promise<void> => {
  const screen = await TestScreen.open({ ...smallRun(2, 4), '3.jsonl': ['{"broken'] }, columns, 50);
  try {
    screen.data.look(screen.state);
    use(screen);
  } finally {
    screen.close();
  }
};

const drawn = ({ state, data }: TestScreen, theme = MONO): string[] =>
  detailsView({ state, data, theme, name: '' }, data.geometry(state).detailsWidth, 48);

const plain = (lines: readonly string[]): string => lines.join('\n').replace(/\x1b\[[\d;]*m/g, '');

test('the column follows the cursor, keeps its lines while the rollout stays, and says what it cuts', () =>
  screenOf(200, (screen) => {
    screen.do({ type: 'go', place: screen.place(0, 0), turn: null });
    const first = drawn(screen);
    expect(plain(first)).toMatch(/score +0\.00 .*step +1 /s);
    screen.do({ type: 'turn', by: 1 });
    expect(drawn(screen)).toBe(first);
    expect(drawn(screen, COLOURS)).not.toBe(first);
    screen.do({ type: 'sample', by: 2 });
    expect(plain(drawn(screen))).toMatch(/score +1\.00 .*step +1 /s);
    const { state, data } = screen;
    const cut = detailsView({ state, data, theme: MONO, name: '' }, data.geometry(state).detailsWidth, 8);
    expect(cut).toHaveLength(8);
    expect(cut.at(-1)).toMatch(/more lines: v goes to the details/);
  }));

test('a record that is no rollout has none', () =>
  screenOf(200, (screen) => {
    screen.do({ type: 'go', place: screen.place(2, 0), turn: null });
    expect(drawn(screen).join('\n').trim()).toContain('no details here');
  }));

test('the details are not beside themselves', () =>
  screenOf(200, (screen) => {
    expect(screen.data.geometry(screen.state).detailsWidth).toBeGreaterThan(0);
    screen.do({ type: 'view', view: 'details' });
    expect(screen.data.geometry(screen.state).detailsWidth).toBe(0);
  }));

test('`_` takes the details away, then the list, then has all again; the choice is kept with the view', () =>
  screenOf(200, (screen) => {
    const seen = (): boolean[] => {
      const { detailsWidth, listWidth } = screen.data.geometry(screen.state);
      return [listWidth > 0, detailsWidth > 0];
    };
    expect(viewAtEnd(screen.state, screen.data).details).toBeUndefined();
    expect(seen()).toEqual([true, true]);
    screen.press('_');
    expect([seen(), viewAtEnd(screen.state, screen.data).details]).toEqual([[true, false], false]);
    screen.press('_');
    expect(seen()).toEqual([false, false]);
    screen.press('_');
    expect(seen()).toEqual([true, true]);
  }));

test('on a narrow screen `_` leaves the choice alone', () =>
  screenOf(120, (screen) => {
    screen.state = { ...screen.state, hasDetails: false };
    screen.press('_', '_');
    expect([screen.state.zoom, screen.state.hasDetails]).toEqual([false, false]);
  }));

test('a click on the details does nothing, one left of them is in the transcript', () =>
  screenOf(200, (screen) => {
    const rects = bodyPanes({ ...screen, theme: MONO, name: '' }).map(({ id, rect }) => [id, rect] as const);
    const { x, width } = new Map(rects).get('details')!;
    expect(x + width).toBe(200);
    screen.do({ type: 'focus-next' });
    const before = screen.state;
    const press = (at: number) => screen.do({ type: 'mouse', event: { kind: 'press', by: 0, x: at, y: 5 } });
    expect(press(x).state).toBe(before);
    expect(press(x - 3).state.focus).toBe('transcript');
  }));

test('at 200 cells the details are beside the transcript until they are hidden, also at the next start', async () => {
  const run = writeDump(smallRun(2, 4));
  const home = mkdtempSync(join(tmpdir(), 'details-'));
  const start = async (columns = 200): Promise<App> => {
    const app = App.start([run.dir], { columns, rows: 50, env: { XDG_STATE_HOME: home } });
    await app.sees('▌›assistant');
    return app;
  };
  let app = await start();
  try {
    await app.sees(/│ {2}details$/m);
    await app.sees(/│ {2}score {9}0\.00 /);
    app.press('J');
    await app.sees(/│ {2}score {9}1\.00 /);
    app.press('_');
    await app.until(() => !/│ {2}details$/m.test(app.screen()), 'no details');
    app.press('q');
    await app.exits();
    app = await start();
    expect(app.screen()).not.toMatch(/│ {2}details$/m);
    app.press('_', '_');
    await app.sees(/│ {2}details$/m);
  } finally {
    await app.stop();
    run.remove();
    rmSync(home, { recursive: true });
  }
});
