import { createHash } from 'node:crypto';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { ensureFolder } from '../core/files/ensure-folder.ts';
import { putWrongTypesAside } from './aside.ts';
import type { SharedRedis } from './redis.ts';

/** Larger texts are not stored in the job itself. */
const INLINE = 64_000;
/** Larger ones go to Redis up to this size, beyond it to a folder shared by producers and workers. */
const IN_REDIS = 16 << 20;
const KEPT_SECONDS = 7 * 86_400;

/** A text, or the hash it is stored under. `own`: it belongs to one job, and is deleted with it. */
export const TextPlace = z.union([
  z.object({ text: z.string() }),
  z.object({ sha256: z.string().regex(/^[0-9a-f]{64}$/), own: z.string().max(1000).optional() }),
]);
export type TextPlace = z.infer<typeof TextPlace>;

/** Carries texts between producer and workers. */
export interface TextStore {
  /** @param inline the most bytes stored in the job itself */
  put(text: string, options?: { own?: string; inline?: number }): Promise<TextPlace>;
  /** Called when its job is done. */
  drop(place: TextPlace): Promise<void>;
  /** @throws Error naming the places that were searched */
  get(place: TextPlace): Promise<string>;
}

/** Texts of any size between producer and workers of a Redis. */
export class Texts implements TextStore {
  readonly #shared: SharedRedis;
  readonly #folder: string | undefined;
  /** Recently stored texts: the tools of all tasks are the same. */
  readonly #put = new Set<string>();
  #dropped: string[] = [];
  #dropping: Promise<void> | null = null;

  /** @param folder shared by producers and workers, for texts that are too large for Redis */
  constructor(shared: SharedRedis, folder?: string) {
    this.#shared = shared;
    this.#folder = folder;
  }

  async put(text: string, { own, inline = INLINE }: { own?: string; inline?: number } = {}): Promise<TextPlace> {
    const bytes = Buffer.from(text);
    if (bytes.length <= inline) return { text };
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    const place = own === undefined ? { sha256 } : { sha256, own };
    const name = textName(place);
    if (this.#put.has(name)) return place;
    const key = this.#key(name);
    if (bytes.length <= IN_REDIS) await this.#ask(key, () => this.#shared.redis.set(key, bytes, 'EX', KEPT_SECONDS));
    else if (this.#folder === undefined)
      throw new Error(
        `a text of ${bytes.length} bytes is larger than the ${IN_REDIS} that are put into Redis: give producer and workers --share DIR, a folder that all of them see`,
      );
    else {
      ensureFolder(this.#folder);
      const path = join(this.#folder, name);
      await writeFile(`${path}.${process.pid}`, bytes);
      await rename(`${path}.${process.pid}`, path);
    }
    if (own === undefined) this.#put.add(name);
    return place;
  }

  /** Texts that are dropped in one turn of the event loop go together: a message to Redis costs more than a text. */
  async drop(place: TextPlace): Promise<void> {
    if ('text' in place || place.own === undefined) return;
    this.#dropped.push(textName(place));
    this.#dropping ??= new Promise((resolve) => setImmediate(resolve)).then(() => this.#dropAll());
    await this.#dropping;
  }

  async #dropAll(): Promise<void> {
    this.#dropping = null;
    const names = this.#dropped.splice(0);
    const asked = this.#shared.redis.pipeline();
    for (const name of names) asked.del(this.#key(name));
    const answers = (await asked.exec()) ?? [];
    if (this.#folder === undefined) return;
    for (const [at, name] of names.entries())
      if (answers[at]?.[1] === 0) await rm(join(this.#folder, name), { force: true });
  }

  async get(place: TextPlace): Promise<string> {
    if ('text' in place) return place.text;
    const { sha256 } = place;
    const name = textName(place);
    const key = this.#key(name);
    const kept = await this.#ask(key, () => this.#shared.redis.getBuffer(key));
    const shared = this.#folder === undefined ? undefined : join(this.#folder, name);
    const bytes = kept ?? (shared === undefined ? null : await readFile(shared).catch(() => null));
    if (bytes === null) {
      const places = [
        `${this.#shared.name} (no longer than ${KEPT_SECONDS / 86_400} days)`,
        ...(shared ? [shared] : []),
      ];
      throw new Error(`a text is neither in ${places.join(' nor in ')}${shared ? '' : '; --share DIR names a folder'}`);
    }
    if (createHash('sha256').update(bytes).digest('hex') !== sha256)
      throw new Error(`${kept === null ? shared : key}: its content is not what its name says`);
    return bytes.toString('utf8');
  }

  #ask<T>(key: string, work: () => Promise<T>): Promise<T> {
    return this.#shared.refusals.ask(work, { mend: () => putWrongTypesAside(this.#shared, { [key]: 'string' }) });
  }

  #key = (name: string): string => `${this.#shared.prefix}:text:${name}`;
}

const textName = ({ sha256, own }: { sha256: string; own?: string | undefined }): string =>
  own === undefined ? sha256 : `${sha256}-${own.replaceAll(/[^\w-]/g, '_')}`;
