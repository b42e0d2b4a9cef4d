import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Long truth sets may lie beside the checkout, or where RV_SHARED says. Tests that need them are skipped without them. */
export const sharedData = join(process.env.RV_SHARED ?? join(root, '../shared'), 'data');

/** Recorded answers of other programs; RV_TRUTH names answers of the same kinds that were recorded later. */
export const truthData = process.env.RV_TRUTH ?? sharedData;

// biome-ignore lint/suspicious/noExplicitAny: recorded data, looked into freely.
export type Recorded = any;

/** The values of a file of JSON lines; none where there is no such file. A line that is cut off is passed over. */
export function recordedLines(path: string): Recorded[] {
  if (!existsSync(path)) return [];
  return readFileSync(path, 'utf8')
    .split('\n')
    .flatMap((line) => {
      try {
        return [JSON.parse(line)];
      } catch {
        return [];
      }
    });
}
