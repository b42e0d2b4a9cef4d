import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { App } from '../../support/driver/app.ts';
import { writeDump } from '../../support/dump.ts';

const CALL = '<tool_call>\n{"name": "code_interpreter", "arguments": {"code": "print(1)"}}\n</tool_call>';
const TRACEBACK = 'Traceback (most recent call last):\n  File "x.py", line 1, in <module>\nNameError: x';
const record = (output: string) => ({ input: 'user\nGo.\nassistant\n', output, gts: '1', score: 1, step: 1 });
const answered = (result: string) =>
  `${CALL}\nuser\n<tool_response>\n${result}\n</tool_response>\nassistant\n${'and so on\n'.repeat(40)}`;

const run = writeDump({
  '1.jsonl': [record(answered(`${'printed\n'.repeat(60)}${TRACEBACK}`)), record(''), record('<think>\nno end')],
});
afterAll(() => run.remove());
let app: App;
afterEach(() => app.stop());

describe('what was noticed, on the screen', () => {
  test('e goes to the turn, and as far into it as the line that says what failed', async () => {
    app = App.start([run.dir], { columns: 130, rows: 24 });
    await app.sees('▌›assistant');
    await app.sees('→ error: NameError: x');
    app.press('e');
    await app.sees(/^.* !NameError: x +a Python traceback$/m);
    await app.sees('t2/t3');
  });

  test('without colours the sign and the words are the same', async () => {
    app = App.start([run.dir], { columns: 100, rows: 24, env: { NO_COLOR: '1' } });
    await app.sees('▌›assistant');
    app.press('e');
    await app.sees(/!NameError: x +a Python traceback$/m);
    const { x, y } = app.find('!NameError');
    expect(app.cell(x, y)).toMatchObject({ text: '!', bold: true, colour: null });
  });

  test('what speaks of the whole record is in its head, in every view', async () => {
    app = App.start([run.dir], { columns: 120, rows: 24 });
    await app.sees('▌›assistant');
    app.press('J');
    await app.sees('!the response is empty');
    app.press('v', 'v');
    await app.sees('▾ {');
    await app.sees('!the response is empty');
    app.press('J');
    await app.seesNot('the response is empty');
    app.press('5', 'v');
    await app.sees(/▌! {2}no end +the response ends inside <think>/);
  });
});
