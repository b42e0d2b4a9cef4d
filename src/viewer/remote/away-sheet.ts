import { addNameless, openNameless } from '../../core/dump/nameless-file.ts';
import { type AwayLine, forgetOrigin, noteAway } from '../../core/dump/origins.ts';
import { pendingLine } from './copies.ts';

/** Placeholders of objects of which nothing is here, in one file without a name: to lay each of ten thousand would take seconds. */
export class AwaySheet {
  #fd: number | null = null;
  #bytes = 0;
  /** By the path that each stands for. */
  readonly #lines = new Map<string, AwayLine>();

  lineOf = (path: string): AwayLine | undefined => this.#lines.get(path);

  /** @param rows what each says, by the path in the cache; one that was there before is replaced */
  lay(rows: readonly { path: string; says: string }[]): void {
    if (rows.length === 0) return;
    this.#fd ??= openNameless();
    const lines = rows.map(({ says }) => Buffer.from(pendingLine(says)));
    addNameless(this.#fd, Buffer.concat(lines));
    for (const [at, { path }] of rows.entries()) {
      const length = lines[at]?.length ?? 0;
      const line = { path: `/dev/fd/${this.#fd}`, offset: this.#bytes, length: length - 1 };
      this.#bytes += length;
      this.#lines.set(path, line);
      noteAway(path, line);
    }
  }

  /** Drops the rows of objects that are gone. */
  keep(isThere: (path: string) => boolean): void {
    for (const path of this.#lines.keys()) {
      if (isThere(path)) continue;
      this.#lines.delete(path);
      forgetOrigin(path);
    }
  }
}
