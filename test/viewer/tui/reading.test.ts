import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { App, type StartOptions } from '../../support/driver/app.ts';
import { smallRun, writeDump } from '../../support/dump.ts';

const run = writeDump(smallRun(2, 8));
afterAll(() => run.remove());

let app: App;
const open = async (options: StartOptions = {}): Promise<App> => {
  app = App.start([run.dir], options);
  await app.sees('▌›assistant');
  return app;
};
afterEach(() => app.stop());

describe('views by v', () => {
  test('chat, raw text, JSON, fields, details, tokens, mapping, and round', async () => {
    await open({ columns: 120 });
    app.press('v');
    await app.sees(/›assistant[\s\S]*▌ <think>/);
    await app.sees('▌ <tool_call>');
    app.press('v');
    await app.sees('›▾ {');
    await app.sees('output: ▸ <think>…');
    app.press('v');
    await app.sees(/›input +system/);
    app.press('v');
    await app.sees('inferred from roles');
    await app.sees(/ground truth +99/);
    app.press('v');
    await app.sees('this record holds no token ids');
    app.press('v');
    await app.sees('built from files of its writer');
    app.press('v');
    await app.sees('▌›assistant');
  });

  test('raw text distinguishes trained from masked without colours', async () => {
    await open({ columns: 120, env: { NO_COLOR: '1' } });
    app.press('v');
    await app.sees(/›assistant[\s\S]*▌ <think>/);
    app.press('G');
    await app.sees('  <tool_response>');
    await app.sees('▌ John has $99 left.');
  });

  test('x folds in the JSON tree', async () => {
    await open({ columns: 120 });
    app.press('v', 'v', 'l', 'l');
    await app.sees('›  output: ▸');
    app.press('x');
    await app.sees('›  output: ▾');
    await app.sees('First I compute 100 - 1.');
    app.press('x');
    await app.sees('›  output: ▸');
  });

  test('each view is left and found again where it was; the turn goes along from chat to raw text', async () => {
    await open({ columns: 120 });
    app.press('x', 'l', 'l');
    await app.sees('t4/t4');
    app.press('v');
    await app.sees(/›assistant[^›]*▌ John has[\s\S]*t4\/t4/);
    app.press('h');
    await app.sees('t3/t4');
    app.press('v', 'l', 'l', 'x');
    await app.sees('›  output: ▾');
    app.press('5', 'v');
    await app.sees('t3/t4');
    await app.sees('▾ think, 6 words');
    app.press('2', 'v');
    await app.sees('›  output: ▾');
    app.press('J');
    await app.sees('sample 2/8');
    await app.sees('output: ▸');
  });

  test('- hides a field, also in the next sample, + shows it again', async () => {
    await open({ columns: 120 });
    app.press('v', 'v', 'v');
    await app.sees(/›input/);
    app.press('-');
    await app.sees('hidden: input');
    app.press('J');
    await app.sees('sample 2/8');
    await app.sees('hidden: input');
    app.press('+');
    await app.seesNot('hidden: input');
  });

  test('z turns wrapping off, ) scrolls sideways', async () => {
    await open({ columns: 80, rows: 24 });
    app.press('z');
    await app.sees('lines are not wrapped');
    app.press(')');
    await app.seesNot('Problem 2-1: John');
    app.press('z');
    await app.sees('lines are wrapped');
  });
});

describe('searching', () => {
  test('finds while it is typed, opens the fold that holds the hit, and counts', async () => {
    await open({ columns: 120 });
    app.type('/first i');
    await app.sees('First I compute 100 - 1.');
    app.press('Enter');
    await app.sees('1/1');
    const { x, y } = app.find('First I');
    expect(app.cell(x, y).background).not.toBeNull();
    app.press('n');
    await app.sees('no more here, n again for the next sample');
    app.press('n');
    await app.sees('sample 2/8');
    await app.sees('1/1');
  });

  test('smart case, patterns, and plain text behind \\V', async () => {
    await open({ columns: 120 });
    app.type('/FIRST');
    await app.sees('no hit');
    app.press('ctrl+u');
    app.type('\\$\\d+ left');
    await app.sees('1/1');
    app.press('ctrl+u');
    app.type('\\V(left)');
    await app.sees('1/1');
    app.press('ctrl+u');
    app.type('(');
    app.press('Enter');
    await app.sees('as plain text');
  });

  test('* goes to the places of the tool', async () => {
    await open({ columns: 120 });
    app.press('*');
    await app.sees(/1\/\d/);
  });
});

describe('taking it away', () => {
  const clipboard = (): string => {
    const all = [...app.output.matchAll(/\x1b\]52;c;([A-Za-z0-9+/=]*)\x07/g)];
    return Buffer.from(all.at(-1)?.[1] ?? '', 'base64').toString();
  };

  test('y copies to the clipboard and says what', async () => {
    await open({ columns: 160 });
    app.press('y', 'c');
    await app.sees('sent call 0 as a command');
    expect(clipboard()).toBe("printf %s 'left = 100 - 1\nprint(left)' | python3 -");
    app.press('y', 'l');
    await app.sees('#t2');
    expect(clipboard()).toMatch(/2\.jsonl:1#t2$/);
    app.press('l', 'y', 't');
    await app.sees('sent turn t3');
    expect(clipboard()).toContain('99');
    app.press('y', 'j');
    await app.sees('sent the record as JSON');
    expect(JSON.parse(clipboard())).toMatchObject({ gts: '99', step: 2 });
  });

  test('V opens a copy in the editor, | gives it to a command, and the screen comes back', async () => {
    await open({ columns: 120, env: { VISUAL: '', EDITOR: "sh -c 'read -r _ </dev/tty'" } });
    app.press('V');
    await app.until(() => !app.inAlternateScreen, 'the editor');
    app.press('Enter');
    await app.sees('▌›assistant');
    app.press('|');
    app.type('grep -c assistant');
    app.press('Enter');
    await app.sees('[Enter goes back]');
    app.press('Enter');
    await app.sees('▌›assistant');
  });
});
