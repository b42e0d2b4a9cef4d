import type { FactRows } from '../facts/fact-rows.ts';
import {
  adjustedValues,
  isShareName,
  type Movement,
  type MovementFacts,
  NO_SIGNAL,
  rowValues,
} from '../movement/movement.ts';
import { rowsOfTraining, timelineOf } from '../movement/timeline.ts';
import { explainsEqualScores } from './equal-scores.ts';
import { failingTool } from './failing-tool.ts';
import { FAMILIES, type Family, familyOf, mayCause } from './family.ts';
import { consequenceText, liftText, sentenceOf, type Wording } from './sentence.ts';
import { signalShift } from './signal-shift.ts';

/** Something that happened to a run, and its consequences. */
export interface Incident {
  /** The step in which it began. */
  step: number;
  family: Family;
  sentence: string;
  consequences: readonly string[];
  /** The change that names it, and the related changes. */
  movements: readonly Movement[];
  /** Example rows from before and after. */
  examples: Movement['examples'];
}

type IncidentFacts = MovementFacts & Pick<FactRows, 'prompts'>;

/** Below this p value a change is not due to chance. */
const CLEAR = 0.01;
/** Changes at most this far apart may belong to one incident: a share of the steps, and at least two. */
const NEAR = 1 / 20;

/** The incidents of a run, the earliest first; empty if nothing unusual happened. */
export function incidentsOf(facts: IncidentFacts, moved: readonly Movement[]): Incident[] {
  const rows = rowsOfTraining(facts);
  const { at, steps } = timelineOf(facts, rows);
  const near = Math.max(2, Math.round(steps.length * NEAR));
  const context: Context = { facts, rows, at, places: new Map(steps.map((step, place) => [step, place])), near };
  const open = alarmsOf(moved)
    .filter((movement) => !isOftener(movement, context))
    .sort((a, b) => FAMILIES.indexOf(familyOf(a)) - FAMILIES.indexOf(familyOf(b)) || a.p - b.p);
  const clusters: Movement[][] = [];
  for (const movement of open) {
    const cluster =
      clusters.find(([first]) => first !== undefined && belongs(first, movement, context)) ??
      explainedTogether(clusters, movement, context);
    if (cluster !== undefined) cluster.push(movement);
    else if (!isSlight(movement)) clusters.push([movement]);
  }
  return clusters
    .filter((cluster) => cluster.some((one) => one.isAlarm || !SIDE_EFFECTS.has(familyOf(one))))
    .map((cluster) => incidentOf(cluster, context))
    .sort((a, b) => a.step - b.step || FAMILIES.indexOf(a.family) - FAMILIES.indexOf(b.family));
}

/** Changes of these kinds are named with the alarm that they move with, and are no incidents by themselves. */
const SIDE_EFFECTS: ReadonlySet<Family> = new Set(['length', 'finding', 'number']);

/** A length that changes by a smaller share is worth a row of the statistics only. */
const SLIGHT = 0.15;

/** Less repetition than this is no trouble. */
const SOME_REPETITION = 0.05;

function isSlight(lead: Movement): boolean {
  if (lead.change === null) return false;
  const { before, after } = lead.change;
  if (lead.name === 'repetition') return after < SOME_REPETITION;
  // That answers are copied less is no trouble.
  if (lead.name === 'copies') return after < before;
  return familyOf(lead) === 'length' && Math.abs(after - before) < SLIGHT * Math.abs(before);
}

/** A phrase that was common before, and is not several times as frequent now, comes with longer answers or other prompts. */
const COMMON = 0.05;
const TIMES = 4;

function isOftener(movement: Movement, context: Context): boolean {
  if (movement.said?.by !== 'model') return false;
  const [before, after] = sharesOf(movement, context);
  return before >= COMMON && after < TIMES * before;
}

/** Whether a change is part of an incident, or its consequence. */
function belongs(first: Movement, movement: Movement, context: Context): boolean {
  const [cause, effect] = [familyOf(first), familyOf(movement)];
  const place = sinceOf(movement, context);
  const to = untilOf(first, context) + context.near;
  if (place < sinceOf(first, context) - context.near) return false;
  // Two phrases of a model may be two hacks.
  const isPhrase = movement.said?.by === 'model' && first.said?.by === 'model';
  if (cause === effect && place <= to && !isPhrase) return true;
  if (cause !== effect && (!mayCause(cause, effect) || place > to)) return false;
  return explains([first], movement, context);
}

/**
 * The latest of the incidents that began before a change and explain it together: each of them moves a length or a share
 * a little, and all of its rollouts show one of them.
 */
function explainedTogether(
  clusters: readonly Movement[][],
  movement: Movement,
  context: Context,
): Movement[] | undefined {
  const place = sinceOf(movement, context) + context.near;
  const able = clusters
    .filter(([first]) => first !== undefined && mayCause(familyOf(first), familyOf(movement)))
    .filter(([first]) => first !== undefined && sinceOf(first, context) <= place)
    .sort(([a], [b]) => (a === undefined || b === undefined ? 0 : sinceOf(b, context) - sinceOf(a, context)));
  const causes = able.flatMap(([first]) => first ?? []);
  return causes.length > 1 && movement.said === undefined && explains(causes, movement, context) ? able[0] : undefined;
}

interface Context {
  facts: IncidentFacts;
  rows: Uint32Array;
  /** The index of each row in the timeline, -1 if it has none. */
  at: Int32Array;
  /** The index of each step. */
  places: ReadonlyMap<number, number>;
  near: number;
}

const sinceOf = ({ since }: Movement, { places }: Context): number => places.get(since ?? Number.NaN) ?? -1;
const untilOf = ({ until }: Movement, { places }: Context): number => places.get(until ?? Number.NaN) ?? -1;

/** Alarms, and the changes that an alarm lists as moving with it. */
function alarmsOf(moved: readonly Movement[]): Movement[] {
  const alike = new Set(moved.flatMap(({ isAlarm, alike: names }) => (isAlarm ? names : [])));
  return moved.filter(({ name, change, p, isAlarm }) => change !== null && p < CLEAR && (isAlarm || alike.has(name)));
}

/** A change is explained by another one if little of it remains among rollouts that do not show the other. */
const LEFT = 0.5;
const FEW = 20;
/** Steps compared on both sides of a change. */
const WINDOW = 12;

function explains(causes: readonly Movement[], effect: Movement, context: Context): boolean {
  const { facts, rows, at } = context;
  const own = causes.map((cause) => marksOf(cause, facts));
  const known = own.filter((mark) => mark !== null);
  if (known.length < own.length) return true;
  const isMarked = (row: number): boolean => known.some((mark) => mark.has(row));
  const [since, until] = [sinceOf(effect, context), untilOf(effect, context)];
  const window = WINDOW * causes.length;
  /** Whether the row is after the change; null if it is too far away, or nothing is known of it. */
  const sideOf = (row: number): 'before' | 'after' | null => {
    const time = at[row] ?? -1;
    if (time < 0 || !known.some((mark) => mark.among(row))) return null;
    if (time < since && time >= since - window) return 'before';
    return time >= until && time < until + window ? 'after' : null;
  };
  if (familyOf(effect) === 'signal') return explainsEqualScores(facts, rows, sideOf, isMarked);
  const measure = adjustedOf(effect, context);
  const all = { before: new Mean(), after: new Mean() };
  const plain = { before: new Mean(), after: new Mean() };
  for (const row of rows) {
    const [value, side] = [measure(row), sideOf(row)];
    if (side === null || !Number.isFinite(value)) continue;
    all[side].add(value);
    if (!isMarked(row)) plain[side].add(value);
  }
  const [cause, other] = causes;
  // If all rollouts show the cause, words of another speaker are no consequence of it.
  if (plain.after.count < FEW)
    return other === undefined && (effect.said === undefined || cause?.said?.by === effect.said.by);
  if (plain.before.count === 0) return true;
  return Math.abs(plain.after.mean - plain.before.mean) < LEFT * Math.abs(all.after.mean - all.before.mean);
}

interface Marks {
  has(row: number): boolean;
  /** Whether this is known for the row. */
  among(row: number): boolean;
}

/** The rollouts that show a change: those with the finding, the word or the phrase, or a number nearer to the later one. */
function marksOf({ name, said, change }: Movement, facts: IncidentFacts): Marks | null {
  if (said !== undefined) {
    const [rows, looked] = [new Set([...said.rows, ...said.earlier]), new Set(said.looked)];
    return { has: (row) => rows.has(row), among: (row) => looked.has(row) };
  }
  const values = rowValues(facts, name);
  if (values === null || change === null) return null;
  const middle = isShareName(name) || name === 'tool_errors' ? 0 : (change.before + change.after) / 2;
  const isHigh = change.after >= change.before || middle === 0;
  return {
    has: (row) => (isHigh ? (values[row] ?? 0) > middle : (values[row] ?? 0) < middle),
    among: (row) => Number.isFinite(values[row]),
  };
}

class Mean {
  count = 0;
  mean = 0;

  add(value: number): void {
    this.count++;
    this.mean += (value - this.mean) / this.count;
  }
}

/** Only the clearest words and numbers that moved with an incident are shown; the statistics have all. */
const MOST_CONSEQUENCES = 5;

function incidentOf(cluster: readonly Movement[], context: Context): Incident {
  const [lead] = cluster;
  if (lead?.change == null) throw new RangeError('an incident has a change');
  const family = familyOf(lead);
  const own = cluster.filter((movement) => familyOf(movement) === family);
  const others = cluster.filter((movement) => familyOf(movement) !== family);
  // A share shows its first rollouts; a mean hides them in its noise.
  const dated = own.find(({ name }) => isShareName(name)) ?? lead;
  const shift = movesScore(lead, context)
    ? signalShift(context.facts, context.rows, context.at, sinceOf(lead, context), family !== 'signal')
    : [];
  const wording: Wording = {
    family,
    own,
    shareOf: (movement) => sharesOf(movement, context),
    tool: family === 'tools' ? failingTool(context.facts, own) : null,
  };
  return {
    step: dated.since ?? lead.change.step,
    family,
    sentence: sentenceOf(wording),
    consequences: [
      ...liftText(lead),
      ...shift,
      ...others
        .filter(({ name }) => name !== NO_SIGNAL || shift.length === 0)
        .slice(0, MOST_CONSEQUENCES)
        .map((movement) => consequenceText(movement, sharesOf(movement, context))),
    ],
    movements: [...own, ...others],
    examples: lead.examples,
  };
}

/** The mean of a change before and after it, over rollouts; for a phrase, the share of rollouts that have it. */
function sharesOf(movement: Movement, context: Context): [before: number, after: number] {
  const { rows, at } = context;
  const [since, until] = [sinceOf(movement, context), untilOf(movement, context)];
  const measure = valuesOf(movement, context);
  const [before, after] = [new Mean(), new Mean()];
  for (const row of rows) {
    const [value, time] = [measure(row), at[row] ?? -1];
    if (time < 0 || !Number.isFinite(value)) continue;
    if (time < since) before.add(value);
    else if (time >= until) after.add(value);
  }
  return [before.count === 0 ? Number.NaN : before.mean, after.count === 0 ? Number.NaN : after.mean];
}

/** The value of a change in a row: for a phrase, whether the row has it, or NaN if its text was not examined. */
function valuesOf(movement: Movement, { facts }: Context): (row: number) => number {
  const marks = movement.said === undefined ? null : marksOf(movement, facts);
  if (marks !== null) return (row) => (marks.among(row) ? Number(marks.has(row)) : Number.NaN);
  const values = rowValues(facts, movement.name);
  return (row) => values?.[row] ?? Number.NaN;
}

/** The same, compared among rollouts with similar scores. */
function adjustedOf(movement: Movement, context: Context): (row: number) => number {
  if (movement.said !== undefined) return valuesOf(movement, context);
  const { facts, rows } = context;
  const values = rowValues(facts, movement.name);
  if (values === null) return () => Number.NaN;
  const own = rows.filter((row) => Number.isFinite(values[row]));
  const adjusted = adjustedValues(values, facts.numbers('score'), own);
  return (row) => adjusted[row] ?? Number.NaN;
}

/**
 * Whether rollouts that show a change score differently from the rest, so that a change of the score may be its
 * consequence.
 */
function movesScore(movement: Movement, context: Context): boolean {
  const { facts, rows, at } = context;
  const marks = marksOf(movement, facts);
  if (marks === null) return true;
  const scores = facts.numbers('score');
  const [marked, others] = [new Mean(), new Mean()];
  for (const row of rows) {
    const score = scores[row] ?? Number.NaN;
    if ((at[row] ?? -1) >= sinceOf(movement, context) && Number.isFinite(score) && marks.among(row))
      (marks.has(row) ? marked : others).add(score);
  }
  return others.count < FEW || Math.abs(marked.mean - others.mean) >= APART;
}

const APART = 0.1;
