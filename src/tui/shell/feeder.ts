import { PassThrough } from 'node:stream';
import { sanitiseLine } from '../../text/sanitise.ts';
import { afterEsc, type Key } from '../screen/keys.ts';
import type { Action } from '../state/action.ts';

/** Longer pastes are cut: a prompt is a line. */
const MAX_PASTE = 4000;

const LEFT = '\x1b[D';
const RIGHT = '\x1b[C';
const BACKSPACE = '\x7f';

export interface FeederHost {
  /** What is typed, null while no prompt is open; `seed` as in the state. */
  prompt(): { value: string; seed: number } | null;
  act(action: Action): void;
  /** A key behind the end of the prompt. */
  pass(key: Key): void;
}

/**
 * Gives keys to ink-text-input, one at a time: its handler knows the value of the last render only, so React must have
 * rendered before the next key. What the component has no keys for (^a, ^w, Del …) is made of those that it has; the
 * cursor is counted along for that.
 */
export class PromptFeeder {
  /** Ink's stdin. */
  readonly input: NodeJS.ReadStream;
  readonly #stream = new PassThrough();
  readonly #host: FeederHost;
  #queue: Key[] = [];
  #isRunning = false;
  #cursor = 0;
  #seed: number | null = null;

  constructor(host: FeederHost) {
    this.#host = host;
    const same = () => this.#stream;
    this.input = Object.assign(this.#stream, {
      isTTY: true,
      setRawMode: same,
      ref: same,
      unref: same,
    }) as unknown as NodeJS.ReadStream;
  }

  /** Keys are waiting: what comes now stands behind them. */
  get isBusy(): boolean {
    return this.#isRunning;
  }

  feed(keys: readonly Key[]): void {
    const isEsc = ({ name }: Key): boolean => name.startsWith('alt+') && !WORD_KEYS.includes(name);
    this.#queue.push(...keys.flatMap((key) => (isEsc(key) ? afterEsc(key) : [key])));
    if (!this.#isRunning) void this.#run();
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    for (let key = this.#next(); key !== undefined; key = this.#next()) {
      // A prompt that has just been opened must have been drawn.
      await settled();
      if (this.#host.prompt() === null) this.#host.pass(key);
      else await this.#type(key);
    }
    this.#isRunning = false;
  }

  /** The next key; characters that were typed or pasted together are one. */
  #next(): Key | undefined {
    const key = this.#queue.shift();
    if (key === undefined || !isText(key) || this.#host.prompt() === null) return key;
    let { text } = key;
    while (this.#queue[0] !== undefined && isText(this.#queue[0])) text += this.#queue.shift()!.text;
    return { name: 'paste', text, raw: text };
  }

  async #type(key: Key): Promise<void> {
    const { value, seed } = this.#host.prompt()!;
    if (seed !== this.#seed || this.#cursor > value.length) this.#cursor = value.length;
    this.#seed = seed;
    const action = ACTIONS[key.name];
    if (action !== undefined) return this.#host.act(action);
    if (key.name === 'backspace' && value === '') return this.#host.act({ type: 'prompt-close' });
    for (const [bytes, by] of editing(key, value, this.#cursor)) {
      this.#stream.write(bytes);
      this.#cursor += by;
      await settled();
    }
  }
}

/** What a shell's line has alt for. */
const WORD_KEYS = ['alt+b', 'alt+f', 'alt+d', 'alt+backspace'];

const isText = (key: Key): boolean => key.text !== '' && !key.name.startsWith('alt+');

const ACTIONS: Record<string, Action> = {
  esc: { type: 'prompt-close' },
  'ctrl+c': { type: 'prompt-close' },
  'ctrl+g': { type: 'prompt-close' },
  enter: { type: 'prompt-submit' },
  tab: { type: 'prompt-complete', by: 1 },
  'shift+tab': { type: 'prompt-complete', by: -1 },
  up: { type: 'prompt-move', by: -1 },
  'ctrl+p': { type: 'prompt-move', by: -1 },
  down: { type: 'prompt-move', by: 1 },
  'ctrl+n': { type: 'prompt-move', by: 1 },
  pageup: { type: 'prompt-move', by: -10 },
  pagedown: { type: 'prompt-move', by: 10 },
};

type Edit = readonly [bytes: string, by: number];

/** A key as what ink-text-input understands, and how far each piece moves the cursor. A surrogate pair takes two moves. */
function editing(key: Key, value: string, cursor: number): Edit[] {
  const times = (count: number, bytes: string, by: number): Edit[] => Array.from({ length: count }, () => [bytes, by]);
  const before = width(value, cursor, -1);
  const after = width(value, cursor, 1);
  switch (key.name) {
    case 'left':
      return times(before, LEFT, -1);
    case 'right':
      return times(after, RIGHT, 1);
    case 'backspace':
    case 'ctrl+h':
      return times(before, BACKSPACE, -1);
    case 'delete':
    case 'ctrl+d':
      return [...times(after, RIGHT, 1), ...times(after, BACKSPACE, -1)];
    case 'home':
    case 'ctrl+a':
      return times(cursor, LEFT, -1);
    case 'end':
    case 'ctrl+e':
      return times(value.length - cursor, RIGHT, 1);
    case 'ctrl+u':
      return times(cursor, BACKSPACE, -1);
    case 'ctrl+k':
      return [...times(value.length - cursor, RIGHT, 1), ...times(value.length - cursor, BACKSPACE, -1)];
    case 'alt+b':
      return times(/\S*\s*$/.exec(value.slice(0, cursor))![0].length, LEFT, -1);
    case 'alt+f':
      return times(/^\s*\S*/.exec(value.slice(cursor))![0].length, RIGHT, 1);
    case 'alt+d': {
      const word = /^\s*\S*/.exec(value.slice(cursor))![0].length;
      return [...times(word, RIGHT, 1), ...times(word, BACKSPACE, -1)];
    }
    case 'alt+backspace':
    case 'ctrl+w':
      return times(/\S*\s*$/.exec(value.slice(0, cursor))![0].length, BACKSPACE, -1);
    default: {
      if (!isText(key)) return [];
      const text = sanitiseLine(key.text.slice(0, MAX_PASTE).replace(/\s*\n\s*/g, ' '));
      return text === '' ? [] : [[text, text.length]];
    }
  }
}

/** UTF-16 units of the character on that side of the cursor; 0 at the end of the text. */
function width(value: string, cursor: number, side: 1 | -1): number {
  if (side > 0) return cursor >= value.length ? 0 : value.codePointAt(cursor)! > 0xffff ? 2 : 1;
  if (cursor <= 0) return 0;
  return cursor > 1 && value.codePointAt(cursor - 2)! > 0xffff ? 2 : 1;
}

/** React has rendered and its effects have run: they wait for a turn of the event loop each. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
}
