import { appendFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { App } from '../test/support/driver/app.ts';
import { LONG_RECORDS } from './support/long-records.ts';
import { bin, figure, root } from './support/measure.ts';

const directory = join(root, '.bench/long');
const stalls = join(directory, 'stalls');
const GOAL = 50;
/** ms within which the program has nothing more to do. */
const PATIENCE = 600_000;
/** MB of memory for two records of 45 MB. */
const MOST_MEMORY = 600;

type Step = readonly [name: string, ...keys: string[]];

/** The views in the order in which `v` comes to them. */
const VIEWS = ['chat', 'raw', 'json', 'fields', 'details', 'tokens', 'mapping'];
/** A reader's keys in each view. */
const IN_VIEW: readonly Step[] = [
  ['a line down', 'j'],
  ['a page down', 'Space'],
  ['the end', 'G'],
  ['the beginning', 'g', 'g'],
  ['the next turn', 'l'],
  ['the last turn', '$'],
  ['the first turn', '0'],
  ['fold', 'x'],
  ['fold again', 'x'],
  ['fold all', 'X'],
  ['fold all again', 'X'],
  ['fold all a third time', 'X'],
  ['without wrap', 'z'],
  ['right', ')'],
  ['with wrap', 'z'],
  ['a search', '/', 'zebra', 'Enter'],
  ['a search with hits', '/', 'e', 'Enter'],
  ['the next hit', 'n'],
  ['the hit before', 'N'],
];
const TAKEN: readonly Step[] = [
  ['copy the turn', 'y', 't'],
  ['copy the call', 'y', 'c'],
  ['copy the prompt', 'y', 'p'],
  ['copy as JSON', 'y', 'j'],
];
/** Anywhere else, and back. */
const AROUND: readonly Step[] = [
  ['the next call', 't'],
  ['the next error', 'e'],
  ['the next warning', 'w'],
  ['the next unlikely token', ']', 's'],
  ['this tool', '*'],
  ['help', '?'],
  ['its end', 'Esc'],
  ...['c', 'h', 'w', 'W', 's', 'd', 'b', 'f', 'i', 'o'].flatMap((page): Step[] => [
    [`page g ${page}`, 'g', page],
    [`page g ${page}: down`, 'j', 'j', 'Space', 'G'],
    [`page g ${page}: back`, 'Esc', 'Esc'],
  ]),
  ['a question about its calls', '!'],
  ['its end', 'Esc'],
  ['the next rollout', 'J'],
  ['back', 'K'],
  ['its group', 'p'],
  ['the list', 'p'],
  ['a filter', '&', 'turns > 1', 'Enter'],
  ['no filter', '&', 'ctrl+u', 'Enter'],
];

/** Records and steps to walk through, and whether to print each. */
const only = process.env.ONLY?.split(';');
const wanted = new RegExp(process.env.STEPS ?? '');
const tells = process.env.TELL !== undefined;
/** A folder for profiles of the program's threads. */
const { PROFILE } = process.env;
const profiled = PROFILE === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${PROFILE}`];

/** How long the screen answers no key at records that are long, each in its own way, whatever is pressed. */
export async function run(): Promise<void> {
  mkdirSync(directory, { recursive: true });
  for (const [name, record] of Object.entries(LONG_RECORDS)) {
    if (only !== undefined && !only.includes(name)) continue;
    const path = join(directory, `${name}.jsonl`);
    const line = JSON.stringify(record());
    const short = JSON.stringify({ input: 'user\nhi\nassistant\n', output: 'hello', score: 1, step: 1, gts: '1' });
    // The third is of the same prompt as the first, for the keys that compare.
    writeFileSync(path, `${line}\n${short}\n${line}\n`);
    const { steps, memory } = await walk(path, short);
    rmSync(path);
    const worst = steps.reduce((most, one) => (one.ms > most.ms ? one : most));
    figure(`longest wait of a key: ${name}`, `${worst.ms} ms`, worst.name, worst.ms / GOAL, `≤ 1 × ${GOAL} ms`);
    for (const { name: step, ms } of steps) if (ms > GOAL) console.log(`  ${step}: ${ms} ms`);
    if (memory > MOST_MEMORY) console.log(`  memory: ${memory.toFixed(0)} MB (goal ≤ ${MOST_MEMORY})`);
  }
}

interface Walk {
  steps: { name: string; ms: number }[];
  /** MB at the most. */
  memory: number;
}

/** Walks through the views of the first record. @returns for each step how long the main thread was away at a stretch */
async function walk(path: string, short: string): Promise<Walk> {
  writeFileSync(stalls, '');
  const env = {
    NODE_OPTIONS: `--import=${join(root, 'bench/support/stalls.mjs')}`,
    STALLS_FILE: stalls,
  };
  const app = App.start(['--follow', path], {
    columns: 200,
    rows: 50,
    env,
    command: [process.execPath, ...profiled, bin],
  });
  const steps: Walk['steps'] = [];
  let memory = 0;
  const step = async (name: string, act: () => void): Promise<void> => {
    if (!wanted.test(name) && steps.length > 0) return;
    writeFileSync(stalls, '');
    forgetPeak(app.pid);
    const begun = performance.now();
    act();
    await app.until(() => app.isIdle, `the end of ${name}`, PATIENCE);
    const took = performance.now() - begun;
    const all = readFileSync(stalls, 'utf8').split('\n').filter(Boolean).map(Number);
    steps.push({ name, ms: Math.max(0, ...all) });
    const mb = peakMegabytes(app.pid);
    memory = Math.max(memory, mb);
    if (tells) console.log(`${name}: ${Math.max(0, ...all)} ms, idle after ${took.toFixed(0)} ms, ${mb.toFixed(0)} MB`);
  };
  const press = async (of: string, walked: readonly Step[]): Promise<void> => {
    for (const [name, ...keys] of walked) await step(`${of}${name}`, () => app.press(...keys));
  };
  try {
    await step('opening', () => {});
    await step('the first', () => app.press('1', 'g', 'g'));
    for (const [i, view] of VIEWS.entries()) {
      if (i > 0) await press('', [[`to ${view}`, 'v']]);
      await press(`${view}: `, IN_VIEW);
      await step(`${view}: a narrow window`, () => app.resize(80, 24));
      await step(`${view}: a wide window`, () => app.resize(200, 50));
      await press(`${view}: `, TAKEN);
    }
    await press('', [['to chat', 'v'], ...AROUND]);
    await step('a record more', () => appendFileSync(path, `${short}\n`));
    await step('half of one', () => appendFileSync(path, short.slice(0, 20)));
    // It writes its profile at its own end.
    if (PROFILE !== undefined) {
      app.press('ctrl+c', 'q', 'q');
      await app.exits();
    }
    return { steps, memory };
  } finally {
    await app.stop();
  }
}

/** The most memory from now on counts; the kernel may refuse, then it counts from the start. */
function forgetPeak(pid: number): void {
  try {
    writeFileSync(`/proc/${pid}/clear_refs`, '5');
  } catch {
    // The step that took most is not told then.
  }
}

const peakMegabytes = (pid: number): number =>
  Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1000;
