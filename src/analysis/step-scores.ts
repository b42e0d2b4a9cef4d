import type { DumpFile } from '../dump/dump-file.ts';

const known = new WeakMap<DumpFile, { count: number; mean: number | null }>();

/** The mean of the finite scores of a file; null where it has none yet. Kept until the file grows. */
export function meanScore(file: DumpFile): number | null {
  const kept = known.get(file);
  if (kept !== undefined && kept.count === file.count && file.state !== 'indexing') return kept.mean;
  let sum = 0;
  let count = 0;
  for (let record = 0; record < file.count; record++) {
    const score = file.score(record);
    if (typeof score !== 'number' || !Number.isFinite(score)) continue;
    sum += score;
    count++;
  }
  const mean = count === 0 ? null : sum / count;
  known.set(file, { count: file.count, mean });
  return mean;
}
