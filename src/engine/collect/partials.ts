import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { parseJson } from '../../core/json/parse.ts';
import { printJson } from '../../core/json/print.ts';
import type { PartialRollout } from '../request/records.ts';

interface PartialEntry {
  task: string;
  rollout: number;
  step: number;
  partial: PartialRollout;
}

const Line = z.object({
  task: z.string(),
  rollout: z.number(),
  step: z.number(),
  partial: z.looseObject({ request_id: z.string(), messages: z.array(z.unknown()), transcript: z.looseObject({}) }),
});

/** The rollouts that a deadline left unfinished, in `partial.jsonl` beside the dump's notes. */
export class Partials {
  readonly #path: string;
  readonly #kept = new Map<string, PartialEntry>();

  private constructor(path: string) {
    this.#path = path;
  }

  static async open(directory: string): Promise<Partials> {
    const partials = new Partials(join(directory, 'partial.jsonl'));
    const text = await readFile(partials.#path, 'utf8').catch(() => '');
    for (const line of text.split('\n')) {
      if (line === '') continue;
      const kept = readLine(line);
      if (kept) partials.#kept.set(partialKey(kept.task, kept.rollout, kept.step), kept);
    }
    return partials;
  }

  get count(): number {
    return this.#kept.size;
  }

  /** Takes the saved part that a rollout resumes from; it is no longer kept. */
  take(task: string, rollout: number, step: number): PartialRollout | undefined {
    return this.#kept.get(partialKey(task, rollout, step))?.partial;
  }

  keep(task: string, rollout: number, step: number, partial: PartialRollout): void {
    this.#kept.set(partialKey(task, rollout, step), { task, rollout, step, partial });
  }

  drop(task: string, rollout: number, step: number): void {
    this.#kept.delete(partialKey(task, rollout, step));
  }

  /** Rewritten whole, so a killed run loses no more than the rollouts it had started. */
  async save(): Promise<void> {
    if (this.#kept.size === 0) return rm(this.#path, { force: true });
    const lines = [...this.#kept.values()].map((kept) => `${printJson(kept)}\n`);
    await writeFile(`${this.#path}.new`, lines.join(''));
    await rename(`${this.#path}.new`, this.#path);
  }
}

const partialKey = (task: string, rollout: number, step: number): string => `${step}/${task}_${rollout}`;

/** An unreadable line costs only the saved part of its rollout. */
function readLine(text: string): PartialEntry | null {
  try {
    const read = Line.safeParse(parseJson(text));
    return read.success ? (read.data as unknown as PartialEntry) : null;
  } catch {
    return null;
  }
}
