import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isInside } from './stranger-file.ts';

/** A run logs more failures than this only if something is very wrong; the first ones show what. */
const MOST_BYTES = 8 << 20;

interface Noted {
  key: string;
  causes: string[];
}

/** Rollouts that `rollout` failed to make, which therefore have no line. It logs them beside its dump. */
export class Unmade {
  readonly #noted = new Map<string, Noted>();

  /** @returns the causes, one per rollout, for each dump folder of the files that has some */
  of(files: readonly { path: string }[]): { folder: string; causes: readonly string[] }[] {
    const folders = [...new Set(files.map(({ path }) => dirname(path)))];
    return folders.flatMap((folder) => {
      const causes = this.#causesIn(folder);
      return causes.length === 0 ? [] : [{ folder, causes }];
    });
  }

  #causesIn(folder: string): readonly string[] {
    const path = join(folder, '.rollout-viewer/failures.jsonl');
    const found = statSync(path, { throwIfNoEntry: false });
    if (!found?.isFile() || found.size === 0 || !isInside(folder, path)) return [];
    const key = `${found.mtimeMs} ${found.size}`;
    const noted = this.#noted.get(path);
    if (noted?.key === key) return noted.causes;
    const causes = readHead(path, Math.min(found.size, MOST_BYTES)).split('\n').flatMap(causeOf);
    this.#noted.set(path, { key, causes });
    return causes;
  }
}

/** `2 rollouts failed and have no line (2 model_refused); rollout --resume makes them again` */
export function failedText(causes: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const cause of causes) counts.set(cause, (counts.get(cause) ?? 0) + 1);
  const list = [...counts].map(([cause, count]) => `${count} ${cause}`).join(', ');
  const have = causes.length === 1 ? 'rollout failed and has' : 'rollouts failed and have';
  return `${causes.length} ${have} no line (${list}); rollout --resume makes what failed again`;
}

function readHead(path: string, length: number): string {
  try {
    const file = openSync(path, 'r');
    try {
      const bytes = Buffer.alloc(length);
      return bytes.toString('utf8', 0, readSync(file, bytes));
    } finally {
      closeSync(file);
    }
  } catch {
    return '';
  }
}

/** A partial line is still being written. */
function causeOf(line: string): string[] {
  try {
    const { cause } = JSON.parse(line) as { cause?: unknown };
    return [typeof cause === 'string' && /^[a-z_]+$/.test(cause) ? cause : 'unknown'];
  } catch {
    return [];
  }
}
