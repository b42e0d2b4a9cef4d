import { writeSync } from 'node:fs';
import { errorCode } from '../../../core/text/thrown.ts';
import { MOUSE_OFF, MOUSE_ON } from './mouse.ts';

/** Alternate screen, no autowrap (a line that a terminal draws too wide must not push the rest down), no cursor, bracketed paste. */
const ENTER = '\x1b[?1049h\x1b[?7l\x1b[?25l\x1b[?2004h';
/** Undoes everything that ENTER or a mode of the program may have set; harmless if it is not set. */
const LEAVE = `\x1b[0m\x1b[?2026l${MOUSE_OFF}\x1b[?2004l\x1b[?25h\x1b[?7h\x1b[?1049l`;

const SIGNALS = { SIGHUP: 1, SIGINT: 2, SIGQUIT: 3, SIGTERM: 15 } as const;

/** Synchronous, whatever the state of the stream: an exit path must not wait for the event loop. */
function writeNow(fd: number, text: string): void {
  for (let bytes = Buffer.from(text), tries = 0; bytes.length > 0 && tries < 100; tries++) {
    try {
      bytes = bytes.subarray(writeSync(fd, bytes));
    } catch (error) {
      // Retry a terminal that takes nothing now (EAGAIN); one that is gone (EIO) cannot be restored.
      if (errorCode(error) !== 'EAGAIN') return;
    }
  }
}

const ignore = (): void => {};

export interface Hooks {
  /** The program has the terminal: raw mode and painting may begin. */
  entered(): void;
  /** The terminal is about to be handed back. */
  leaving(): void;
  /** Resolves once the terminal has taken all that was painted before. */
  settled(): Promise<void>;
}

/**
 * Takes over the terminal and restores it on every exit path: quit, crash, signals, suspension. `entered` and `leaving` are called around
 * each stay, so that raw mode is switched with it.
 */
export class Terminal {
  readonly #fd: number;
  readonly #hooks: Hooks;
  #inside = false;
  #hasMouse = false;

  constructor(fd: number, hooks: Hooks) {
    this.#fd = fd;
    this.#hooks = hooks;
  }

  start(): void {
    process.on('exit', this.#leave);
    process.on('uncaughtException', this.#crash);
    process.on('unhandledRejection', this.#crash);
    for (const signal of Object.keys(SIGNALS)) process.on(signal, this.#die);
    process.on('SIGTSTP', this.suspend);
    process.on('SIGCONT', this.#enter);
    this.#enter();
  }

  /** Hands the terminal back for good. */
  stop(): void {
    this.#leave();
    process.off('exit', this.#leave);
    process.off('uncaughtException', this.#crash);
    process.off('unhandledRejection', this.#crash);
    for (const signal of Object.keys(SIGNALS)) process.off(signal, this.#die);
    process.off('SIGTSTP', this.suspend);
    process.off('SIGCONT', this.#enter);
  }

  /** Requests clicks and the wheel, which the terminal then withholds from its own selection. Restored after every stay outside. */
  setMouse(on: boolean): void {
    this.#hasMouse = on;
    if (this.#inside) writeNow(this.#fd, on ? MOUSE_ON : MOUSE_OFF);
  }

  /** ^Z: stops the whole process group, as if the terminal had sent it; `fg` continues here. */
  readonly suspend = (): void => {
    this.#leave();
    process.off('SIGTSTP', this.suspend);
    process.kill(0, 'SIGTSTP');
    // Reached after SIGCONT, or at once if nothing could continue us and the kernel ignored the stop.
    setTimeout(() => {
      process.on('SIGTSTP', this.suspend);
      this.#enter();
    }, 0);
  };

  /** Gives the terminal to another program (an editor) while `use` runs. */
  handOver<T>(use: () => T): T {
    this.#leave();
    // ^C now belongs to the other program, and reaches the whole group; signals from that time arrive once the event loop turns.
    process.off('SIGINT', this.#die);
    process.on('SIGINT', ignore);
    try {
      return use();
    } finally {
      const restore = (): void => {
        process.off('SIGINT', ignore);
        if (this.#inside) process.on('SIGINT', this.#die);
      };
      // Signals are read between timers and immediates: if something blocked for longer than the timer, that has not happened yet.
      setTimeout(() => setImmediate(() => setImmediate(restore)), 50);
      this.#enter();
    }
  }

  /** Like `handOver`, for a part of this program that reads lines itself while the event loop turns. */
  async lend(use: () => Promise<void>): Promise<void> {
    // A frame on its way would land on the other screen.
    if (this.#inside) {
      this.#hooks.leaving();
      await this.#hooks.settled();
    }
    this.#leave();
    process.off('SIGTSTP', this.suspend).off('SIGCONT', this.#enter);
    process.off('SIGINT', this.#die).on('SIGINT', ignore);
    try {
      await use();
    } finally {
      process.off('SIGINT', ignore).on('SIGINT', this.#die);
      process.on('SIGTSTP', this.suspend).on('SIGCONT', this.#enter);
      this.#enter();
    }
  }

  readonly #enter = (): void => {
    if (this.#inside) return;
    this.#inside = true;
    writeNow(this.#fd, this.#hasMouse ? ENTER + MOUSE_ON : ENTER);
    this.#hooks.entered();
  };

  readonly #leave = (): void => {
    if (!this.#inside) return;
    this.#inside = false;
    try {
      this.#hooks.leaving();
    } finally {
      writeNow(this.#fd, LEAVE);
    }
  };

  readonly #die = (signal: NodeJS.Signals): void => {
    this.#leave();
    process.exit(128 + SIGNALS[signal as keyof typeof SIGNALS]);
  };

  readonly #crash = (error: unknown): void => {
    this.#leave();
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    writeNow(2, `rollout-viewer stopped because of a bug in it; your files were only read.\n${text}\n`);
    process.exit(70);
  };
}
