// Rows that the space bar marked are what the keys of the list act on, and each key says how many they are.
import { afterEach, beforeEach, expect, test } from 'vitest';
import { questionLines } from '../../../src/viewer/tui/questions/question-lines.ts';
import type { CopyKind } from '../../../src/viewer/tui/state/action.ts';
import { smallRun } from '../../support/dump.ts';
import { TestScreen } from '../../support/screen.ts';

let screen: TestScreen;
beforeEach(async () => {
  screen = await TestScreen.open(smallRun(2, 8));
  screen.do({ type: 'focus-next' });
});
afterEach(() => screen.close());

/** Marks rows by step and sample, both from 0, and leaves the cursor on the last sample. */
const mark = (...places: readonly (readonly [number, number])[]): void => {
  for (const [step, record] of places)
    screen.do({ type: 'go', place: screen.place(step, record), turn: null }, { type: 'mark-row' });
  screen.do({ type: 'go', place: screen.place(1, 7), turn: null });
  screen.state = { ...screen.state, focus: 'list' };
};
const rowsOf = (job: unknown): string[] => {
  const { rows } = job as { rows: { length: number; at(index: number): { file: { stem: string }; record: number } } };
  return Array.from({ length: rows.length }, (_, i) => `${rows.at(i).file.stem}:${rows.at(i).record + 1}`);
};
const jobs = () => screen.effects.flatMap((effect) => (effect.type === 'run' ? [effect.job] : []));
const copied = (what: CopyKind) => {
  const [effect] = screen.do({ type: 'copy-text', what }).effects;
  return effect?.type === 'copy' ? effect : null;
};

test('a label is given to all of them', () => {
  mark([0, 4], [0, 1]);
  screen.do({ type: 'list-menu', menu: 'label' }, { type: 'menu-key', key: 'h' });
  expect(jobs().map(rowsOf)).toEqual([['1:2', '1:5']]);
  expect(screen.message).toMatch(/h \(2 marked rollouts\)$/);
});

test('in the transcript a key acts on the rollout that is read', () => {
  mark([0, 4], [0, 1]);
  screen.state = { ...screen.state, focus: 'transcript' };
  screen.do({ type: 'list-menu', menu: 'label' }, { type: 'menu-key', key: 'h' });
  expect(jobs().map(rowsOf)).toEqual([['2:8']]);
});

test('they are scored again, and the others are not', () => {
  mark([0, 0], [1, 3]);
  screen.do({ type: 'rescore', all: false });
  expect(jobs().map(rowsOf)).toEqual([['1:1', '2:4']]);
  expect(rowsOf(jobs()[0])).toHaveLength(2);
  screen.do({ type: 'rescore', all: true });
  expect(rowsOf(jobs()[0])).toHaveLength(16);
});

test('their calls are run again after a question that says how many rollouts they are', () => {
  mark([0, 0], [1, 3], [1, 4]);
  screen.do({ type: 'replay-ask', all: false });
  const { question } = screen.state.replay;
  expect(question?.kind === 'call' && question.place.record).toBe(0);
  const { what } = questionLines(question!, 100, 24);
  expect(
    what
      .flat()
      .map(([, text]) => text)
      .join(''),
  ).toContain('run the calls of 3 marked rollouts');
  if (question?.kind !== 'call') throw new Error('asked about a call');
  const { place, call, repeat, session } = question;
  const where = {
    name: 'bubblewrap',
    why: '',
    asks: ', here?',
    problem: null,
    before: [],
    stateful: false,
  };
  screen.do({ type: 'replay-where', place, call, way: { repeat, session }, where }, { type: 'replay-key', key: 'y' });
  expect(jobs().map(rowsOf)).toEqual([['1:1', '2:4', '2:5']]);
});

test('two of them are compared, one with the rollout under the cursor, and three are too many', () => {
  const subject = () => {
    const page = screen.do({ type: 'page-compare', place: null }).state.page?.subject;
    screen.do({ type: 'back' });
    return page?.kind === 'compare' ? [page.a, page.b].map(({ file, record }) => `${file.stem}:${record + 1}`) : null;
  };
  mark([0, 4], [0, 6]);
  expect(subject()).toEqual(['1:5', '1:7']);
  mark([0, 6]);
  expect(subject()).toEqual(['1:5', '2:8']);
  mark([0, 6], [1, 1]);
  screen.do({ type: 'page-compare', place: null });
  expect(screen.state.page).toBeNull();
  expect(screen.message).toBe('3 rows are marked; g d takes two');
});

test('their locators and records are copied, a line each', () => {
  mark([1, 1], [0, 2]);
  const { files } = screen.dump;
  expect(copied('link')).toMatchObject({
    text: `${files[0]!.locator(2)}\n${files[1]!.locator(1)}`,
    words: '2 locators',
  });
  const records = copied('json');
  expect(records?.text.split('\n').map((line) => JSON.parse(line).step)).toEqual([1, 2]);
  expect(records?.words).toBe('2 records as JSON');
  // A turn is one of the rollout that is open.
  expect(copied('turn')?.words).toMatch(/^turn t/);
});

test('a letter is a place to come back to, and no row that is acted on', () => {
  screen.do({ type: 'mark', letter: 'a' });
  expect(copied('link')?.words).toMatch(/^the link/);
});
