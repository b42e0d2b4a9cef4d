import { createHash } from 'node:crypto';

/** A balanced export holds equally many rows of each class of these. */
export const BALANCES = ['task', 'length', 'difficulty'] as const;
export type Balance = (typeof BALANCES)[number];

/** Classes of length, and of difficulty unless --buckets says otherwise. */
export const DEFAULT_BUCKETS = 4;

/** A row before the classes are known. */
export interface BalanceRow {
  locator: string;
  task: string | null;
  chars: number;
  /** All scores of its prompt. */
  scores: readonly number[];
}

/** The bucket of a prompt, from 0, the easiest, by the share of positive scores; null without scores. */
export function bucketOf(scores: readonly number[], buckets: number): number | null {
  if (scores.length === 0) return null;
  const failed = scores.filter((score) => !(score > 0)).length;
  return Math.min(buckets - 1, Math.floor((failed * buckets) / scores.length));
}

/**
 * The locators of as many rows of each class as the smallest class has. Which ones is drawn by a hash of locator and
 * seed, so that the same rows are chosen again.
 */
export function balancedRows(
  rows: readonly BalanceRow[],
  by: Balance,
  { buckets, seed }: { buckets: number; seed: string },
): Set<string> {
  const classOf = classes(rows, by, buckets);
  const parts = new Map<string | number | null, string[]>();
  for (const row of rows) {
    const part = parts.get(classOf(row));
    if (part === undefined) parts.set(classOf(row), [row.locator]);
    else part.push(row.locator);
  }
  const least = Math.min(...[...parts.values()].map(({ length }) => length));
  const draw = (locator: string): string => createHash('sha256').update(`${seed}\n${locator}`).digest('hex');
  const chosen = new Set<string>();
  for (const part of parts.values()) {
    const drawn = part.map((locator) => ({ locator, place: draw(locator) }));
    drawn.sort((a, b) => (a.place < b.place ? -1 : 1));
    for (const { locator } of drawn.slice(0, least)) chosen.add(locator);
  }
  return chosen;
}

function classes(rows: readonly BalanceRow[], by: Balance, buckets: number) {
  if (by === 'task') return ({ task }: BalanceRow) => task;
  if (by === 'difficulty') return ({ scores }: BalanceRow) => bucketOf(scores, buckets);
  const sorted = rows.map(({ chars }) => chars).sort((a, b) => a - b);
  const borders = Array.from(
    { length: buckets - 1 },
    (_, at) => sorted[Math.floor(((at + 1) * rows.length) / buckets)] ?? 0,
  );
  return ({ chars }: BalanceRow) => borders.filter((border) => chars >= border).length;
}
