import { appendFileSync, mkdirSync, readFileSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { App } from '../../support/driver/app.ts';
import { smallRun, toolRollout, writeDump } from '../../support/dump.ts';

let app: App;
let run: ReturnType<typeof writeDump>;
afterEach(async () => {
  await app.stop();
  run.remove();
});

const lines = (...records: object[]): string => records.map((record) => `${JSON.stringify(record)}\n`).join('');

describe.each([
  ['events', []],
  ['polling', ['--poll', '0.1']],
])('the screen while a trainer writes, by %s', (_, how) => {
  const open = (steps: number, samples: number): string => {
    run = writeDump(smallRun(steps, samples));
    app = App.start([run.dir, ...how]);
    return run.dir;
  };

  test('shows lines and steps as they come, hollow until they are whole, and stays at what is read', async () => {
    const directory = open(1, 2);
    await app.sees('▌›assistant');
    await app.sees('1 step · 2 rollouts');
    appendFileSync(join(directory, '1.jsonl'), lines(toolRollout(1, 7, 1)));
    await app.sees('1 step · 3 rollouts');
    // It is hollow as long as lines come, and for two seconds more.
    let isSeen = false;
    const isHollow = app.sees('○2').then(() => {
      isSeen = true;
    });
    let count = 0;
    while (!isSeen) {
      count++;
      appendFileSync(join(directory, '2.jsonl'), lines(toolRollout(2, 8, 0)));
      await Promise.race([isHollow, setTimeout(500)]);
    }
    await app.sees(`2 steps · ${3 + count} rollouts`);
    await app.sees('1.jsonl:1  sample 1/3');
    await app.seesNot('○');
  });

  test('holds half a line back until it is whole', async () => {
    const directory = open(1, 2);
    await app.sees('1 step · 2 rollouts');
    const line = lines(toolRollout(1, 7, 1));
    appendFileSync(join(directory, '1.jsonl'), line.slice(0, 50));
    appendFileSync(join(directory, '1.jsonl'), line.slice(50));
    await app.sees('1 step · 3 rollouts');
    await app.seesNot('bad');
  });

  test('half a line that is there as a row becomes the rollout that it is once the rest of it comes', async () => {
    const directory = open(1, 2);
    await app.sees('1 step · 2 rollouts');
    const line = lines(toolRollout(1, 7, 1));
    appendFileSync(join(directory, '1.jsonl'), line.slice(0, 150));
    // The first line counts a row before the list holds it.
    await app.sees(/ 3 +– +0 +0 bad/);
    app.press('J', 'J');
    await app.sees('not JSON');
    appendFileSync(join(directory, '1.jsonl'), line.slice(150));
    await app.sees('Problem 1-7');
    await app.sees(/ 3 +1\.00 +5/);
  });

  test('a record that was replaced while it is read stays readable until R', async () => {
    const directory = open(1, 4);
    await app.sees('Problem 1-1');
    writeFileSync(join(directory, '1.jsonl'), lines(toolRollout(1, 5, 1), toolRollout(1, 6, 0)));
    await app.sees('replaced on disk, R loads it');
    await app.sees('Problem 1-1');
    app.press('R');
    await app.sees('Problem 1-5');
    await app.sees('1.jsonl:1  sample 1/2');
  });

  test('a step that is removed, and a directory that goes away and comes back', async () => {
    const directory = open(2, 2);
    await app.sees('2 steps · 4 rollouts');
    await app.sees('Problem 2-1');
    rmSync(join(directory, '1.jsonl'));
    await app.sees('1 step · 2 rollouts');
    renameSync(directory, `${directory}-away`);
    renameSync(`${directory}-away`, directory);
    appendFileSync(join(directory, '2.jsonl'), lines(toolRollout(2, 9, 1)));
    await app.sees('1 step · 3 rollouts');
    await app.sees('Problem 2-1');
  });
});

test('--follow waits for a directory that does not exist yet, and goes to each step once it is complete', async () => {
  run = writeDump(smallRun(2, 2));
  const later = join(run.dir, '../later');
  app = App.start([later, '--follow', '--poll', '0.1']);
  await app.sees('no rollouts');
  await app.sees('following');
  await app.sees('nothing there yet');
  mkdirSync(later);
  writeFileSync(join(later, '1.jsonl'), readFileSync(join(run.dir, '1.jsonl')));
  await app.sees('Problem 1-1');
  writeFileSync(join(later, '2.jsonl'), readFileSync(join(run.dir, '2.jsonl')));
  await app.sees('Problem 2-1');
});

describe('following (F)', () => {
  test('goes to the newest step once it is complete; any movement pauses it, F resumes', async () => {
    run = writeDump(smallRun(2, 2));
    app = App.start([run.dir]);
    await app.sees('Problem 2-1');
    app.press('H', 'F');
    await app.sees('following');
    await app.list().selects('2.jsonl:1');
    writeFileSync(join(run.dir, '3.jsonl'), lines(toolRollout(3, 1, 1), toolRollout(3, 2, 1)));
    await app.sees('○3');
    // It is complete some seconds later, and not gone to before.
    expect(app.screen()).toContain('2.jsonl:1');
    await app.list().selects('3.jsonl:1');
    app.press('j');
    await app.sees('follow paused, F resumes');
    app.press('l');
    await app.seesNot('F resumes');
    await app.sees('follow paused');
    // A whole step: as many rollouts as its siblings have.
    writeFileSync(join(run.dir, '4.jsonl'), lines(toolRollout(4, 1, 1), toolRollout(4, 2, 1)));
    await app.sees('3 steps');
    await app.sees('4 steps');
    await app.seesNot('○4');
    await app.list().selects('3.jsonl:1');
    app.press('F');
    await app.list().selects('4.jsonl:1');
    app.press('F');
    await app.sees('follow ended');
    await app.seesNot('following');
  });

  test('goes to the first row in the filter and sort in force, and follows another one', async () => {
    run = writeDump(smallRun(2, 2));
    app = App.start([run.dir, '--follow', '--sort', 'score:desc']);
    await app.sees('2 steps · 4 rollouts');
    const step = (n: number) => lines(toolRollout(n, 1, 0), toolRollout(n, 2, 0.5), toolRollout(n, 3, 1));
    writeFileSync(join(run.dir, '3.jsonl'), step(3));
    await app.list().selects('3.jsonl:3');
    app.press('&');
    app.type('score<0.9');
    app.press('Enter');
    await app.list().selects('3.jsonl:2');
    writeFileSync(join(run.dir, '4.jsonl'), step(4));
    await app.list().selects('4.jsonl:2');
    await app.sees('following');
    app.press('j');
    await app.sees('follow paused');
  });

  test('a step that a resumed run writes again is gone to, and shown as it is now', async () => {
    run = writeDump(smallRun(3, 2));
    app = App.start([run.dir, '--follow']);
    await app.list().selects('3.jsonl:1');
    // Lines written before all is known belong to the opening.
    await app.sees('3 steps · 6 rollouts');
    writeFileSync(join(run.dir, '2.jsonl'), lines(toolRollout(2, 7, 1), toolRollout(2, 8, 1), toolRollout(2, 9, 1)));
    await app.list().selects('2.jsonl:1');
    await app.sees('Problem 2-7');
    writeFileSync(join(run.dir, '2.jsonl'), lines(toolRollout(2, 5, 1), toolRollout(2, 6, 1), toolRollout(2, 4, 1)));
    await app.sees('Problem 2-5');
    await app.seesNot('replaced');
  });
});

describe('--notify', () => {
  test('rings and says it at the foot until a key, once for each complete step', async () => {
    run = writeDump(smallRun(1, 2));
    app = App.start([run.dir, '--notify', 'score<0.4', '--notify', 'tool_error_rate>0.5']);
    await app.sees('1 step · 2 rollouts');
    writeFileSync(join(run.dir, '2.jsonl'), lines(toolRollout(2, 1, 0), toolRollout(2, 2, 0.5)));
    await app.sees('2 steps · 4 rollouts');
    await app.sees('step 2: score 0.25 < 0.4');
    expect(app.output).toContain('\x07');
    writeFileSync(join(run.dir, '3.jsonl'), lines(toolRollout(3, 1, 0), toolRollout(3, 2, 0)));
    await app.sees('step 3: score 0.00 < 0.4  and 1 before it');
    app.press('j');
    await app.seesNot('step 3: score');
    writeFileSync(join(run.dir, '4.jsonl'), lines(toolRollout(4, 1, 1), toolRollout(4, 2, 1)));
    await app.sees('4 steps');
    await app.seesNot('○');
    await app.seesNot('step 4:');
  });

  test('an expression that cannot be understood is refused before the screen opens', async () => {
    run = writeDump(smallRun(1, 2));
    app = App.start([run.dir, '--notify', 'score<0.1 && scroe>2']);
    expect((await app.exits()).code).toBe(2);
    expect(app.inAlternateScreen).toBe(false);
    await app.sees(/score<0\.1 && scroe>2[^\n]*\n {15}\^/);
  });
});

describe.each([
  ['in colour', {}],
  ['with NO_COLOR', { NO_COLOR: '1' }],
])('rows that came since somebody looked, %s', (_, env) => {
  test('bear a sign until they were on the screen for a while, or were visited', async () => {
    run = writeDump(smallRun(1, 40));
    app = App.start([run.dir], { rows: 20, env });
    await app.sees('1 step · 40 rollouts');
    app.press('Tab');
    appendFileSync(join(run.dir, '1.jsonl'), lines(toolRollout(1, 7, 1), toolRollout(1, 8, 1)));
    writeFileSync(join(run.dir, '2.jsonl'), lines(toolRollout(2, 7, 1)));
    await app.sees('2 steps · 43 rollouts');
    // They came below the screen; nothing that is in sight is new.
    expect(app.screen()).not.toMatch(/^\+/m);
    app.press('G');
    await app.sees(/^\+ +1 +41 /m);
    await app.sees(/^\+ +1 +42 /m);
    await app.sees(/^› +[○ ]?2 +1 /m);
    app.press('k');
    await app.sees(/^› +1 +42 /m);
    app.press('j');
    // Visited: they are new no more. The third goes by itself.
    await app.sees(/^ +1 +42 /m);
    await app.sees(/^ +1 +41 /m);
  });
});

test('the age of the newest line ticks by itself, and only the first line is painted again', async () => {
  run = writeDump(smallRun(1, 4));
  app = App.start([run.dir]);
  await app.sees('1 step · 4 rollouts');
  appendFileSync(join(run.dir, '1.jsonl'), lines(toolRollout(1, 7, 1)));
  await app.sees('● live');
  const age = (): number => Number(/(\d+) s ago/.exec(app.screen())?.[1]);
  // By then the step is complete, and said to be.
  await app.until(() => age() >= 3, 'an age of 3 s');
  await app.idle();
  const [from, before] = [app.output.length, age()];
  await app.until(() => age() > before, 'the next second');
  const rows = [...app.output.slice(from).matchAll(/\x1b\[(\d+);\d+H/g)].map(([, row]) => row);
  expect(new Set(rows)).toEqual(new Set(['1']));
});

test('a dump that was finished long ago is neither live nor quiet, and nothing ticks', async () => {
  run = writeDump(smallRun(4, 4));
  for (const step of [1, 2, 3, 4]) utimesSync(join(run.dir, `${step}.jsonl`), 1e9, 1e9);
  app = App.start([run.dir]);
  await app.sees('2001-09-09');
  await app.seesNot('● live');
  await app.seesNot('quiet');
});
