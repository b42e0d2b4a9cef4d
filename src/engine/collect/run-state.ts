import { type FileHandle, open, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { ensureFolder } from '../../core/files/ensure-folder.ts';
import { parseJson } from '../../core/json/parse.ts';
import { printJson } from '../../core/json/print.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json/value.ts';
import { fingerprintDifferences, type RunFingerprint } from '../common/fingerprint.ts';
import { takeLock } from './lock.ts';
import { isOwnLine } from './record.ts';

/** The folder of the collector's notes, inside the dump; readers skip dot directories. */
export const STATE_DIRECTORY = '.rollout-viewer';

/** One finished rollout, noted after its line: `end` is the offset after the line's newline in `file`. */
interface Note {
  task: string;
  rollout: number;
  file: string;
  end: number;
}

/** The same prompt may be sampled again at a later step. */
const stateId = (task: string, rollout: number, step: string): string => `${step}/${task}_${rollout}`;

const stepOf = (file: string): string => basename(file, '.jsonl');

/** Milliseconds to collect notes before writing. */
const NOTES_MS = 100;

export interface OpenOptions {
  /** Resumes with the existing rollouts. */
  resume: boolean;
  /** Resumes even if they were made with other settings. */
  mix?: boolean;
  /** The first and the last step that will be written. */
  steps?: readonly [number, number];
  /** The settings of the rollouts. */
  fingerprint?: RunFingerprint;
}

/**
 * Which rollouts of a dump are done. The dump itself is authoritative: a line counts once it is whole. The notes only save rereading it,
 * and may lag behind by what a killed run had no time to note.
 */
export class RunState {
  readonly #dir: string;
  readonly #lockPath: string;
  readonly #done = new Set<string>();
  #notes!: FileHandle;
  /** Notes not yet written: several are written together. */
  #unwritten: Note[] = [];
  #timer: NodeJS.Timeout | undefined;
  /** Whether all writes so far succeeded. */
  #written = Promise.resolve(true);
  #failures!: FileHandle;

  private constructor(out: string) {
    this.#dir = join(out, STATE_DIRECTORY);
    this.#lockPath = join(this.#dir, 'lock');
  }

  /**
   * Takes the directory for this process. With `resume` the notes are read and corrected from the dump files; without it the directory must
   * hold no rollouts of the steps. @throws Error saying what to do.
   */
  static async open(out: string, dumpFiles: readonly string[], options: OpenOptions): Promise<RunState> {
    const { resume, steps, fingerprint } = options;
    const isAsked = (path: string) => !steps || isBetween(Number(stepOf(path)), steps);
    const held = dumpFiles.find(isAsked);
    if (!resume && held !== undefined) {
      throw new Error(`${out} already holds ${basename(held)}: --resume continues it, another --out starts over`);
    }
    const state = new RunState(out);
    // The asynchronous version retries forever on Node 20 under a path that takes no directories (/proc).
    ensureFolder(state.#dir);
    await takeLock(state.#lockPath);
    try {
      if (fingerprint) await state.#compare(fingerprint, { ...options, isGoneOnWith: dumpFiles.length > 0 });
      const notesPath = join(state.#dir, 'done.jsonl');
      const notes = await readNotes(notesPath);
      // Rewritten whole from the dump's content, which drops a killed run's torn note.
      state.#notes = await open(notesPath, 'w');
      state.#failures = await open(join(state.#dir, 'failures.jsonl'), 'w');
      for (const path of dumpFiles) await state.#recover(path, notes);
    } catch (error) {
      await state.close();
      throw error;
    }
    return state;
  }

  get doneCount(): number {
    return this.#done.size;
  }

  isDone(task: string, rollout: number, step: number): boolean {
    return this.#done.has(stateId(task, rollout, String(step)));
  }

  /** A dump of rollouts with different settings is not a sample of one policy. */
  async #compare(now: RunFingerprint, { mix, isGoneOnWith }: OpenOptions & { isGoneOnWith: boolean }): Promise<void> {
    const path = join(this.#dir, 'run.json');
    const before = isGoneOnWith ? readObject(await readFile(path, 'utf8').catch(() => '')) : null;
    const differences = before === null ? [] : fingerprintDifferences(now, before);
    if (differences.length > 0 && !mix)
      throw new Error(
        `the rollouts that are there were made with other settings (${differences.join('; ')}): --mix adds to them all the same, another --out keeps them apart`,
      );
    await writeFile(
      path,
      `${JSON.stringify(now, (_, value: unknown) => (typeof value === 'bigint' ? Number(value) : value))}\n`,
    );
  }

  note(...notes: readonly Note[]): void {
    for (const { task, rollout, file } of notes) this.#done.add(stateId(task, rollout, stepOf(file)));
    this.#unwritten.push(...notes);
    this.#timer ??= setTimeout(() => void this.#writeNotes(), NOTES_MS);
  }

  /** The dump can be read without them, and a gap in them would hide lines: after a failed write no more are written. */
  async #writeNotes(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const text = this.#unwritten.map((note) => `${JSON.stringify(note)}\n`).join('');
    this.#unwritten = [];
    const append = async (isWhole: boolean): Promise<boolean> => {
      if (isWhole && text !== '') await this.#notes.appendFile(text);
      return isWhole;
    };
    this.#written = this.#written.then(append).catch(() => false);
    await this.#written;
  }

  /** A rollout without a line in the dump; `--resume` retries it. */
  async noteFailure(failure: JsonObject): Promise<void> {
    await this.#failures.appendFile(`${printJson(failure)}\n`);
  }

  async close(): Promise<void> {
    await this.#writeNotes();
    await this.#notes?.close();
    await this.#failures?.close();
    await rm(this.#lockPath, { force: true });
  }

  /** Keeps the notes that a file confirms, reads the lines beyond them, and truncates a half-written line of a killed run. */
  async #recover(path: string, notes: readonly Note[]): Promise<void> {
    const file = basename(path);
    const { size } = await stat(path);
    const own = notes.filter((note) => note.file === file);
    const noted = own.reduce((end, note) => Math.max(end, note.end), 0);
    // A file shorter than its notes was changed by someone else: reread all of it.
    const known = noted <= size ? own : [];
    this.note(...known);
    const from = known.length > 0 ? noted : 0;
    if (size > from) await this.#scan(path, file, from, size);
  }

  async #scan(path: string, file: string, from: number, size: number): Promise<void> {
    const handle = await open(path, 'r');
    let whole = from;
    try {
      let rest: Buffer = Buffer.alloc(0);
      const chunks: AsyncIterable<Buffer> = handle.createReadStream({
        start: from,
        end: size - 1,
        autoClose: false,
        highWaterMark: 1 << 20,
      });
      for await (const chunk of chunks) {
        rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
        let start = 0;
        for (let end = rest.indexOf(10); end !== -1; end = rest.indexOf(10, start)) {
          whole += end + 1 - start;
          this.#take(rest.toString('utf8', start, end), file, whole);
          start = end + 1;
        }
        rest = rest.subarray(start);
      }
    } finally {
      await handle.close();
    }
    if (whole < size) await truncate(path, whole);
  }

  #take(line: string, file: string, end: number): void {
    let record: JsonValue;
    try {
      record = parseJson(line);
    } catch {
      return;
    }
    if (!isOwnLine(record) || typeof record.uid !== 'string') return;
    const [, task, rollout] = /^(.*)_(\d+)_\d+$/s.exec(record.uid) ?? [];
    if (task !== undefined) this.note({ task, rollout: Number(rollout), file, end });
  }
}

const isBetween = (step: number, [first, last]: readonly [number, number]): boolean => step >= first && step <= last;

function readObject(text: string): JsonObject | null {
  try {
    const value = parseJson(text);
    return isJsonObject(value) ? value : null;
  } catch {
    return null;
  }
}

async function readNotes(path: string): Promise<Note[]> {
  const text = await readFile(path, 'utf8').catch(() => '');
  return text.split('\n').flatMap((line): Note[] => {
    try {
      const note = JSON.parse(line) as Partial<Note>;
      const { task, rollout, file, end } = note;
      return typeof task === 'string' &&
        typeof rollout === 'number' &&
        typeof file === 'string' &&
        typeof end === 'number'
        ? [{ task, rollout, file, end }]
        : [];
    } catch {
      return [];
    }
  });
}
