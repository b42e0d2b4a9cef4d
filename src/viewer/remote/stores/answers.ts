import { pause } from '../../../core/async/timeout.ts';
import { SourceError } from '../machine.ts';
import { dismiss, headerOf, type WebAnswer } from '../web-client.ts';

/** A store that is busy says so, and is asked again. */
const BUSY = new Set([429, 500, 502, 503, 504]);
const MOST_ATTEMPTS = 4;
const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 5000;
/** No page of a list, and no explanation, is this long. */
const MOST_TEXT = 32 << 20;

/** The answer of a store, asked again while it is busy or the connection is cut. */
export async function patientAnswer(ask: () => Promise<WebAnswer>, signal: AbortSignal): Promise<WebAnswer> {
  for (let attempt = 1; ; attempt++) {
    let wait = FIRST_PAUSE_MS * 2 ** (attempt - 1) * (0.5 + Math.random());
    try {
      const answer = await ask();
      if (!BUSY.has(answer.statusCode) || attempt === MOST_ATTEMPTS) return answer;
      dismiss(answer);
      wait = Math.max(wait, (Number(headerOf(answer, 'retry-after')) || 0) * 1000);
    } catch (error) {
      if (!(error instanceof SourceError) || !error.isLost || signal.aborted || attempt === MOST_ATTEMPTS) throw error;
    }
    await pause(Math.min(wait, LONGEST_PAUSE_MS), signal);
  }
}

/** How far this machine's clock is from that of the server, in minutes; NaN if it does not say. */
export const minutesAhead = (answer: WebAnswer): number =>
  Math.round((Date.now() - Date.parse(headerOf(answer, 'date') ?? '')) / 60_000);

/** A server refused because of the time. @param code what it called that */
export function clockProblem(minutes: number, code: string): SourceError {
  const off = Number.isNaN(minutes)
    ? 'off'
    : `${Math.abs(minutes)} minutes ${minutes < 0 ? 'behind' : 'ahead of'} the server's`;
  return new SourceError(`the clock of this machine is ${off} (${code}); set it`, false);
}

/** @throws SourceError if it is cut, or longer than any list */
export async function answerText(answer: WebAnswer): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of answer.body) {
      size += chunk.length;
      if (size > MOST_TEXT) throw new SourceError('the server does not end its answer', false);
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof SourceError) throw error;
    throw new SourceError(error instanceof Error ? error.message : String(error), true);
  } finally {
    dismiss(answer);
  }
  return Buffer.concat(chunks).toString();
}
