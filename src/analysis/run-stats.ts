import type { DumpFile } from '../dump/dump-file.ts';

/** One step of a stream, summed up. */
export interface StepStats {
  step: number | null;
  rollouts: number;
  /** Mean of the finite scores; null where there is none. */
  mean: number | null;
  /** How many scores the mean is over. */
  scored: number;
  /** Scores that are NaN or infinite; they are in no mean. */
  notFinite: number;
  /** Share of rollouts with a failed tool call, over those that were looked at; null where none was. */
  toolErrorRate: number | null;
  /** Share of rollouts whose response ends inside a thought or a call. Text tells no more, so it is a lower bound (≥). */
  truncationRate: number | null;
  /** No byte has come for a while: the step may be counted. */
  isComplete: boolean;
}

export function stepStats(file: DumpFile, now = Date.now()): StepStats {
  let sum = 0;
  let finite = 0;
  let notFinite = 0;
  let looked = 0;
  let errors = 0;
  let cut = 0;
  for (let record = 0; record < file.count; record++) {
    const score = file.score(record);
    if (typeof score === 'number') {
      if (Number.isFinite(score)) {
        sum += score;
        finite++;
      } else notFinite++;
    }
    const facts = file.facts(record);
    if (facts === undefined) continue;
    looked++;
    if (facts.findings.includes('tool_error')) errors++;
    if (facts.findings.includes('unclosed')) cut++;
  }
  return {
    step: file.step,
    rollouts: file.count,
    mean: finite === 0 ? null : sum / finite,
    scored: finite,
    notFinite,
    toolErrorRate: looked === 0 ? null : errors / looked,
    truncationRate: looked === 0 ? null : cut / looked,
    isComplete: !file.isArriving(now) && file.state === 'ready',
  };
}

/** What a person wants to see of a run from afar. Times in ms. */
export interface RunStats {
  /** Complete train steps, oldest first. */
  steps: StepStats[];
  rollouts: number;
  /** Over the finite scores of all complete train steps. */
  mean: number | null;
  notFinite: number;
  toolErrorRate: number | null;
  truncationRate: number | null;
  /** Since bytes last came. */
  age: number | null;
  /** The median time between the ends of two steps; null until three are known. */
  usualInterval: number | null;
  /** How long nothing has come, where that is more than three times the usual interval. */
  quietFor: number | null;
}

/** Sums up the train files of one stream, in their order; sums of steps that do not change are kept. */
export class RunSummary {
  readonly #kept = new Map<DumpFile, { key: string; stats: StepStats }>();

  of(files: readonly DumpFile[], now = Date.now()): RunStats {
    const train = files.filter((file) => !file.validation && file.count > 0);
    const steps = train.map((file) => this.#step(file, now)).filter((step) => step.isComplete);
    const changes = train.map((file) => file.lastChange).sort((a, b) => a - b);
    const newest = changes.at(-1) ?? null;
    const gap = changes.length < 3 ? 0 : medianGap(changes);
    // Files that were copied together have one time; it says nothing of the run.
    const usualInterval = gap < 1000 ? null : gap;
    const age = newest === null ? null : Math.max(0, now - newest);
    return {
      steps,
      rollouts: files.reduce((sum, file) => sum + file.count, 0),
      mean: weighted(
        steps,
        (step) => step.mean,
        (step) => step.scored,
      ),
      notFinite: steps.reduce((sum, step) => sum + step.notFinite, 0),
      toolErrorRate: weighted(
        steps,
        (step) => step.toolErrorRate,
        (step) => step.rollouts,
      ),
      truncationRate: weighted(
        steps,
        (step) => step.truncationRate,
        (step) => step.rollouts,
      ),
      age,
      usualInterval,
      quietFor: age !== null && usualInterval !== null && age > 3 * usualInterval ? age : null,
    };
  }

  #step(file: DumpFile, now: number): StepStats {
    // Facts arrive in batches; the last record's tell that a file is done.
    const isLooked = file.facts(file.count - 1) !== undefined && file.facts(0) !== undefined;
    const key = `${file.generation} ${file.count} ${file.isArriving(now)} ${isLooked}`;
    const kept = this.#kept.get(file);
    if (kept?.key === key && isLooked) return kept.stats;
    const stats = stepStats(file, now);
    this.#kept.set(file, { key, stats });
    return stats;
  }
}

function medianGap(times: readonly number[]): number {
  const gaps = times.slice(1).map((time, i) => time - (times[i] as number));
  gaps.sort((a, b) => a - b);
  return gaps[gaps.length >> 1] as number;
}

function weighted(
  steps: readonly StepStats[],
  value: (step: StepStats) => number | null,
  weight: (step: StepStats) => number,
): number | null {
  let sum = 0;
  let total = 0;
  for (const step of steps) {
    const part = value(step);
    if (part === null) continue;
    sum += part * weight(step);
    total += weight(step);
  }
  return total === 0 ? null : sum / total;
}

/** Records that came, by the minute: what the run produces now. */
export class ArrivalRate {
  #arrivals: { time: number; records: number }[] = [];

  add(records: number, now = Date.now()): void {
    this.#arrivals.push({ time: now, records });
  }

  /** Records a minute over the last five; null before anything came. */
  perMinute(now = Date.now()): number | null {
    this.#arrivals = this.#arrivals.filter(({ time }) => now - time < WINDOW);
    const [first] = this.#arrivals;
    if (first === undefined) return null;
    const records = this.#arrivals.reduce((sum, arrival) => sum + arrival.records, 0);
    return (records / Math.max(60_000, now - first.time)) * 60_000;
  }
}

const WINDOW = 5 * 60_000;
