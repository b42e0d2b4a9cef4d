// Rules of the keys at the edges: what a movement does at an end, in a group, in a list that is filtered.
import { afterEach, describe, expect, test, vi } from 'vitest';
import {
  forkLine,
  parseForkSettings,
  settingChoices,
  spokenSettings,
} from '../../../src/viewer/tui/questions/fork-settings.ts';
import { viewport } from '../../../src/viewer/tui/rows/viewport.ts';
import type { Action } from '../../../src/viewer/tui/state/action.ts';
import { called, sampleNumbered } from '../../../src/viewer/tui/update/command-line.ts';
import { shellCommand } from '../../../src/viewer/tui/update/copied.ts';
import { sortEntries } from '../../../src/viewer/tui/update/menu-entries.ts';
import { smallRun, toolRollout } from '../../support/dump.ts';
import { TestScreen } from '../../support/screen.ts';

let screen: TestScreen;
afterEach(() => screen?.close());

const small = async (steps = 3, samples = 8, rows = 30): Promise<TestScreen> => {
  screen = await TestScreen.open(smallRun(steps, samples), 160, rows);
  return screen;
};
const filtered = async (text: string): Promise<void> => {
  await screen.do({ type: 'filter', text }).settled();
};
const times = (count: number, action: Action): Action[] => Array.from({ length: count }, () => action);

describe('the list', () => {
  test('a page leaves a row of the one before, half a page is half', async () => {
    await small(3, 40);
    const { listHeight } = screen.data.geometry(screen.state);
    const row = () => screen.data.rows(screen.state).indexOf(screen.state.list.cursor!);
    screen.do({ type: 'back' }, { type: 'top', line: null }, { type: 'scroll', by: 1, unit: 'page' });
    expect(row()).toBe(listHeight - 1);
    screen.do({ type: 'top', line: null }, { type: 'scroll', by: 1, unit: 'half' });
    expect(row()).toBe(listHeight >> 1);
  });

  test('from a rollout that the filter leaves out, a key goes to the one beside it', async () => {
    await small(3, 8);
    await filtered('sample > 4');
    screen.do({ type: 'go', place: screen.place(1, 1), turn: null });
    expect(screen.selected).toBe('2.jsonl:2');
    expect(screen.message).toBe('the filter leaves it out of the list');
    expect(screen.do({ type: 'sample', by: 1 }).selected).toBe('2.jsonl:5');
  });

  test('going back from it says how to clear the filter', async () => {
    await small(1, 8);
    await filtered('sample > 4');
    screen.do({ type: 'back' }, { type: 'back' });
    expect(screen.message).toBe('q quits; & Enter clears the filter');
  });

  test('what was moved meanwhile does not go back with the filter that is undone', async () => {
    await small(1, 8);
    await filtered('sample > 4');
    const stand = screen.selected;
    await screen.do({ type: 'sample', by: 1 }, { type: 'undo' }).settled();
    expect(stand).toBe('1.jsonl:5');
    expect(screen.selected).toBe('1.jsonl:6');
  });

  test('another choice takes the place of those that were undone', async () => {
    await small();
    screen.do({ type: 'filter', text: 'score==0' }, { type: 'undo' }, { type: 'filter', text: 'score==1' });
    expect(screen.do({ type: 'redo' }).message).toBe('nothing to do again');
    screen.do({ type: 'undo' });
    expect(screen.state.list.choice.filter).toBeNull();
    expect(screen.do({ type: 'undo' }).message).toBe('nothing to undo');
  });

  test('the letter of the column that it is sorted by turns it round; a column that says the same of all is not offered', async () => {
    await small();
    const entry = (title: string) => sortEntries(screen.state, screen.data).find((one) => one.title === title);
    expect(entry('score')?.action).toMatchObject({ descending: true });
    expect(entry('step')?.action).toMatchObject({ descending: false });
    expect([entry('stream'), entry('again'), entry('dump order')]).toEqual([undefined, undefined, undefined]);
    const letter = entry('turns')?.key;
    screen.do({ type: 'sort', key: 'score', descending: true });
    expect(entry('score')?.action).toMatchObject({ descending: false });
    expect(entry('dump order')?.key).toBe('d');
    expect(entry('turns')?.key).toBe(letter);
    expect(sortEntries(screen.state, screen.data).filter(({ key }) => 'hjklq'.includes(key))).toEqual([]);
  });

  test('step stays in its stream', async () => {
    screen = await TestScreen.open({
      'train/1.jsonl': [toolRollout(1, 1, 1)],
      'train/2.jsonl': [toolRollout(2, 1, 1)],
      'val/1.jsonl': [toolRollout(1, 9, 1)],
    });
    const streams = () => [screen.state.list.cursor?.file.stream, screen.selected];
    expect(streams()).toEqual(['train', '2.jsonl:1']);
    expect(screen.do({ type: 'step', by: 1 }).message).toBe('step 2 is the last');
    screen.do({ type: 'step', by: -9 });
    expect(streams()).toEqual(['train', '1.jsonl:1']);
  });
});

test('the top of a list that is being made is gone to, unless the reader has moved', async () => {
  await small();
  const pinned = (turn: number | null) => {
    const { list, transcript } = screen.state;
    screen.state = { ...screen.state, list: { ...list, pinned: 'top' }, transcript: { ...transcript, turn } };
    return screen.do({ type: 'rows-changed' }).selected;
  };
  expect(pinned(3)).toBe('3.jsonl:1');
  expect(pinned(null)).toBe('1.jsonl:1');
  const { list } = screen.state;
  screen.state = { ...screen.state, list: { ...list, pinned: 'top' } };
  const there = screen.do({ type: 'sample', by: 1 }).selected;
  expect(screen.do({ type: 'rows-changed' }).selected).toBe(there);
  expect(there).not.toBe('1.jsonl:1');
});

test('the top is gone to as long as records that were found since may come before it', async () => {
  await small();
  const { list } = screen.state;
  screen.state = { ...screen.state, list: { ...list, pinned: 'top' } };
  const progress = { found: 8, looked: 8, total: 24, isWhole: true, isBusy: false, waitsForFacts: true };
  vi.spyOn(screen.data.dump, 'progress').mockReturnValue({ phase: 'facts', done: 8, total: 24 });
  const asked = vi.spyOn(screen.data, 'filterProgress').mockReturnValue(progress);
  expect(screen.do({ type: 'rows-changed' }).state.list.pinned).not.toBeNull();
  asked.mockReturnValue({ ...progress, looked: 24 });
  expect(screen.do({ type: 'rows-changed' }).state.list.pinned).toBeNull();
});

describe('a group', () => {
  test('takes the place of the list; the key, and going back, leave it', async () => {
    await (await small()).grouped();
    screen.do({ type: 'group' });
    expect(screen.data.rows(screen.state)).toHaveLength(4);
    expect(screen.do({ type: 'group' }).state.list.group).toBeNull();
    screen.do({ type: 'group' }, { type: 'back' });
    expect(screen.state.list.group).not.toBeNull();
    expect(screen.do({ type: 'back' }).state.list.group).toBeNull();
    expect(screen.selected).toBe('3.jsonl:1');
    expect(screen.do({ type: 'back' }).message).toBe('q quits; Enter opens the rollout');
  });

  test('is left for a place outside of it, and goes along to the same prompt of another step', async () => {
    await (await small()).grouped();
    screen.do({ type: 'group' }, { type: 'go', place: screen.place(2, 3), turn: null });
    expect(screen.state.list.group).not.toBeNull();
    screen.do({ type: 'go', place: screen.place(2, 5), turn: null });
    expect([screen.state.list.group, screen.selected]).toEqual([null, '3.jsonl:6']);
  });

  test('of a file that is still being read is not known, and no key waits for it', async () => {
    screen = await TestScreen.open({ '1.jsonl': [1, 1].map((number) => toolRollout(1, number, 1)) });
    screen.place(0, 0).file.state = 'indexing';
    const says = 'this file is still being read: its groups are not known yet';
    expect(screen.do({ type: 'group-member', by: 1 }).message).toBe(says);
    expect(screen.do({ type: 'page-compare', place: null }).message).toBe(says);
    expect(screen.state.page).toBeNull();
  });

  test('of one is refused with a reason; others are walked to both ends', async () => {
    screen = await TestScreen.open({ '1.jsonl': [1, 2, 2].map((number) => toolRollout(1, number, 1)) });
    await screen.grouped();
    expect(screen.do({ type: 'group' }).message).toBe('no other rollout of this step has this prompt');
    screen.do({ type: 'sample', by: 1 }, { type: 'group-member', by: 1 });
    expect([screen.selected, screen.message]).toEqual(['1.jsonl:3', '2 of 2 of its group']);
    expect(screen.do({ type: 'group-member', by: 1 }).message).toBe('2 of 2 of its group: the last');
  });
});

describe('folds', () => {
  test('a turn that the reader folded opens as it was, with nothing left of it', async () => {
    await small();
    screen.do({ type: 'turn', by: 1 }, { type: 'fold' });
    expect([...screen.state.transcript.folds]).toEqual([['t3', true]]);
    expect(screen.do({ type: 'fold' }).state.transcript.folds.size).toBe(0);
  });
});

describe('marks', () => {
  const marked = (record: number, generation: number) => {
    const marks = new Map([['a', { place: { file: screen.dump.files[0]!, record }, generation, turn: 3 }]]);
    screen.state = { ...screen.state, list: { ...screen.state.list, choice: { ...screen.state.list.choice, marks } } };
  };

  test('of a file that was rewritten goes to the record, says so, and forgets the turn', async () => {
    await small();
    marked(1, screen.dump.files[0]!.generation + 1);
    screen.do({ type: 'mark-go', letter: 'a' });
    expect(screen.message).toBe('mark a: its file was rewritten, this is its sample 2 now');
    expect([screen.selected, screen.state.transcript.turn]).toEqual(['1.jsonl:2', null]);
  });

  test('of a record that is there no more stays, and one that the filter leaves out says so', async () => {
    await small();
    marked(8, screen.dump.files[0]!.generation);
    screen.do({ type: 'mark-go', letter: 'a' });
    expect([screen.selected, screen.message]).toEqual(['3.jsonl:1', 'mark a: its file has 8 samples now, this was 9']);
    await filtered('sample > 4');
    marked(1, screen.dump.files[0]!.generation);
    screen.do({ type: 'mark-go', letter: 'a' });
    expect([screen.selected, screen.state.transcript.turn]).toEqual(['1.jsonl:2', 3]);
    expect(screen.message).toBe('mark a; the filter leaves it out of the list');
    expect(screen.do({ type: 'mark-go', letter: 'z' }).message).toMatch(/^no mark z/);
  });
});

describe('following', () => {
  test('a step with nothing left by the filter is skipped', async () => {
    await small();
    await filtered('step < 3');
    screen.do({ type: 'go', place: screen.place(0, 4), turn: null }, { type: 'follow' });
    expect(screen.selected).toBe('1.jsonl:5');
    expect(screen.message).toBe('following: waits for a complete step');
  });

  test('another sort is no movement: its first row of the step is gone to', async () => {
    await small();
    screen.do({ type: 'follow' });
    await screen.do({ type: 'sort', key: 'score', descending: false }).settled();
    expect(screen.selected).toBe('3.jsonl:2');
    expect(screen.state.follow.mode).toBe('on');
    expect(screen.do({ type: 'sample', by: 1 }).state.follow.mode).toBe('paused');
  });
});

describe('the : line', () => {
  test.each([
    ['q', 'quit'],
    ['x', 'quit'],
    ['sea', 'search'],
    ['step', 'step'],
    ['vi', 'view'],
    ['f', null],
    ['s', null],
    ['', null],
    ['nothing', null],
  ])(':%s calls %s', (word, name) => {
    const found = called(word);
    expect(found === null ? null : found.kind === 'line' ? found.command.name : found.id).toBe(name);
  });

  test('numbers are those of samples, from 1', async () => {
    await small();
    expect(sampleNumbered(0, screen.state)).toBe('step 3 has the samples 1 to 8');
    expect(sampleNumbered(9, screen.state)).toBe('step 3 has the samples 1 to 8');
    expect(sampleNumbered(8, screen.state)).toMatchObject({ record: 7 });
  });

  const enter = (value: string): Action[] => [
    { type: 'prompt-open', prompt: 'command' },
    { type: 'prompt-change', value },
    { type: 'prompt-submit' },
  ];

  test('nothing follows a command that takes nothing, and one that cannot be done says why', async () => {
    await small();
    expect(screen.do(...enter('quit now')).state.prompt?.error).toEqual({
      message: 'nothing follows this command',
      at: 5,
    });
    expect(screen.do(...enter('quitnow')).state.prompt?.error?.message).toMatch(/^no such command/);
    expect(screen.do(...enter('   ')).state.prompt).toBeNull();
  });

  test('what is entered twice is remembered once, and blanks are not', async () => {
    await small();
    expect(screen.do(...enter('2')).effects.filter(({ type }) => type === 'remember')).toHaveLength(1);
    expect(screen.do(...enter('2')).effects.filter(({ type }) => type === 'remember')).toEqual([]);
    expect(screen.do(...enter('  ')).effects).toEqual([]);
  });
});

describe('a search', () => {
  test('is gone back from to where its prompt was opened', async () => {
    await small(1, 1, 12);
    const before = screen.state.transcript;
    screen.do({ type: 'prompt-open', prompt: 'search' }, { type: 'prompt-change', value: '####' });
    await screen.searched();
    expect(screen.state.transcript.top).not.toEqual(before.top);
    screen.do({ type: 'prompt-submit' }, { type: 'jump', by: -1 });
    expect([screen.state.transcript.top, screen.state.transcript.turn]).toEqual([before.top, before.turn]);
  });

  test.each([
    ['goes there once it is found', 'needle', { at: 1, edge: null }, null],
    [
      'says that there is none once all is searched',
      'end',
      { at: 0, edge: 1 },
      'no more here, n again for the next sample',
    ],
  ])('n while it goes on: it %s', async (_, last, search, message) => {
    const output = `needle ${'word '.repeat(200_000)}${last}`;
    screen = await TestScreen.open({ '1.jsonl': [{ ...toolRollout(1, 1, 1), output }] });
    let now = performance.now();
    // There is time for some slices alone.
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => (now += 0.2));
    screen.do({ type: 'search', value: 'needle' }, { type: 'search-next', by: 1 });
    expect([screen.state.search?.at, screen.message]).toEqual([0, 'still searching in this sample']);
    clock.mockRestore();
    await screen.searched();
    expect([screen.state.search, screen.message]).toMatchObject([search, message]);
  });

  test('that was given up for another one takes nobody along', async () => {
    await small();
    screen.do({ type: 'search', value: 'John' });
    const job = { kind: 'hit', value: 'Problem', from: screen.place(2, 0), by: 1 } as const;
    expect(screen.do({ type: 'found', job, place: screen.place(0, 0), nth: 1 }).selected).toBe('3.jsonl:1');
    screen.do({ type: 'found', job: { ...job, value: 'John' }, place: screen.place(2, 1), nth: 1 });
    expect(screen.selected).toBe('3.jsonl:2');
    screen.do({ type: 'found', job: { ...job, value: 'John' }, place: null, nth: 0 });
    expect(screen.message).toBe('no more below');
  });
});

describe('running again', () => {
  const where = {
    name: 'bubblewrap',
    why: 'here',
    asks: null,
    problem: null,
    before: [],
    stateful: false,
  };
  const found = (): Action =>
    ({
      type: 'replay-where',
      place: screen.state.list.cursor!,
      call: 0,
      way: { repeat: 1, session: false },
      where,
    }) as never;
  const known = (count: number): Action =>
    ({
      type: 'replay-known',
      place: screen.state.list.cursor!,
      call: 0,
      way: { repeat: 1, session: false },
      known: count,
      rollouts: 24,
    }) as never;
  const runsList = (key: string) =>
    screen.do({ type: 'replay-key', key }).effects.at(-1) as { job: { kind: string; resume: boolean } };

  test('what is known of the list is left out, unless all of it is, or it is to be done again', async () => {
    await small();
    const ask = (count: number) => screen.do({ type: 'replay-ask', all: false }, found(), known(count));
    ask(5);
    expect(runsList('f').job).toMatchObject({ kind: 'list', resume: true });
    expect(screen.message).toBe('5 of 24 done, continues');
    ask(24);
    expect(runsList('f').job.resume).toBe(false);
    ask(0);
    expect(runsList('f').job.resume).toBe(false);
    ask(5);
    expect(runsList('F').job.resume).toBe(false);
  });

  test('an answer about another rollout is dropped, and a drift there takes nobody along', async () => {
    await small();
    screen.do({ type: 'replay-ask', all: false });
    screen.do({ ...found(), place: screen.place(0, 0) } as Action);
    expect(screen.state.replay.question).toMatchObject({ where: null });
    screen.do({ type: 'replay-key', key: 'esc' });
    const before = screen.state.transcript;
    screen.do({ type: 'replay-drift', place: screen.place(0, 0), turn: 3, words: 'found' });
    expect(screen.state.transcript).toBe(before);
    screen.do({ type: 'replay-drift', place: screen.place(2, 0), turn: 3, words: 'found' });
    expect([screen.state.transcript.turn, screen.message]).toEqual([3, 'found']);
  });

  test('the call is that of the turn, else the last one before it, else the first', async () => {
    const call = (name: string) => `<tool_call>\n{"name": "${name}", "arguments": {}}\n</tool_call>\n`;
    const result = 'user\n<tool_response>\n1\n</tool_response>\nassistant\n';
    const output = `${call('a')}${result}${call('b')}${result}So.`;
    screen = await TestScreen.open({ '1.jsonl': [{ ...toolRollout(1, 1, 1), output }] });
    const asked = (turn: number) => {
      screen.do({ type: 'go', place: screen.place(0, 0), turn }, { type: 'replay-ask', all: false });
      const { question } = screen.state.replay;
      screen.do({ type: 'replay-key', key: 'esc' });
      return question?.kind === 'call' ? question.name : null;
    };
    expect([0, 2, 3, 4, 5, 6].map(asked)).toEqual(['a', 'a', 'a', 'b', 'b', 'b']);
  });

  test('calls that ran before another one are free again, one that runs for itself is not', async () => {
    await small();
    const locator = screen.state.list.cursor!.file.locator(0);
    const change = (change: object): Action => ({ type: 'replay-rollout', locator, change, now: 1 }) as never;
    const running = { kind: 'running', since: 0, attempt: 1, of: 1 };
    screen.do(
      change({ kind: 'before', turn: 6, calls: [0, 1] }),
      change({ kind: 'call', call: 1, edited: false, state: running }),
      change({ kind: 'after', calls: [0, 1] }),
    );
    const { calls } = screen.state.replay.rollouts.get(locator)!;
    expect([calls.get(0)?.underway, calls.get(1)?.underway?.kind]).toEqual([null, 'running']);
    const outcome = (name: string) =>
      change({ kind: 'call', call: 0, edited: true, state: { kind: 'done', outcome: { name } } });
    screen.do(outcome('one'), outcome('two'));
    expect(screen.state.replay.rollouts.get(locator)!.calls.get(0)).toMatchObject({
      standing: null,
      edits: [{ name: 'one' }, { name: 'two' }],
    });
  });
});

describe('settings of a fork', () => {
  test('are read as they are written', () => {
    for (const line of ['', 'n=4 temperature=0.7', 'stop="\\n\\n" stop=END'])
      expect(forkLine(parseForkSettings(line))).toBe(line);
    expect(spokenSettings(parseForkSettings('n=2 top_p=0.9 stop="a b"'))).toBe('top_p 0.9, stop "a b"');
  });

  test.each([
    ['n=4 temprature=1', 'temprature is not a setting', 4],
    ['temperature=', 'temperature needs a value', 0],
    ['n=2 top_p=high', 'expected a number', 10],
  ])('%s: %s', (line, message, at) => {
    expect(() => parseForkSettings(line)).toThrow(
      expect.objectContaining({ message: expect.stringContaining(message), at }),
    );
  });

  test('are completed behind a blank, not within a value', () => {
    expect(settingChoices('n=2 temp')).toEqual(['n=2 temperature=']);
    expect(settingChoices('n=2 top_p=0')).toEqual([]);
  });
});

describe('a call for a shell', () => {
  const call = (args: object | null, more: object = {}) =>
    shellCommand({ name: 'f', arguments: args, error: null, raw: 'raw', ...more } as never);
  test.each([
    [call({ code: 'print(1)\n' }), "printf %s 'print(1)\n' | python3 -"],
    [call({ code: 'ls' }, { name: 'bash' }), "printf %s 'ls' | bash -s"],
    [call({ command: 'ls' }), "printf %s 'ls' | bash -s"],
    [call({ code: "a\rEOF\rtouch 'x'\\" }), "printf 'a\\015EOF\\015touch \\047x\\047\\134' | python3 -"],
    [call(null, { error: 'not JSON' }), "printf %s 'raw' | cat"],
    [call({ a: 1 }), 'printf %s \'{\n  "name": "f",\n  "arguments": {\n    "a": 1\n  }\n}\' | cat'],
  ])('%s', (text, wanted) => {
    expect(text).toBe(wanted);
  });
});

describe('the mouse', () => {
  const press = (x: number, y: number): Action => ({ type: 'mouse', event: { kind: 'press', by: 0, x, y } });
  const wheel = (x: number, y: number, by: number): Action => ({ type: 'mouse', event: { kind: 'wheel', by, x, y } });

  test('a click goes to the row below it, not to the titles, and not past the last row', async () => {
    await small(1, 8);
    const { bodyHeight, listHeight, listWidth } = screen.data.geometry(screen.state);
    const titles = bodyHeight - listHeight;
    expect(screen.do(press(2, 1 + titles + 3)).selected).toBe('1.jsonl:4');
    expect(screen.state.focus).toBe('list');
    expect(screen.do(press(2, titles)).selected).toBe('1.jsonl:4');
    expect(screen.do(press(2, 1 + titles + 9)).selected).toBe('1.jsonl:4');
    expect(screen.do(wheel(2, 5, 3)).selected).toBe('1.jsonl:7');
    expect(screen.do(press(listWidth + 4, 1)).state.focus).toBe('transcript');
  });

  test('does nothing behind a question, above the body and below it', async () => {
    await small(1, 8);
    const { bodyHeight } = screen.data.geometry(screen.state);
    expect(screen.do(wheel(2, 0, 3), wheel(2, bodyHeight + 1, 3)).selected).toBe('1.jsonl:1');
    screen.do({ type: 'list-menu', menu: 'sort' });
    expect(screen.do(wheel(2, 5, 3)).selected).toBe('1.jsonl:1');
  });
});

test('a rollout opens with the end of its prompt in sight, above its response', async () => {
  screen = await TestScreen.open({
    '1.jsonl': [
      { ...toolRollout(1, 1, 1), input: `user\n${'line\n'.repeat(60)}assistant\n`, output: 'word\n'.repeat(60) },
    ],
  });
  const view = screen.data.layout(screen.state)!;
  const { transcriptHeight } = screen.data.geometry(screen.state);
  expect(viewport(screen.state, screen.data)!.top).toBe(view.rowOfTurn(1) - Math.floor(transcriptHeight / 3));
});

test('of a rollout without a response the last turn is the one that is read', async () => {
  screen = await TestScreen.open({ '1.jsonl': [{ ...toolRollout(1, 1, 1), output: '' }] });
  const { rollout } = screen.data.record(screen.state.list.cursor!);
  expect(viewport(screen.state, screen.data)!.turn).toBe(rollout!.turns.length - 1);
});

test('a filter that is still looking is ended by going back, and the list is as it was before', async () => {
  await small(3, 8);
  await filtered('step < 3');
  screen.do({ type: 'filter', text: 'output ~ /left/' });
  expect(screen.data.filterProgress(screen.state)).toMatchObject({ isWhole: false });
  await screen.do({ type: 'back' }).settled();
  expect(screen.message).toBe('cancelled; the list is unchanged');
  expect(screen.state.list.choice.filter?.text).toBe('step < 3');
  expect(screen.data.rows(screen.state)).toHaveLength(16);
});

test('where a fork would run is taken for the rollout that was asked about', async () => {
  await small();
  screen.do({ type: 'fork-ask', model: { url: 'http://x/v1', name: 'qwen' } } as Action);
  const where = {
    name: 'bubblewrap',
    why: 'here',
    asks: null,
    problem: null,
    before: [],
    stateful: false,
  };
  const answer = (place: unknown): Action => ({ type: 'replay-where', place, call: null, way: null, where }) as never;
  expect(screen.do(answer(screen.place(0, 0))).state.replay.question).toMatchObject({ kind: 'fork', where: null });
  expect(screen.do(answer(screen.state.list.cursor)).state.replay.question).toMatchObject({ where });
});

test('the record is copied as it is, whatever it holds', async () => {
  const record = { ...toolRollout(1, 1, 1), note: 'a\u202eb' };
  screen = await TestScreen.open({ '1.jsonl': [record] });
  expect(screen.do({ type: 'copy-text', what: 'json' }).effects).toEqual([
    { type: 'copy', text: JSON.stringify(record), words: 'the record as JSON' },
  ]);
});

test('a hundred jumps are kept, the newest', async () => {
  await small(1, 8);
  const go = (i: number): Action => ({ type: 'go', place: screen.place(0, i % 8), turn: i % 5 });
  screen.do(...Array.from({ length: 130 }, (_, i) => go(i + 1)));
  expect(screen.state.jumps.list.length).toBeLessThanOrEqual(100);
  screen.do(...times(3, { type: 'jump', by: -1 }));
  expect([screen.selected, screen.state.transcript.turn]).toEqual(['1.jsonl:8', 2]);
});
