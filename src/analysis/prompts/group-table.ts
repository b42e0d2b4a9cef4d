import { float64At, int32At, itemAt, uint32At } from '../../core/lists/at.ts';
import type { FactRows } from '../facts/fact-rows.ts';
import { type Members, membersByNumber } from '../facts/members.ts';
import { type GroupStats, groupStats, PASS, passChance } from './group-stats.ts';

/** The rollouts of one prompt in one step. */
export interface GroupRow extends GroupStats {
  stream: string;
  /** NaN if the step is unknown. */
  step: number;
  prompt: number;
  /** The rows of its rollouts, in dump order. */
  rows: Uint32Array;
  /**
   * How many have the worst score although the environment or this program failed them: learning from these is noise.
   */
  blameless: number;
}

/** The input of a table of groups. */
export type GroupFacts = Pick<FactRows, 'length' | 'numbers' | 'reader' | 'groups' | 'prompts'>;

/** A table of the first rows: those before `from` are the same now. */
interface EarlierTable {
  table: readonly GroupRow[];
  from: number;
}

/** The number of rollouts in no group, for example if all prompts of a step are equal. */
export function ungrouped({ groups }: Pick<FactRows, 'groups'>): number {
  let alone = 0;
  for (let row = 0; row < groups.length; row++) if (int32At(groups, row) < 0) alone++;
  return alone;
}

/** A group of the table. The list of its rows is built on demand: a million rollouts have a hundred thousand groups. */
class PromptGroup implements GroupRow {
  readonly n: number;
  readonly scored: number;
  readonly mean: number | null;
  readonly spread: number | null;
  readonly best: number | null;
  readonly worst: number | null;
  readonly passed: number;
  readonly signal: GroupRow['signal'];
  readonly stream: string;
  readonly step: number;
  readonly prompt: number;
  readonly #members: Members;
  readonly #group: number;
  blameless = 0;

  constructor(members: Members, group: number, stats: GroupStats, stream: string, step: number, prompt: number) {
    this.#members = members;
    this.#group = group;
    this.n = stats.n;
    this.scored = stats.scored;
    this.mean = stats.mean;
    this.spread = stats.spread;
    this.best = stats.best;
    this.worst = stats.worst;
    this.passed = stats.passed;
    this.signal = stats.signal;
    this.stream = stream;
    this.step = step;
    this.prompt = prompt;
  }

  get rows(): Uint32Array {
    return this.#members.of(this.#group);
  }
}

/** A row for each group of at least one rollout, in dump order. @param earlier whose groups are taken over */
export function groupTable(facts: GroupFacts, pass = PASS, earlier: EarlierTable = { table: [], from: 0 }): GroupRow[] {
  const scores = facts.numbers('score');
  const [stepOf, streamOf, faultOf] = [facts.reader('step'), facts.reader('stream'), facts.reader('fault')];
  const members = membersByNumber(facts.groups, earlier.from);
  let own = new Float64Array(64);
  const table = earlier.table.slice(0, groupsBefore(earlier));
  for (let group = members.first; group < members.length; group++) {
    const n = members.size(group);
    // A filter may have removed the whole group.
    if (n === 0) continue;
    const first = members.at(group, 0);
    if (own.length < n) own = new Float64Array(n * 2);
    for (let i = 0; i < n; i++) own[i] = float64At(scores, members.at(group, i));
    const stats = groupStats(own, pass, n);
    const [stream, step] = [streamOf(first), stepOf(first)];
    const row = new PromptGroup(
      members,
      group,
      stats,
      typeof stream === 'string' ? stream : '',
      typeof step === 'number' ? step : Number.NaN,
      int32At(facts.prompts, first),
    );
    const { worst } = stats;
    for (let i = 0; i < n && worst !== null && worst <= 0; i++) {
      if (own[i] !== worst) continue;
      const fault = faultOf(members.at(group, i));
      if (fault === 'world' || fault === 'ours') row.blameless++;
    }
    table.push(row);
  }
  return table;
}

/** How many groups of an earlier table have no row from `from` on. */
function groupsBefore({ table, from }: EarlierTable): number {
  let [low, high] = [0, from === 0 ? 0 : table.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (uint32At(itemAt(table, middle).rows, 0) < from) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The chance that one of k answers passes; null if fewer than k of the group were scored. */
export const groupPassChance = ({ scored, passed }: GroupStats, k: number): number | null =>
  passChance(scored, passed, k);

/** The groups of one step together. */
export interface StepSignal {
  stream: string;
  step: number;
  groups: number;
  rollouts: number;
  /**
   * Groups whose scores are all equal, so nothing is learned from them. Groups with fewer than two scores do not count.
   */
  none: number;
  unknown: number;
  outlier: number;
  blameless: number;
}

/**
 * One row per step, in order. A step that was written twice is one row, and rollouts without a step have their own row.
 */
export function signalBySteps(table: readonly GroupRow[]): StepSignal[] {
  const steps = new Map<string, StepSignal>();
  let known = emptyStep('', Number.NaN);
  for (const { stream, step, n, signal, blameless } of table) {
    // Neighbours are mostly of one step, which then needs no text as its key.
    if (known.step !== step || known.stream !== stream) {
      const key: string = `${stream}\0${step}`;
      known = steps.get(key) ?? emptyStep(stream, step);
      steps.set(key, known);
    }
    known.groups++;
    known.rollouts += n;
    if (signal === 'none') known.none++;
    if (signal === 'unknown') known.unknown++;
    if (signal === 'outlier') known.outlier++;
    if (blameless > 0) known.blameless++;
  }
  return [...steps.values()].sort((a, b) =>
    a.stream === b.stream ? orderOfSteps(a.step, b.step) : a.stream < b.stream ? -1 : 1,
  );
}

const emptyStep = (stream: string, step: number): StepSignal => ({
  stream,
  step,
  groups: 0,
  rollouts: 0,
  none: 0,
  unknown: 0,
  outlier: 0,
  blameless: 0,
});

/** Unknown steps sort last. */
export const orderOfSteps = (a: number, b: number): number =>
  Number.isNaN(a) || Number.isNaN(b) ? Number(Number.isNaN(a)) - Number(Number.isNaN(b)) : a - b;

/** The share of groups without a signal, among those that could have one; null if none could. */
export const deadShare = ({ groups, unknown, none }: Pick<StepSignal, 'groups' | 'unknown' | 'none'>): number | null =>
  groups > unknown ? none / (groups - unknown) : null;
