import { itemAt } from '../../core/lists/at.ts';
import { membersByNumber } from '../facts/members.ts';
import { type GroupRow, orderOfSteps } from './group-table.ts';

/** The results of a prompt from step to step. */
export interface MatrixRow {
  stream: string;
  prompt: number;
  /** Its groups in step order, one per step; of a step that was written twice, the one read last. */
  cells: readonly GroupRow[];
  /** The largest mean minus the smallest. */
  swing: number;
  first: number | null;
  last: number | null;
  /** The step from which it stayed solved to the end. */
  learned: number | null;
  /**
   * The step in which it changed from solved to not solved, if it is not solved at the end and enough rollouts confirm
   * it.
   */
  forgotten: number | null;
}

export interface Matrix {
  /** In order; NaN for rollouts without a step. */
  steps: readonly number[];
  /** Ordered by swing, the largest first. */
  rows: readonly MatrixRow[];
}

/** @param pass the mean at which a prompt counts as solved */
export function promptMatrix(table: readonly GroupRow[], pass: number): Matrix {
  const steps = [...tableSteps(table)].sort(orderOfSteps);
  const groups = membersByNumber(Int32Array.from(table, ({ prompt }) => prompt));
  const rows: MatrixRow[] = [];
  for (let prompt = 0; prompt < groups.length; prompt++) {
    const cells: GroupRow[] = [];
    for (let i = 0; i < groups.size(prompt); i++) cells.push(itemAt(table, groups.at(prompt, i)));
    if (cells.length > 0) rows.push(matrixRow(prompt, oneAStep(cells), pass));
  }
  return { steps, rows: rows.sort((a, b) => b.swing - a.swing) };
}

/** Groups of a step are mostly adjacent. */
function tableSteps(table: readonly GroupRow[]): ReadonlySet<number> {
  const steps = new Set<number>();
  let last: number | undefined;
  for (const { step } of table) {
    if (step === last) continue;
    steps.add(step);
    last = step;
  }
  return steps;
}

/** A dump is mostly read in step order, each step written once; then there is nothing to do. */
function oneAStep(groups: GroupRow[]): GroupRow[] {
  if (groups.every(({ step }, i) => i === 0 || orderOfSteps(itemAt(groups, i - 1).step, step) < 0)) return groups;
  groups.sort((a, b) => orderOfSteps(a.step, b.step));
  return groups.filter(({ step }, i) => !Object.is(groups[i + 1]?.step, step));
}

function matrixRow(prompt: number, cells: readonly GroupRow[], pass: number): MatrixRow {
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  let first: number | null = null;
  let last: number | null = null;
  let learned: number | null = null;
  let forgotten: number | null = null;
  let wasSolved = false;
  for (const { mean, step } of cells) {
    if (mean === null) continue;
    low = Math.min(low, mean);
    high = Math.max(high, mean);
    first ??= mean;
    last = mean;
    const isSolved = mean >= pass;
    if (isSolved && !wasSolved) learned = step;
    if (wasSolved && !isSolved) forgotten = step;
    wasSolved = isSolved;
  }
  return {
    stream: itemAt(cells, 0).stream,
    prompt,
    cells,
    swing: high >= low ? high - low : 0,
    first,
    last,
    learned: wasSolved ? learned : null,
    forgotten: wasSolved || forgotten === null ? null : forgottenAt(cells, pass),
  };
}

/** Groups required after the drop: one bad group proves nothing. */
const AFTER = 2;
/** Standard errors between the pass rates before and after the drop. */
const CLEAR = 3;
/** The largest share of the former pass rate that may remain. */
const LEFT = 0.5;

/** The step of the clearest drop, by the pass rates on both sides of it; null if chance may explain it. */
function forgottenAt(cells: readonly GroupRow[], pass: number): number | null {
  const known = cells.filter(({ mean }) => mean !== null);
  const sumOf = (some: readonly GroupRow[]) => {
    const n = some.reduce((sum, { scored }) => sum + scored, 0);
    return { n, share: n === 0 ? 0 : some.reduce((sum, { mean, scored }) => sum + mean! * scored, 0) / n };
  };
  let best: { step: number; z: number } | null = null;
  for (let at = 1; at + AFTER <= known.length; at++) {
    const [before, after] = [sumOf(known.slice(0, at)), sumOf(known.slice(at))];
    if (itemAt(known, at - 1).mean! < pass || itemAt(known, at).mean! >= pass || after.share > LEFT * before.share)
      continue;
    const z = dropIn(before, after);
    if (z >= CLEAR && (best === null || z > best.z)) best = { step: itemAt(known, at).step, z };
  }
  return best?.step ?? null;
}

/** How many standard errors a share fell; shares outside 0 … 1 are taken as they are. */
function dropIn(before: { n: number; share: number }, after: { n: number; share: number }): number {
  const n = before.n + after.n;
  const pooled = Math.min(1, Math.max(0, (before.share * before.n + after.share * after.n) / n));
  const error = Math.sqrt(pooled * (1 - pooled) * (1 / before.n + 1 / after.n));
  return error === 0 ? 0 : (before.share - after.share) / error;
}

/** The group of a prompt in a step; null if it was not sampled. */
export function cellAt({ cells }: MatrixRow, step: number): GroupRow | null {
  let low = 0;
  let high = cells.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const order = orderOfSteps(itemAt(cells, middle).step, step);
    if (order === 0) return itemAt(cells, middle);
    if (order < 0) low = middle + 1;
    else high = middle - 1;
  }
  return null;
}
