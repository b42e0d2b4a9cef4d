import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type IPty, spawn } from '@lydell/node-pty';
import unicode11 from '@xterm/addon-unicode11';
import xterm from '@xterm/headless';

const PROGRAM = fileURLToPath(new URL('../../../dist/rollout-viewer.js', import.meta.url));

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
  /** Called with the program's output as it arrives. */
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

let started = 0;

/** Settings and history of whoever runs the tests stay out of them, and each program starts over. */
const ownHome = (): Record<string, string> => {
  const home = join(tmpdir(), `rollout-viewer-home-${process.pid}`);
  return { XDG_CONFIG_HOME: join(home, 'config'), XDG_STATE_HOME: join(home, `state-${started++}`) };
};

const WAIT_MS = 120_000;

/** See src/viewer/tui/shell/idle.ts. */
const IDLE_OSC = 7777;

/** The private mode in which a frame is painted. */
const FRAME_MODE = 2026;

/** The built program in a pseudo-terminal, its screen read by a terminal emulator: what a person would see. */
export class App {
  readonly #pty: IPty;
  readonly #terminal: xterm.Terminal;
  /** Every byte that the program sent. */
  output = '';
  #exit: { code: number; signal: number } | null = null;
  /** Bytes that were sent, and those that the program has reported as handled. */
  #sent = 0;
  #answered = -1;
  readonly #waiting = new Set<() => void>();
  /** A frame may come in pieces; what is on the screen between them was never meant to be seen. */
  #isInFrame = false;

  private constructor(args: readonly string[], options: StartOptions) {
    const { columns = 100, rows = 30, env = {}, command = [process.execPath, PROGRAM] } = options;
    this.#terminal = new xterm.Terminal({ cols: columns, rows, allowProposedApi: true, scrollback: 200 });
    // The widths are the emulator's own, of Unicode 11: in its first table, of Unicode 6, emoji are narrow.
    this.#terminal.loadAddon(new unicode11.Unicode11Addon());
    this.#terminal.unicode.activeVersion = '11';
    this.#terminal.parser.registerOscHandler(IDLE_OSC, (received) => {
      this.#answered = Number(received);
      return true;
    });
    for (const final of ['h', 'l'])
      this.#terminal.parser.registerCsiHandler({ prefix: '?', final }, (modes) => {
        if (modes[0] === FRAME_MODE) this.#isInFrame = final === 'h';
        return false;
      });
    const { NO_COLOR: _no, CI: _ci, ...inherited } = process.env;
    this.#pty = spawn(command[0]!, [...command.slice(1), ...args], {
      ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
      cols: columns,
      rows,
      env: { ...inherited, TERM: 'xterm-256color', ROLLOUT_VIEWER_TEST: '1', ...ownHome(), ...env } as Record<
        string,
        string
      >,
    });
    this.#pty.onData((data) => {
      options.onData?.(data);
      this.output += data;
      this.#terminal.write(data, () => this.#notify());
    });
    this.#terminal.onData((reply) => this.#write(reply));
    this.#pty.onExit(({ exitCode, signal }) => {
      this.#exit = { code: exitCode, signal: signal ?? 0 };
      this.#isInFrame = false;
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

  /** Waits until it holds, and shows the screen if it does not. */
  async until(condition: () => boolean, what: string, within = WAIT_MS): Promise<void> {
    const holds = (): boolean => !this.#isInFrame && condition();
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
      }, within);
      this.#waiting.add(check);
    });
  }

  /** Presses keys, one after the other: 'j', 'Enter', 'ctrl+d', … */
  press(...keys: string[]): void {
    this.#write(keys.map(bytesOf).join(''));
  }

  type(text: string): void {
    this.#write(text);
  }

  #write(text: string): void {
    this.#sent += Buffer.byteLength(text);
    this.#pty.write(text);
  }

  /** The program has taken every key, and nothing is under way in it. */
  get isIdle(): boolean {
    return this.#answered >= this.#sent;
  }

  /** Waits until the program says that all that was asked for is done. */
  async idle(): Promise<void> {
    await this.until(() => this.isIdle, 'the program to be idle');
  }

  /** The list, as a person sees it. */
  list() {
    return {
      /** The selected row is that rollout, and its text is what is beside the list, once the program is idle. */
      selects: async (locator: string): Promise<void> => {
        const holds = (): boolean => {
          const row = this.#selectedRow();
          const head = this.#head();
          const isRow = row === null || (`${row.step}.jsonl` === head?.file && row.sample === head.sample);
          return this.isIdle && isRow && head?.locator === locator;
        };
        await this.until(holds, `the list to select ${locator}; it selects ${JSON.stringify(this.#selectedRow())}`);
      },
    };
  }

  /** Step and sample of the row with the cursor; null where the list is not on the screen, or has other columns. */
  #selectedRow(): { step: string; sample: string } | null {
    const lines = this.lines().map((line) => line.split('│')[0]!);
    const titles = lines.find((line) => /^[ ▸] +step +sample/.test(line));
    const row = lines.find((line) => line.startsWith('›'));
    if (titles === undefined || row === undefined) return null;
    const cell = (title: string): string => {
      const end = titles.indexOf(title) + title.length;
      return /\S*$/.exec(row.slice(0, end))![0].replace(/^›/, '');
    };
    return { step: cell('step'), sample: cell('sample') };
  }

  /** The head of the transcript, without the folders of its file. */
  #head(): { locator: string; file: string; sample: string } | null {
    const head = /(?:^|│)[ ▸]*(?:\S+\/)?(([^\s/]+\.jsonl):\d+) +sample (\d+)\//m.exec(this.screen());
    return head && { locator: head[1]!, file: head[2]!, sample: head[3]! };
  }

  #shows(text: string | RegExp): boolean {
    return typeof text === 'string' ? this.screen().includes(text) : text.test(this.screen());
  }

  async sees(text: string | RegExp): Promise<void> {
    await this.until(() => this.#shows(text), String(text));
  }

  async seesNot(text: string | RegExp): Promise<void> {
    await this.until(() => !this.#shows(text), `the end of ${text}`);
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
    return { x: this.#cellOf(y, lines[y]!.indexOf(text)), y };
  }

  /** The cell that a character of a line is in. */
  #cellOf(y: number, index: number): number {
    const buffer = this.#terminal.buffer.active;
    const line = buffer.getLine(buffer.viewportY + y)!;
    let x = 0;
    for (let units = 0; units < index; x++)
      units += line.getCell(x)!.getChars().length || (line.getCell(x)!.getWidth() > 0 ? 1 : 0);
    return x;
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

  /** The last settings of the modes ?25 and ?7, which the emulator does not expose. */
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
    // The emulator reads what came last a moment later.
    await new Promise<void>((resolve) => this.#terminal.write('', resolve));
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
