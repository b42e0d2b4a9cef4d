import { type FileHandle, open, readdir, rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pause } from '../../core/async/timeout.ts';
import { ensureFolder } from '../../core/files/ensure-folder.ts';
import { packLine, toolsFile, toolsHash } from '../../core/formats/engine-line.ts';
import { printJson } from '../../core/json/print.ts';
import type { JsonObject } from '../../core/json/value.ts';
import { thrownError } from '../../core/text/thrown.ts';
import { type PictureFile, withoutPictures, writePictures } from './pictures.ts';
import { type OpenOptions, RunState } from './run-state.ts';

interface StepFile {
  name: string;
  handle: FileHandle;
  size: number;
  /** Lines of this run. */
  lines: number;
}

interface ToolsFile {
  hash: string;
  text: string;
  isKept: boolean;
}

interface WaitingLine {
  step: number;
  task: string;
  rollout: number;
  line: string;
  pictures: ReadonlyMap<string, PictureFile>;
  tools: ToolsFile | null;
  resolve: () => void;
  reject: (error: Error) => void;
}

/** Milliseconds to collect lines before writing: one write costs as much as many lines. */
const TOGETHER_MS = 10;

/** Appends rollouts to `OUT/{step}.jsonl`, each as one whole line in a single write, so a reader can follow. */
export class DumpWriter {
  readonly out: string;
  readonly state: RunState;
  readonly #files = new Map<number, Promise<StepFile>>();
  /** Tool schemas, the same few for all rollouts, by their text. */
  readonly #tools = new Map<string, ToolsFile>();
  /** Lines are written in order, so lines and their notes differ by at most one write. */
  #waiting: WaitingLine[] = [];
  #writing: Promise<void> | null = null;

  private constructor(out: string, state: RunState) {
    this.out = out;
    this.state = state;
  }

  /** @throws Error when the directory holds a dump and `resume` is not set, or another process is writing to it. */
  static async open(out: string, options: OpenOptions): Promise<DumpWriter> {
    ensureFolder(out);
    const names = (await readdir(out)).filter((name) => name.endsWith('.jsonl')).sort();
    const state = await RunState.open(
      out,
      names.map((name) => join(out, name)),
      options,
    );
    return new DumpWriter(out, state);
  }

  append(record: JsonObject, { step, task, rollout }: { step: number; task: string; rollout: number }): Promise<void> {
    const pictures = new Map<string, PictureFile>();
    const { messages = [], tool_calls = [], tools = [] } = record;
    const shown = { messages: withoutPictures(messages, pictures), tool_calls: withoutPictures(tool_calls, pictures) };
    const own = packLine(pictures.size === 0 ? record : { ...record, ...shown });
    const schemas = Array.isArray(tools) && tools.length > 0 ? this.#toolsFile(printJson(tools)) : null;
    if (schemas !== null) own.tools = schemas.hash;
    const line = `${printJson(own)}\n`;
    return new Promise((resolve, reject) => {
      this.#waiting.push({ step, task, rollout, line, pictures, tools: schemas, resolve, reject });
      this.#writing ??= this.#writeAll();
    });
  }

  /** Lines that arrive while the disk is busy, or close together, are written together. */
  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      await pause(TOGETHER_MS);
      const step = this.#waiting[0]?.step ?? 0;
      const other = this.#waiting.findIndex((line) => line.step !== step);
      const lines = this.#waiting.splice(0, other === -1 ? this.#waiting.length : other);
      try {
        await this.#write(step, lines);
        for (const { resolve } of lines) resolve();
      } catch (error) {
        for (const { reject } of lines) reject(thrownError(error));
      }
    }
    this.#writing = null;
  }

  async #write(step: number, lines: readonly WaitingLine[]): Promise<void> {
    for (const { pictures, tools } of lines) {
      if (pictures.size > 0) await writePictures(this.out, pictures.values());
      if (tools !== null) await this.#keepTools(tools);
    }
    const file = await this.#file(step);
    if (await isGone(this.out, file)) throw Object.assign(new Error(`${file.name} is gone`), { code: 'ESTALE' });
    await file.handle.appendFile(lines.map(({ line }) => line).join(''));
    const notes = lines.map(({ task, rollout, line }) => {
      file.size += Buffer.byteLength(line);
      return { task, rollout, file: file.name, end: file.size };
    });
    file.lines += lines.length;
    this.state.note(...notes);
  }

  /** How many lines of this run were in files since deleted or replaced. */
  async lostLines(): Promise<number> {
    let lost = 0;
    for (const opened of this.#files.values()) {
      const file = await opened;
      if (await isGone(this.out, file)) lost += file.lines;
    }
    return lost;
  }

  #toolsFile(text: string): ToolsFile {
    let file = this.#tools.get(text);
    if (file === undefined) {
      file = { text, hash: toolsHash(text), isKept: false };
      this.#tools.set(text, file);
    }
    return file;
  }

  async #keepTools(file: ToolsFile): Promise<void> {
    if (file.isKept) return;
    const path = join(this.out, toolsFile(file.hash));
    await writeFile(`${path}.new`, `${file.text}\n`);
    await rename(`${path}.new`, path);
    file.isKept = true;
  }

  async close(): Promise<void> {
    await this.#writing;
    for (const opened of this.#files.values()) {
      const { handle } = await opened;
      await handle.sync();
      await handle.close();
    }
    await this.state.close();
  }

  #file(step: number): Promise<StepFile> {
    let file = this.#files.get(step);
    if (!file) {
      file = this.#open(`${step}.jsonl`);
      this.#files.set(step, file);
    }
    return file;
  }

  async #open(name: string): Promise<StepFile> {
    const handle = await open(join(this.out, name), 'a');
    return { name, handle, size: (await handle.stat()).size, lines: 0 };
  }
}

/** Whether the open file is no longer the one at its path: lines written to it would be lost. */
async function isGone(out: string, { name, handle }: StepFile): Promise<boolean> {
  const [own, there] = await Promise.all([handle.stat(), stat(join(out, name)).catch(() => null)]);
  return there === null || there.ino !== own.ino;
}
