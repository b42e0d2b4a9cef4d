import { float64At, int32At, lastItem, uint32At } from '../../core/lists/at.ts';
import { CHECKS } from '../../core/rollout/checks.ts';
import { FACTS } from '../../core/rollout/facts.ts';
import type { FactRows } from '../facts/fact-rows.ts';
import { membersByNumber } from '../facts/members.ts';
import type { Rest } from '../rest.ts';
import { type ChangePoint, changePoint, levelChange, shareChance } from './change-point.ts';
import { onsetOf, seenFirst } from './onset.ts';
import { correlationTail, pearson, ranksOf, spearman } from './statistics.ts';
import { rowsOfTraining, timelineOf } from './timeline.ts';

/** The input of movement. */
export type MovementFacts = Pick<
  FactRows,
  'length' | 'numbers' | 'words' | 'groups' | 'numberNames' | 'has' | 'isObserved' | 'place'
> &
  Partial<Pick<FactRows, 'remember'>>;

/** How a number relates to the reward, and whether it jumped. */
export interface Movement {
  name: string;
  /** Rank correlation with the score among rollouts of one prompt, over all groups; NaN if nothing varies. */
  within: number;
  withinP: number;
  /** The correlation of the means by step with those of the score. */
  overSteps: number;
  /** The correlation of the means by step with the step. */
  trend: number;
  change: (ChangePoint & { step: number; before: number; after: number }) | null;
  /** It grew over many steps instead of jumping. */
  isTrend: boolean;
  /** The steps in which the change began, and reached its level; null if nothing changed. */
  since: number | null;
  until: number | null;
  /** The chance of such a jump, multiplied by the number of columns tested. */
  p: number;
  isAlarm: boolean;
  /** Others that jumped with it: one movement, not several. */
  alike: readonly string[];
  /** Example rows from before and after the change. */
  examples: { before: readonly number[]; after: readonly number[] };
  /** For a phrase: the rollouts that have it from the change on, and before, among those whose text was examined. */
  said?: {
    by: 'model' | 'tools';
    phrase: string;
    /** The phrase with its capitals, as one of the rollouts has it. */
    written: string;
    /** The share of them that scored above the mean of their group; NaN if none can be compared. */
    lift: number;
    rows: readonly number[];
    /** Those that had it before. */
    earlier: readonly number[];
    looked: readonly number[];
  };
}

interface NumberColumn {
  name: string;
  values: Float64Array;
}

/** Numbers that count steps or name things. */
const NO_MEASURE =
  /(?:^|[._])(?:step|steps|epoch|index|idx|id|ids|uid|time|timestamp|date|seed|version|sample|created|start|end)$/i;

const isMeasure = (name: string): boolean =>
  name !== 'score' && !NO_MEASURE.test(name) && !/^(?:adv|rank|group\..*|labels?)$/.test(name);

/** Every number, every word of a fact and every finding, as numeric columns. */
function columnsOf(facts: MovementFacts): NumberColumn[] {
  const columns: NumberColumn[] = facts.numberNames
    .filter(isMeasure)
    .map((name) => ({ name, values: facts.numbers(name) }));
  for (const { name, words } of FACTS) {
    if (words === undefined) continue;
    const own = facts.words(name);
    for (const word of words) {
      // That a rollout ended normally, or is not known to have been cut, is the complement of the other endings.
      if (!own.includes(word) || (name === 'ended' && (word === 'stop' || word === 'unknown'))) continue;
      columns.push({ name: `${name}:${word}`, values: wordValues(own, word) });
    }
  }
  for (const check of CHECKS) {
    const { values, isAny } = checkValues(facts, check);
    if (isAny) columns.push({ name: `finding:${check}`, values });
  }
  columns.push({ name: NO_SIGNAL, values: noSignal(facts) });
  return columns;
}

/** A rollout in a group whose scores are all the same. */
export const NO_SIGNAL = 'no_signal';

function noSignal(facts: MovementFacts): Float64Array {
  const scores = facts.numbers('score');
  const values = new Float64Array(facts.length).fill(Number.NaN);
  for (const members of membersOf(facts.groups)) {
    const scored = members.filter((row) => Number.isFinite(scores[row]));
    const [first, ...others] = scored;
    if (first === undefined || others.length === 0) continue;
    const isSame = others.every((row) => scores[row] === scores[first]);
    for (const row of scored) values[row] = Number(isSame);
  }
  return values;
}

function membersOf(groups: Int32Array): number[][] {
  const members = membersByNumber(groups);
  return Array.from({ length: members.length }, (_, group) => [...members.of(group)]);
}

/** Steps whose mean scores are smoothed together. */
const SMOOTH = 4;

/** How much easier or harder single prompts are than the mean of a step. */
const EASE = [-0.3, -0.15, 0, 0.15, 0.3];

const alikeBy = (chance: number, size: number): number => {
  const share = Math.min(1, Math.max(0, chance));
  return share ** size + (1 - share) ** size;
};

/** The share of groups of equal scores that chance alone makes at each place, where scores have two values; else 0. */
function expectedDead(
  means: readonly number[],
  weights: readonly number[],
  groups: readonly (readonly number[])[],
  scores: Float64Array,
): number[] {
  const values = [...new Set(scores)].filter(Number.isFinite);
  if (values.length !== 2) return means.map(() => 0);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const size = groups.reduce((sum, { length }) => sum + length, 0) / Math.max(1, groups.length);
  return means.map((_, i) => {
    let [sum, count] = [0, 0];
    const from = Math.max(0, i - SMOOTH);
    for (const [at, mean] of means.slice(from, i + SMOOTH + 1).entries()) {
      const weight = weights[from + at] ?? 0;
      sum += mean * weight;
      count += weight;
    }
    const share = (sum / Math.max(1, count) - low) / (high - low);
    return EASE.reduce((all, ease) => all + alikeBy(share + ease, size), 0) / EASE.length;
  });
}

/**
 * The values of each row for the name of a movement: a number, `word:value` of a fact, `finding:check`; null for
 * another name.
 */
export function rowValues(facts: MovementFacts, name: string): Float64Array | null {
  const check = CHECKS.find((one) => name === `finding:${one}`);
  if (check !== undefined) return checkValues(facts, check).values;
  const fact = FACTS.find((one) => one.words !== undefined && name.startsWith(`${one.name}:`));
  if (fact !== undefined) return wordValues(facts.words(fact.name), name.slice(fact.name.length + 1));
  if (name === NO_SIGNAL) return noSignal(facts);
  return name.includes('"') ? null : facts.numbers(name);
}

/** The measure is a share of the rollouts. */
export const isShareName = (name: string): boolean => name.includes(':') || name.includes('"') || name === NO_SIGNAL;

const wordValues = (words: readonly (string | null)[], wanted: string): Float64Array =>
  Float64Array.from(words, (word) => (word === null ? Number.NaN : Number(word === wanted)));

function checkValues(facts: MovementFacts, check: (typeof CHECKS)[number]): { values: Float64Array; isAny: boolean } {
  const values = new Float64Array(facts.length);
  let isAny = false;
  for (let row = 0; row < values.length; row++) {
    const has = facts.has(row, check);
    isAny ||= has;
    values[row] = has ? 1 : facts.isObserved(row, check) ? 0 : Number.NaN;
  }
  return { values, isAny };
}

/** Enough rollouts to detect a movement. */
const ENOUGH = 60_000;

/** Whole groups, sampled evenly from the run. */
function someGroups(rows: Uint32Array, groups: Int32Array): Uint32Array {
  const stride = Math.ceil(rows.length / ENOUGH);
  return stride === 1
    ? rows
    : rows.filter((row) => (int32At(groups, row) < 0 ? row : int32At(groups, row)) % stride === 0);
}

/** A jump below this share of a rollout's deviation is too small to matter. */
const SMALLEST_JUMP = 0.15;
const ALARM = 0.01;
/** A share that moves by less is ignored. */
const SMALLEST_SHARE = 0.02;
/** Part of the score, or the score under another name. */
const IS_SCORE = 0.98;
const EXAMPLES = 3;

/**
 * The numbers that moved. Values are compared among rollouts with similar scores, so that changes that only accompany
 * improvement do not count: a hack is a new way to the same reward. The clearest jump comes first.
 */
export async function movements(facts: MovementFacts, rest: Rest = () => undefined): Promise<Movement[]> {
  const find = (): Promise<Movement[]> => foundIn(facts, rest);
  return facts.remember?.('movements and onsets', find) ?? find();
}

async function foundIn(facts: MovementFacts, rest: Rest): Promise<Movement[]> {
  const rows = someGroups(rowsOfTraining(facts), facts.groups);
  const { steps, at: timeline } = timelineOf(facts, rows);
  const stepAt = (at: number): number => steps[at] ?? Number.NaN;
  const scores = facts.numbers('score');
  const strata = strataOf(scores, rows);
  const groups = membersByNumber(Int32Array.from(rows, (row) => int32At(facts.groups, row)));
  const groupRows = Array.from({ length: groups.length }, (_, group) =>
    Array.from(groups.of(group), (i) => uint32At(rows, i)),
  );
  const scoreMeans = meansBy(scores, rows, timeline, steps.length).means;
  const columns = columnsOf(facts).filter(({ values }) => varies(values, rows));
  const found: (Movement & { series: Float64Array })[] = [];
  for (const [done, { name, values }] of columns.entries()) {
    await rest(done, columns.length);
    const own = rows.filter((row) => !Number.isNaN(values[row]) && int32At(timeline, row) >= 0);
    const { means, counts } = meansBy(values, own, timeline, steps.length);
    const adjusted = lessStrata(values, own, strata);
    const shifted = meansBy(adjusted, own, timeline, steps.length);
    const filled = [...counts.entries()].flatMap(([i, count]) => (count > 0 ? [i] : []));
    const ofFilled = (values: Float64Array) => filled.map((i) => values[i] ?? Number.NaN);
    const series = ofFilled(shifted.means);
    const weights = ofFilled(counts);
    const jump =
      name === NO_SIGNAL
        ? levelChange(series, weights, expectedDead(ofFilled(scoreMeans), weights, groupRows, scores))
        : changePoint(series, weights);
    const { rho, p: withinP } = withinGroups(values, scores, groupRows);
    // A group counts once.
    const size = name === NO_SIGNAL ? own.length / Math.max(1, groupRows.filter((one) => one.length > 1).length) : 1;
    const luck =
      jump === null || !isShareName(name)
        ? 0
        : shareChance(
            jump,
            ofFilled(means),
            weights.map((weight) => weight / size),
          ) * filled.length;
    const jumpP = jump === null ? 1 : Math.min(1, Math.max(jump.p, luck) * columns.length);
    const isLarge = jump !== null && Math.abs(jump.jump) >= SMALLEST_JUMP * deviationOf(adjusted, own);
    const isJump = jumpP < ALARM && isLarge && !(Math.abs(rho) > IS_SCORE);
    const grown = IS_TROUBLE.test(name) ? trendOf(means, counts, filled, columns.length) : null;
    const at = jump?.at ?? grown?.at ?? null;
    const course =
      at === null || (isJump ? !isShareName(name) || name === NO_SIGNAL : grown === null)
        ? null
        : onsetOf(ofFilled(means), weights, isShareName(name), grown?.at ?? at);
    const fitted = course ?? (at === null ? null : { since: at, until: at });
    const seen =
      fitted === null || !isShareName(name) || name === NO_SIGNAL
        ? fitted
        : seenFirst(ofFilled(means), weights, fitted);
    const [since, until] = seen === null ? [null, null] : [seen.since, seen.until];
    const place = since === null ? -1 : (filled[since] ?? -1);
    const level = until === null ? -1 : (filled[until] ?? -1);
    const before = meanOver(values, own, (row) => int32At(timeline, row) < place);
    const after = meanOver(values, own, (row) => int32At(timeline, row) >= level);
    // That trouble became rarer is no alarm.
    const isChange =
      (!isShareName(name) || Math.abs(after - before) >= SMALLEST_SHARE) && (after > before || !IS_TROUBLE.test(name));
    found.push({
      name,
      within: rho,
      withinP,
      overSteps: correlationOfMeans(means, scoreMeans),
      trend: correlationOfMeans(means, Float64Array.from(steps)),
      change:
        jump === null || at === null
          ? null
          : { ...jump, jump: isJump ? jump.jump : after - before, at: place, step: stepAt(place), before, after },
      isTrend: since !== until,
      since: since === null ? null : stepAt(place),
      until: until === null ? null : stepAt(level),
      p: grown === null ? jumpP : Math.min(jumpP, grown.p),
      isAlarm: (isJump || grown !== null) && isChange,
      alike: [],
      examples: at === null ? { before: [], after: [] } : examplesOf(values, own, timeline, place, scores),
      series: shifted.means,
    });
  }
  found.sort((a, b) => a.p - b.p || Math.abs(b.change?.jump ?? 0) - Math.abs(a.change?.jump ?? 0));
  return joinedMovements(found);
}

/** Undesirable quantities. Slow growth is news only for these, because lengths and scores grow while a model learns. */
const IS_TROUBLE = /^(?:finding:|error|fault|ended:(?!stop|unknown)|loop$|repetition$|script|tool_error)/;
/** A share that grows by less than this is ignored. */
const SMALLEST_GROWTH = 0.05;
const STEPS_OF_TREND = 10;
const CLEAR_TREND = 0.6;

/** Growth over the whole run, by the rank correlation of the means with time, or null. */
function trendOf(means: Float64Array, counts: Float64Array, filled: readonly number[], columns: number) {
  if (filled.length < STEPS_OF_TREND) return null;
  const series = filled.map((i) => means[i] ?? Number.NaN);
  const rho = spearman(series, filled);
  const p = Math.min(1, correlationTail(rho, filled.length - 2) * columns);
  if (!(rho >= CLEAR_TREND) || p >= ALARM) return null;
  const quarter = Math.max(2, Math.floor(filled.length / 4));
  const meanOfPlaces = (places: readonly number[]): number => {
    let [sum, rollouts] = [0, 0];
    for (const i of places) {
      const count = counts[i] ?? 0;
      sum += (means[i] ?? Number.NaN) * count;
      rollouts += count;
    }
    return sum / rollouts;
  };
  const before = meanOfPlaces(filled.slice(0, quarter));
  const after = meanOfPlaces(filled.slice(-quarter));
  if (after - before < SMALLEST_GROWTH || after < 1.5 * before) return null;
  const half = (before + after) / 2;
  const smooth = series.map((_, i) => meanOfPlaces(filled.slice(Math.max(0, i - 1), i + 2)));
  return {
    p,
    at: Math.max(
      1,
      smooth.findIndex((one) => one >= half),
    ),
  };
}

/** Merges alarms whose means by step rise and fall together. */
function joinedMovements(found: readonly (Movement & { series: Float64Array })[]): Movement[] {
  const leaders: { movement: Movement; series: Float64Array; alike: string[] }[] = [];
  const result: Movement[] = [];
  for (const { series, ...movement } of found) {
    const leader = movement.isAlarm
      ? leaders.find(
          (one) =>
            Math.abs(pearson(...knownPairs(one.series, series))) >
            (one.movement.isTrend === movement.isTrend ? ALIKE : ALIKE_OF_TWO_KINDS),
        )
      : undefined;
    if (leader !== undefined) leader.alike.push(movement.name);
    const alike: string[] = [];
    const own = leader === undefined ? { ...movement, alike } : { ...movement, isAlarm: false };
    if (leader === undefined && movement.isAlarm) leaders.push({ movement: own, series, alike });
    result.push(own);
  }
  return result;
}

const ALIKE = 0.7;
/** Any growth correlates with any jump to some degree. */
const ALIKE_OF_TWO_KINDS = 0.92;

/** Where both are known. */
function knownPairs(a: Float64Array, b: Float64Array): [number[], number[]] {
  const [left, right]: [number[], number[]] = [[], []];
  for (const [i, x] of a.entries()) {
    const y = b[i] ?? Number.NaN;
    if (Number.isNaN(x) || Number.isNaN(y)) continue;
    left.push(x);
    right.push(y);
  }
  return [left, right];
}

function varies(values: Float64Array, rows: Uint32Array): boolean {
  let first = Number.NaN;
  for (const row of rows) {
    const value = float64At(values, row);
    if (!Number.isFinite(value)) continue;
    if (Number.isNaN(first)) first = value;
    else if (value !== first) return true;
  }
  return false;
}

/** A number less its mean among rollouts with similar scores. */
export const adjustedValues = (values: Float64Array, scores: Float64Array, rows: Uint32Array): Float64Array =>
  lessStrata(values, rows, strataOf(scores, rows));

/** Rollouts with similar scores: by the score itself if it has few values, else by fifths of it. */
function strataOf(scores: Float64Array, rows: Uint32Array): Int32Array {
  const finite = Float64Array.from(rows, (row) => float64At(scores, row))
    .filter(Number.isFinite)
    .sort();
  const values = [...new Set(finite)];
  const edges =
    values.length <= FEW ? values : FIFTHS.map((share) => float64At(finite, Math.floor(share * finite.length)));
  const strata = new Int32Array(scores.length).fill(-1);
  for (const row of rows) {
    const score = float64At(scores, row);
    if (Number.isFinite(score)) strata[row] = edges.findLastIndex((edge) => score >= edge) + 1;
  }
  return strata;
}

const FEW = 6;
const FIFTHS = [0.2, 0.4, 0.6, 0.8];

function lessStrata(values: Float64Array, rows: Uint32Array, strata: Int32Array): Float64Array {
  const sums = new Map<number, { sum: number; count: number }>();
  for (const row of rows) {
    const stratum = strata[row] ?? -1;
    const known = sums.get(stratum) ?? { sum: 0, count: 0 };
    known.sum += values[row] ?? Number.NaN;
    known.count++;
    sums.set(stratum, known);
  }
  const adjusted = new Float64Array(values.length).fill(Number.NaN);
  for (const row of rows) {
    const { sum = Number.NaN, count = 0 } = sums.get(strata[row] ?? -1) ?? {};
    adjusted[row] = (values[row] ?? Number.NaN) - sum / count;
  }
  return adjusted;
}

function meansBy(values: Float64Array, rows: Uint32Array, at: Int32Array, length: number) {
  const means = new Float64Array(length);
  const counts = new Float64Array(length);
  for (const row of rows) {
    const place = int32At(at, row);
    if (place < 0 || !Number.isFinite(values[row])) continue;
    means[place] = float64At(means, place) + float64At(values, row);
    counts[place] = float64At(counts, place) + 1;
  }
  for (const [i, count] of counts.entries()) means[i] = count === 0 ? Number.NaN : (means[i] ?? Number.NaN) / count;
  return { means, counts };
}

function correlationOfMeans(a: Float64Array, b: Float64Array): number {
  const [left, right] = knownPairs(a, b);
  return left.length < 3 ? Number.NaN : spearman(left, right);
}

/** Ranks within each group, minus their mean, over all groups. */
function withinGroups(
  values: Float64Array,
  scores: Float64Array,
  groups: readonly (readonly number[])[],
): { rho: number; p: number } {
  let [aa, bb, ab, df] = [0, 0, 0, -1];
  for (const members of groups) {
    const known = members.filter((row) => !Number.isNaN(values[row]) && !Number.isNaN(scores[row]));
    if (known.length < 2) continue;
    const a = ranksOf(known.map((row) => float64At(values, row)));
    const b = ranksOf(known.map((row) => float64At(scores, row)));
    const mean = (known.length + 1) / 2;
    let isAny = false;
    for (let i = 0; i < known.length; i++) {
      const [x, y] = [float64At(a, i) - mean, float64At(b, i) - mean];
      aa += x * x;
      bb += y * y;
      ab += x * y;
      isAny ||= x !== 0 || y !== 0;
    }
    if (isAny) df += known.length - 1;
  }
  const rho = aa === 0 || bb === 0 ? Number.NaN : Math.max(-1, Math.min(1, ab / Math.sqrt(aa * bb)));
  return { rho, p: correlationTail(rho, df) };
}

function meanOver(values: Float64Array, rows: Uint32Array, isIn: (row: number) => boolean): number {
  let [sum, count] = [0, 0];
  for (const row of rows) {
    if (!isIn(row) || !Number.isFinite(values[row])) continue;
    sum += float64At(values, row);
    count++;
  }
  return count === 0 ? Number.NaN : sum / count;
}

function deviationOf(values: Float64Array, rows: Uint32Array): number {
  const mean = meanOver(values, rows, () => true);
  return Math.sqrt(
    meanOver(
      values.map((value) => (value - mean) ** 2),
      rows,
      () => true,
    ),
  );
}

const BINS = 12;

/**
 * Rollouts with the values that became common, and with those that were common before. After the change, the best
 * scored of different groups come first.
 */
function examplesOf(values: Float64Array, rows: Uint32Array, at: Int32Array, place: number, scores: Float64Array) {
  const sorted = Float64Array.from(rows, (row) => float64At(values, row)).sort();
  const edges = [
    ...new Set(
      Array.from({ length: BINS - 1 }, (_, i) => float64At(sorted, Math.floor(((i + 1) / BINS) * sorted.length))),
    ),
  ];
  const binOf = (row: number): number => edges.findLastIndex((edge) => float64At(values, row) >= edge) + 1;
  const before = new Float64Array(edges.length + 1);
  const after = new Float64Array(edges.length + 1);
  const bins = new Map<number, number>();
  for (const row of rows) {
    const bin = binOf(row);
    bins.set(row, bin);
    (int32At(at, row) < place ? before : after)[bin]!++;
  }
  const total = (counts: Float64Array) => counts.reduce((sum, count) => sum + count, 0);
  const [allBefore, allAfter] = [total(before), total(after)];
  const surprise = Float64Array.from(before, (old, bin) => {
    const expected = ((old + 0.5) / (allBefore + 1)) * allAfter;
    return (float64At(after, bin) - expected) / Math.sqrt(expected);
  });
  const pick = (isAfter: boolean): number[] => {
    const sign = isAfter ? 1 : -1;
    const order = (a: number, b: number): number =>
      sign * (float64At(surprise, bins.get(b)!) - float64At(surprise, bins.get(a)!)) ||
      (scores[b] || 0) - (scores[a] || 0) ||
      Math.abs(int32At(at, a) - place) - Math.abs(int32At(at, b) - place) ||
      a - b;
    const best: number[] = [];
    for (const row of rows) {
      if (int32At(at, row) >= place !== isAfter) continue;
      if (best.length === EXAMPLES && order(lastItem(best), row) <= 0) continue;
      best.push(row);
      best.sort(order).splice(EXAMPLES);
    }
    return best;
  };
  return { before: pick(false), after: pick(true) };
}
