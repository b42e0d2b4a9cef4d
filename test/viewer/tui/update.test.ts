// Rules of update: a state and an action in, a state and effects out. Nothing here needs a terminal.
import { afterEach, describe, expect, test } from 'vitest';
import type { Action } from '../../../src/viewer/tui/state/action.ts';
import type { FoundWorld, WorldWish } from '../../../src/viewer/tui/state/replay.ts';
import { smallRun, toolRollout } from '../../support/dump.ts';
import { TestScreen } from '../../support/screen.ts';

let screen: TestScreen;
afterEach(() => screen.close());

const small = async (columns?: number): Promise<TestScreen> => {
  screen = await TestScreen.open(smallRun(3, 8), columns);
  return screen;
};
/** A rollout with one call of an agent's shell. */
const container = async (): Promise<TestScreen> => {
  const call = { id: 'c', type: 'function', function: { name: 'execute_bash', arguments: '{"command":"ls"}' } };
  const messages = [
    { role: 'user', content: 'go' },
    { role: 'assistant', content: null, tool_calls: [call] },
    { role: 'tool', tool_call_id: 'c', content: 'a' },
  ];
  screen = await TestScreen.open({ '1.jsonl': [{ messages }] });
  return screen;
};
const key = (name: string): Action => ({ type: 'menu-key', key: name });

describe('opening', () => {
  test('goes to the first sample of the newest step, a third down the list', async () => {
    await small();
    expect(screen.selected).toBe('3.jsonl:1');
    expect(screen.state.list.offset).toBe(Math.floor(screen.data.geometry(screen.state).listHeight / 3));
    expect(screen.state.focus).toBe('transcript');
  });

  test('a newest step without rollouts does not keep the others from being seen', async () => {
    screen = await TestScreen.open({ '1.jsonl': [toolRollout(1, 1, 1)], '2.jsonl': [] });
    expect(screen.selected).toBe('1.jsonl:1');
  });
});

describe('samples and steps', () => {
  test('sample goes on in the order of the list, over the end of a step, and says where it ends', async () => {
    await small();
    expect(screen.do({ type: 'sample', by: 7 }).selected).toBe('3.jsonl:8');
    expect(screen.do({ type: 'sample', by: 1 }).message).toBe('the last sample of the list');
    expect(screen.do({ type: 'sample', by: -8 }).selected).toBe('2.jsonl:8');
    expect(screen.do({ type: 'sample', by: -99 }).message).toBe('the first sample of the list');
    expect(screen.selected).toBe('1.jsonl:1');
  });

  test('step stays at the same place where the prompt is not known, and says which step is the last', async () => {
    await small();
    expect(screen.do({ type: 'sample', by: 4 }, { type: 'step', by: -1 }).selected).toBe('2.jsonl:5');
    expect(screen.do({ type: 'step', by: -9 }).selected).toBe('1.jsonl:5');
    expect(screen.do({ type: 'step', by: -1 }).message).toBe('step 1 is the first');
  });

  test('another record opens as a rollout opens, with nothing folded by hand', async () => {
    await small();
    screen.do({ type: 'fold' });
    expect(screen.state.transcript.folds.size).toBe(1);
    expect(screen.do({ type: 'sample', by: 1 }).state.transcript).toEqual({ top: null, turn: null, folds: new Map() });
  });
});

describe('moving', () => {
  test('turns stop at both ends, with a word', async () => {
    await small();
    expect(screen.do({ type: 'turn-edge', edge: 'first' }).state.transcript.turn).toBe(0);
    expect(screen.do({ type: 'turn', by: -1 }).message).toBe('the first turn');
    expect(screen.do({ type: 'turn', by: 99 }).state.transcript.turn).toBe(4);
    expect(screen.do({ type: 'turn', by: 1 }).message).toBe('the last turn; J goes to the next sample');
  });

  test('a page, half of one and a line move the pane that has the keys', async () => {
    await small();
    const { listHeight } = screen.data.geometry(screen.state);
    screen.do({ type: 'back' }, { type: 'top', line: null }, { type: 'scroll', by: 1, unit: 'page' });
    expect(screen.data.rows(screen.state).indexOf(screen.state.list.cursor!)).toBe(Math.min(23, listHeight - 1));
    screen.do({ type: 'top', line: 5 });
    expect(screen.selected).toBe('1.jsonl:5');
    screen.do({ type: 'bottom', line: null });
    expect(screen.selected).toBe('3.jsonl:8');
  });

  test('the turn of the cursor stays in sight while the text scrolls', async () => {
    screen = await TestScreen.open(smallRun(1, 1), 100, 12);
    screen.do({ type: 'turn-edge', edge: 'first' }, { type: 'scroll', by: 99, unit: 'page' });
    expect(screen.state.transcript.turn).toBeGreaterThan(0);
    expect(screen.state.transcript.top).not.toBeNull();
  });
});

describe('folds', () => {
  test('what is folded in a turn opens, open again it goes back, and with nothing to open the turn folds', async () => {
    await small();
    const folds = () => Object.fromEntries(screen.state.transcript.folds);
    screen.do({ type: 'fold' });
    expect(Object.values(folds())).toEqual([false]);
    screen.do({ type: 'fold' });
    expect(folds()).toEqual({});
    screen.do({ type: 'turn', by: 1 }, { type: 'fold' });
    expect(folds()).toEqual({ t3: true });
  });

  test('all: as it opens, all open, a line for each turn, and round', async () => {
    await small();
    screen.do({ type: 'fold-all' });
    const open = [...screen.state.transcript.folds.values()];
    expect(open.length).toBeGreaterThan(0);
    expect(open.every((closed) => !closed)).toBe(true);
    screen.do({ type: 'fold-all' });
    expect([...screen.state.transcript.folds]).toEqual([0, 1, 2, 3, 4].map((turn) => [`t${turn}`, true]));
    expect(screen.do({ type: 'fold-all' }).state.transcript.folds.size).toBe(0);
  });
});

describe('the list', () => {
  test('a filter keeps the cursor where it is, else goes to the nearest; undone, it is where it was', async () => {
    await small();
    screen.do({ type: 'filter', text: 'score==0' });
    await screen.settled();
    const stand = screen.selected;
    expect(screen.dump.files[2]!.score(screen.state.list.cursor!.record)).toBe(0);
    await screen.do({ type: 'undo' }).settled();
    expect(screen.selected).toBe('3.jsonl:1');
    expect(screen.message).toMatch(/^undone: filter cleared|^undone/);
    await screen.do({ type: 'redo' }).settled();
    expect(screen.selected).toBe(stand);
  });

  test('! alone inverts the filter in force, and says so without one', async () => {
    await small();
    expect(screen.do({ type: 'filter', text: '!' }).message).toMatch(/^nothing is filtered yet/);
    screen.do({ type: 'filter', text: 'score==0' }, { type: 'filter', text: '!' });
    expect(screen.state.list.choice.filter).toEqual({ text: 'score==0', isInverted: true });
    expect(screen.do({ type: 'filter', text: '' }).state.list.choice.filter).toBeNull();
    expect(screen.do({ type: 'filter', text: '' }).message).toBe('nothing is filtered');
  });

  test('a mistake in a filter changes nothing, and names the character', async () => {
    await small();
    const before = screen.state.list.choice;
    expect(screen.do({ type: 'filter', text: 'score<' }).message).toMatch(/\(character \d+\)$/);
    expect(screen.state.list.choice).toBe(before);
  });

  test('best goes to the best; another order leaves the cursor on its rollout', async () => {
    await small();
    const before = screen.selected;
    screen.do({ type: 'sort', key: 'turns', descending: true });
    await screen.settled();
    expect(screen.selected).toBe(before);
    screen.do({ type: 'list-menu', menu: 'sort' }, key('b'));
    expect(screen.state.list.choice.sort).toMatchObject({ key: 'score', descending: true });
    expect(screen.message).toBe('sorted by score, largest first');
    await screen.settled();
    const { file, record } = screen.state.list.cursor!;
    expect(file.score(record)).toBe(1);
    expect(screen.selected).toBe('1.jsonl:3');
    expect(screen.do({ type: 'sort-reverse' }).state.list.choice.sort).toMatchObject({ descending: false });
  });

  test('columns are remembered, one has to stay, and those of other dumps stay chosen', async () => {
    await small();
    screen.do({ type: 'list-menu', menu: 'columns' }, key('space'));
    const [effect] = screen.effects;
    expect(effect?.type).toBe('remember-columns');
    const shown = screen.data.allColumns(screen.state).filter(({ isShown }) => isShown);
    screen.do({ type: 'columns', columns: [shown[0]!.key, 'elsewhere'] });
    const at = screen.data.allColumns(screen.state).findIndex(({ isShown }) => isShown);
    const down = Array.from({ length: at }, () => key('j'));
    screen.do(key('esc'), { type: 'list-menu', menu: 'columns' }, ...down, key('x'));
    expect(screen.message).toBe('one column has to stay');
    screen.do(...down.map(() => key('k')), key('x'));
    expect(screen.state.list.choice.columns).toContain('elsewhere');
  });

  test('a menu closes with Esc, and with a key that it does not have', async () => {
    await small();
    expect(screen.do({ type: 'list-menu', menu: 'sort' }, key('esc')).state.list.menu).toBeNull();
    expect(screen.do({ type: 'list-menu', menu: 'sort' }, key('?')).message).toBe('nothing was sorted');
    expect(screen.do({ type: 'list-menu', menu: 'mark' }, key('-')).message).toBe('a mark is a letter or a digit');
  });
});

describe('marks', () => {
  test('a letter comes back to the record and the turn, and undoing takes it away', async () => {
    await small();
    screen.do({ type: 'turn-edge', edge: 'last' }, { type: 'list-menu', menu: 'mark' }, key('a'));
    screen.do({ type: 'sample', by: 3 }, { type: 'list-menu', menu: 'go' }, key('a'));
    expect([screen.selected, screen.state.transcript.turn]).toEqual(['3.jsonl:1', 4]);
    screen.do({ type: 'undo' });
    expect(screen.do({ type: 'list-menu', menu: 'go' }).message).toBe('no marks yet; m and a letter sets one');
  });

  test('rows are marked and unmarked downwards, and gone to in both ways', async () => {
    await small();
    screen.do({ type: 'mark-row' }, { type: 'mark-row' });
    expect(screen.selected).toBe('3.jsonl:3');
    expect(screen.do({ type: 'mark-next', by: -1 }).selected).toBe('3.jsonl:2');
    expect(screen.do({ type: 'mark-next', by: -9 }).selected).toBe('3.jsonl:1');
    expect(screen.do({ type: 'mark-next', by: -1 }).message).toBe('no mark above');
    expect(screen.do({ type: 'mark-row' }).state.list.choice.marks.size).toBe(1);
  });
});

describe('prompts', () => {
  const typed = (prompt: 'command' | 'filter' | 'search', value: string): readonly Action[] => [
    { type: 'prompt-open', prompt },
    { type: 'prompt-change', value },
    { type: 'prompt-submit' },
  ];

  test('a mistake keeps the prompt open and points at the character', async () => {
    await small();
    screen.do(...typed('command', 'step 99'));
    expect(screen.state.prompt?.error).toEqual({ message: 'no step 99 here; there are 1, 2, 3', at: 5 });
    screen.do({ type: 'prompt-change', value: 'step 1' });
    expect(screen.state.prompt?.error).toBeNull();
    expect(screen.do({ type: 'prompt-submit' }).selected).toBe('1.jsonl:1');
    expect(screen.state.prompt).toBeNull();
  });

  test.each([
    ['5', '3.jsonl:5'],
    ['2.jsonl:3', '2.jsonl:3'],
    ['step 2', '2.jsonl:1'],
    ['2.jsonl:3#t1', '2.jsonl:3'],
  ])(':%s goes to %s', async (line, selected) => {
    await small();
    expect(screen.do(...typed('command', line)).selected).toBe(selected);
  });

  test('a command that is named is done as if its key had been pressed', async () => {
    await small();
    screen.do(...typed('command', 'quit'));
    expect(screen.effects).toEqual([
      { type: 'command', id: 'quit' },
      { type: 'remember', prompt: 'command', value: 'quit' },
    ]);
  });

  test('an entry is remembered once, and ↑ brings it back to be changed; ↓ gives the draft again', async () => {
    await small();
    screen.do(...typed('command', '2'), ...typed('command', '3'), ...typed('command', '2'));
    expect(screen.state.history.command).toEqual(['3', '2']);
    screen.do({ type: 'prompt-open', prompt: 'command' }, { type: 'prompt-change', value: 'dra' });
    const value = (by: number) => screen.do({ type: 'prompt-move', by }).state.prompt?.value;
    expect([value(-1), value(-1), value(-1), value(1), value(1)]).toEqual(['2', '3', '3', '2', 'dra']);
  });

  test('Tab goes through what may be meant, and takes the only one', async () => {
    await small();
    screen.do({ type: 'prompt-open', prompt: 'command' }, { type: 'prompt-change', value: 'ste' });
    const first = screen.do({ type: 'prompt-complete', by: 1 }).state.prompt;
    expect(first?.value).toBe('step ');
    screen.do({ type: 'prompt-change', value: 'step 3' }, { type: 'prompt-complete', by: 1 });
    expect(screen.state.prompt).toMatchObject({ value: 'step 3', choice: -1 });
  });

  test('an edit that the field does not make itself starts it over at that cursor', async () => {
    await small();
    screen.do({ type: 'prompt-open', prompt: 'command' });
    const seed = screen.state.prompt!.seed;
    screen.do({ type: 'prompt-edit', value: 'abc', cursor: 1 });
    expect(screen.state.prompt).toMatchObject({ value: 'abc', cursor: 1, seed: seed + 1 });
    screen.do({ type: 'prompt-close' }, { type: 'prompt-open', prompt: 'command' });
    expect(screen.state.prompt!.seed).toBeGreaterThan(seed + 1);
  });

  test('a reward that cannot score opens its prompt again, with the reason', async () => {
    await small();
    screen.do({ type: 'reward', text: 'nope.py', line: 'reward ', prompt: 'command' });
    expect(screen.effects).toMatchObject([{ type: 'check-reward', choice: { reward: 'nope.py' }, at: 7 }]);
    screen.do({
      type: 'prompt-problem',
      prompt: 'command',
      value: 'reward nope.py',
      problem: { message: 'gone', at: 7 },
    });
    expect(screen.state.prompt).toMatchObject({ value: 'reward nope.py', error: { message: 'gone', at: 7 } });
    screen.do({ type: 'reward-chosen', choice: { reward: 'gsm8k' } });
    expect(screen.message).toBe('scored again by gsm8k from now on');
  });

  test('the help closes with the key that opened it, and does what its cursor is on', async () => {
    await small();
    screen.do(
      { type: 'prompt-open', prompt: 'help' },
      { type: 'prompt-change', value: 'quit' },
      { type: 'prompt-submit' },
    );
    expect(screen.effects).toEqual([{ type: 'command', id: 'quit' }]);
    expect([screen.state.help, screen.state.prompt]).toEqual([null, null]);
    screen.do({ type: 'prompt-open', prompt: 'help' }, { type: 'prompt-change', value: '?' });
    expect([screen.state.help, screen.state.prompt]).toEqual([null, null]);
  });
});

describe('jumps and searches', () => {
  test('< goes back to the place before a jump, > forth again', async () => {
    await small();
    screen.do({ type: 'go', place: screen.place(0, 2), turn: 3 }, { type: 'jump', by: -1 });
    expect(screen.selected).toBe('3.jsonl:1');
    expect(screen.do({ type: 'jump', by: 1 }).selected).toBe('1.jsonl:3');
    expect(screen.state.transcript.turn).toBe(3);
    expect(screen.do({ type: 'jump', by: 1 }).message).toBe('no newer place');
  });

  test('n goes from hit to hit, says when there are no more, and pressed again looks in the next samples', async () => {
    await small();
    screen.do({ type: 'search', value: 'John' });
    await screen.searched();
    screen.do({ type: 'search-next', by: 1 });
    const hits = screen.state.search!.at;
    screen.do(...Array.from({ length: 9 }, (): Action => ({ type: 'search-next', by: 1 })));
    expect(screen.state.search!.at).toBeGreaterThanOrEqual(hits);
    expect(screen.effects.at(-1)).toMatchObject({ type: 'find', job: { kind: 'hit', value: 'John', by: 1 } });
  });

  test('a landmark behind this rollout is looked for beside the screen', async () => {
    await small();
    screen.do({ type: 'landmark', landmark: 'call', by: 1 });
    expect(screen.message).toBe('tool call: code_interpreter');
    screen.do({ type: 'landmark', landmark: 'call', by: 2 });
    expect(screen.effects).toMatchObject([{ type: 'find', job: { kind: 'landmark', landmark: 'call', by: 2 } }]);
    screen.do({
      type: 'found',
      job: { kind: 'landmark', landmark: 'call', from: screen.place(2, 0), by: 2 },
      place: null,
      nth: 0,
    });
    expect(screen.message).toBe('no more tool calls');
  });
});

describe('running again', () => {
  test('a question is asked before anything runs, and Esc takes it back', async () => {
    await small();
    screen.do({ type: 'replay-ask', all: false });
    expect(screen.effects).toMatchObject([{ type: 'run', job: { kind: 'where', call: 0, repeat: 1 } }]);
    expect(screen.do({ type: 'replay-key', key: 'enter' }).effects).toEqual([]);
    expect(screen.do({ type: 'replay-key', key: 'esc' }).state.replay.question).toBeNull();
  });

  const where = {
    name: 'bubblewrap',
    why: 'here',
    asks: null,
    problem: null,
    before: [],
    stateful: false,
  };
  const found = (way = { repeat: 1, session: false }): Action => ({
    type: 'replay-where',
    place: screen.state.list.cursor!,
    call: 0,
    way,
    where,
  });

  test('Enter runs the call where it was said to run; an answer to another question is dropped', async () => {
    await small();
    screen.do({ type: 'replay-ask', all: false }, found({ repeat: 3, session: false }));
    expect(screen.do({ type: 'replay-key', key: 'enter' }).effects).toEqual([]);
    screen.do(found(), { type: 'replay-key', key: 'enter' });
    expect(screen.effects).toMatchObject([{ type: 'run', job: { kind: 'run', call: 0, repeat: 1, session: false } }]);
    expect(screen.state.replay.question).toBeNull();
  });

  const needed = (): Action => ({ type: 'world-needed', place: screen.state.list.cursor!, call: 0 });
  const world = (more: Partial<FoundWorld> = {}): Action => {
    const wish = screen.state.replay.world;
    const found = {
      image: 'rootfs:/task',
      how: 'as typed',
      settings: '',
      before: 0,
      asks: null,
      problem: null,
      ...more,
    };
    return { type: 'world-where', place: screen.state.list.cursor!, call: 0, wish, found };
  };
  const pressed = (...keys: string[]) =>
    keys.map((name) => screen.do({ type: 'replay-key', key: name }).effects).at(-1);
  const task = { image: 'rootfs:/task', network: false };

  test('a call of a container runs in an image once the screen has shown which, and how that was found', async () => {
    await container();
    screen.do({ type: 'replay-ask', all: false });
    expect(screen.do(needed()).effects.at(-1)).toMatchObject({ job: { kind: 'world-where', call: 0, wish: null } });
    expect(pressed('enter', 'a', 'i', 'e', 'y')).toEqual([]);
    screen.do(world());
    expect(pressed('enter')).toMatchObject([{ type: 'run', job: { kind: 'world-run', call: 0, run: 'call' } }]);
    expect(screen.state.replay.question).toBeNull();
  });

  test('without an image Enter asks for one, and the question goes on in it', async () => {
    await container();
    screen.do({ type: 'replay-ask', all: false }, needed(), world({ image: null }));
    expect(pressed('enter')).toEqual([]);
    expect(screen.state.prompt?.id).toBe('world');
    screen.do({ type: 'prompt-change', value: 'rootfs:/task workdir=here' }, { type: 'prompt-submit' });
    expect(screen.state.prompt?.error).toEqual({ message: 'workdir= is an absolute path', at: 13 });
    screen.do({ type: 'prompt-change', value: 'rootfs:/task workdir=/w shell=cwd' }, { type: 'prompt-submit' });
    const wish = { ...task, workdir: '/w', shell: 'cwd' };
    expect(screen.effects).toMatchObject([{ job: { kind: 'world-where', wish } }, { type: 'remember' }]);
    screen.do(world());
    expect(pressed('I')).toMatchObject([{ type: 'run', job: { kind: 'world-run', wish, run: 'after' } }]);
  });

  test('a command finds the call that changes its answer, once it was shown what runs', async () => {
    await container();
    screen.do({ type: 'replay-ask', all: false }, needed(), world());
    expect(pressed('b')).toEqual([]);
    expect(screen.state.prompt?.id).toBe('bisect');
    screen.do({ type: 'prompt-change', value: ' ' }, { type: 'prompt-submit' });
    expect(screen.state.prompt?.error?.message).toBe('type a command that distinguishes the states');
    screen.do({ type: 'prompt-change', value: 'pytest -q' }, { type: 'prompt-submit' });
    expect(pressed('enter')).toEqual([]);
    expect(pressed('y')).toMatchObject([{ type: 'run', job: { kind: 'world-bisect', command: 'pytest -q' } }]);
  });

  test('the history keeps no variable of a world, which may be a key', async () => {
    await container();
    screen.do({ type: 'replay-ask', all: false }, needed(), world({ image: null }));
    pressed('enter');
    screen.do(
      { type: 'prompt-change', value: 'rootfs:/task env=KEY=secret "env=A=b c" shell=cwd' },
      { type: 'prompt-submit' },
    );
    expect(screen.effects).toMatchObject([
      { job: { kind: 'world-where', wish: { env: { KEY: 'secret', A: 'b c' } } } },
      { type: 'remember', value: 'rootfs:/task shell=cwd' },
    ]);
    expect(screen.state.history.world).toEqual(['rootfs:/task shell=cwd']);
  });

  test('the image of a record, this machine, and whole rollouts need another y', async () => {
    await container();
    const asks = 'the record alone names this image';
    for (const key of ['enter', 'i', 'a']) {
      screen.do({ type: 'replay-ask', all: false }, needed(), world({ asks }));
      expect([pressed(key), pressed('enter')]).toEqual([[], []]);
      expect(pressed('y')).toMatchObject([{ type: 'run', job: { kind: 'world-run' } }]);
    }
    screen.do({ type: 'replay-ask', all: true }, needed(), world());
    expect(pressed('enter')).toEqual([]);
    expect(pressed('y')).toMatchObject([{ type: 'run', job: { kind: 'world-run', run: 'all' } }]);
    screen.do({ type: 'replay-ask', all: false }, needed(), world({ problem: 'worlds need Linux' }));
    expect([pressed('enter'), screen.message]).toEqual([[], 'worlds need Linux']);
  });

  test('c copies the command that runs a call in its image', async () => {
    await container();
    screen.do({ type: 'replay-ask', all: false }, needed(), world({ image: null }));
    const copied = (text: RegExp) => [{ type: 'copy', text: expect.stringMatching(text) }];
    expect(pressed('c')).toMatchObject(copied(/^rollout-viewer replay \S+ --call 0 --image $/));
    screen.do({ type: 'world', wish: { ...task, env: { A: 'b c' }, network: true } });
    screen.do({ type: 'replay-ask', all: false }, needed(), world());
    expect(pressed('c')).toMatchObject(copied(/ --env 'A=b c' --network --image rootfs:\/task$/));
  });

  test('k goes through 1, 3 and 10 runs', async () => {
    await small();
    screen.do({ type: 'replay-ask', all: false });
    const repeats = ['k', 'k', 'k'].map(
      (name) => screen.do({ type: 'replay-key', key: name }).effects[0] as { job: { repeat: number } },
    );
    expect(repeats.map(({ job }) => job.repeat)).toEqual([3, 10, 1]);
  });

  test('many calls on a server are asked for once more', async () => {
    await small();
    screen.do({ type: 'replay-ask', all: false }, { ...found(), where: { ...where, asks: '?' } } as Action);
    expect(screen.do({ type: 'replay-key', key: 'a' }).effects).toEqual([]);
    expect(screen.do({ type: 'replay-key', key: 'y' }).effects).toMatchObject([{ type: 'run', job: { kind: 'all' } }]);
  });

  test('with --no-exec nothing is asked', async () => {
    await small();
    screen.state = { ...screen.state, replay: { ...screen.state.replay, canRun: false } };
    expect(screen.do({ type: 'replay-ask', all: false }).message).toBe('nothing is run: opened with --no-exec');
    expect(screen.do({ type: 'fork-ask' }).message).toBe('nothing is run: opened with --no-exec');
  });

  test('a fork asks for a model where none is named, and for the branches then', async () => {
    await small();
    expect(screen.do({ type: 'fork-ask' }).state.prompt?.id).toBe('model');
    screen.do({ type: 'prompt-change', value: 'http://x/v1 qwen' }, { type: 'prompt-submit' });
    expect(screen.state.replay.question).toMatchObject({ kind: 'fork', model: { url: 'http://x/v1', name: 'qwen' } });
    screen.do({ type: 'fork-settings', settings: { n: 4, texts: {} } }, {
      ...found(),
      call: null,
      way: null,
    } as Action);
    expect(screen.do({ type: 'replay-key', key: 'enter' }).effects).toMatchObject([
      { type: 'run', job: { kind: 'fork', settings: { n: 4 } } },
    ]);
  });

  test('a fork goes on in the image that the screen has shown; this machine needs another y', async () => {
    await container();
    screen.do({ type: 'fork-ask', model: { url: 'http://x/v1', name: 'qwen' } });
    const found = { image: 'host', how: 'as typed', settings: '', asks: null, problem: null, tools: 'execute_bash' };
    const answer = (asks: string | null): Action[] => {
      const { wish = null } = screen.state.replay.question as { wish?: WorldWish | null };
      const place = screen.state.list.cursor!;
      const inWorld = { ...found, asks };
      const there = { ...where, name: '', why: 'no tools' };
      return [
        { type: 'fork-world', place, wish, inWorld },
        { type: 'replay-where', place, call: null, way: null, where: there },
      ];
    };
    screen.do(...answer("it reads this machine's files"));
    expect([pressed('3'), pressed('enter')]).toEqual([[], []]);
    const job = { kind: 'fork', image: 'host', settings: { n: 3 } };
    expect(pressed('y')).toMatchObject([{ type: 'run', job }]);
    screen.do({ type: 'fork-ask' });
    screen.do(...answer(null));
    expect(screen.do({ type: 'world', wish: task }).state.replay.question).toMatchObject({
      where: null,
      inWorld: null,
    });
    screen.do(...answer(null));
    expect(pressed('enter')).toMatchObject([{ type: 'run', job: { kind: 'fork', wish: task } }]);
  });

  test('results of this session stay when the journal is read, and branches are by number', async () => {
    await small();
    const locator = screen.state.list.cursor!.file.locator(0);
    const outcome = (name: string) => ({ name }) as never;
    const change = (change: never, now = 1): Action => ({ type: 'replay-rollout', locator, change, now });
    screen.do(
      change({
        kind: 'call',
        call: 0,
        edited: false,
        state: { kind: 'running', since: 0, attempt: 1, of: 1 },
      } as never),
      change({ kind: 'call', call: 0, edited: false, state: { kind: 'done', outcome: outcome('mine') } } as never),
      change({ kind: 'branch', branch: { uid: 'b', branch: 2 } } as never),
      // Another fork at the same time counts from the same number.
      change({ kind: 'branch', branch: { uid: 'c', branch: 2 } } as never),
      change({ kind: 'branch', branch: { uid: 'c', branch: 2, model: 'ended' } } as never),
      change({
        kind: 'journal',
        calls: new Map([[0, { underway: null, standing: outcome('kept'), edits: [], reported: [] }]]),
        branches: [
          { uid: 'a', branch: 1 },
          { uid: 'b', branch: 2, model: 'kept' },
        ],
      } as never),
    );
    const replay = screen.state.replay.rollouts.get(locator)!;
    expect(replay.calls.get(0)).toMatchObject({ underway: null, standing: { name: 'mine' } });
    expect(replay.branches).toEqual([
      { uid: 'a', branch: 1 },
      { uid: 'b', branch: 2 },
      { uid: 'c', branch: 2, model: 'ended' },
    ]);
  });

  test('words come in parts, and what is under way ends with everything', async () => {
    await small();
    const locator = screen.state.list.cursor!.file.locator(0);
    screen.do(
      { type: 'replay-words', words: new Map([['a', 'same']]), rescores: new Map() },
      { type: 'replay-words', words: new Map([['b', 'drift']]), rescores: new Map() },
      { type: 'replay-rollout', locator, change: { kind: 'before', turn: 3, calls: [0] }, now: 1 },
    );
    expect([...screen.state.replay.words]).toEqual([
      ['a', 'same'],
      ['b', 'drift'],
    ]);
    screen.do({ type: 'replay-tick', now: 5 });
    expect(screen.state.replay.rollouts.get(locator)?.now).toBe(5);
    screen.do({ type: 'replay-idle', now: 6 });
    expect(screen.state.replay.rollouts.get(locator)?.calls.get(0)?.underway).toBeNull();
  });
});

describe('the editor', () => {
  test('work is thrown away by two keys, never by one, and what is unchanged closes', async () => {
    await small();
    const subject = { kind: 'turn', place: screen.state.list.cursor!, turn: 2 } as const;
    const open: Action = { type: 'editor-open', subject, title: 'turn t2', text: 'text' };
    const press = (name: string, text = ''): Action => ({ type: 'editor-key', key: name, text });
    expect(screen.do(open, press('esc')).state.editor).toBeNull();
    expect(screen.do(open, press('a', 'a'), press('esc')).state.editor?.isLeaving).toBe(true);
    expect(screen.do(press('esc')).state.editor).toBeNull();
    expect(screen.do(open, press('a', 'a'), press('ctrl+s')).effects).toMatchObject([
      { type: 'run', job: { kind: 'edited', text: 'atext' } },
    ]);
  });
});

describe('following and alarms', () => {
  test('any movement pauses it, and F goes on; another filter does not', async () => {
    await small();
    screen.do({ type: 'follow' });
    expect(screen.state.follow.mode).toBe('on');
    expect(screen.do({ type: 'scroll', by: 1, unit: 'line' }).state.follow.mode).toBe('paused');
    expect(screen.message).toBe('follow paused, F resumes');
    screen.do({ type: 'follow' }, { type: 'filter', text: 'score>=0' });
    expect(screen.state.follow.mode).toBe('on');
    expect(screen.do({ type: 'follow' }).message).toBe('follow ended');
  });

  test('an alarm rings, counts those before it, and goes with the next key that it can be seen behind', async () => {
    await small();
    screen.do({ type: 'alarm', text: 'one' }, { type: 'alarm', text: 'two' });
    expect(screen.effects).toEqual([{ type: 'bell' }, { type: 'bell' }]);
    expect(screen.state.alarm).toEqual({ text: 'two', before: 1 });
    expect(screen.do({ type: 'prompt-open', prompt: 'command' }).state.alarm).toBeNull();
    screen.do({ type: 'alarm', text: 'three' }, { type: 'prompt-change', value: 'x' });
    expect(screen.state.alarm).toEqual({ text: 'three', before: 0 });
  });
});

describe('views and copies', () => {
  test('the turn that was read in one view is the turn in the other', async () => {
    await small();
    screen.do({ type: 'turn-edge', edge: 'last' }, { type: 'view-next', by: 1 });
    expect([screen.state.display.view, screen.state.transcript.turn]).toEqual(['raw', 4]);
    screen.do({ type: 'view-next', by: -1 });
    expect([screen.state.display.view, screen.state.transcript.turn]).toEqual(['chat', 4]);
  });

  test('sideways only where lines are not wrapped', async () => {
    await small();
    expect(screen.do({ type: 'sideways', by: 1 }).message).toBe('z turns wrapping off first');
    screen.do({ type: 'wrap' }, { type: 'sideways', by: 1 });
    expect(screen.state.display.left).toBeGreaterThan(0);
    expect(screen.do({ type: 'sideways', by: -9 }).state.display.left).toBe(0);
  });

  test('a turn, its call as a command, and its locator go to the clipboard', async () => {
    await small();
    const copied = (what: 'turn' | 'call' | 'link' | 'prompt') =>
      (screen.do({ type: 'copy-text', what }).effects[0] as { text: string } | undefined)?.text;
    expect(copied('call')).toBe("printf %s 'left = 100 - 1\nprint(left)' | python3 -");
    expect(copied('link')).toMatch(/3\.jsonl:1#t2$/);
    expect(copied('prompt')).toMatch(/^system\n/);
    expect(copied('turn')).toContain('<tool_call>');
  });

  test('a text that no terminal takes is not copied', async () => {
    screen = await TestScreen.open({
      '1.jsonl': [{ ...toolRollout(1, 1, 1), input: `user\n${'x'.repeat(90_000)}\nassistant\n` }],
    });
    screen.do({ type: 'copy-text', what: 'json' });
    expect(screen.effects).toEqual([]);
    expect(screen.message).toMatch(/^the record as JSON: too long for a terminal's clipboard; V opens it/);
  });
});
