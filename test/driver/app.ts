import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type IPty, spawn } from '@lydell/node-pty';
import xterm from '@xterm/headless';
import { cellWidth } from '../../src/text/graphemes.ts';

const PROGRAM = fileURLToPath(new URL('../../dist/rollout-viewer.js', import.meta.url));

const KEYS: Record<string, string> = {
  Enter: '\r',
  Esc: '\x1b',
  Tab: '\t',
  Space: ' ',
  Backspace: '\x7f',
  Up: '\x1b[A',
  Down: '\x1b[B',
  Right: '\x1b[C',
  Left: '\x1b[D',
  Home: '\x1b[H',
  End: '\x1b[F',
  PageUp: '\x1b[5~',
  PageDown: '\x1b[6~',
  'ctrl+_': '\x1f',
};

const bytesOf = (key: string): string => {
  if (KEYS[key] !== undefined) return KEYS[key];
  if (key.startsWith('ctrl+')) return String.fromCharCode(key.charCodeAt(5) - 0x60);
  return key;
};

export interface StartOptions {
  columns?: number;
  rows?: number;
  env?: Record<string, string>;
  /** Where it is started, for paths that are relative. */
  cwd?: string;
  /** Told of what the program sends, as it comes. */
  onData?: (data: string) => void;
  /** Runs this instead of the built program. */
  command?: readonly string[];
}

/** A cell of the screen: its text and how it is drawn. Colours are palette numbers, null for the terminal's own. */
export interface Cell {
  text: string;
  colour: number | null;
  background: number | null;
  bold: boolean;
  dim: boolean;
  inverse: boolean;
  underline: boolean;
}

/** Settings and history of whoever runs the tests stay out of them. */
const ownHome = (): Record<string, string> => {
  const home = join(tmpdir(), `rollout-viewer-home-${process.pid}`);
  return { XDG_CONFIG_HOME: join(home, 'config'), XDG_STATE_HOME: join(home, 'state') };
};

const WAIT_MS = 15_000;

/** The built program in a pseudo-terminal, its screen read by a terminal emulator: what a person would see. */
export class App {
  readonly #pty: IPty;
  readonly #terminal: xterm.Terminal;
  /** Every byte that the program sent. */
  output = '';
  #exit: { code: number; signal: number } | null = null;
  readonly #waiting = new Set<() => void>();

  private constructor(args: readonly string[], options: StartOptions) {
    const { columns = 100, rows = 30, env = {}, command = [process.execPath, PROGRAM] } = options;
    this.#terminal = new xterm.Terminal({ cols: columns, rows, allowProposedApi: true, scrollback: 200 });
    // The emulator's own table is that of Unicode 6, where emoji are narrow; terminals of today agree with ours.
    this.#terminal.unicode.register({
      version: 'today',
      wcwidth: (code) => Math.min(2, cellWidth(String.fromCodePoint(code))) as 0 | 1 | 2,
      charProperties: (code, preceding) => {
        const width = Math.min(2, cellWidth(String.fromCodePoint(code)));
        const join = width === 0 && preceding !== 0;
        return ((width & 3) << 1) | (join ? 1 : 0);
      },
    });
    this.#terminal.unicode.activeVersion = 'today';
    const { NO_COLOR: _no, CI: _ci, ...inherited } = process.env;
    this.#pty = spawn(command[0]!, [...command.slice(1), ...args], {
      ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
      cols: columns,
      rows,
      env: { ...inherited, TERM: 'xterm-256color', ...ownHome(), ...env } as Record<string, string>,
    });
    this.#pty.onData((data) => {
      options.onData?.(data);
      this.output += data;
      this.#terminal.write(data, () => this.#notify());
    });
    this.#terminal.onData((reply) => this.#pty.write(reply));
    this.#pty.onExit(({ exitCode, signal }) => {
      this.#exit = { code: exitCode, signal: signal ?? 0 };
      this.#notify();
    });
  }

  static start(args: readonly string[], options: StartOptions = {}): App {
    return new App(args, options);
  }

  get pid(): number {
    return this.#pty.pid;
  }

  #notify(): void {
    for (const listener of this.#waiting) listener();
  }

  /** Waits until it holds, and tells the screen when it does not. */
  async until(holds: () => boolean, what: string): Promise<void> {
    if (holds()) return;
    await new Promise<void>((resolve, reject) => {
      const done = () => {
        clearTimeout(timer);
        this.#waiting.delete(check);
      };
      const check = () => {
        if (!holds()) return;
        done();
        resolve();
      };
      const timer = setTimeout(() => {
        done();
        reject(new Error(`waited in vain for ${what}; the screen:\n${this.screen()}`));
      }, WAIT_MS);
      this.#waiting.add(check);
    });
  }

  /** Presses keys, one after the other: 'j', 'Enter', 'ctrl+d', … */
  press(...keys: string[]): void {
    this.#pty.write(keys.map(bytesOf).join(''));
  }

  type(text: string): void {
    this.#pty.write(text);
  }

  async sees(text: string | RegExp): Promise<void> {
    const found = () => (typeof text === 'string' ? this.screen().includes(text) : text.test(this.screen()));
    await this.until(found, String(text));
  }

  async seesNot(text: string): Promise<void> {
    await this.until(() => !this.screen().includes(text), `the end of ${text}`);
  }

  /** The screen as lines of text, without the blanks at their ends. */
  lines(): string[] {
    const buffer = this.#terminal.buffer.active;
    return Array.from({ length: this.#terminal.rows }, (_, row) =>
      (buffer.getLine(buffer.viewportY + row)?.translateToString(true, 0, this.#terminal.cols) ?? '').trimEnd(),
    );
  }

  screen(): string {
    return this.lines().join('\n');
  }

  /** Where a text begins on the screen. */
  find(text: string): { x: number; y: number } {
    const lines = this.lines();
    const y = lines.findIndex((line) => line.includes(text));
    if (y < 0) throw new Error(`${text} is not on the screen:\n${this.screen()}`);
    return { x: cellWidth(lines[y]!.slice(0, lines[y]!.indexOf(text))), y };
  }

  cell(x: number, y: number): Cell {
    const buffer = this.#terminal.buffer.active;
    const cell = buffer.getLine(buffer.viewportY + y)!.getCell(x)!;
    return {
      text: cell.getChars(),
      colour: cell.isFgDefault() ? null : cell.getFgColor(),
      background: cell.isBgDefault() ? null : cell.getBgColor(),
      bold: cell.isBold() !== 0,
      dim: cell.isDim() !== 0,
      inverse: cell.isInverse() !== 0,
      underline: cell.isUnderline() !== 0,
    };
  }

  /** The alternate screen is on. */
  get inAlternateScreen(): boolean {
    return this.#terminal.buffer.active.type === 'alternate';
  }

  get modes(): xterm.IModes {
    return this.#terminal.modes;
  }

  /** What the ?25 and ?7 modes were last set to, which the emulator does not tell. */
  lastMode(mode: number): 'h' | 'l' | null {
    const all = [...this.output.matchAll(new RegExp(`\\x1b\\[\\?${mode}([hl])`, 'g'))];
    return (all.at(-1)?.[1] as 'h' | 'l' | undefined) ?? null;
  }

  resize(columns: number, rows: number): void {
    this.#terminal.resize(columns, rows);
    this.#pty.resize(columns, rows);
  }

  kill(signal: string): void {
    process.kill(this.#pty.pid, signal);
  }

  /** The terminal takes nothing more, as one behind a slow line. */
  pause(): void {
    this.#pty.pause();
  }

  resume(): void {
    this.#pty.resume();
  }

  async exits(): Promise<{ code: number; signal: number }> {
    await this.until(() => this.#exit !== null, 'the end of the program');
    return this.#exit!;
  }

  /** Ends the program, if it still runs. */
  async stop(): Promise<void> {
    if (this.#exit === null) {
      try {
        this.#pty.kill('SIGKILL');
      } catch {
        // It ended by itself in the meantime.
      }
      await this.until(() => this.#exit !== null, 'the end of the program');
    }
    this.#terminal.dispose();
  }
}
