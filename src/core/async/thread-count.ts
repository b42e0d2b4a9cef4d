import { availableParallelism } from 'node:os';

let asked: number | null = null;

/** The user's limits for each kind of thread; null for as many as the machine has processors for. */
export function allowThreads(count: number | null): void {
  asked = count;
}

/**
 * Threads of one kind.
 * @param most where the user said nothing: each takes memory
 * @param spared processors that are left to others
 */
export const threadCount = (most: number, spared = 0): number =>
  asked ?? Math.max(1, Math.min(most, availableParallelism() - spared));
