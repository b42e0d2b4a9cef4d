import { type Lesson, lessonOf } from '../../analysis/signal/lesson.ts';
import { auditSignal, type SignalAudit } from '../../analysis/signal/signal-audit.ts';
import { type SignalRow, settleGroups, signalRow } from '../../analysis/signal/signal-row.ts';
import type { DumpFile } from '../../dump/dump-file.ts';

/** What can be told of a step once all its rows are read. */
interface TaughtStep {
  rows: SignalRow<number>[];
  audit: SignalAudit;
  lesson: Lesson;
}

/** A key is answered between two slices. */
const SLICE_MS = 8;

interface Look {
  version: string;
  done: number;
  total: number;
  signal: TaughtStep | null;
}

/** Reads all rollouts of a file in slices, and says what the trainer could see of them. The last file that was asked for is kept. */
export class StepSignals {
  readonly #changed: () => void;
  #file: DumpFile | null = null;
  #look: Look | null = null;

  constructor(changed: () => void) {
    this.#changed = changed;
  }

  /** How far it is; `signal` is null until all is read. */
  of(file: DumpFile): Readonly<Look> {
    const known = this.#look;
    if (known !== null && this.#file === file && known.version === file.version) return known;
    this.#file = file;
    const look: Look = { version: file.version, done: 0, total: file.count, signal: null };
    this.#look = look;
    setImmediate(() => this.#read(file, look, []));
    return look;
  }

  #read(file: DumpFile, look: Look, rows: SignalRow<number>[]): void {
    if (this.#look !== look) return;
    const until = performance.now() + SLICE_MS;
    while (look.done < look.total && performance.now() < until) {
      const { rollout } = file.read(look.done);
      const row = rollout === null ? null : signalRow(rollout, look.done);
      if (row !== null) rows.push(row);
      look.done++;
    }
    if (look.done < look.total) {
      setTimeout(() => this.#read(file, look, rows), 1);
      return;
    }
    const settled = settleGroups(rows);
    const audit = auditSignal(settled);
    look.signal = { rows: settled, audit, lesson: lessonOf(settled, audit.fit) };
    this.#changed();
  }
}
