import { LONG_RECORD } from '../core/dump/long-record.ts';
import { float64At, uint32At } from '../core/lists/at.ts';
import { CHECKS, type Check, checkWord } from '../core/rollout/checks.ts';
import { ERROR_KINDS } from '../core/rollout/error-kind.ts';
import { random } from './chance.ts';
import type { FactRows } from './facts/fact-rows.ts';
import { incidentsOf } from './incidents/incidents.ts';
import { measureName } from './incidents/sentence.ts';
import { type Movement, type MovementFacts, movements } from './movement/movement.ts';
import type { PhraseMovement } from './movement/phrase-split.ts';
import type { SaidText } from './movement/phrases.ts';
import { saidChanges } from './movement/said-changes.ts';
import { phraseName, whatMoved } from './movement/what-moved.ts';
import { type GroupRow, groupTable } from './prompts/group-table.ts';
import type { Rest } from './rest.ts';

type TriageFacts = MovementFacts & Pick<FactRows, 'prompts' | 'reader'>;

/** A rollout to read, and why this one. */
export interface TriagePick {
  row: number;
  /** Why it is listed: incident, best, worst, gap, no signal, finding, error, change, phrase, extreme, random. */
  kind: string;
  reason: string;
}

export interface TriageOptions {
  n: number;
  seed: number;
  /** The text of a row, for phrases that came with the reward; null if it cannot be read. */
  textOf?: (row: number) => SaidText | null;
  /** Awaited between parts of the work, so that it does not block a waiting person. */
  rest?: Rest;
}

const RANDOM_SHARE = 5;

/** A reason to read something, with its rollouts, the best examples first. */
interface Queue {
  kind: string;
  reason: string;
  rows: readonly number[];
  /** The check behind it, so that each rollout can say what was found. */
  check?: Check;
}

/** All that does not depend on how many are asked for. */
interface Reasons {
  queues: Queue[];
  /** All rows in the order in which they are drawn. */
  drawn: Uint32Array;
}

/**
 * The rollouts to read, without duplicates: one of each reason in turn, and every fifth at random. A seed always gives
 * the same rollouts, and a shorter list is a prefix of a longer one.
 */
export async function triage(
  facts: TriageFacts,
  { n, seed, textOf, rest = () => undefined }: TriageOptions,
): Promise<TriagePick[]> {
  const count = Math.min(n, facts.length);
  const reasons = async (): Promise<Reasons> => {
    const next = random(seed);
    return { queues: await queues(facts, next, textOf, rest), drawn: shuffle(facts.length, next) };
  };
  const { queues: found, drawn: order } = await (facts.remember?.(`triage ${seed}`, reasons) ?? reasons());
  const rounds = turns(found, facts);
  const taken = new Map<number, TriagePick>();
  const isFree = (pick: TriagePick): boolean => !taken.has(pick.row);
  const reasoned = filtered(rounds, isFree);
  const drawn = filtered(drawnBy(order), isFree);
  while (taken.size < count) {
    const isRandom = (taken.size + 1) % RANDOM_SHARE === 0;
    const pick = (isRandom ? undefined : reasoned.next().value) ?? drawn.next().value;
    if (pick === undefined) break;
    taken.set(pick.row, pick);
  }
  return [...taken.values()];
}

/** Takes one rollout of each queue in turn, until all are empty. */
function* turns(queues: readonly Queue[], facts: TriageFacts): Generator<TriagePick, undefined> {
  const longest = queues.reduce((most, { rows }) => Math.max(most, rows.length), 0);
  for (let at = 0; at < longest; at++)
    for (const { kind, reason, rows, check } of queues) {
      const row = rows[at];
      if (row === undefined) continue;
      const found = check === undefined ? '' : foundIn(facts, row, check);
      yield { row, kind, reason: found === '' ? reason : `${reason}: ${found}` };
    }
  return undefined;
}

/** A check's message about a row; empty if the record is long. */
function foundIn(facts: TriageFacts, row: number, check: Check): string {
  const { file, record } = facts.place(row);
  if (file.index.length(record) > LONG_RECORD) return '';
  return file.read(record).findings.find((finding) => finding.check === check)?.message ?? '';
}

function* drawnBy(rows: Iterable<number>): Generator<TriagePick, undefined> {
  for (const row of rows) yield { row, kind: 'random', reason: 'random sample' };
  return undefined;
}

function* filtered<T>(all: Iterable<T>, is: (one: T) => boolean): Generator<T, undefined> {
  for (const one of all) if (is(one)) yield one;
  return undefined;
}

/** All reasons, the most informative first, because short lists take only the first ones. */
async function queues(
  facts: TriageFacts,
  next: () => number,
  textOf: TriageOptions['textOf'],
  rest: Rest,
): Promise<Queue[]> {
  const shuffled = shuffle(facts.length, next);
  const scores = facts.numbers('score');
  const table = groupTable(facts);
  await rest();
  const moved = textOf === undefined ? await movements(facts, rest) : await whatMoved(facts, textOf, rest);
  const incidents = incidentsOf(facts, moved);
  await rest();
  const named = new Set(incidents.flatMap(({ movements: own }) => own.flatMap(({ name, alike }) => [name, ...alike])));
  const phrases = textOf === undefined ? [] : await phraseQueues(facts, textOf, named, rest);
  await rest();
  const changes = changeQueues(moved.filter(({ name, said }) => said === undefined && !named.has(name)));
  const [findings, errors] = [findingQueues(facts, shuffled), errorQueues(facts, shuffled)];
  const groups = groupQueues(table, scores, next);
  const [best, worst] = endQueues(scores, shuffled);
  return [
    ...incidents.map(({ step, sentence, movements: [lead], examples }) => ({
      kind: 'incident',
      reason: `from step ${step} on: ${sentence}`,
      rows: [...new Set([...examples.after, ...(lead?.said?.rows.slice(0, MANY) ?? [])])],
    })),
    ...phrases.slice(0, 4),
    ...changes.slice(0, 4),
    ...groups,
    best,
    worst,
    ...findings,
    ...errors,
    ...extremeQueues(facts),
    ...phrases.slice(4),
    ...changes.slice(4),
  ].filter(({ rows }) => rows.length > 0);
}

function shuffle(length: number, next: () => number): Uint32Array {
  const order = Uint32Array.from({ length }, (_, i) => i);
  for (let i = length - 1; i > 0; i--) {
    const j = Math.floor(next() * (i + 1));
    [order[i], order[j]] = [uint32At(order, j), uint32At(order, i)];
  }
  return order;
}

function endQueues(scores: Float64Array, shuffled: Uint32Array): [Queue, Queue] {
  const scored = shuffled.filter((row) => Number.isFinite(scores[row]));
  // Ties are broken at random, not by dump order.
  const ordered = [...scored].sort((a, b) => float64At(scores, b) - float64At(scores, a));
  const scoreAt = (at: number): number => float64At(scores, ordered[at] ?? -1);
  // Equal scores have no best and no worst.
  const [highest, lowest] = [scoreAt(0), scoreAt(ordered.length - 1)];
  return [
    {
      kind: 'best',
      reason: 'among the best scores',
      rows: ordered.slice(0, MANY).filter((row) => scores[row] !== lowest),
    },
    {
      kind: 'worst',
      reason: 'among the worst scores',
      rows: ordered
        .slice(-MANY)
        .filter((row) => scores[row] !== highest)
        .reverse(),
    },
  ];
}

/** The most that are ever requested for one reason. */
const MANY = 200;

function groupQueues(table: readonly GroupRow[], scores: Float64Array, next: () => number): Queue[] {
  const memberWith = ({ rows }: GroupRow, score: number | null): number[] =>
    [...rows].filter((row) => scores[row] === score).slice(0, 1);
  const wide = table.filter(({ signal }) => signal === 'yes' || signal === 'outlier');
  const gap = ({ best, worst }: GroupRow): number => (best ?? 0) - (worst ?? 0);
  const places = new Map(table.map((group) => [group, next()]));
  const placeOf = (group: GroupRow): number => places.get(group) ?? 0;
  const byGap = [...wide].sort((a, b) => gap(b) - gap(a) || placeOf(a) - placeOf(b));
  const dead = table.filter(({ signal }) => signal === 'none').sort((a, b) => placeOf(a) - placeOf(b));
  const known = table.filter(({ signal }) => signal !== 'unknown').length;
  const share = known === 0 ? 0 : Math.round((dead.length / known) * 100);
  const world = table.filter(({ blameless }) => blameless > 0);
  return [
    {
      kind: 'gap',
      reason: 'best and worst of a group, far apart',
      rows: byGap
        .slice(0, MANY)
        .flatMap((group) => [...memberWith(group, group.best), ...memberWith(group, group.worst)]),
    },
    {
      kind: 'no signal',
      reason: `every rollout in its group has the same score (${share} % of groups)`,
      // Alternates, because all failed and all solved are different things.
      rows: byTurns(
        dead.filter(({ best }) => (best ?? 0) <= 0),
        dead.filter(({ best }) => (best ?? 0) > 0),
      )
        .slice(0, MANY)
        .map(({ rows }) => uint32At(rows, 0)),
    },
    {
      kind: 'infra zero',
      reason: 'a zero caused by infrastructure',
      rows: world.slice(0, MANY).flatMap((group) => memberWith(group, group.worst)),
    },
  ];
}

const byTurns = <T>(a: readonly T[], b: readonly T[]): T[] =>
  Array.from({ length: Math.max(a.length, b.length) }, (_, i) =>
    [a[i], b[i]].filter((one) => one !== undefined),
  ).flat();

function findingQueues(facts: TriageFacts, shuffled: Uint32Array): Queue[] {
  return CHECKS.map((check) => ({
    kind: 'finding',
    check,
    reason: `"${checkWord(check)}"`,
    rows: first(shuffled, (row) => facts.has(row, check)),
  }));
}

function errorQueues(facts: TriageFacts, shuffled: Uint32Array): Queue[] {
  const kinds = facts.words('error.kind');
  const ends = facts.words('ended');
  return [
    ...ERROR_KINDS.map((kind) => ({
      kind: 'error',
      reason: `tool error: ${kind}`,
      rows: first(shuffled, (row) => kinds[row] === kind),
    })),
    ...[...new Set(ends)]
      .sort()
      .flatMap((end) =>
        end === null || end === 'stop' || end === 'unknown'
          ? []
          : [{ kind: 'ended', reason: `ended: ${end}`, rows: first(shuffled, (row) => ends[row] === end) }],
      ),
  ];
}

function first(order: Uint32Array, is: (row: number) => boolean): number[] {
  const found: number[] = [];
  for (const row of order) {
    if (is(row)) found.push(row);
    if (found.length >= MANY) break;
  }
  return found;
}

/** For each number, the rollout with the largest value, if it is an outlier. */
function extremeQueues(facts: TriageFacts): Queue[] {
  return facts.numberNames
    .filter((name) => name !== 'score' && name !== 'step')
    .flatMap((name) => {
      const values = facts.numbers(name);
      const known = [...values.entries()].flatMap(([row, value]) => (Number.isFinite(value) ? [{ row, value }] : []));
      const sorted = Float64Array.from(known, ({ value }) => value).sort();
      const at = (share: number): number => sorted[Math.floor(share * (sorted.length - 1))] ?? 0;
      const limit = at(0.75) + 6 * Math.max(at(0.75) - at(0.25), Number.EPSILON);
      const rows = known.filter(({ value }) => value > limit).sort((a, b) => b.value - a.value);
      // Many outliers form a kind of rollout, which random samples and changes cover.
      if (rows.length === 0 || rows.length > known.length / 10) return [];
      return [{ kind: 'extreme', reason: `extreme ${name}`, rows: rows.slice(0, MANY).map(({ row }) => row) }];
    });
}

const CHANGE = 0.05;

function changeQueues(moved: readonly Movement[]): Queue[] {
  return moved
    .flatMap(({ name, change, p, isAlarm, examples }) =>
      change === null || p >= CHANGE ? [] : [{ name, change, isAlarm, examples }],
    )
    .sort((a, b) => Number(b.isAlarm) - Number(a.isAlarm))
    .map(({ name, change: { after, before, step }, examples }) => ({
      kind: 'change',
      reason: `${measureName(name)} ${after >= before ? 'rose' : 'fell'} at step ${step} (${shortNumber(before)} → ${shortNumber(after)})`,
      rows: [...examples.after.slice(0, 2), ...examples.before.slice(0, 1), ...examples.after.slice(2)],
    }));
}

const shortNumber = (value: number): string => String(Number(value.toPrecision(3)));

/** A phrase with a log probability below this is worth reading. */
const PHRASE = Math.log(1e-3);

/** Phrases that no incident names: they came without reward, or less clearly. @param named the changes of the incidents */
async function phraseQueues(
  facts: TriageFacts,
  textOf: (row: number) => SaidText | null,
  named: ReadonlySet<string>,
  rest: Rest,
): Promise<Queue[]> {
  const { rewarded: all, any, looked, steps } = await saidChanges(facts, textOf, rest);
  const rewarded = all.filter(({ logP }) => logP < PHRASE);
  const said = new Set(rewarded.slice(0, 6).flatMap(({ rows }) => rows));
  const others = any.filter(
    ({ logP, rows }) => logP < PHRASE && rows.filter((row) => said.has(row)).length < rows.length / 3,
  );
  const queue = ({ phrase, by, at, before, after, rows }: PhraseMovement): Queue => ({
    kind: 'phrase',
    reason: `${by === 'model' ? 'the model says' : 'a tool says'} "${phrase}", new at step ${steps[at]}: ${percent(before)} → ${percent(after)} of the groups`,
    rows,
  });
  const often = looked.filter(({ repeats }) => repeats >= OFTEN).sort((a, b) => b.repeats - a.repeats);
  const loops: Queue = { kind: 'loop', reason: 'repeats itself', rows: often.map(({ row }) => row) };
  const unnamed = byTurns(rewarded.slice(0, 6), others.slice(0, 6)).filter((phrase) => !named.has(phraseName(phrase)));
  return [loops, ...unnamed.map(queue)];
}

const OFTEN = 6;

const percent = (share: number): string => `${Math.round(share * 100)} %`;
