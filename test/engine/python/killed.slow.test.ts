// The Python writer under kill -9: what it acknowledged is there, and no line is torn but the last of a file.
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { directoryWith, execute, root } from '../../program.ts';
import { countOf } from '../../support/tier.ts';

const PROCESSES = 8;
const ROUNDS = countOf(1, 3);
const FORKS = countOf(100, 1000);

/** Runs a writer until it has acknowledged some lines, then kills it in the midst of its work. @returns the last number that it printed */
function killedWriter(directory: string, name: string, words: number): Promise<number> {
  const child = spawn('python3', [join(root, 'test/engine/python/killed_writer.py'), directory, name, String(words)], {
    env: { ...process.env, PYTHONPATH: join(root, 'wheel'), PYTHONDONTWRITEBYTECODE: '1' },
  });
  let told = '';
  let said = '';
  child.stdout.setEncoding('latin1').on('data', (text: string) => {
    told += text;
    if (told.length > 400 * Math.random() + 400) child.kill('SIGKILL');
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  return new Promise((resolve, reject) => {
    child.on('close', () => {
      const whole = told.slice(0, told.lastIndexOf('\n')).split('\n');
      if (said !== '' || told === '') reject(new Error(`${name}: ${said || 'it wrote nothing'}`));
      else resolve(Number(whole.at(-1)));
    });
  });
}

test('eight processes of one rank, killed again and again', async () => {
  const directory = directoryWith({});
  const acknowledged = new Map<string, number>();
  for (let round = 0; round < ROUNDS; round++) {
    const names = Array.from({ length: PROCESSES }, (_, at) => `${round}-${at}`);
    // Lines of 1 kB to 1 MB: a long one takes a write that a kill may meet.
    const told = await Promise.all(names.map((name, at) => killedWriter(directory, name, 200 * 10 ** (at % 4))));
    for (const [at, name] of names.entries()) acknowledged.set(name, told[at]!);
  }
  const found = new Map<string, Set<number>>();
  for (const file of readdirSync(directory)) {
    const lines = readFileSync(join(directory, file), 'utf8').split('\n');
    const last = lines.pop()!;
    for (const line of lines) {
      const { messages, input, output } = JSON.parse(line) as { messages: unknown[]; input: string; output: string };
      expect(messages).toHaveLength(2);
      const name = /^user\n(.*)\n/.exec(input)![1]!;
      found.set(name, (found.get(name) ?? new Set()).add(Number(output.split(' ')[0])));
    }
    if (last !== '') expect(() => JSON.parse(last)).toThrow();
  }
  for (const [name, until] of acknowledged) {
    const numbers = found.get(name)!;
    for (let number = 0; number <= until; number++) expect(numbers.has(number)).toBe(true);
  }
});

test('behind a torn line another file is begun', async () => {
  const directory = directoryWith({});
  const program = [
    'import os, sys',
    'from rollout_viewer import Writer',
    'w = Writer(sys.argv[1]); w.write(step=1); w.close()',
    'name = os.path.join(sys.argv[1], os.listdir(sys.argv[1])[0])',
    'open(name, "a").write("{\\"half")',
    'w.write(step=1); w.close()',
    'w.write(step=1); print(w.errors, w.written)',
  ].join('\n');
  writeFileSync(join(directory, 'program.py'), program);
  const dump = directoryWith({});
  const { stdout } = await execute('python3', [join(directory, 'program.py'), dump], {
    env: { PYTHONPATH: join(root, 'wheel') },
  });
  expect(stdout.trim()).toBe('0 3');
  const lengths = readdirSync(dump)
    .map((name) => readFileSync(join(dump, name), 'utf8').split('\n').length)
    .sort();
  expect(lengths).toEqual([2, 3]);
});

test.each([0, 16])(`${FORKS} forks beside four writing threads all write, %s in a queue`, async (queue) => {
  const script = join(root, 'test/engine/python/forking_writer.py');
  const { stdout } = await execute('python3', [script, directoryWith({}), String(FORKS), String(queue)], {
    env: { PYTHONPATH: join(root, 'wheel') },
  });
  expect(stdout).toMatch(new RegExp(`^${FORKS} \\d+ 0\\n$`));
});
