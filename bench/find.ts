import { execFileSync, fork } from 'node:child_process';
import { copyFileSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readFactRows } from '../src/analysis/facts/fact-rows.ts';
import { PASS } from '../src/analysis/prompts/group-stats.ts';
import { groupTable } from '../src/analysis/prompts/group-table.ts';
import { promptMatrix } from '../src/analysis/prompts/matrix.ts';
import { compileQuery } from '../src/analysis/query/query.ts';
import { Dump } from '../src/core/dump/dump.ts';
import { errorCode } from '../src/core/text/thrown.ts';
import { groupsOf } from '../src/viewer/tui/pages/groups.ts';
import { arranged } from './support/arranged.ts';
import { bin, figure, interleaved, madeDump, residentMegabytes } from './support/measure.ts';

const NEEDLE = 'no such words in it';
/** A tenth of a million takes two minutes; `--whole` is a million, of 2.6 GB. */
const ROLLOUTS = Number(argument('rollouts') ?? (process.argv.includes('--whole') ? 1_000_000 : 100_000));
const PER_STEP = 2000;
const COUNT = ROLLOUTS.toLocaleString('en');

function argument(name: string): string | undefined {
  return process.argv.find((one) => one.startsWith(`--${name}=`))?.slice(name.length + 3);
}

/** Rollouts of 2 kB: their facts, found and kept, and questions to all of them. Each part is a separate process. Goals are for a million. */
export async function run(): Promise<void> {
  const dump = madeDump(`find-${ROLLOUTS}`, ROLLOUTS / PER_STEP, PER_STEP, 2);
  const cache = mkdtempSync(join(tmpdir(), 'find-'));
  try {
    for (const name of Object.keys(PARTS)) await inProcess(name, dump, cache);
    await search(dump);
  } finally {
    rmSync(cache, { recursive: true });
  }
}

/** In a separate process: the memory of one part is not that of another. */
function inProcess(name: string, dump: string, cache: string): Promise<void> {
  const child = fork(fileURLToPath(import.meta.url), [`--part=${name}`, `--rollouts=${ROLLOUTS}`, dump, cache]);
  return new Promise((resolve, reject) =>
    child.once('exit', (code) => (code === 0 ? resolve() : reject(new Error(`${name} ended with ${code}`)))),
  );
}

const PARTS: Record<string, (dump: string, cache: string) => Promise<void>> = {
  async facts(path, cache) {
    const bare = bareParse(path);
    const before = process.cpuUsage();
    const start = performance.now();
    const dump = Dump.open([path], { facts: join(cache, 'facts') });
    await dump.lookAtAll();
    const { user, system } = process.cpuUsage(before);
    const wall = performance.now() - start;
    figure(
      'facts of a rollout, processor time',
      `${((user + system) / 1000 / ROLLOUTS).toFixed(4)} ms`,
      `JSON.parse of it: ${bare.toFixed(4)} ms`,
      (user + system) / 1000 / ROLLOUTS / 0.05,
      '≤ 1 × 0.05 ms',
    );
    figure(
      `${COUNT}, until all is known and kept`,
      `${(wall / 1000).toFixed(1)} s`,
      `${dump.files.length} files`,
      null,
      '',
    );
    const bytes = readdirSync(join(cache, 'facts')).reduce(
      (sum, name) => sum + statSync(join(cache, 'facts', name)).size,
      0,
    );
    figure(
      'kept on disk',
      `${(bytes / 1e6).toFixed(1)} MB`,
      `${(bytes / ROLLOUTS).toFixed(0)} bytes each`,
      null,
      '≤ 120 MB',
    );
    figure(
      'memory while they are found, threads included',
      `${residentMegabytes(process.pid).toFixed(0)} MB`,
      '',
      null,
      '≤ 350 MB',
    );
    dump.close();
  },
  async again(path, cache) {
    const start = performance.now();
    const dump = Dump.open([path], { facts: join(cache, 'facts') });
    await dump.lookAtAll();
    figure('opened again', `${(performance.now() - start).toFixed(0)} ms`, '', null, '≤ 2,000 ms');
    for (const text of [
      'score < 0.5 && chars > 1000',
      'finding:tool_error || acc == true',
      'group.std == 0',
      'adv > 0',
    ]) {
      const began = performance.now();
      const rows = await readFactRows(dump, compileQuery(text));
      figure(
        `filter ${COUNT}: ${text}`,
        `${(performance.now() - began).toFixed(0)} ms`,
        `${rows.length} rows`,
        null,
        '≤ 200 ms',
      );
    }
    const all = await readFactRows(dump, null);
    let began = performance.now();
    const table = groupTable(all);
    figure('a table of groups', msSince(began), `${table.length} groups`, null, '≤ 200 ms');
    began = performance.now();
    const matrix = promptMatrix(table, PASS);
    figure('prompt × step', msSince(began), `${matrix.rows.length} × ${matrix.steps.length}`, null, '≤ 200 ms');
    for (const choice of [
      { filter: { text: 'score < 0.5', isInverted: false } },
      { filter: { text: 'chars > 1500 && acc == true', isInverted: false } },
      { sort: { key: 'chars', descending: true } },
      { sort: { key: 'adv', descending: true } },
    ]) {
      const lags: number[] = [];
      const ms = await arranged(dump, choice, lags);
      lags.sort((a, b) => a - b);
      figure(
        `on the screen: ${JSON.stringify(choice).slice(1, -1)}`.slice(0, 44),
        `${ms.toFixed(0)} ms`,
        `the longest that a key waits: ${lags.at(-1)?.toFixed(0)} ms`,
        null,
        '≤ 200 ms, 16 ms',
      );
    }
    figure('memory', `${residentMegabytes(process.pid).toFixed(0)} MB`, '', null, '≤ 350 MB');
    dump.close();
  },
  async grows(path, cache) {
    const folder = mkdtempSync(`${path}-grows-`);
    const dump = Dump.open([path, folder], { facts: join(cache, 'facts'), waits: true });
    await dump.lookAtAll();
    const all = await readFactRows(dump, null);
    all.numbers('adv');
    groupsOf(all);
    for (let more = 1; more <= 3; more++) {
      copyFileSync(join(path, '1.jsonl'), join(folder, `${more}.jsonl`));
      for (const file of dump.rescan()) await dump.refresh(file);
      await dump.lookAtAll();
      const began = performance.now();
      const facts = await readFactRows(dump, null);
      const columns = msSince(began);
      const table = groupsOf(facts);
      figure(
        `a table of groups after ${PER_STEP} more`,
        msSince(began),
        `${table.length} groups, their columns ${columns}`,
        null,
        '≤ 50 ms',
      );
    }
    rmSync(folder, { recursive: true });
    dump.close();
  },
};

const msSince = (began: number): string => `${(performance.now() - began).toFixed(0)} ms`;

/** ms for JSON.parse alone, a line. */
function bareParse(path: string): number {
  const text = execFileSync('head', ['-n', '2000', join(path, '1.jsonl')], { maxBuffer: 1 << 28 }).toString();
  const lines = text.split('\n').filter((line) => line !== '');
  const start = performance.now();
  for (let i = 0; i < 3; i++) for (const line of lines) JSON.parse(line);
  return (performance.now() - start) / lines.length / 3;
}

async function search(dump: string): Promise<void> {
  const time = (command: string, args: readonly string[]): number => {
    const start = performance.now();
    try {
      execFileSync(command, args, { stdio: 'ignore' });
    } catch (error) {
      // Nothing found is exit status 1.
      if (errorCode(error) === 'ENOENT') return Number.NaN;
    }
    return performance.now() - start;
  };
  const state = mkdtempSync(join(tmpdir(), 'find-state-'));
  process.env.XDG_STATE_HOME = state;
  const files = readdirSync(dump).map((name) => join(dump, name));
  time('rg', ['-cF', NEEDLE, ...files]);
  const words = NEEDLE.split(' ');
  for (const [what, theirs, ours] of [
    ['literal search through all', ['-ciF', NEEDLE], NEEDLE],
    ['where case counts', ['-cF', 'No such words'], 'No such words'],
    ['as a pattern', ['-ci', words.join('\\s')], words.join('\\s')],
  ] as const) {
    const [rg, own] = await interleaved(
      3,
      async () => time('rg', [...theirs, ...files]),
      async () => time(process.execPath, [bin, 'grep', '--count', ours, dump]),
    );
    const theirTime = Number.isNaN(rg) ? 'rg is not installed' : `rg: ${rg.toFixed(0)} ms`;
    const goal = what === 'as a pattern' ? '' : '≤ 4 ×';
    figure(what, `${own.toFixed(0)} ms`, theirTime, Number.isNaN(rg) ? null : own / rg, goal);
  }
  const filter = ['ls', '--json', '--filter', 'turns > 90 && finding:repetition', dump];
  const first = time(process.execPath, [bin, ...filter]);
  const second = time(process.execPath, [bin, ...filter]);
  figure(
    'ls --filter, the second time',
    `${second.toFixed(0)} ms`,
    `the first: ${first.toFixed(0)} ms`,
    null,
    '≤ 2,000 ms',
  );
  rmSync(state, { recursive: true });
}

const part = argument('part');
if (part !== undefined) {
  const [dump, cache] = process.argv.slice(-2);
  await PARTS[part]!(dump!, cache!);
  process.exit();
}
