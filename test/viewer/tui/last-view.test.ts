import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { SavedView } from '../../../src/viewer/config/saved-views.ts';
import { understood, viewAtEnd } from '../../../src/viewer/tui/update/saved-views.ts';
import { App } from '../../support/driver/app.ts';
import { smallRun, writeDump } from '../../support/dump.ts';
import { TestScreen } from '../../support/screen.ts';

const plain: SavedView = { filter: null, sort: null, columns: null, place: null, marks: {} };

describe('what a dump is left with', () => {
  test('has no place where nobody moved, and is taken back by its marks and its place', async () => {
    const screen = await TestScreen.open(smallRun(3, 8));
    try {
      expect(viewAtEnd(screen.state, screen.data)).toEqual(plain);
      screen.do({ type: 'mark', letter: 'a' }, { type: 'sample', by: 1 }, { type: 'sample', by: 1 });
      const view = viewAtEnd(screen.state, screen.data);
      expect(view.place?.locator).toMatch(/3\.jsonl:3$/);
      expect(view.marks.a?.locator).toMatch(/3\.jsonl:1$/);

      screen.do({ type: 'step', by: -1 });
      const there = screen.selected;
      const moved = screen.do({ type: 'view-reopen', view, isMoved: true });
      expect([moved.selected, [...moved.state.list.choice.marks.keys()]]).toEqual([there, ['a']]);
      expect(screen.do({ type: 'view-reopen', view, isMoved: false }).selected).toBe('3.jsonl:3');
      const gone = { locator: '/gone/9.jsonl:1', turn: null };
      screen.do({ type: 'view-reopen', view: { ...view, place: gone, marks: { b: gone } }, isMoved: false });
      expect([screen.selected, [...screen.state.list.choice.marks.keys()]]).toEqual(['3.jsonl:3', ['a']]);
    } finally {
      screen.close();
    }
  });

  test('is only what this version understands', () => {
    const filter = { text: 'score <', isInverted: false };
    expect(understood({ ...plain, filter, sort: { key: '', descending: true } })).toEqual(plain);
    const right = { ...plain, filter: { ...filter, text: 'score < 1' }, sort: { key: 'chars', descending: true } };
    expect(understood(right)).toEqual(right);
  });
});

describe('at the next start', () => {
  const run = writeDump(smallRun(3, 8));
  afterAll(() => run.remove());
  let app: App;
  let home: string;
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'last-view-'));
  });
  afterEach(() => app.stop());

  async function start(...args: string[]): Promise<void> {
    app = App.start([run.dir, ...args], { columns: 120, env: { XDG_STATE_HOME: home } });
    await app.sees('▌›assistant');
    await app.until(() => !/indexing|checking/.test(app.screen()), 'the end of indexing');
  }

  async function quit(): Promise<void> {
    app.press('q');
    await app.exits();
  }

  test('filter, order, marks and place are back, are said to be, and can be taken back', async () => {
    await start();
    expect(app.screen()).not.toContain('as you left it');
    app.press('&');
    app.type('score == 0');
    app.press('Enter');
    await app.sees('16 of 24');
    app.press('s', 'w');
    await app.sees('smallest first');
    app.press('J', 'J', 'm', 'x');
    await app.sees(/^› ?x/m);
    const row = /^›.*?(\d+ +\d+) /m.exec(app.screen())![1]!;
    await quit();

    await start();
    await app.sees('as you left it; --fresh starts over');
    await app.sees('16 of 24');
    await app.sees(new RegExp(`^› ?x.*${row} `, 'm'));
    app.press('u');
    await app.until(() => !app.screen().includes('& score == 0'), 'the list without a filter');
    app.press('U');
    await app.sees('16 of 24');
    await quit();

    // A question of the command line is answered as it is asked.
    await start('--filter', 'score == 1');
    await app.sees('8 of 24');
    expect(app.screen()).not.toContain('smallest first');
    await quit();
    await start('--fresh');
    expect(app.screen()).not.toContain('as you left it');
    expect(app.screen()).not.toContain('& score');
  });

  test('anything but a view is ignored', async () => {
    await start();
    app.press('J');
    await app.sees('sample 2/8');
    await quit();
    const folder = join(home, 'rollout-viewer', 'views');
    const [name] = readdirSync(folder);
    const path = join(folder, name!);
    writeFileSync(path, readFileSync(path, 'utf8').slice(0, 40));
    await start();
    await app.sees('sample 1/8');
    expect(app.screen()).not.toContain('as you left it');
  });
});
