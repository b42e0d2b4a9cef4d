/**
 * Asks for the background's colour. tmux and screen answer for themselves or drop the question, so it is not wrapped to
 * pass through them: the outer terminal's answer would reach tmux and not this program.
 */
const QUESTION = '\x1b]11;?\x1b\\';
/** ms after which an answer changes nothing: colours must not change under a reader. */
const ANSWER_MS = 200;

const ANSWER =
  /^\x1b\]11;rgba?:([\da-f]{1,4})\/([\da-f]{1,4})\/([\da-f]{1,4})(?:\/[\da-f]{1,4})?(?:\x07|\x1b\\|\x9c)$/i;

/** Whether the colour in a terminal's answer is light; null for anything else. */
export function isLightAnswer(report: string): boolean | null {
  const [, ...digits] = ANSWER.exec(report) ?? [];
  const [red, green, blue] = digits.map((hex) => Number.parseInt(hex, 16) / (16 ** hex.length - 1));
  if (red === undefined || green === undefined || blue === undefined) return null;
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.5;
}

/** One question to the terminal, and the answer that comes in time. */
export class BackgroundQuestion {
  readonly #write: (bytes: string) => void;
  readonly #limit: number;
  #askedAt: number | null = null;

  /** @param limit ms that the answer may take */
  constructor(write: (bytes: string) => void, limit = ANSWER_MS) {
    this.#write = write;
    this.#limit = limit;
  }

  ask(): void {
    this.#askedAt = performance.now();
    this.#write(QUESTION);
  }

  /** Whether the background is light; null if the report is late, unasked for or something else. */
  answer(report: string): boolean | null {
    const askedAt = this.#askedAt;
    this.#askedAt = null;
    return askedAt === null || performance.now() - askedAt > this.#limit ? null : isLightAnswer(report);
  }
}
