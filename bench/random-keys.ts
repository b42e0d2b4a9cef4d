import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PRESETS } from '../src/config/presets.ts';
import { App } from '../test/driver/app.ts';
import { LONG_RECORDS } from './support/long-records.ts';
import { bin, figure, root } from './support/measure.ts';
import { mutated, sampleLines } from './support/mutations.ts';
import { random } from './support/random.ts';

const KEYS = Number(process.env.KEYS ?? 20_000);
const SEED = Number(process.env.SEED ?? 5);
/** Keys that come at once, before the program is waited for. */
const BURST = 25;
const PATIENCE = 120_000;
const GOAL = 100;
const directory = join(root, '.bench/random-keys');
const stalls = join(directory, 'stalls');
const LONG = ['a call with 100,000 arguments', 'a uid of 10 MB', 'Tunix, 20,000 bare steps', 'a million numbers'];

/** Commands that end the program, give the terminal away or run something. */
const LEFT_OUT = /^(?:quit|suspend|cancel|edit|pipe|replay|fork|rescore|command|help)/;
const SPECIAL: Record<string, string> = { space: ' ', enter: '\r', esc: '\x1b', tab: '\t', 'shift+tab': '\x1b[Z' };
const TYPED = [
  '/e\r',
  '/漢\r',
  '&turns > 1\r',
  '&\x15\r',
  '/zebra\r',
  '5',
  '200',
  '?zoom\x1b',
  '\x1b',
  'ma',
  "'a",
  'c\x1b',
  's\x1b',
];

/** A folder of good, broken and long records is walked through with keys at random: nothing ends the screen or holds it, and at the end the terminal is as it was. */
export async function run(): Promise<void> {
  const next = random(SEED);
  const dump = join(directory, 'dump');
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(dump, { recursive: true });
  cpSync(join(root, 'fixtures/rollout_data'), join(dump, 'good'), { recursive: true });
  const lines = await sampleLines(root);
  for (let file = 0; file < 20; file++) {
    const some = Array.from({ length: 30 }, () => mutated(lines[Math.floor(next() * lines.length)]!, next));
    writeFileSync(join(dump, `${file}.jsonl`), `${some.join('\n')}\n`);
  }
  for (const name of LONG) writeFileSync(join(dump, `${name}.jsonl`), `${JSON.stringify(LONG_RECORDS[name]!())}\n`);
  writeFileSync(stalls, '');
  const presses = [
    ...Object.entries(PRESETS.vim)
      .flatMap(([id, keys]) => (LEFT_OUT.test(id) ? [] : keys))
      .flatMap(bytesOf),
    ...TYPED,
  ];
  const env = { NODE_OPTIONS: `--import=${join(root, 'bench/support/stalls.mjs')}`, STALLS_FILE: stalls };
  const app = App.start([dump], { columns: 120, rows: 40, env, command: [process.execPath, bin] });
  let pressed = 0;
  try {
    await app.until(() => app.isIdle, 'the first screen', PATIENCE);
    for (; pressed < KEYS; pressed += BURST) {
      for (let i = 0; i < BURST; i++) app.type(presses[Math.floor(next() * presses.length)]!);
      if (next() < 0.02) app.resize(40 + Math.floor(next() * 160), 12 + Math.floor(next() * 40));
      await app.until(() => app.isIdle, `the answer to key ${pressed}`, PATIENCE);
    }
    app.type('\x1b\x1b\x1b');
    await app.until(() => app.isIdle, 'the last answer', PATIENCE);
    app.type('Q');
    const { code } = await app.exits();
    const isRestored = !app.inAlternateScreen && app.lastMode(25) === 'h';
    const worst = Math.max(0, ...readFileSync(stalls, 'utf8').split('\n').filter(Boolean).map(Number));
    figure(`${pressed} keys at random: longest wait`, `${worst} ms`, `exit ${code}`, worst / GOAL, `≤ 1 × ${GOAL} ms`);
    console.log(`the terminal is ${isRestored ? 'as it was' : 'not as it was'}`);
  } catch (error) {
    console.log(`ended after ${pressed} keys: ${(error as Error).message}`);
  } finally {
    await app.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

/** The bytes of a key of the table; none of one that has a longer name. */
function bytesOf(keys: string): string[] {
  const all = keys.split(' ').map((key) => {
    if (SPECIAL[key] !== undefined) return SPECIAL[key];
    if (/^ctrl\+[a-z]$/.test(key)) return String.fromCharCode(key.charCodeAt(5) - 0x60);
    return key.length === 1 ? key : null;
  });
  return all.includes(null) ? [] : [all.join('')];
}
