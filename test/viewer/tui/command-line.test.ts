import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { App, type StartOptions } from '../../support/driver/app.ts';
import { smallRun, toolRollout, writeDump } from '../../support/dump.ts';

const files = smallRun(3, 8);
const run = writeDump({
  ...files,
  '2.jsonl': [
    ...files['2.jsonl']!,
    '',
    { ...toolRollout(2, 9, 1), uid: 'b1946ac9-1', request_id: 'req-one' },
    { ...toolRollout(2, 10, 1), uid: 'b1946ac9-2', request_id: 'req-"two"' },
  ],
});
afterAll(() => run.remove());

let app: App;
const open = async (options: StartOptions = {}): Promise<App> => {
  app = App.start([run.dir], { columns: 120, ...options });
  await app.sees('▌›assistant');
  // Places in files that are not read yet are not known.
  await app.sees('26 rollouts');
  return app;
};
afterEach(() => app.stop());

const enter = (line: string): void => {
  app.type(`:${line}`);
  app.press('Enter');
};

describe('the line behind :', () => {
  test('goes to a sample by its number, and to a step', async () => {
    await open();
    enter('5');
    await app.list().selects('3.jsonl:5');
    enter('step 1');
    await app.list().selects('1.jsonl:5');
    enter('99');
    await app.sees('^ step 1 has the samples 1 to 8');
    app.press('ctrl+u');
    app.type('step 7\r');
    await app.sees('^ no step 7 here; there are 1, 2, 3');
  });

  test('goes to a locator: as given, by the end of its path, with a turn, pasted', async () => {
    await open();
    enter(`${run.dir}/1.jsonl:2#t4`);
    await app.list().selects('1.jsonl:2');
    await app.sees('t4/t4');
    enter('3.jsonl:7');
    await app.list().selects('3.jsonl:7');
    app.type('\x1b[200~/elsewhere/rollout_data/2.jsonl:3#t3\n\x1b[201~');
    await app.sees(':/elsewhere/rollout_data/2.jsonl:3#t3');
    app.press('Enter');
    await app.list().selects('2.jsonl:3');
    await app.sees('t3/t4');
    enter('2.jsonl:9');
    await app.sees('^ a blank line');
    app.press('ctrl+u');
    app.type('2.jsonl:12\r');
    await app.sees('^ its last line is 11');
    app.press('ctrl+u');
    app.type('3.jsonl:1#t9\r');
    await app.sees('^ its last turn is t4');
    app.press('ctrl+u');
    app.type('9.jsonl:1\r');
    await app.sees('^ no file of this dump is called 9.jsonl');
  });

  test('finds an id by its beginning, and goes on to the next that has it', async () => {
    await open();
    enter('id b1946');
    await app.list().selects('2.jsonl:10');
    enter('id b1946');
    await app.list().selects('2.jsonl:11');
    enter('id b1946');
    await app.list().selects('2.jsonl:10');
    enter('id req-"t');
    await app.list().selects('2.jsonl:11');
    // With the hyphens of a UUID or without, on either side.
    enter('id b1946ac91');
    await app.list().selects('2.jsonl:10');
    enter('id b19-46ac9-2');
    await app.list().selects('2.jsonl:11');
    enter('id nobody');
    await app.sees('no uid or request_id starts with nobody');
  });

  test('does every command by its name, and says why where it cannot', async () => {
    await open();
    enter('sample.next');
    await app.list().selects('3.jsonl:2');
    enter('view json');
    await app.sees('›▾ {');
    enter('view pictures');
    await app.sees('^ a view is one of chat, raw, json, fields, details');
    app.press('ctrl+g');
    enter('field.hide');
    await app.sees('^ fields are hidden in the view of fields; v goes there');
    app.press('ctrl+g');
    enter('help');
    await app.sees('down a line');
    app.press('ctrl+g');
    enter('sample.next 3');
    await app.sees('^ nothing follows this command');
    app.press('ctrl+g');
    enter('frobnicate');
    await app.sees('^ no such command; Tab completes their names, ? lists them');
    app.press('ctrl+g');
    enter('q');
    expect((await app.exits()).code).toBe(0);
  });

  test('completes names, steps, views and files; ↑ brings back what was entered', async () => {
    await open();
    app.type(':vie');
    app.press('Tab');
    await app.sees(':view');
    await app.sees('view.next');
    app.press('ctrl+u');
    app.type('view de');
    app.press('Tab', 'Enter');
    await app.sees('inferred from roles');
    app.type(':step ');
    app.press('Tab');
    await app.sees(':step 1');
    app.press('Tab', 'Enter');
    await app.list().selects('2.jsonl:1');
    app.type(':3.j');
    app.press('Tab');
    await app.sees(':3.jsonl:');
    app.press('ctrl+g');
    app.type(':');
    app.press('Up');
    await app.sees(':step 2');
    app.press('Up');
    await app.sees(':view details');
  });
});

describe('the list of jumps', () => {
  test('< goes back to where a jump began, > forth again', async () => {
    await open();
    app.press('l');
    await app.sees('t3/t4');
    enter('step 1');
    await app.list().selects('1.jsonl:1');
    enter('7');
    await app.list().selects('1.jsonl:7');
    app.press('<');
    await app.list().selects('1.jsonl:1');
    app.press('<');
    await app.list().selects('3.jsonl:1');
    await app.sees('t3/t4');
    app.press('<');
    await app.sees('no older place');
    app.press('2', '>');
    await app.list().selects('1.jsonl:7');
    app.press('>');
    await app.sees('no newer place');
  });

  test('holds where H, G and g left from, and what a search left; not what J passes', async () => {
    await open({ rows: 14 });
    app.press('G');
    await app.sees('ground truth 99');
    app.press('<');
    await app.sees('t2/t4');
    app.press('J', 'J');
    await app.list().selects('3.jsonl:3');
    app.press('H');
    await app.list().selects('2.jsonl:3');
    app.type('/Problem 2-2\r');
    await app.sees('n looks in the next ones');
    app.press('n');
    await app.list().selects('2.jsonl:5');
    app.press('<');
    await app.list().selects('2.jsonl:3');
    app.press('<');
    await app.list().selects('3.jsonl:3');
  });
});
