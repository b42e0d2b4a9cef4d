import { afterEach, beforeEach, expect, test } from 'vitest';
import { TestScreen } from '../../support/screen.ts';

const line = (more: object): string =>
  JSON.stringify({ input: 'user\nq\nassistant\n', output: 'a line\n'.repeat(300_000), score: 1, step: 1, ...more });
let screen: TestScreen;
beforeEach(async () => {
  screen = await TestScreen.open({
    '1.jsonl': [line({ notes: ['a', 'the needle'] }), line({ score: 0, output: `b ${'c '.repeat(1_000_000)}` })],
  });
  await until(() => screen.data.record(screen.place(0, 0)).isPending !== true);
});
afterEach(() => screen.close());

const until = async (holds: () => boolean): Promise<void> => {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 2));
};

test.each(['json', 'fields'] as const)(
  'a search in the %s of a long record is made in what a thread reads',
  async (view) => {
    screen.do({ type: 'view', view }, { type: 'search', value: 'needle' });
    expect(screen.data.searches.isBusy).toBe(true);
    await screen.searched();
    const { state, data } = screen;
    const found = data.searches.of(data.record(screen.place(0, 0)), state.display, 'needle');
    expect(found?.hits.length).toBe(1);
    expect(found?.isDone).toBe(true);
  },
);

test('a long record that is beside the open one is read in a thread; until then the page says so', async () => {
  screen.do({ type: 'page-compare', place: screen.place(0, 1) });
  expect(screen.data.page(screen.state)?.title).toContain('looking for');
  await until(() => (screen.data.page(screen.state)?.length ?? 0) > 2);
  expect(screen.data.page(screen.state)?.title).toContain('1:1 score 1.00  and  1:2 score 0.00');
});

test('the text of a long record is not read for the clipboard of a terminal, which would not take it', () => {
  screen.do({ type: 'copy-text', what: 'json' });
  expect(screen.effects).toEqual([]);
  expect(screen.message).toContain("too long for a terminal's clipboard");
});
