import { mkdirSync } from 'node:fs';
import { type FileHandle, open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { printJson } from '../../json/print.ts';
import type { JsonObject } from '../../json/value.ts';
import { type PictureFile, withoutPictures, writePictures } from './pictures.ts';
import { type OpenOptions, RunState } from './run-state.ts';

interface StepFile {
  name: string;
  handle: FileHandle;
  size: number;
}

/** Appends rollouts to `OUT/{step}.jsonl`, each as one whole line handed to the system at once, so that a reader may follow. */
export class DumpWriter {
  readonly out: string;
  readonly state: RunState;
  readonly #files = new Map<number, Promise<StepFile>>();
  /** Lines go out one behind the other, so that a line and its note are never apart by more than themselves. */
  #last: Promise<unknown> = Promise.resolve();

  private constructor(out: string, state: RunState) {
    this.out = out;
    this.state = state;
  }

  /** @throws Error when the directory holds a dump and `resume` is not set, or another process writes in it. */
  static async open(out: string, options: OpenOptions): Promise<DumpWriter> {
    mkdirSync(out, { recursive: true });
    const names = (await readdir(out)).filter((name) => name.endsWith('.jsonl')).sort();
    const state = await RunState.open(
      out,
      names.map((name) => join(out, name)),
      options,
    );
    return new DumpWriter(out, state);
  }

  append(record: JsonObject, at: { step: number; task: string; rollout: number }): Promise<void> {
    const pictures = new Map<string, PictureFile>();
    const { messages = [], tool_calls = [] } = record;
    const own = {
      ...record,
      messages: withoutPictures(messages, pictures),
      tool_calls: withoutPictures(tool_calls, pictures),
    };
    const line = `${printJson(own)}\n`;
    const written = this.#last.then(async () => {
      if (pictures.size > 0) await writePictures(this.out, pictures.values());
      const file = await this.#file(at.step);
      const bytes = Buffer.from(line);
      await file.handle.appendFile(bytes);
      file.size += bytes.length;
      await this.state.note({ task: at.task, rollout: at.rollout, file: file.name, end: file.size });
    });
    this.#last = written.catch(() => {});
    return written;
  }

  async close(): Promise<void> {
    await this.#last;
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
    return { name, handle, size: (await handle.stat()).size };
  }
}
