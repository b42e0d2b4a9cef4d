import type { DumpFile } from '../core/dump/dump-file.ts';
import { CUT_ENDS, ENDS } from '../core/rollout/ended.ts';
import { factAt } from '../core/rollout/facts.ts';

const TOOL_ERRORS = factAt('tool_errors');
const ENDED = factAt('ended');
const CUT: ReadonlySet<number> = new Set(CUT_ENDS.map((end) => ENDS.indexOf(end)));

/** One step, summed up. Shares are 0 … 1. */
export interface StepStats {
  step: number | null;
  rollouts: number;
  /** Mean of the finite scores; null without any. */
  mean: number | null;
  /** NaN and infinite scores, which are in no mean. */
  notFinite: number;
  /** Rollouts without a score, if others have one. */
  unscored: number;
  /** The denominator of the rates: examined rollouts. */
  looked: number;
  /** Rollouts with a recorded tool result: only for these it is known whether one failed. */
  observed: number;
  /** Rollouts with a failed tool call. */
  toolErrors: number;
  /** Rollouts whose response was cut off, as far as record or text show: a lower bound (≥). */
  truncated: number;
}

function stepStats(file: DumpFile): StepStats {
  const { index, count } = file;
  let sum = 0;
  let finite = 0;
  let notFinite = 0;
  let unscored = 0;
  let observed = 0;
  let toolErrors = 0;
  let truncated = 0;
  for (let record = 0; record < count; record++) {
    const score = index.score(record);
    if (typeof score === 'number') {
      if (Number.isFinite(score)) {
        sum += score;
        finite++;
      } else notFinite++;
    } else unscored++;
    // A step of 10^5 rollouts is summed up between two keys while its records come in.
    if (index.looked === 0) continue;
    const errors = index.factNumber(record, TOOL_ERRORS);
    if (!Number.isNaN(errors)) observed++;
    if (errors > 0) toolErrors++;
    if (CUT.has(index.factNumber(record, ENDED))) truncated++;
  }
  return {
    step: file.step ?? (count === 0 ? null : file.stepOf(count - 1)),
    rollouts: count,
    mean: finite === 0 ? null : sum / finite,
    notFinite,
    unscored: finite === 0 ? 0 : unscored,
    looked: index.looked,
    observed,
    toolErrors,
    truncated,
  };
}

/** The limit on summaries of a file while its records are being examined: it may hold millions. */
const LOOKS = 16;

/** Sums up steps, and keeps the sums until the step has changed. */
export class StepSums {
  readonly #kept = new WeakMap<DumpFile, { key: string; stats: StepStats }>();

  of(file: DumpFile): StepStats {
    const { count, index } = file;
    const looked = index.looked === count ? 'all' : Math.floor((index.looked * LOOKS) / Math.max(1, count));
    const key = `${file.generation} ${count} ${file.lastChange} ${looked}`;
    const kept = this.#kept.get(file);
    if (kept?.key === key) return kept.stats;
    const stats = stepStats(file);
    this.#kept.set(file, { key, stats });
    return stats;
  }
}
