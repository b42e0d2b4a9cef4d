import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseJson } from '../../core/json/parse.ts';
import { isJsonObject, type JsonValue } from '../../core/json/value.ts';
import { type LayerRecord, removeTree } from '../../sandbox/worlds/layers.ts';
import type { LiveWorld } from '../../sandbox/worlds/world.ts';
import { openWorld, type WorldOptions } from './replay-world.ts';

/** A command, or the folder of a task that holds tests/test.sh (Harbor, terminal-bench). */
export type Verifier = { kind: 'command'; command: string } | { kind: 'task'; folder: string };

export interface TestOutcome {
  name: string;
  status: 'passed' | 'failed' | 'skipped';
}

/** A verifier's answer to the last state of a rollout. */
export interface Verified {
  /** null if the verifier gave no verdict. */
  score: number | null;
  /** The origin of the score, or the reason for its absence. */
  why: string;
  exit: number | null;
  /** By name; empty if its output names none. */
  tests: TestOutcome[];
  output: string;
}

/** Harbor's verifiers leave their reward here. */
const REWARDS = ['/logs/verifier/reward.txt', '/logs/verifier/reward.json'];
const MOST_OUTPUT = 64 * 1024;
/** Characters of a line or a tag; longer ones are no names of tests. */
const MOST_LINE = 4000;
/** Seconds: tests take longer than an agent's calls. */
const TIME_LIMIT = 1800;

/** Runs a verifier in a copy of the state after the last call. @param wanted tests that must pass, which a record may name */
export async function verify(
  options: WorldOptions,
  chain: readonly LayerRecord[],
  verifier: Verifier,
  wanted: readonly string[],
  timeLimit = TIME_LIMIT,
): Promise<Verified> {
  const { plan, store } = options;
  const live = store.live();
  const world = openWorld({ ...options, plan: { ...plan, shell: 'stateless' } }, live, chain);
  try {
    await world.open();
    if (verifier.kind === 'task') await placeTests(world, verifier.folder);
    const command = verifier.kind === 'command' ? verifier.command : 'bash /tests/test.sh';
    const run = await world.run(command, { timeLimit, merged: true, dir: plan.workdir.path });
    const output = run.stdout.toString('utf8');
    const ended = { exit: run.exit, output: output.slice(-MOST_OUTPUT), tests: [] };
    if (run.excess !== null) return { ...ended, score: null, why: `it took ${run.excess}` };
    if (run.timedOut) return { ...ended, score: null, why: `it ran longer than ${timeLimit} s` };
    const tests = await testsOf(world, command, output);
    const reward = verifier.kind === 'task' ? await worldReward(world) : null;
    if (reward !== null) return { ...ended, tests, ...reward };
    if (wanted.length > 0 && tests.length > 0) return { ...ended, tests, ...ofWanted(tests, wanted) };
    return { ...ended, tests, score: run.exit === 0 ? 1 : 0, why: `exit status ${run.exit}` };
  } finally {
    await world.close();
    removeTree(live);
  }
}

function ofWanted(tests: readonly TestOutcome[], wanted: readonly string[]): Pick<Verified, 'score' | 'why'> {
  const byName = new Map(tests.map(({ name, status }) => [name, status]));
  const missing = wanted.filter((name) => !byName.has(name));
  if (missing.length > 0)
    return { score: null, why: `${missing.length} of ${wanted.length} tests that the record names did not run` };
  const failed = wanted.filter((name) => byName.get(name) !== 'passed');
  return {
    score: failed.length === 0 ? 1 : 0,
    why: `${wanted.length - failed.length} of ${wanted.length} tests that the record names pass`,
  };
}

/** The files of tests/, at /tests: files alone, and no links. */
async function placeTests(world: LiveWorld, task: string): Promise<void> {
  await world.help('mkdir -p /tests /logs/verifier; rm -f /logs/verifier/reward.*');
  const place = async (at: string): Promise<void> => {
    for (const name of readdirSync(join(task, 'tests', at))) {
      const path = join(at, name);
      const stats = lstatSync(join(task, 'tests', path));
      if (stats.isDirectory()) await place(path);
      else if (stats.isFile()) {
        const problem = await world.writeFile(join('/tests', path), readFileSync(join(task, 'tests', path)));
        if (problem !== null) throw new Error(`/tests/${path}: ${problem}`);
      }
    }
  };
  await place('.');
}

async function worldReward(world: LiveWorld): Promise<Pick<Verified, 'score' | 'why'> | null> {
  for (const path of REWARDS) {
    const text = (await world.readFile(path))?.toString('utf8').trim();
    if (text === undefined || text === '') continue;
    const score = path.endsWith('.txt') ? Number(text) : rewardIn(text);
    return Number.isFinite(score)
      ? { score, why: path }
      : { score: null, why: `${path} holds no number: ${text.slice(0, 80)}` };
  }
  return null;
}

function rewardIn(text: string): number {
  try {
    const value = parseJson(text);
    return isJsonObject(value) && typeof value.reward === 'number' ? value.reward : Number.NaN;
  } catch {
    return Number.NaN;
  }
}

async function testsOf(world: LiveWorld, command: string, output: string): Promise<TestOutcome[]> {
  const report = /generated xml file: (\S+)/.exec(output)?.[1] ?? /--junit-?xml[= ](\S+)/.exec(command)?.[1];
  const xml = report?.startsWith('/') === true ? ((await world.readFile(report))?.toString('utf8') ?? '') : '';
  const found = xml === '' ? pytestOutcomes(output) : junitOutcomes(xml);
  return [...new Map(found.map((one) => [one.name, one])).values()];
}

const STATUS: Readonly<Record<string, TestOutcome['status']>> = {
  PASSED: 'passed',
  XFAIL: 'passed',
  FAILED: 'failed',
  ERROR: 'failed',
  XPASS: 'failed',
  SKIPPED: 'skipped',
};

/** Lines of pytest -v (`a.py::test PASSED`) and of its summary (`PASSED a.py::test`). */
export function pytestOutcomes(output: string): TestOutcome[] {
  const outcomes: TestOutcome[] = [];
  for (const line of output.split('\n')) {
    if (line.length > MOST_LINE) continue;
    const [, first, name, last] =
      /^(?:(PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS) )?([^\s:]+::\S.*?)(?: (PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS)(?: .*)?| - .*)?\s*$/.exec(
        line,
      ) ?? [];
    const status = STATUS[first ?? last ?? ''];
    if (name !== undefined && status !== undefined) outcomes.push({ name, status });
  }
  return outcomes;
}

/** The test cases of a JUnit report. */
export function junitOutcomes(xml: string): TestOutcome[] {
  return xml
    .split(/<testcase\b/)
    .slice(1)
    .flatMap((piece): TestOutcome[] => {
      const end = piece.indexOf('>');
      const head = piece.slice(0, Math.min(end, MOST_LINE));
      const body = head.endsWith('/')
        ? ''
        : piece
            .slice(end + 1)
            .split('</testcase>', 1)
            .join();
      const [name, group] = ['name', 'classname'].map((key) => new RegExp(`\\b${key}="([^"]*)"`).exec(head)?.[1]);
      if (end === -1 || name === undefined) return [];
      const status = /<(?:failure|error)\b/.test(body) ? 'failed' : /<skipped\b/.test(body) ? 'skipped' : 'passed';
      return [{ name: unescaped(group === undefined || group === '' ? name : `${group}::${name}`), status }];
    });
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&apos;': "'",
  '&amp;': '&',
};
const unescaped = (text: string): string =>
  text.replace(/&(?:lt|gt|quot|apos|amp);/g, (entity) => ENTITIES[entity] ?? entity);

/** The tests that a SWE-bench instance names: those that must pass afterwards. */
export function namedTests(json: JsonValue | undefined): string[] {
  if (!isJsonObject(json)) return [];
  const places = [json, json.instance, json.extra_info].filter((place) => isJsonObject(place ?? null));
  for (const place of places) {
    if (!isJsonObject(place)) continue;
    const names = ['FAIL_TO_PASS', 'PASS_TO_PASS'].flatMap((key) => listOf(place[key]));
    if (names.length > 0) return names;
  }
  return [];
}

/** A list of texts, or one written as JSON in a text. */
function listOf(value: JsonValue | undefined): string[] {
  if (Array.isArray(value)) return value.filter((one): one is string => typeof one === 'string');
  if (typeof value !== 'string') return [];
  try {
    return listOf(parseJson(value));
  } catch {
    return [];
  }
}
