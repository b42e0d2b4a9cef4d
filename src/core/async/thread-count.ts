import { availableParallelism } from 'node:os';

let asked: number | null = null;
let roomFor = Number.POSITIVE_INFINITY;

/**
 * The user's limits for each kind of thread.
 * @param count null for as many as the machine has processors for
 * @param most that memory leaves room for, whatever was asked
 */
export function allowThreads(count: number | null, most = Number.POSITIVE_INFINITY): void {
  asked = count;
  roomFor = most;
}

/**
 * Threads of one kind.
 * @param most where the user said nothing: each takes memory
 * @param spared processors that are left to others
 */
export const threadCount = (most: number, spared = 0): number =>
  Math.min(roomFor, asked ?? Math.max(1, Math.min(most, availableParallelism() - spared)));
