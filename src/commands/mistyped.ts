import { existsSync } from 'node:fs';

/** Typing errors up to which one word is taken for another. */
const NEAR = 2;

/**
 * A first path that is no path may be a command with a slip of the finger. @returns what to tell, null where it can only be a path
 */
export function mistyped(path: string | undefined, commands: readonly string[]): string | null {
  if (path === undefined || !/^[a-z][a-z-]*$/i.test(path) || existsSync(path)) return null;
  const near = commands
    .map((name) => ({ name, slips: distance(path.toLowerCase(), name) }))
    .filter(({ slips, name }) => slips <= Math.min(NEAR, name.length - 2))
    .sort((a, b) => a.slips - b.slips)[0];
  const hint =
    near === undefined
      ? `commands: ${commands.join(', ')}; --help says more`
      : `did you mean \`rollout-viewer ${near.name}\`?`;
  return `${path}: no such file or directory, and no such command; ${hint}`;
}

/** Letters that were left out, put in, changed or swapped with their neighbour. */
export function distance(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, j) => j)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const changed = rows[i - 1]![j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swapped = isSwap ? rows[i - 2]![j - 2]! + 1 : Number.POSITIVE_INFINITY;
      row.push(Math.min(rows[i - 1]![j]! + 1, row[j - 1]! + 1, changed, swapped));
    }
    rows.push(row);
  }
  return rows[a.length]![b.length]!;
}
