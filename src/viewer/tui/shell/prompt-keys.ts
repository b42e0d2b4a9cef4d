import { itemAt } from '../../../core/lists/at.ts';
import { sanitiseLine } from '../../../core/text/sanitise.ts';
import { afterEsc, type Key } from '../screen/keys.ts';
import type { Action } from '../state/action.ts';
import type { Buffer } from '../state/editor.ts';
import * as edit from '../update/editor-buffer.ts';

/** Longer pastes are cut: a prompt is a line. */
const MAX_PASTE = 4000;

export interface PromptHost {
  /** The open prompt; `seed` and `cursor` as in the state. */
  prompt(): { value: string; seed: number; cursor: number } | null;
  act(action: Action): void;
  /** Passes bytes to the field, once it exists. */
  type(bytes: string): Promise<void>;
  /** Handles a key that comes after the end of the prompt. */
  pass(key: Key): void;
}

/**
 * Dispatches the keys of a prompt one at a time. Text, arrows and Backspace go to ink-text-input unchanged, and React renders before the
 * next one, because its handler only knows the value of the last render. Shell keys that it does not support (^a, ^w, Del …) change the
 * value here, and the field is recreated with its cursor at the new position; the cursor is tracked here for that purpose.
 */
export class PromptKeys {
  readonly #host: PromptHost;
  readonly #queue: Key[] = [];
  #isRunning = false;
  #cursor = 0;
  #seed: number | null = null;

  constructor(host: PromptHost) {
    this.#host = host;
  }

  /** Keys are queued: new ones go after them. */
  get isBusy(): boolean {
    return this.#isRunning;
  }

  feed(keys: readonly Key[]): void {
    const isEsc = ({ name }: Key): boolean => name.startsWith('alt+') && EDITS[name] === undefined;
    this.#queue.push(...keys.flatMap((key) => (isEsc(key) ? afterEsc(key) : [key])));
    if (!this.#isRunning) void this.#run();
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    for (let key = this.#next(); key !== undefined; key = this.#next()) {
      if (this.#host.prompt() === null) this.#host.pass(key);
      else await this.#press(key);
    }
    this.#isRunning = false;
  }

  /** The next key; characters typed or pasted together count as one. */
  #next(): Key | undefined {
    const key = this.#queue.shift();
    if (key === undefined || !isTyping(key) || this.#host.prompt() === null) return key;
    let { text } = key;
    while (this.#queue[0] !== undefined && isTyping(this.#queue[0])) text += this.#queue.shift()!.text;
    return { name: 'paste', text, raw: text };
  }

  async #press(key: Key): Promise<void> {
    const { value, seed, cursor } = this.#host.prompt()!;
    if (seed !== this.#seed) this.#cursor = cursor;
    this.#seed = seed;
    const before: Buffer = { lines: [value], row: 0, column: Math.min(this.#cursor, value.length) };
    const action = ACTIONS[key.name];
    if (action !== undefined) return this.#host.act(action);
    if (key.name === 'backspace' && value === '') return this.#host.act({ type: 'prompt-close' });

    const after = (EDITS[key.name] ?? FIELD[key.name])?.(before);
    // Half of a surrogate pair is meaningless to a reader, so such a character is deleted and passed over as a whole.
    const isOneUnit = after !== undefined && Math.abs(after.column - before.column) <= 1;
    if (after?.column === before.column && after.lines[0] === value) return;
    if (after !== undefined && !(isOneUnit && FIELD[key.name] !== undefined))
      return this.#host.act({ type: 'prompt-edit', value: itemAt(after.lines, 0), cursor: after.column });
    if (after !== undefined) {
      this.#cursor = after.column;
      return this.#host.type(key.raw);
    }
    const text = isTyping(key) ? sanitiseLine(key.text.slice(0, MAX_PASTE).replace(/\s*\n\s*/g, ' ')) : '';
    if (text === '') return;
    this.#cursor = before.column + text.length;
    await this.#host.type(text);
  }
}

const isTyping = (key: Key): boolean => key.text !== '' && !key.name.startsWith('alt+');

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

type Edit = (line: Buffer) => Buffer;

/** Keys supported by ink-text-input. */
const FIELD: Record<string, Edit> = { left: edit.left, right: edit.right, backspace: edit.eraseLeft };

const killTo =
  (move: Edit): Edit =>
  (line) => {
    const [text, to] = [itemAt(line.lines, 0), move(line).column];
    const [from, end] = to < line.column ? [to, line.column] : [line.column, to];
    return { ...line, lines: [text.slice(0, from) + text.slice(end)], column: from };
  };

/** Words of a prompt end at spaces, as in a shell. */
const wordLeft: Edit = (line) => ({
  ...line,
  column: line.column - /\S*\s*$/.exec(itemAt(line.lines, 0).slice(0, line.column))![0].length,
});
const wordRight: Edit = (line) => ({
  ...line,
  column: line.column + /^\s*\S*/.exec(itemAt(line.lines, 0).slice(line.column))![0].length,
});

const EDITS: Record<string, Edit> = {
  'ctrl+h': edit.eraseLeft,
  delete: edit.deleteNext,
  'ctrl+d': edit.deleteNext,
  home: edit.lineStart,
  'ctrl+a': edit.lineStart,
  end: edit.end,
  'ctrl+e': edit.end,
  'ctrl+u': edit.killLeft,
  'ctrl+k': killTo(edit.end),
  'alt+b': wordLeft,
  'alt+f': wordRight,
  'alt+d': killTo(wordRight),
  'alt+backspace': killTo(wordLeft),
  'ctrl+w': killTo(wordLeft),
};
