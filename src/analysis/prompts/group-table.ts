import type { FactRows } from '../facts/fact-rows.ts';
import { type GroupStats, groupStats, PASS, passChance } from './group-stats.ts';
import { membersByNumber } from './members.ts';

/** The rollouts of one prompt in one step. */
export interface GroupRow extends GroupStats {
  stream: string;
  /** NaN where the step is not known. */
  step: number;
  prompt: number;
  /** The rows of its rollouts, in the order of the dump. */
  rows: Uint32Array;
  /** How many have the worst score although the world or this program failed them: what is learned from these is noise. */
  blameless: number;
}

/** What a table of groups is made of. */
export type GroupFacts = Pick<FactRows, 'length' | 'numbers' | 'words' | 'groups' | 'prompts'>;

/** How many rollouts are in no group, as where all prompts of a step are equal. */
export const ungrouped = ({ groups }: Pick<FactRows, 'groups'>): number =>
  groups.reduce((sum, group) => sum + Number(group < 0), 0);

/** A row for each group of at least one rollout, in the order of the dump. */
export function groupTable(facts: GroupFacts, pass = PASS): GroupRow[] {
  const scores = facts.numbers('score');
  const steps = facts.numbers('step');
  const streams = facts.words('stream');
  const faults = facts.words('fault');
  const members = membersByNumber(facts.groups);
  const table: GroupRow[] = [];
  for (let group = 0; group < members.length; group++) {
    const rows = members.of(group);
    const first = rows[0];
    // A filter may have left nothing of a group.
    if (first === undefined) continue;
    const own = new Float64Array(rows.length);
    for (let i = 0; i < rows.length; i++) own[i] = scores[rows[i]!]!;
    const stats = groupStats(own, pass);
    let blameless = 0;
    for (let i = 0; i < rows.length; i++) {
      const fault = faults[rows[i]!];
      if ((fault === 'world' || fault === 'ours') && own[i] === stats.worst && own[i]! <= 0) blameless++;
    }
    table.push({
      ...stats,
      stream: streams[first] ?? '',
      step: steps[first]!,
      prompt: facts.prompts[first]!,
      rows,
      blameless,
    });
  }
  return table;
}

/** The chance that one of k answers passes; null where the group has fewer that were scored. */
export const groupPassChance = ({ scored, passed }: GroupStats, k: number): number | null =>
  passChance(scored, passed, k);

/** The groups of one step together. */
export interface StepSignal {
  stream: string;
  step: number;
  groups: number;
  rollouts: number;
  /** Groups whose scores are all alike: nothing is learned from them. Those with fewer than two scores are not counted as such. */
  none: number;
  unknown: number;
  outlier: number;
  blameless: number;
}

/** One row a step, in order; a step that was written twice is one, and rollouts without a step have a row of their own. */
export function signalBySteps(table: readonly GroupRow[]): StepSignal[] {
  const steps = new Map<string, StepSignal>();
  for (const { stream, step, n, signal, blameless } of table) {
    const key = `${stream}\0${step}`;
    const known = steps.get(key) ?? {
      stream,
      step,
      groups: 0,
      rollouts: 0,
      none: 0,
      unknown: 0,
      outlier: 0,
      blameless: 0,
    };
    known.groups++;
    known.rollouts += n;
    if (signal === 'none') known.none++;
    if (signal === 'unknown') known.unknown++;
    if (signal === 'outlier') known.outlier++;
    if (blameless > 0) known.blameless++;
    steps.set(key, known);
  }
  return [...steps.values()].sort((a, b) =>
    a.stream === b.stream ? orderOfSteps(a.step, b.step) : a.stream < b.stream ? -1 : 1,
  );
}

/** Unknown steps come last. */
export const orderOfSteps = (a: number, b: number): number =>
  Number.isNaN(a) || Number.isNaN(b) ? Number(Number.isNaN(a)) - Number(Number.isNaN(b)) : a - b;

/** Of the groups that could have had one, the share without a signal; null where none could. */
export const deadShare = ({ groups, unknown, none }: Pick<StepSignal, 'groups' | 'unknown' | 'none'>): number | null =>
  groups > unknown ? none / (groups - unknown) : null;
