import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { Keymap } from '../../../src/viewer/tui/keys/keymap.ts';
import type { Data } from '../../../src/viewer/tui/rows/data.ts';
import { initialState, type State } from '../../../src/viewer/tui/state/state.ts';
import { programHandlers } from '../../../src/viewer/tui/update/program.ts';
import { directoryWith } from '../../program.ts';
import { App, type StartOptions } from '../../support/driver/app.ts';
import { toolRollout, writeDump } from '../../support/dump.ts';

const CALL = '<tool_call>\n{"name": "code_interpreter", "arguments": {"code": "print(1)"}}\n</tool_call>';
const answered = (...results: string[]): object => ({
  ...toolRollout(1, 1, 0),
  output: results
    .map((result) => `Try.\n${CALL}\nuser\n<tool_response>\n${result}\n</tool_response>\nassistant\n`)
    .concat('#### 1')
    .join(''),
});
const TRACE = 'Traceback (most recent call last):\nNameError: x';

const run = writeDump({
  '1.jsonl': [
    answered('1', TRACE, '2', TRACE),
    answered('1'),
    answered('(truncated)...1'),
    { ...toolRollout(1, 1, 0), output: 'No tool.' },
    '{"broken',
    answered(TRACE),
  ],
  '2.jsonl': [answered('1')],
});
afterAll(() => run.remove());

/** These handlers ask nothing of the dump. */
const NO_DATA = { filterProgress: () => null, layout: () => null, keys: new Keymap() } as unknown as Data;

let app: App;
const open = async (options: StartOptions = {}, args: string[] = []): Promise<App> => {
  app = App.start([`${run.dir}/1.jsonl`, ...args], { columns: 120, ...options });
  await app.sees('▌›assistant');
  return app;
};
afterEach(() => app.stop());

describe('e, w and t', () => {
  test('e goes from error to error, on into other samples, and says when there are no more', async () => {
    await open();
    app.press('e');
    await app.sees('error 1/2: a Python traceback');
    await app.sees('t5/t');
    app.press('e');
    await app.sees('error 2/2: a Python traceback');
    app.press('e');
    await app.list().selects('1.jsonl:5');
    await app.sees('error: not JSON at character');
    app.press('e');
    await app.list().selects('1.jsonl:6');
    await app.sees('error: a Python traceback');
    app.press('e');
    await app.sees('no more errors');
    app.press('3', 'E');
    await app.list().selects('1.jsonl:1');
    await app.sees('error 1/2');
    app.press('E');
    await app.sees('no error before this one');
    app.press('3', 'e');
    await app.list().selects('1.jsonl:6');
  });

  test('e follows the filter, also from a rollout that the list leaves out', async () => {
    await open({}, ['--filter', 'tool_calls<2']);
    await app.list().selects('1.jsonl:2');
    app.type(':1\r');
    await app.sees('the filter leaves it out of the list');
    app.press('3', 'e');
    await app.list().selects('1.jsonl:5');
    app.press('2', 'E');
    await app.sees('no error before this one');
  });

  test('w goes to warnings, < comes back', async () => {
    await open();
    app.press('w');
    await app.list().selects('1.jsonl:3');
    await app.sees('warning: the tool result was cut before the model saw it');
    app.press('<');
    await app.list().selects('1.jsonl:1');
  });

  test('t goes from tool call to tool call', async () => {
    await open();
    app.press('2', 't');
    await app.sees('tool call 2/4: code_interpreter');
    app.press('3', 't');
    await app.list().selects('1.jsonl:2');
    app.press('T');
    await app.list().selects('1.jsonl:1');
    await app.sees('tool call 4/4');
  });

  test('where turns are not shown, e shows them', async () => {
    await open();
    app.press('v', 'v');
    await app.sees('›▾ {');
    app.press('e');
    await app.sees('›tool');
  });

  test('] r and ] d say why they cannot act', async () => {
    await open();
    app.press(']', 'd');
    await app.sees('nothing was run again yet; ! does');
    app.press(']', 'r');
    await app.sees('no more rewards');
  });

  test('the footer hints at e where there are errors', async () => {
    await open();
    await app.sees('e error');
    await app.stop();
    app = App.start([`${run.dir}/2.jsonl`], { columns: 120 });
    await app.sees('h/l turn');
    await app.until(() => !/indexing|checking/.test(app.screen()), 'the end of indexing');
    expect(app.screen()).not.toContain('e error');
  });
});

describe('] d', () => {
  test('goes to results that differ once they were run again, on into other rollouts; g ! runs all of one', async () => {
    const drifted = answered('1', '2', '1', '3');
    const dump = writeDump({ '1.jsonl': [drifted, answered('1'), answered('4')] });
    try {
      app = App.start([dump.dir], { columns: 120 });
      await app.sees('▌›assistant');
      app.press('g', '!');
      await app.sees(/run all 4 calls of this rollout on \w+/);
      app.press('y');
      await app.sees('the first result that differs');
      await app.until(() => !/running|replaying/.test(app.screen()), 'the end of the run');
      app.press('1', '0', 'K', '0', ']', 'd');
      await app.sees('drift 1/2: different');
      await app.sees('t5/t');
      app.press(']', 'd');
      await app.sees('drift 2/2: different');
      app.press(']', 'd');
      await app.sees('no more drifts');
      app.press('!');
      await app.sees('Enter run');
      app.press('f');
      await app.sees(/6 calls: .*3 drift/);
      await app.sees(/1 +3 +0\.00 .*drift/);
      app.press(']', 'd');
      await app.list().selects('1.jsonl:3');
      await app.sees(/^ drift/m);
    } finally {
      dump.remove();
    }
  });
});

describe('the help', () => {
  test('finds a command while it is typed, and Enter does it', async () => {
    await open();
    app.press('?');
    await app.sees('down a line');
    app.type('next step');
    await app.sees('there is no other step');
    app.press('Enter');
    await app.sees('^ there is no other step');
    app.press('ctrl+u');
    app.type('other pane');
    await app.sees('› Tab');
    app.press('Enter');
    await app.sees('j/k sample');
  });

  test('arrows choose, what is chosen stays in sight, the key that opened it closes it', async () => {
    await open({ rows: 20 });
    app.press('?');
    await app.sees('› e  ');
    for (let i = 0; i < 30; i++) app.press('Down');
    await app.sees(/^› [^e]/m);
    for (let i = 0; i < 12; i++) app.press('PageDown');
    await app.sees('› space');
    app.press('?');
    await app.sees('▌›assistant');
    app.press('?');
    await app.sees('› e  ');
    app.type('zzz');
    await app.sees('no such command');
    app.press('Enter');
    await app.sees('^ no such command');
    app.press('ctrl+c');
    await app.sees('▌›assistant');
  });
});

describe('zoom and mouse', () => {
  test('_ gives the whole width to the pane that has the keys, and back', async () => {
    await open();
    app.press('_');
    await app.seesNot(' step sample');
    app.press('Tab');
    await app.sees(' step sample');
    await app.seesNot('▌›assistant');
    app.press('_');
    await app.sees('▌›assistant');
    await app.sees(' step sample');
  });

  const at = (text: string, dx = 0): [number, number] => {
    const { x, y } = app.find(text);
    return [x + 1 + dx, y + 1];
  };
  const click = ([x, y]: [number, number]): void => app.type(`\x1b[<0;${x};${y}M\x1b[<0;${x};${y}m`);
  const wheel = (code: 64 | 65, [x, y]: [number, number]): void => app.type(`\x1b[<${code};${x};${y}M`);

  const tracks = (mode: string): Promise<void> =>
    app.until(() => app.modes.mouseTrackingMode === mode, `the mouse mode ${mode}`);

  test('the mouse is off until F2, and off again on every way out', async () => {
    await open();
    expect(app.modes.mouseTrackingMode).toBe('none');
    app.type('\x1bOQ');
    await app.sees('mouse on, F2 off');
    await tracks('vt200');
    app.type('\x1bOQ');
    await app.seesNot('mouse on');
    await tracks('none');
    app.type('\x1bOQ');
    await app.sees('mouse on, F2 off');
    await tracks('vt200');
    app.kill('SIGTERM');
    await app.exits();
    expect(app.modes.mouseTrackingMode).toBe('none');
  });

  test('an editor and the shell have the mouse to themselves; coming back it is on again', async () => {
    await open({ env: { VISUAL: '', EDITOR: "sh -c 'read -r _ </dev/tty'" } });
    app.press('g', 'm');
    await app.sees('mouse on');
    app.press('V');
    await app.until(() => !app.inAlternateScreen, 'the editor');
    await tracks('none');
    app.press('Enter');
    await app.sees('▌›assistant');
    await tracks('vt200');
  });

  test('the wheel scrolls the pane below it, a click goes to a row, a turn, a fold', async () => {
    await open({ rows: 14 });
    app.type('\x1bOQ');
    await app.sees('mouse on');
    click(at('      3  0.00', 2));
    await app.list().selects('1.jsonl:3');
    await app.sees('j/k sample');
    wheel(65, at(' step sample'));
    await app.list().selects('1.jsonl:6');
    wheel(64, at(' step sample'));
    await app.list().selects('1.jsonl:3');
    wheel(64, at('Problem 1-1'));
    await app.sees('system, 14 words');
    click(at('system, 14 words'));
    await app.sees('You solve problems');
    await app.sees('h/l turn');
    click(at('▌ assistant', 3));
    await app.sees('▌›assistant');
    click(at('1.jsonl:3'));
    const before = app.screen();
    wheel(65, at('You solve problems'));
    await app.seesNot('You solve problems');
    expect(app.screen()).not.toBe(before);
    // Below the titles of a list that is filtered, too.
    app.type('&tool_calls<2\r');
    await app.sees('of 6');
    await app.idle();
    click(at('1      2', 2));
    await app.list().selects('1.jsonl:2');
    // Nothing is typed by it, and an open prompt keeps what it has.
    app.type('/Try');
    click(at('1.jsonl:2'));
    await app.sees('/Try');
  });
});

describe('^c', () => {
  test('says how to quit, and quits when it is pressed twice', async () => {
    await open();
    app.press('ctrl+c');
    await app.sees('q quits, or ^c again');
    app.press('J', 'ctrl+c');
    await app.list().selects('1.jsonl:2');
    await app.sees('q quits, or ^c again');
    app.press('K', 'ctrl+c', 'ctrl+c');
    expect((await app.exits()).code).toBe(0);
  });

  test('twice means within a second', () => {
    const cancel = (state: State, at: number) => programHandlers.cancel(state, { type: 'cancel', at }, NO_DATA);
    const once = cancel(initialState(80, 24), 5000) as State;
    expect(once.message?.text).toBe('q quits, or ^c again');
    const late = cancel(once, 6500) as State;
    expect(late.message?.text).toBe('q quits, or ^c again');
    expect(cancel(late, 7400)).toMatchObject({ effects: [{ type: 'quit' }] });
  });

  test('cancels what runs first', () => {
    const state = { ...initialState(80, 24), find: { what: 'an error', done: 1, total: 2 } };
    const action = { type: 'cancel', at: 0 } as const;
    expect(programHandlers.cancel(state, action, NO_DATA)).toMatchObject({
      state: { find: null, message: { text: 'cancelled' } },
      effects: [{ type: 'find', job: null }],
    });
  });
});

const HOME = (config: string): Record<string, string> => ({
  XDG_CONFIG_HOME: directoryWith({ 'rollout-viewer/config.yaml': config }),
});

describe('keys of your own', () => {
  test('a preset in config.yaml, and keys over it', async () => {
    await open({ env: HOME('preset: verl\nkeys:\n  zoom: Z\n') });
    await app.sees('n/p sample');
    app.press('n');
    await app.list().selects('1.jsonl:2');
    app.press('Z');
    await app.seesNot(' step sample');
  });

  test("verl's own keys do what they do in its viewer", async () => {
    await open({ rows: 14 }, ['--keys', 'verl']);
    app.press('n');
    await app.list().selects('1.jsonl:2');
    app.press('p');
    await app.list().selects('1.jsonl:1');
    app.press('G');
    await app.sees('ground truth');
    app.press('g', 'g');
    await app.sees('system, 14 words');
    app.press('j');
    await app.seesNot('system, 14 words');
    app.press('k');
    await app.sees('system, 14 words');
    app.press('s');
    await app.sees('raw text, as it was written');
    app.press('f');
    app.type('NameError');
    await app.sees(/[/]\d+/);
    app.press('Enter', 'P');
    await app.sees('there is no other step');
  });

  test('--keys comes before it; an unknown preset is reported before the screen opens', async () => {
    await open({ env: HOME('preset: verl\n') }, ['--keys', 'emacs']);
    await app.sees('←/→ turn');
    app.press('ctrl+n', 'ctrl+x', 'ctrl+c');
    expect((await app.exits()).code).toBe(0);
    await app.stop();
    app = App.start([`${run.dir}/1.jsonl`, '--keys', 'nano']);
    await app.sees('Allowed choices are vim, less,');
    expect((await app.exits()).code).toBe(2);
  });

  test('mistakes are reported with their line, on the screen and at the end, and cost nothing else', async () => {
    const config = 'keys:\n  turn.nxt: x\n  zoom: [Z, nokey]\n  wrap: Z\n';
    app = App.start([`${run.dir}/1.jsonl`], { columns: 300, env: HOME(config) });
    await app.sees('config.yaml:3: no key is called "nokey"');
    await app.sees('(and 2 more)');
    // So wide a screen hides its details first.
    app.press('Z', 'Z');
    await app.seesNot(' step sample');
    app.press('q');
    expect((await app.exits()).code).toBe(0);
    await app.sees('config.yaml:2: no command is called turn.nxt, perhaps turn.next');
    await app.sees('config.yaml:4: Z is given to zoom already; give wrap another key');
  });

  test('what is no YAML at all leaves the keys as they are', async () => {
    await open({ env: HOME('keys: [\n') });
    await app.sees('config.yaml:');
    app.press('J');
    await app.list().selects('1.jsonl:2');
  });
});

describe('Esc', () => {
  test('followed at once by another key, as a slow line sends it, is two keys', async () => {
    await open();
    app.type('\x1bj');
    await app.sees('j/k sample');
    await app.list().selects('1.jsonl:2');
    app.type('/Try');
    await app.sees('/Try');
    app.type('\x1bJ');
    await app.list().selects('1.jsonl:3');
  });

  test('is not what a shell takes alt for at a prompt', async () => {
    await open();
    app.type('/one two\x1bb\x1bbzero \x1bd');
    await app.sees('/zero  two');
    app.type('\x1bf\x1b\x7f!');
    await app.sees('/zero  !');
  });
});
