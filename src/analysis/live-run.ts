import type { Dump, DumpChange } from '../core/dump/dump.ts';
import { type DumpFile, LONG_AGO } from '../core/dump/dump-file.ts';
import { Unmade } from '../core/dump/unmade.ts';
import { itemAt } from '../core/lists/at.ts';
import { ArrivalRate } from './arrival-rate.ts';
import type { Condition } from './condition.ts';
import { StepEnds } from './step-ends.ts';
import { type StepStats, StepSums } from './step-stats.ts';
import { INTERVAL_STEPS, usualInterval } from './usual-interval.ts';

/** Steps that the curve and the rates cover: what the run does now, not what it did last week. */
const LAST = 16;
/** A dump whose last byte is older belongs to a finished run, unless bytes arrived while watching. */
const PAST = 24 * 3_600_000;
/** While no interval is known, a run counts as live if bytes came in the last ten minutes. */
const LIVELY = 10 * 60_000;

/**
 * waiting: nothing there yet; away: all files have disappeared; live: bytes arrive; quiet: none for more than three
 * times the usual interval of a step; past: no more bytes are expected.
 */
export type LiveStatus = 'waiting' | 'away' | 'ended' | 'live' | 'quiet' | 'past';

/** The state of a run at a glance. Times in ms, shares 0 … 1. */
export interface RunStats {
  status: LiveStatus;
  /** Since the last bytes came. */
  age: number | null;
  /** There are validation steps only. */
  validation: boolean;
  /** Files with a step's number, of the train streams, or of all streams if there is no train stream. */
  steps: number;
  /** Files of these streams without a number. */
  files: number;
  rollouts: number;
  /**
   * The last complete steps of the stream, oldest first. The rates and the counts of non-finite and missing scores
   * cover these.
   */
  last: readonly StepStats[];
  notFinite: number;
  unscored: number;
  /** Rollouts that `rollout` failed to make, which have no line. */
  failed: number;
  toolErrorRate: number | null;
  truncationRate: number | null;
  perMinute: number | null;
}

/** A step for which a condition holds. */
export interface Alarm {
  file: DumpFile;
  stats: StepStats;
  condition: Condition;
  /** `step 12: score 0.03 < 0.1` */
  text: string;
}

/**
 * Watches a dump that a run may be writing: how the run is doing, which step is newest, and whether an alarm condition
 * holds.
 */
export class LiveRun {
  readonly #dump: Dump;
  readonly #conditions: readonly Condition[];
  readonly #sums = new StepSums();
  readonly #ends = new StepEnds();
  #streams: { files: readonly DumpFile[]; count: number; by: ReadonlyMap<string, readonly DumpFile[]> } | null = null;
  readonly #unmade = new Unmade();
  /** null until the dump's state at opening is known. */
  #rate: ArrivalRate | null = null;
  #hasCome = false;
  /** Files that appeared or were rewritten since opening, in that order. */
  readonly #began: DumpFile[] = [];
  /** Steps that changed and have not been judged since. */
  readonly #waiting = new Set<DumpFile>();
  /** The content that was judged, or that was there at opening. */
  readonly #judged = new WeakMap<DumpFile, number>();
  /** The same by path: a stream's directory may disappear and return, and its files with it. */
  readonly #signatures = new Map<string, string>();
  #stats: { key: string; stats: RunStats } | null = null;

  constructor(dump: Dump, conditions: readonly Condition[] = []) {
    this.#dump = dump;
    this.#conditions = conditions;
    dump.onChange((change) => this.#take(change));
    dump.subscribe(() => {
      this.#stats = null;
    });
  }

  /** The dump is indexed: everything it holds now was there at opening, and everything else is new. */
  begin(now = Date.now()): void {
    this.#rate = new ArrivalRate(now);
    for (const file of this.#dump.files) {
      if (file.isAway) continue;
      if (this.#isComplete(file, now)) this.#markJudged(file);
      else this.#waiting.add(file);
    }
  }

  #take({ kind, file, from }: DumpChange): void {
    // A file that is not here is no step until it comes, and then it is another content.
    if (this.#rate === null || (kind !== 'gone' && file.isAway)) return;
    if (kind !== 'gone' && file.isOldNews) {
      // As at opening: a copy of an old step is neither an arrival nor an alarm.
      if (this.#isComplete(file, Date.now())) this.#markJudged(file);
      else this.#waiting.add(file);
      return;
    }
    if (from === 0) {
      const before = this.#began.lastIndexOf(file);
      if (before >= 0) this.#began.splice(before, 1);
      if (kind !== 'gone') this.#began.push(file);
    }
    if (kind === 'gone') return;
    const now = Date.now();
    this.#ends.note(file, from === 0, now);
    // A file copied from elsewhere keeps the time at which it was written.
    if (now - file.lastChange < LONG_AGO) {
      this.#hasCome = true;
      this.#rate.add(file.count - from, now);
    }
    this.#waiting.add(file);
  }

  /** @param stream the cursor's stream; used if it is a train stream */
  stats(stream: string | null, now = Date.now()): RunStats {
    const key = `${stream} ${Math.floor(now / 1000)}`;
    // Cached per second: listeners run once a frame, and the first call would know only its own rows.
    if (this.#stats?.key !== key || this.#stats.stats.rollouts === 0)
      this.#stats = { key, stats: this.#sum(stream, now) };
    return this.#stats.stats;
  }

  #sum(stream: string | null, now: number): RunStats {
    const { files, isAway, hasEnded } = this.#dump;
    const own = this.#stream(stream);
    const newest = this.#newestOf(own, now);
    const complete = newest === null ? [] : this.#lastComplete(own, own.lastIndexOf(newest), now);
    const last = complete.slice(-LAST).map((file) => this.#sums.of(file));
    const interval = usualInterval(complete);
    let rollouts = 0;
    let newestByte: number | null = null;
    const counted = files.some((file) => !file.validation) ? files.filter((file) => !file.validation) : files;
    const steps = counted.filter((file) => file.stepOf(0) !== null).length;
    for (const file of files) {
      if (!file.isAway) rollouts += file.count;
      // A file without a time (from an archive, from a copy) is dated at the epoch.
      const isDated = file.lastChange > NO_TIME;
      if (file.count > 0 && isDated && file.lastChange > (newestByte ?? -1)) newestByte = file.lastChange;
    }
    const age = newestByte === null ? null : Math.max(0, now - newestByte);
    const looked = stepsSum(last, ({ looked }) => looked);
    const observed = stepsSum(last, ({ observed }) => observed);
    const share = (count: number): number | null => (looked === 0 ? null : count / looked);
    return {
      status: hasEnded
        ? 'ended'
        : isAway
          ? 'away'
          : age === null && rollouts > 0
            ? 'past'
            : this.#status(age, interval),
      age,
      validation: counted.some((file) => file.validation),
      steps,
      files: counted.length - steps,
      rollouts,
      last,
      notFinite: stepsSum(last, ({ notFinite }) => notFinite),
      unscored: stepsSum(last, ({ unscored }) => unscored),
      failed: this.#unmade.of(files).reduce((sum, { causes }) => sum + causes.length, 0),
      toolErrorRate: observed === 0 ? null : stepsSum(last, ({ toolErrors }) => toolErrors) / observed,
      truncationRate: share(stepsSum(last, ({ truncated }) => truncated)),
      perMinute: this.#rate?.perMinute(now, interval) ?? null,
    };
  }

  #status(age: number | null, interval: number | null): LiveStatus {
    if (age === null) return 'waiting';
    const isExpected = this.#hasCome || age < PAST;
    if (interval !== null && age > 3 * interval && isExpected) return 'quiet';
    return age <= Math.max(LIVELY, 3 * (interval ?? 0)) ? 'live' : 'past';
  }

  /** The train files of a stream that are here, in order: of the given one, else of the one with the newest step. */
  #stream(stream: string | null): DumpFile[] {
    const { files } = this.#dump;
    const named = files.filter((file) => file.stream === stream && !file.validation && !file.isAway);
    if (named.length > 0) return named;
    const newest = this.#dump.newest();
    return files.filter((file) => file.stream === newest?.stream && !file.isAway);
  }

  /** The complete step that was written last. */
  newest(stream: string | null, now = Date.now()): DumpFile | null {
    return this.#newestOf(this.#stream(stream), now);
  }

  /** At opening, the last one in order; later, whichever appeared or was rewritten, as a resumed run does. */
  #newestOf(files: readonly DumpFile[], now: number): DumpFile | null {
    const stream = files[0]?.stream;
    const began = this.#began.findLast((file) => file.stream === stream && this.#isComplete(file, now));
    return began ?? files.findLast((file) => this.#isComplete(file, now)) ?? null;
  }

  /** Steps that became complete since the last call and meet a condition. Each content of a step is judged once. */
  judge(now = Date.now()): Alarm[] {
    const alarms: Alarm[] = [];
    if (this.#conditions.length === 0) this.#waiting.clear();
    for (const file of this.#waiting) {
      const isOver = file.validation || file.state === 'gone' || !this.#dump.files.includes(file);
      const isJudged = this.#isJudged(file);
      if (!isOver && !isJudged && !(this.#isComplete(file, now) && this.#dump.isLooked(file))) continue;
      this.#waiting.delete(file);
      if (isOver || isJudged) continue;
      this.#markJudged(file);
      const stats = this.#sums.of(file);
      for (const condition of this.#conditions) {
        const reason = condition.judge(stats);
        const name = stats.step === null ? file.stem : `step ${stats.step}`;
        if (reason !== null)
          alarms.push({ file, stats, condition, text: `${name}: ${reason}${leftOutText(condition, stats)}` });
      }
    }
    return alarms;
  }

  #isComplete(file: DumpFile, now: number): boolean {
    return this.#ends.isComplete(file, this.#siblings(file), now);
  }

  /** The files of its stream, in order. */
  #siblings({ stream, validation }: DumpFile): readonly DumpFile[] {
    const { files } = this.#dump;
    if (this.#streams?.files !== files || this.#streams.count !== files.length) {
      const by = new Map<string, DumpFile[]>();
      for (const file of files) {
        const key = `${file.validation} ${file.stream}`;
        const known = by.get(key);
        if (known === undefined) by.set(key, [file]);
        else known.push(file);
      }
      this.#streams = { files, count: files.length, by };
    }
    return this.#streams.by.get(`${validation} ${stream}`) ?? [];
  }

  /** The complete steps up to one, limited to the number needed, in order. */
  #lastComplete(files: readonly DumpFile[], end: number, now: number): DumpFile[] {
    const complete: DumpFile[] = [];
    for (let i = end; i >= 0 && complete.length < INTERVAL_STEPS; i--)
      if (this.#isComplete(itemAt(files, i), now)) complete.push(itemAt(files, i));
    return complete.reverse();
  }

  #isJudged(file: DumpFile): boolean {
    const judged = this.#judged.get(file);
    return judged === undefined ? this.#signatures.get(file.path) === signature(file) : judged === file.generation;
  }

  #markJudged(file: DumpFile): void {
    this.#judged.set(file, file.generation);
    this.#signatures.set(file.path, signature(file));
  }
}

/** Says how many rollouts a mean leaves out, so that readers can judge it. */
function leftOutText({ text }: Condition, { rollouts, unscored, notFinite, looked, observed }: StepStats): string {
  const left: string[] = [];
  if (/\bscore\b/.test(text) && unscored + notFinite > 0) left.push(`${unscored + notFinite} without a score`);
  if (/\btool_error_rate\b/.test(text) && observed < looked) left.push(`${looked - observed} without a tool result`);
  return left.length === 0 ? '' : ` (of ${rollouts} left out: ${left.join(', ')})`;
}

/** A day after the epoch: an older time is not a real one. */
const NO_TIME = 86_400_000;

/** Changes if the path holds something else, as far as that shows without reading. */
const signature = (file: DumpFile): string =>
  `${file.count} ${file.bytes} ${file.score(0)} ${file.score(file.count - 1)}`;

const stepsSum = (steps: readonly StepStats[], of: (step: StepStats) => number): number =>
  steps.reduce((sum, step) => sum + of(step), 0);
