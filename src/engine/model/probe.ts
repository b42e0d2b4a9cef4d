import { errorMessage } from '../../core/text/thrown.ts';
import type { Generation } from './model.ts';

/** A server that is silent for this long after a request for one token counts as hung. */
export const PROBE_MS = 30_000;

/** The state of the server, judged by a probe's single turn. */
export async function probed(turn: Promise<Generation>): Promise<string | null> {
  try {
    const { finishReason } = await turn;
    return finishReason === 'abort' ? 'the server aborts what it is asked' : null;
  } catch (error) {
    return errorMessage(error);
  }
}
