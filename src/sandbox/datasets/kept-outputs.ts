// A submission's output is kept until its last case has run. A hundred cases of 8 MB would crash
// the judging thread, and all sessions with it.
import type { CommandRunResult, RunCodeResponse } from '../protocol.ts';

/** Limits in characters: per submission, and in total. */
const A_SUBMISSION = 32 * 1024 * 1024;
const ALL = 256 * 1024 * 1024;
/** The output that is always shown for a case. */
const SHOWN = 10_000;

export class KeptOutputs {
  #all = 0;

  /** Holds the outputs of one submission until closed. */
  open(): { keep: (answer: RunCodeResponse) => RunCodeResponse; close: () => void } {
    let own = 0;
    const keep = (answer: RunCodeResponse): RunCodeResponse => {
      const size = outputSize(answer.compile_result) + outputSize(answer.run_result);
      if (own + size <= A_SUBMISSION && this.#all + size <= ALL) {
        own += size;
        this.#all += size;
        return answer;
      }
      return {
        ...answer,
        compile_result: shortenedRun(answer.compile_result),
        run_result: shortenedRun(answer.run_result),
      };
    };
    const close = () => {
      this.#all -= own;
      own = 0;
    };
    return { keep, close };
  }
}

const outputSize = (result: CommandRunResult | null): number =>
  (result?.stdout?.length ?? 0) + (result?.stderr?.length ?? 0);

const shortenedRun = (result: CommandRunResult | null): CommandRunResult | null =>
  result && { ...result, stdout: cutOutput(result.stdout), stderr: cutOutput(result.stderr) };

function cutOutput(text: string | null): string | null {
  if (text === null || text.length <= SHOWN) return text;
  // Copied through bytes: a slice would keep the whole text in memory.
  const shown = Buffer.from(text.slice(0, SHOWN), 'utf16le').toString('utf16le');
  return `${shown}\n[output cut: the first ${SHOWN} of ${text.length} characters are shown, because the outputs of all cases are too long]\n`;
}
