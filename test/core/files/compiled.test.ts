import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';

const program = join(import.meta.dirname, '../../../dist/rollout-viewer.js');
const version = `${process.version}-${process.arch}`;

/** Starts the program with a separate cache folder. */
function cache(): { start(): string; folder: string; files(): string[] } {
  const home = mkdtempSync(join(tmpdir(), 'compiled-'));
  const folder = join(home, 'rollout-viewer/compiled', version);
  return {
    folder,
    start: () =>
      execFileSync(process.execPath, [program, 'help', 'filters'], {
        env: { ...process.env, XDG_CACHE_HOME: home },
        encoding: 'utf8',
      }),
    files: () => (existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : []),
  };
}

const first = cache().start();

it('scripts are ASCII, since they are read with a byte a character', () => {
  const scripts = readdirSync(dirname(program)).filter((name) => name.endsWith('.cjs'));
  expect(scripts.length).toBeGreaterThan(0);
  for (const name of scripts)
    expect([name, /[^\0-\x7f]/.test(readFileSync(join(dirname(program), name), 'utf8'))]).toEqual([name, false]);
});

describe('what is kept of compiling the program', () => {
  it('is written once, for this user alone, and changes no answer', () => {
    const { start, files, folder } = cache();
    for (let run = 0; run < 4; run++) expect(start()).toBe(first);
    expect(files().length).toBeGreaterThan(0);
    const contents = () => files().map((file) => createHash('sha256').update(readFileSync(file)).digest('hex'));
    const before = contents();
    start();
    expect(contents()).toEqual(before);
    expect(folder).toContain(process.version);
  });

  it.each([
    ['empty', () => Buffer.alloc(0)],
    ['cut', (bytes: Buffer) => bytes.subarray(0, bytes.length / 2)],
    ['changed by one bit', (bytes: Buffer) => bytes.map((byte, at) => (at === bytes.length - 100 ? byte ^ 1 : byte))],
    ['a stranger text', () => Buffer.from('x'.repeat(5000))],
  ])('is not used when a file is %s', (_, damage) => {
    const { start, files } = cache();
    start();
    for (const file of files()) writeFileSync(file, damage(readFileSync(file)));
    expect(start()).toBe(first);
  });

  it('is neither read nor written in a folder where others can write', () => {
    const { start, files, folder } = cache();
    mkdirSync(folder, { recursive: true });
    chmodSync(folder, 0o777);
    expect(start()).toBe(first);
    expect(files()).toEqual([]);
  });

  it('is not read through a link', () => {
    const { start, files } = cache();
    start();
    const [file = ''] = files();
    renameSync(file, `${file}.real`);
    symlinkSync(`${file}.real`, file);
    const before = readFileSync(`${file}.real`);
    expect(start()).toBe(first);
    expect(readFileSync(`${file}.real`).equals(before)).toBe(true);
  });

  it('needs no folder that can be written', () => {
    const { start, folder } = cache();
    mkdirSync(join(folder, '../..'), { recursive: true });
    writeFileSync(join(folder, '..'), 'in the way');
    expect(start()).toBe(first);
  });
});
