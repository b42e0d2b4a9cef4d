import { UsageError } from '../../core/dump/paths.ts';
import { remoteFolder } from '../../core/files/places.ts';
import { isFull } from '../../core/files/temporary.ts';
import { sanitise, sanitiseLine } from '../../core/text/sanitise.ts';
import { shownPath } from '../../core/text/shown-path.ts';
import { errorMessage } from '../../core/text/thrown.ts';
import { ByteLines } from './byte-lines.ts';
import { beginAnswer, endWork, eraseWork } from './work-line.ts';

/** Exit statuses that scripts rely on. */
export const DONE = 0;
export const ANSWER_IS_NO = 1;
export const USAGE = 2;

/** Messages are for people and go to stderr, one per line; data in them is sanitised. */
export function say(message: string): void {
  if (!isQuiet) tell(message);
}

let isQuiet = false;

/** From now on, prints only errors. */
export function beQuiet(): void {
  isQuiet = true;
  endWork();
}

function tell(message: string): void {
  eraseWork();
  process.stderr.write(`rollout-viewer: ${sanitiseLine(withShownPaths(message))}\n`);
}

/** A copy of another machine's file is named as the user named the file. */
function withShownPaths(message: string): string {
  const folder = `${remoteFolder()}/`;
  const [head = '', ...copies] = message.split(folder);
  return head + copies.map((copy) => shownPath(folder + copy)).join('');
}

/**
 * Writes to stdout and waits for a slow reader, so a long list takes no memory. A file or a pipe gets the text verbatim; a terminal gets no
 * control sequences.
 */
export const print = (text: string): Promise<void> | undefined =>
  printStyled(process.stdout.isTTY ? sanitise(text) : text);

/** Like `print`, for lines with our own colours whose data is already sanitised. */
export function printStyled(text: string | Uint8Array): Promise<void> | undefined {
  beginAnswer();
  if (process.stdout.write(text)) return undefined;
  return new Promise((resolve) => process.stdout.once('drain', () => resolve()));
}

/** Prints many lines at a time. */
export class LineWriter {
  readonly bytes = new ByteLines();

  /** @param line with its newline */
  add(line: string): Promise<void> | undefined {
    this.bytes.text(line);
    return this.ended();
  }

  /** A line is complete: all are written if there are enough. */
  ended(): Promise<void> | undefined {
    return this.bytes.isFull ? this.end() : undefined;
  }

  end(): Promise<void> | undefined {
    const bytes = this.bytes.take();
    if (bytes.length === 0) return undefined;
    return process.stdout.isTTY ? print(bytes.toString()) : printStyled(bytes);
  }
}

/** Colour is for terminals only, and not if NO_COLOR is set. */
export const hasColour = (): boolean =>
  process.stdout.isTTY === true && !process.env.NO_COLOR && process.env.TERM !== 'dumb';

/** A reader that closes early (`| head`) is not an error. */
export function endOnClosedPipe(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(process.exitCode ?? DONE);
    say(`the output cannot be written: ${error.message}`);
    process.exit(USAGE);
  });
}

/** Runs a command's body; a usage error becomes one clear message and exit status 2. */
export async function run(body: () => Promise<number>): Promise<void> {
  endOnClosedPipe();
  try {
    process.exitCode = await body();
  } catch (error) {
    if (isFull(error)) {
      tell(
        `no space left on the disk (${errorMessage(error)}); TMPDIR, XDG_STATE_HOME and --journal name other places`,
      );
      process.exitCode = USAGE;
      return;
    }
    if (!(error instanceof UsageError)) throw error;
    tell(error.message);
    for (const line of error.details) process.stderr.write(`  ${line}\n`);
    process.exitCode = USAGE;
  }
}
