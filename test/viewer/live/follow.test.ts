import { type ChildProcess, spawn } from 'node:child_process';
import { appendFileSync, mkdirSync, renameSync, rmSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { bin, directoryWith, rolloutViewer, verlLine } from '../../program.ts';

const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

/** `ls --follow --events --json` on a directory, with what it has said so far. */
function follow(path: string, ...options: string[]) {
  const child = spawn(process.execPath, [bin, 'ls', '--follow', '--events', '--json', ...options, path]);
  children.push(child);
  const said: string[] = [];
  let rest = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const row = JSON.parse(line) as { event: string; locator: string; score?: number; error?: string };
      said.push(
        [
          row.event,
          row.locator.replace(`${path}/`, ''),
          ...(row.error ? ['bad'] : row.event === 'remove' ? [] : [row.score]),
        ].join(' '),
      );
    }
  });
  return {
    said,
    /** Waits until exactly these lines were said, in this order. */
    async says(...expected: string[]) {
      const end = Date.now() + 120_000;
      while (said.length < expected.length && Date.now() < end) await new Promise((resolve) => setTimeout(resolve, 10));
      expect(said.splice(0)).toEqual(expected);
    },
  };
}

const row = (score: number, keys: Record<string, unknown> = {}) => verlLine({ score, ...keys });

describe.each([
  ['events', []],
  ['polling', ['--poll', '0.1']],
])('a run that is followed by %s', (_, how) => {
  test('lists what is there, then lines as they are appended and steps as they appear', async () => {
    const directory = directoryWith({ 'train/1.jsonl': row(1) });
    const viewer = follow(directory, ...how);
    await viewer.says('add train/1.jsonl:1 1');
    appendFileSync(join(directory, 'train/1.jsonl'), row(2) + row(3));
    await viewer.says('add train/1.jsonl:2 2', 'add train/1.jsonl:3 3');
    writeFileSync(join(directory, 'train/2.jsonl'), row(4));
    await viewer.says('add train/2.jsonl:1 4');
    mkdirSync(join(directory, 'val'));
    writeFileSync(join(directory, 'val/0.jsonl'), row(5));
    await viewer.says('add val/0.jsonl:1 5');
  });

  test('holds half a line back until it is whole', async () => {
    const directory = directoryWith({ '1.jsonl': row(1) });
    const viewer = follow(directory, ...how);
    await viewer.says('add 1.jsonl:1 1');
    const line = row(2);
    appendFileSync(join(directory, '1.jsonl'), line.slice(0, 30));
    // The other file was read later than reported.
    writeFileSync(join(directory, '2.jsonl'), row(9));
    await viewer.says('add 2.jsonl:1 9');
    appendFileSync(join(directory, '1.jsonl'), line.slice(30) + row(3).trimEnd());
    await viewer.says('add 1.jsonl:2 2');
  });

  test('a step that a resumed run writes again is said again, where it differs', async () => {
    const directory = directoryWith({ '1.jsonl': row(1) + row(2) + row(3) });
    const viewer = follow(directory, ...how);
    await viewer.says('add 1.jsonl:1 1', 'add 1.jsonl:2 2', 'add 1.jsonl:3 3');
    // The same size to the byte: only the scores differ. It is never shorter meanwhile, which would be said, too.
    writeFileSync(join(directory, '1.jsonl'), row(1) + row(7) + row(3), { flag: 'r+' });
    await viewer.says('replace 1.jsonl:2 7');
  });

  test('a file that is replaced by a rename, truncated, rotated or removed', async () => {
    const directory = directoryWith({ '1.jsonl': row(1) + row(2), '2.jsonl': row(9) });
    const path = join(directory, '1.jsonl');
    const viewer = follow(directory, ...how);
    await viewer.says('add 1.jsonl:1 1', 'add 1.jsonl:2 2', 'add 2.jsonl:1 9');
    writeFileSync(`${path}.tmp`, row(1) + row(5) + row(6));
    renameSync(`${path}.tmp`, path);
    await viewer.says('replace 1.jsonl:2 5', 'add 1.jsonl:3 6');
    truncateSync(path, row(1).length);
    await viewer.says('remove 1.jsonl:3', 'remove 1.jsonl:2');
    renameSync(path, `${path}.1`);
    await viewer.says('remove 1.jsonl:1');
    writeFileSync(path, row(8));
    await viewer.says('add 1.jsonl:1 8');
    rmSync(path);
    await viewer.says('remove 1.jsonl:1');
  });

  test('a folder that went away and came back, as one of a server does', async () => {
    const directory = directoryWith({ 'run/1.jsonl': row(1) });
    const run = join(directory, 'run');
    const viewer = follow(run, ...how);
    await viewer.says('add 1.jsonl:1 1');
    renameSync(run, `${run}-away`);
    await viewer.says('remove 1.jsonl:1');
    renameSync(`${run}-away`, run);
    await viewer.says('add 1.jsonl:1 1');
  });
});

describe('--notify', () => {
  test('reports each step that matches on stderr and as an event', async () => {
    const directory = directoryWith({ '1.jsonl': row(0) });
    utimesSync(join(directory, '1.jsonl'), 0, 0);
    const child = spawn(process.execPath, [
      bin,
      ...['ls', '--follow', '--events', '--json', '--poll', '0.1', directory],
      ...['--notify', 'score<0.1', '--notify', 'tool_error_rate>0.4'],
    ]);
    children.push(child);
    let out = '';
    let errors = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      errors += text;
    });
    const until = async (holds: () => boolean) => {
      const end = Date.now() + 120_000;
      while (!holds() && Date.now() < end) await new Promise((resolve) => setTimeout(resolve, 10));
      expect(holds()).toBe(true);
    };
    await until(() => out.includes('1.jsonl:1'));
    const answered = (result: string) =>
      `<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>\nuser\n<tool_response>\n${result}\n</tool_response>\nassistant\nb`;
    const failed = row(1, { output: answered('Traceback (most recent call last):\nValueError: x') });
    const succeeded = row(0.25, { output: answered('7') });
    // The last has no tool result: the rate is over the two others.
    writeFileSync(join(directory, '2.jsonl'), succeeded + failed + row(0.625));
    await until(() => /notify.*\n/.test(out) && errors.endsWith('\n'));
    const event = out.split('\n').find((line) => line.includes('notify'))!;
    expect(JSON.parse(event)).toEqual({
      event: 'notify',
      path: join(directory, '2.jsonl'),
      step: 2,
      condition: 'tool_error_rate>0.4',
      message: 'step 2: tool_error_rate 0.50 > 0.4 (of 3 left out: 1 without a tool result)',
      rollouts: 3,
      score: 0.625,
      tool_error_rate: 0.5,
      truncation_rate: 0,
    });
    // Steps present at opening are not judged, although they match.
    expect(errors).toBe(
      'rollout-viewer: step 2: tool_error_rate 0.50 > 0.4 (of 3 left out: 1 without a tool result)\n',
    );
  });

  test('is refused where nothing becomes complete, and where it cannot be understood', async () => {
    const directory = directoryWith({ '1.jsonl': row(0) });
    const without = await rolloutViewer(['ls', directory, '--notify', 'score<0.1']);
    expect(without).toMatchObject({ code: 2, stdout: '' });
    expect(without.stderr).toContain('--follow');
    const wrong = await rolloutViewer(['ls', '--follow', directory, '--notify', 'score<']);
    expect(wrong).toMatchObject({ code: 2, stdout: '' });
    expect(wrong.stderr).toContain('  score<\n        ^');
  });

  test('judges a stream when it is over', async () => {
    const { stderr, code } = await rolloutViewer(['ls', '-', '--notify', 'score<0.1'], { stdin: row(0) + row(0.1) });
    expect(code).toBe(0);
    expect(stderr).toBe('rollout-viewer: step 1: score 0.05 < 0.1\n');
  });
});

describe.each([
  ['events', []],
  ['polling', ['--poll', '0.1']],
])('a directory, by %s,', (_, how) => {
  test('that does not exist yet is waited for; one that goes away and comes back keeps its rows', async () => {
    const directory = join(directoryWith({}), 'run');
    const viewer = follow(directory, ...how);
    await new Promise((resolve) => setTimeout(resolve, 300));
    mkdirSync(directory);
    writeFileSync(join(directory, '1.jsonl'), row(1));
    await viewer.says('add 1.jsonl:1 1');
    renameSync(directory, `${directory}-away`);
    await new Promise((resolve) => setTimeout(resolve, 500));
    renameSync(`${directory}-away`, directory);
    appendFileSync(join(directory, '1.jsonl'), row(2));
    const end = Date.now() + 120_000;
    while (!viewer.said.includes('add 1.jsonl:2 2') && Date.now() < end)
      await new Promise((resolve) => setTimeout(resolve, 10));
    // Listeners hear that rows went and came back, and never a row twice without an event between.
    expect(viewer.said.at(-1)).toBe('add 1.jsonl:2 2');
    expect(new Set(viewer.said).size).toBe(viewer.said.length);
  });
});

describe('a stream on stdin', () => {
  test('is listed as NDJSON without a terminal, half of a last line included once it is over', async () => {
    const { stdout, code } = await rolloutViewer(['-'], { stdin: row(1) + row(2).trimEnd() });
    expect(
      stdout
        .trimEnd()
        .split('\n')
        .map((line) => (JSON.parse(line) as { locator: string }).locator),
    ).toEqual(['-:1', '-:2']);
    expect(code).toBe(0);
  });

  test('rows come while the stream is open', async () => {
    const child = spawn(process.execPath, [bin, 'ls', '-']);
    children.push(child);
    let text = '';
    child.stdout.setEncoding('utf8').on('data', (data: string) => {
      text += data;
    });
    child.stdin.write(row(1));
    const end = Date.now() + 120_000;
    while (!text.includes('-:1') && Date.now() < end) await new Promise((resolve) => setTimeout(resolve, 10));
    expect(text).toContain('-:1');
    child.stdin.end();
  });

  test('an empty one has nothing: the answer is no', async () => {
    expect((await rolloutViewer(['-'])).code).toBe(1);
  });
});
