import { appendFileSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, test } from 'vitest';
import { App } from '../driver/app.ts';
import { smallRun, toolRollout, writeDump } from '../support/dump.ts';

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
    writeFileSync(join(directory, '2.jsonl'), lines(toolRollout(2, 8, 0)));
    await app.sees('2 steps · 4 rollouts');
    await app.sees('○2');
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

test('--follow waits for a directory that does not exist yet', async () => {
  run = writeDump(smallRun(1, 2));
  const later = join(run.dir, '../later');
  app = App.start([later, '--follow', '--poll', '0.1']);
  await app.sees('no rollouts');
  mkdirSync(later);
  writeFileSync(join(later, '1.jsonl'), readFileSync(join(run.dir, '1.jsonl')));
  await app.sees('Problem 1-1');
});
