import type { DumpFile } from '../../../core/dump/dump-file.ts';
import { itemAt, numberInAt } from '../../../core/lists/at.ts';

/** The run of the first of so many rows is noted, as a power of two. */
const NOTED = 10;

/** Rows of one file with consecutive ids and ascending records. */
interface RowRun {
  file: DumpFile;
  /** The index of the file in the dump. */
  rank: number;
  /** Its rows are those from here up to the end. */
  id: number;
  end: number;
}

/** The files of rows, of which mostly many in sequence are of one file. */
export class RowRuns {
  readonly #runs: RowRun[] = [];
  readonly #ofFiles = new Map<DumpFile, RowRun[]>();
  /** The place of the run that has each 1,024th row. */
  readonly #noted: number[] = [];

  /** Adds rows of a file. @param goesOn their records come after that of the row before, if that is of the same file */
  add(file: DumpFile, id: number, rows: number, goesOn: boolean): void {
    const last = this.#runs.at(-1);
    if (goesOn && last?.file === file) last.end += rows;
    else {
      const others = this.of(file);
      const run = { file, rank: others[0]?.rank ?? 0, id, end: id + rows };
      this.#runs.push(run);
      if (others.length === 0) this.#ofFiles.set(file, [run]);
      else others.push(run);
    }
    while (this.#noted.length << NOTED < id + rows) this.#noted.push(this.#runs.length - 1);
  }

  /** Those of a file, in order of arrival. */
  of(file: DumpFile): RowRun[] {
    return this.#ofFiles.get(file) ?? [];
  }

  /** Nothing asks for the rows of a file any more. */
  forget(file: DumpFile): void {
    this.#ofFiles.delete(file);
  }

  at(id: number): RowRun {
    const note = id >> NOTED;
    let low = numberInAt(this.#noted, note);
    let high = this.#noted[note + 1] ?? this.#runs.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (itemAt(this.#runs, middle).end <= id) low = middle + 1;
      else high = middle;
    }
    return itemAt(this.#runs, low);
  }

  rank(files: readonly DumpFile[]): void {
    const ranks = new Map(files.map((file, rank) => [file, rank]));
    for (const run of this.#runs) run.rank = ranks.get(run.file) ?? files.length;
  }

  /** The rows between two ids, from and up to, in the order of the files. Those of a file are as they arrived. */
  inFileOrder(from: number, end: number): { first: number; stop: number }[] {
    const runs = this.#runs.filter((run) => run.end > from && run.id < end);
    runs.sort((a, b) => a.rank - b.rank || a.id - b.id);
    return runs.map((run) => ({ first: Math.max(run.id, from), stop: Math.min(run.end, end) }));
  }
}
