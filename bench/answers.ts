import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { bin, figure, interleaved, madeDump } from './support/measure.ts';

const ROLLOUTS = Number(process.argv.find((one) => one.startsWith('--rollouts='))?.slice(11) ?? 100_000);
const PER_STEP = 2000;
const RUNS = 3;

/** Each question, with its goal in seconds over the start; those of `stats`, `ls` and `facts` are for 100,000 rollouts of 2 kB. */
const QUESTIONS: readonly [name: string, args: readonly string[], goal: number][] = [
  ['stats', ['stats', '--csv'], 0.5],
  ['ls --json, all rows', ['ls', '--json'], 1],
  ['ls --csv, all rows', ['ls', '--csv'], 1],
  ['facts --csv', ['facts', '--csv'], 1],
  ['facts --parquet', ['facts', '--parquet', 'FILE'], 1],
  ['groups', ['groups', '--csv'], 0.5],
  ['movement', ['movement', '--csv'], 1],
  ['incidents', ['incidents'], 1],
  ['triage', ['triage', '--csv'], 1],
  ['errors', ['errors', '--csv'], 1],
];

/** The cost of a question the second time, with facts kept, beside the same question to ten rollouts. */
export async function run(): Promise<void> {
  const many = madeDump(`find-${ROLLOUTS}`, ROLLOUTS / PER_STEP, PER_STEP, 2);
  const few = madeDump('answers-10', 1, 10, 2);
  const state = mkdtempSync(join(tmpdir(), 'answers-'));
  const asked = (args: readonly string[], dump: string) =>
    seconds(args.map((arg) => (arg === 'FILE' ? join(state, 'facts.parquet') : arg)).concat(dump), state);
  try {
    const first = await asked(['stats'], many);
    const load = (): string => `load ${loadavg()[0]?.toFixed(1)}`;
    figure(
      `facts of ${ROLLOUTS.toLocaleString('en')} rollouts, once`,
      `${first.toFixed(1)} s`,
      load(),
      null,
      'find has it',
    );
    for (const [name, args, goal] of QUESTIONS) {
      const before = await asked(args, many);
      await asked(args, few);
      const [again, start] = await interleaved(
        RUNS,
        () => asked(args, many),
        () => asked(args, few),
      );
      const over = Math.max(0, again - start);
      figure(
        `${name} again, over the start`,
        `${over.toFixed(2)} s`,
        `start ${start.toFixed(2)} s, first ${before.toFixed(1)} s, ${load()}`,
        over / goal,
        `≤ 1 × ${goal} s`,
      );
    }
    await besideDuckdb(many, asked);
  } finally {
    rmSync(state, { recursive: true });
  }
}

/** Our own filter beside the same question in SQL, where Python has DuckDB. */
async function besideDuckdb(
  dump: string,
  asked: (args: readonly string[], dump: string) => Promise<number>,
): Promise<void> {
  const python = process.env.DUCKDB_PYTHON ?? 'python3';
  if (spawnSync(python, ['-c', 'import duckdb']).status !== 0) {
    console.log(`no DuckDB in ${python}: DUCKDB_PYTHON names another interpreter`);
    return;
  }
  const query = 'select count(*) from rollouts where score = 0 and tool_errors > 0';
  const [own, sql] = await interleaved(
    RUNS,
    () => asked(['stats', '--csv', '--filter', 'score == 0 && tool_errors > 0'], dump),
    () => asked(['sql', '--python', python, dump, query], ''),
  );
  figure('filter and stats ÷ the count in SQL', `${own.toFixed(2)} s`, `sql: ${sql.toFixed(2)} s`, own / sql, '≤ 1');
}

function seconds(args: readonly string[], state: string): Promise<number> {
  const begin = performance.now();
  const child = spawn(process.execPath, [bin, ...args.filter((arg) => arg !== '')], {
    stdio: 'ignore',
    env: { ...process.env, XDG_STATE_HOME: state, XDG_CACHE_HOME: state },
  });
  return new Promise((resolve) => child.once('exit', () => resolve((performance.now() - begin) / 1000)));
}
