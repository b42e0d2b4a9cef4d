import { type Lesson, lessonOf } from '../../../analysis/signal/lesson.ts';
import { auditSignal, type SignalAudit } from '../../../analysis/signal/signal-audit.ts';
import { inGroups, type SignalRow, signalRow } from '../../../analysis/signal/signal-row.ts';
import type { Dump } from '../../../core/dump/dump.ts';
import type { DumpFile } from '../../../core/dump/dump-file.ts';

/** The findings of a step, known once all its rows are read. */
interface TaughtStep {
  rows: SignalRow<number>[];
  /** Records excluded from every figure: not trained on, or unreadable. */
  leftOut: number;
  audit: SignalAudit;
  lesson: Lesson;
}

/** Keys are handled between two slices. */
const SLICE_MS = 8;

interface Look {
  version: string;
  done: number;
  total: number;
  leftOut: number;
  signal: TaughtStep | null;
}

/**
 * Reads the rollouts of a step of a file in slices, and computes the learning signal that the trainer had. The last one requested is
 * cached.
 */
export class StepSignals {
  readonly #dump: Dump;
  readonly #changed: () => void;
  #file: DumpFile | null = null;
  #step: number | null = null;
  #look: Look | null = null;

  constructor(dump: Dump, changed: () => void) {
    this.#dump = dump;
    this.#changed = changed;
  }

  /** Its progress; `signal` is null until everything is read. */
  of(file: DumpFile, step: number | null): Readonly<Look> {
    const known = this.#look;
    const isSame = this.#file === file && this.#step === step;
    if (known !== null && isSame && known.version === file.version) return known;
    this.#file = file;
    this.#step = step;
    const look: Look = { version: file.version, done: 0, total: file.count, leftOut: 0, signal: null };
    this.#look = look;
    setImmediate(() => void this.#read(file, look, []));
    return look;
  }

  async #read(file: DumpFile, look: Look, rows: SignalRow<number>[]): Promise<void> {
    if (this.#look !== look) return;
    const until = performance.now() + SLICE_MS;
    while (look.done < look.total && performance.now() < until) {
      const record = look.done++;
      // A file may hold several steps; a trainer judges one at a time.
      if (file.stepOf(record) !== this.#step) continue;
      const place = { file, record };
      const read = this.#dump.isLong(place)
        ? await this.#dump.readLong(place, () => this.#look === look)
        : file.read(record);
      if (read === null) return;
      const { rollout } = read;
      const row = rollout === null ? null : signalRow(rollout, record);
      if (row === null) look.leftOut++;
      else rows.push(row);
    }
    if (look.done < look.total) {
      setTimeout(() => void this.#read(file, look, rows), 1);
      return;
    }
    const settled = inGroups(rows);
    const audit = auditSignal(settled);
    look.signal = { rows: settled, leftOut: look.leftOut, audit, lesson: lessonOf(settled, audit.fit) };
    this.#changed();
  }
}
