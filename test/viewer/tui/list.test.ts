import { appendFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { rolloutViewer } from '../../program.ts';
import { App, type StartOptions } from '../../support/driver/app.ts';
import { smallRun, toolRollout, writeDump } from '../../support/dump.ts';

let app: App;
let run: ReturnType<typeof writeDump>;
afterEach(async () => {
  await app.stop();
  run.remove();
});

/** Scores are (sample - 1 + step) mod 3 = 0; groups of four. */
async function open(options: StartOptions = {}, args: readonly string[] = [], files = smallRun(3, 8)): Promise<void> {
  run = writeDump(files);
  app = App.start([run.dir, ...args], { columns: 120, ...options });
  await app.sees('▌›assistant');
  await app.until(() => !/indexing|checking/.test(app.screen()), 'the end of indexing');
}

const filter = (text: string): void => {
  app.press('&');
  app.type(text);
  app.press('Enter');
};

/** The rows of the list as `step sample`, from top to bottom. */
const listed = (): string[] =>
  app
    .lines()
    .slice(1, -1)
    .map((line) => /^[› ][a-zA-Z• ] *(\d+) +(\d+) /.exec(line))
    .filter((match) => match !== null)
    .map(([, step, sample]) => `${step} ${sample}`);

describe('the filter', () => {
  test('shows what matches and how much that is; the cursor stays on its record, and comes back to it', async () => {
    await open();
    filter('score == 1');
    await app.sees('& score == 1');
    await app.sees('8 of 24');
    await app.idle();
    expect(listed()).toEqual(['1 3', '1 6', '2 2', '2 5', '2 8', '3 1', '3 4', '3 7']);
    await app.sees(/^› +3 +1 /m);
    filter('score == 0');
    await app.sees('16 of 24');
    await app.sees(/^› +3 +2 /m);
    filter('');
    await app.sees('all 24 again');
    await app.sees(/^› +3 +1 /m);
  });

  test('points at the character that is wrong, and stays open', async () => {
    await open();
    filter('score < 1 && outptu ~ /x/');
    await app.sees('did you mean output?');
    expect(app.find('^ did you mean').x).toBe(1 + 'score < 1 && '.length);
    app.press('ctrl+c');
    await app.seesNot('did you mean');
  });

  test('Tab completes names, those of the extras too', async () => {
    await open({}, [], { '1.jsonl': [{ ...toolRollout(1, 1, 1), accuracy_of_answer: 0.5 }, toolRollout(1, 2, 0)] });
    app.type('&accur');
    app.press('Tab');
    await app.sees('&accuracy_of_answer');
    app.type(' > 0.1');
    app.press('Enter');
    await app.sees('1 of 2');
  });

  test('that nothing matches says so, and how to have the list again', async () => {
    await open();
    filter('score > 7');
    await app.sees('0 of 24');
    await app.sees('nothing matches');
    await app.sees('& Enter clears the filter');
    app.press('u');
    await app.until(() => listed().length === 24, 'all rows of the list');
  });

  test('asks for the text of records, and follows a dump that grows and is rewritten', async () => {
    await open();
    filter('output ~ /99 left/');
    await app.sees('12 of 24');
    appendFileSync(join(run.dir, '3.jsonl'), `${JSON.stringify(toolRollout(3, 1, 1))}\n`);
    await app.sees('13 of 25');
    writeFileSync(join(run.dir, '1.jsonl'), `${JSON.stringify(toolRollout(1, 5, 1))}\n`);
    await app.sees('9 of 18');
    rmSync(join(run.dir, '2.jsonl'));
    await app.sees('5 of 10');
  });

  test('is reported at the foot where the list has no room', async () => {
    await open({ columns: 60 });
    filter('score == 1');
    await app.sees(/&score == 1 8 of 24/);
  });
});

test(':filter and :sort do the same by name', async () => {
  await open();
  app.type(':filter score ==');
  app.press('Enter');
  await app.sees('expected a value');
  app.type(' 1');
  app.press('Enter');
  await app.sees('8 of 24');
  app.type(':sort bytes:desc');
  app.press('Enter');
  await app.sees('size▼');
  app.type(':id nothing');
  app.press('Enter');
  await app.sees('no uid or request_id starts with nothing');
  app.type(':2');
  app.press('Enter');
  await app.sees('the filter leaves it out of the list');
  await app.sees('sample 2/8');
});

describe('flags', () => {
  test('--filter and --sort open with them in force, at the top', async () => {
    await open({}, ['--filter', 'step != 2', '--sort', 'score:desc']);
    await app.sees('16 of 24');
    await app.sees('score▼');
    await app.sees(/^› +1 +3 /m);
  });

  test('a mistake in one is reported before the screen opens', async () => {
    run = writeDump(smallRun(1, 1));
    app = App.start([run.dir, '--filter', 'score <']);
    await app.sees('--filter: expected a value');
    const { code } = await app.exits();
    expect(code).toBe(2);
    expect(app.output).not.toContain('\x1b[?1049h');
    const { stdout } = await rolloutViewer([run.dir, '--filter', 'score == 7']);
    expect(stdout).not.toContain('1.jsonl:1');
  });
});

describe('columns', () => {
  test('are chosen by c, those of the extras too, and are there at the next start', async () => {
    const home = join(tmpdir(), `rollout-viewer-columns-${process.pid}`);
    const env = { XDG_STATE_HOME: home };
    const files = { '1.jsonl': [{ ...toolRollout(1, 1, 1), acc: 0.25 }] };
    await open({ env }, [], files);
    app.press('c');
    await app.sees('[x] turns');
    await app.sees('[ ] acc');
    app.press('j', 'j', 'j', 'j', 'Space');
    await app.sees('[ ] turns');
    const entries = app.lines().filter((line) => /^[› ] \[[x ]\] /.test(line));
    const at = (name: string) => entries.findIndex((line) => line.slice(2).startsWith(`[ ] ${name}`));
    app.press(...Array.from({ length: at('acc') - 4 }, () => 'j'), 'Space');
    await app.sees('[x] acc');
    app.press('Esc');
    await app.sees(/score calls +size +acc finding/);
    await app.sees(/1\.00 +1 .* 0\.25/);
    await app.stop();
    app = App.start([run.dir], { columns: 120, env });
    await app.sees(/score calls +size +acc finding/);
    app.press('c', 'd', 'Esc');
    await app.sees(/turns calls finding/);
    rmSync(home, { recursive: true, force: true });
  });
});

describe('marks', () => {
  test('of a file that was rewritten say so', async () => {
    await open();
    app.press('m', 'a');
    await app.sees(/^.a +3 +1 /m);
    app.press('H');
    await app.sees('sample 1/8');
    writeFileSync(join(run.dir, '3.jsonl'), `${JSON.stringify(toolRollout(3, 5, 1))}\n`);
    await app.sees('17 rollouts');
    app.press("'", 'a');
    await app.sees('mark a: its file was rewritten, this is its sample 1 now');
  });
});
