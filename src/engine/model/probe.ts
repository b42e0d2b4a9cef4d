import type { Generation } from './model.ts';

/** A server that says nothing for so long to one token asked for is taken as hung. */
export const PROBE_MS = 30_000;

/** The state of the server by a probe's one turn. */
export async function probed(turn: Promise<Generation>): Promise<string | null> {
  try {
    const { finishReason } = await turn;
    return finishReason === 'abort' ? 'the server aborts what it is asked' : null;
  } catch (error) {
    return (error as Error).message;
  }
}
