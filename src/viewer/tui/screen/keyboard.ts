import { StringDecoder } from 'node:string_decoder';
import { decodeKeys, type Key, PASTE_BEGIN, REPORT_BEGIN } from './keys.ts';

/** How long the bytes after an Esc may take to make it an arrow key; ssh usually sends them in one packet. */
const ESC_MS = 30;
/** More than one byte of a sequence is not a lone Esc: the rest of a mouse report may be late. */
const SEQUENCE_MS = 300;
/** A paste arrives in many pieces, and an answer of the terminal must not become keys. */
const PASTE_MS = 1000;

const isClosedTerminal = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'EIO' || error.code === 'EBADF');

export interface KeySource {
  setRawMode(raw: boolean): unknown;
  on(event: 'data', listener: (chunk: Buffer | string) => void): unknown;
  on(event: 'end', listener: () => void): unknown;
  off(event: 'data', listener: (chunk: Buffer | string) => void): unknown;
  resume(): unknown;
  pause(): unknown;
}

/** Reads keys from the terminal, whole sequences at a time. */
export class Keyboard {
  readonly #input: KeySource;
  readonly #listener: (keys: Key[]) => void;
  readonly #answered: (report: string) => void;
  readonly #decoder = new StringDecoder('utf8');
  #rest = '';
  /** Bytes received so far. */
  received = 0;
  /** Keys pressed so far, without answers of the terminal. */
  pressed = 0;
  #timer: NodeJS.Timeout | null = null;
  #lastLook: NodeJS.Immediate | null = null;

  /** @param answered receives the terminal's answers (OSC), which are no keys */
  constructor(input: KeySource, listener: (keys: Key[]) => void, answered: (report: string) => void = () => {}) {
    this.#input = input;
    this.#listener = listener;
    this.#answered = answered;
  }

  start(): void {
    this.#input.setRawMode(true);
    this.#input.on('data', this.#receive);
    this.#input.resume();
  }

  stop(): void {
    this.#input.off('data', this.#receive);
    this.#input.pause();
    try {
      this.#input.setRawMode(false);
    } catch (error) {
      // The window was closed: a terminal that is gone has no mode to restore.
      if (!isClosedTerminal(error)) throw error;
    }
  }

  /** Bytes are waiting for the rest of their sequence. */
  get isBusy(): boolean {
    return this.#rest !== '';
  }

  readonly #receive = (chunk: Buffer | string): void => {
    this.received += chunk.length;
    this.#decode(typeof chunk === 'string' ? chunk : this.#decoder.write(chunk), false);
  };

  #decode(text: string, final: boolean): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    if (this.#lastLook !== null) clearImmediate(this.#lastLook);
    this.#timer = null;
    this.#lastLook = null;
    const { keys, rest } = decodeKeys(this.#rest + text, final);
    this.#rest = rest;
    if (rest !== '') {
      const isLong = rest.startsWith(PASTE_BEGIN) || (rest.startsWith(REPORT_BEGIN) && rest.includes(';'));
      const wait = isLong ? PASTE_MS : rest.length > 1 ? SEQUENCE_MS : ESC_MS;
      // After a pause of the whole program the rest may have come already, and is read first.
      this.#timer = setTimeout(() => {
        this.#lastLook = setImmediate(() => this.#decode('', true));
      }, wait);
    }
    const pressed = keys.filter(({ name }) => name !== 'report');
    this.pressed += pressed.length;
    if (pressed.length > 0) this.#listener(pressed);
    for (const { name, raw } of keys) if (name === 'report') this.#answered(raw);
  }
}
