import type { DumpFile } from '../core/dump/dump-file.ts';
import type { LineIndex } from '../core/dump/line-index.ts';
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

/** Scores summed up, from the first record to the one before `end`. */
interface ScoreSums {
  end: number;
  sum: number;
  finite: number;
  notFinite: number;
  unscored: number;
}

const NO_SCORES: ScoreSums = { end: 0, sum: 0, finite: 0, notFinite: 0, unscored: 0 };

function withScores({ ...sums }: ScoreSums, index: LineIndex, end: number): ScoreSums {
  for (; sums.end < end; sums.end++) {
    const score = index.score(sums.end);
    if (typeof score !== 'number') sums.unscored++;
    else if (Number.isFinite(score)) {
      sums.sum += score;
      sums.finite++;
    } else sums.notFinite++;
  }
  return sums;
}

function stepStats(file: DumpFile, { sum, finite, notFinite, unscored }: ScoreSums): StepStats {
  const { index, count } = file;
  let observed = 0;
  let toolErrors = 0;
  let truncated = 0;
  for (let record = 0; record < count && index.looked > 0; record++) {
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
  /** The sums of files that still grow and were not examined: a step of 10^5 rollouts is summed up between two keys. */
  readonly #growing = new WeakMap<LineIndex, ScoreSums>();

  of(file: DumpFile): StepStats {
    const { count, index } = file;
    const looked = index.looked === count ? 'all' : Math.floor((index.looked * LOOKS) / Math.max(1, count));
    const key = `${file.generation} ${count} ${file.lastChange} ${looked}`;
    const kept = this.#kept.get(file);
    if (kept?.key === key) return kept.stats;
    const stats = stepStats(file, this.#scoresOf(index, count));
    this.#kept.set(file, { key, stats });
    return stats;
  }

  /** An examined record may have another score than its line showed, and the last line may be incomplete. */
  #scoresOf(index: LineIndex, count: number): ScoreSums {
    if (index.looked > 0) return withScores(NO_SCORES, index, count);
    const known = this.#growing.get(index) ?? NO_SCORES;
    const certain = withScores(known.end < count ? known : NO_SCORES, index, Math.max(0, count - 1));
    this.#growing.set(index, certain);
    return withScores(certain, index, count);
  }
}
