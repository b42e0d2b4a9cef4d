import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';

const base = mkdtempSync(join(tmpdir(), 'asked-twice-'));
const dump = join(base, 'dump');
const facts = join(base, 'state/rollout-viewer/facts');
let runProgram: (args: readonly string[]) => Promise<void>;

interface Era {
  name: string;
  files: Record<string, string>;
  isFolder: boolean;
}

/** A file or folder of every writer, as the tests of readers have them. */
function writeEras(isWhole: boolean): void {
  const writers = new Set<string>();
  const eras = join(dirname(fileURLToPath(import.meta.url)), '../../core/formats/eras.jsonl');
  for (const line of readFileSync(eras, 'utf8').split('\n')) {
    if (line === '') continue;
    const { name, files, isFolder } = JSON.parse(line) as Era;
    const writer = name.split('/')[0]!;
    const isNew = !writers.has(writer);
    writers.add(writer);
    if (!isWhole && !(isNew && writers.size % 3 === 0)) continue;
    for (const [file, text] of Object.entries(files)) {
      const place = join(dump, name.replaceAll('/', '_'), isFolder ? file : (name.split('/').at(-1) ?? ''));
      mkdirSync(dirname(place), { recursive: true });
      writeFileSync(place, text);
      utimesSync(place, new Date(0), new Date(0));
    }
  }
}

/** The answer of the program on stdout, and its exit status. */
async function answerOf(args: readonly string[]): Promise<string> {
  let text = '';
  const out = vi.spyOn(process.stdout, 'write').mockImplementation((chunk) => {
    text += String(chunk);
    return true;
  });
  const err = vi.spyOn(process.stderr, 'write').mockImplementation(() => true);
  try {
    process.exitCode = 0;
    await runProgram(args);
    return `${process.exitCode} ${text}`;
  } finally {
    out.mockRestore();
    err.mockRestore();
  }
}

const kept = (): string[] => readdirSync(facts).map((name) => join(facts, name));
const forget = (): void => rmSync(facts, { recursive: true, force: true });

const QUESTIONS: readonly (readonly string[])[] = [
  ['ls', '--json'],
  ['ls', '--sort', 'score:desc', '--limit', '50'],
  ['ls', '--filter', 'score >= 1'],
  ['ls', '--filter', 'tool_calls > 0 && finding:tool_error', '--sort', 'chars'],
  ['ls', '--filter', 'adv > 0', '--sort', 'acc'],
  ['stats'],
  ['stats', '--json'],
  ['stats', '--best', '1'],
  ['errors'],
  ['audit'],
  ['groups'],
  ['matrix'],
  ['movement'],
  ['triage'],
  ['signal'],
  ['grep', 'the'],
  // Kept answers of the questions before them answer these.
  ['ls', '--json', '--filter', 'turns > 0'],
  ['ls', '--json', '--sort', 'chars'],
  ['ls', '--csv'],
];

/** States of what was kept before a question, by what is said of them. */
const STATES: readonly [string, (whole: Map<string, Buffer>) => void][] = [
  ['what was kept', () => {}],
  [
    'an older version',
    (whole) => {
      for (const [path, bytes] of whole) {
        const text = bytes.toString('latin1');
        const at = text.indexOf('"version":"') + 11;
        const other = Buffer.from(bytes);
        other.write('0'.repeat(64), at, 'latin1');
        writeFileSync(path, other, { mode: 0o600 });
      }
    },
  ],
  [
    'a cut end',
    (whole) => {
      for (const [path, bytes] of whole) truncateSync(path, bytes.length >> 1);
    },
  ],
  [
    'a part alone',
    (whole) => {
      for (const [at, path] of [...whole.keys()].entries()) if (at % 2 === 0) rmSync(path);
    },
  ],
];

/** @param isWhole every era of every writer and every state; else one of every third writer, every third question, and the states for one */
export function askTwice(isWhole: boolean): void {
  beforeAll(async () => {
    // The place of state is known once for the life of the program, so this program is another than that of the tests before.
    vi.stubEnv('XDG_STATE_HOME', join(base, 'state'));
    vi.resetModules();
    writeEras(isWhole);
    ({ runProgram } = await import('../../../src/viewer/commands/program.ts'));
  });
  afterAll(() => {
    process.exitCode = 0;
    vi.unstubAllEnvs();
    vi.resetModules();
    rmSync(base, { recursive: true });
  });

  const questions = QUESTIONS.filter((_, at) => isWhole || at % 3 === 0);
  test.each(questions.map((question) => [question.join(' '), question] as const))('%s', async (_, question) => {
    const asked = [...question, dump];
    const first = await answerOf([...asked, '--no-cache']);
    expect(first.length).toBeGreaterThan(isWhole ? 10 : 1);
    if (!isWhole) {
      expect(await answerOf(asked)).toBe(first);
      expect(await answerOf(asked), 'from what was kept').toBe(first);
      return;
    }
    forget();
    expect(await answerOf(asked)).toBe(first);
    await eachState(async (state) => expect(await answerOf(asked), state).toBe(first));
  });

  test('whatever became of what was kept', async () => {
    const asked = ['stats', '--json', dump];
    const first = await answerOf([...asked, '--no-cache']);
    forget();
    expect(await answerOf(asked)).toBe(first);
    await eachState(async (state) => expect(await answerOf(asked), state).toBe(first));
  });

  test('--no-cache keeps nothing', async () => {
    forget();
    await answerOf(['stats', dump, '--no-cache']);
    expect(() => readdirSync(facts)).toThrow('ENOENT');
  });
}

async function eachState(look: (state: string) => Promise<void>): Promise<void> {
  await answerOf(['stats', dump]);
  const whole = new Map(kept().map((path) => [path, readFileSync(path)]));
  expect(whole.size).toBeGreaterThan(20);
  for (const [state, make] of STATES) {
    for (const [path, bytes] of whole) writeFileSync(path, bytes, { mode: 0o600 });
    make(whole);
    await look(state);
  }
}
