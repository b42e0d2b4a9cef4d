import { sanitiseLine } from '../../../core/text/sanitise.ts';
import { commandOf } from '../keys/commands.ts';
import { type Keymap, keyLabel } from '../keys/keymap.ts';
import { type ResolvedCommand, Resolver } from '../keys/resolver.ts';
import type { Data } from '../rows/data.ts';
import { afterEsc, type Key } from '../screen/keys.ts';
import { mouseEvent } from '../screen/mouse.ts';
import type { Action } from '../state/action.ts';
import { paneOf } from '../state/panes.ts';
import type { State } from '../state/state.ts';
import { PromptKeys } from './prompt-keys.ts';

/** Keys that keep their meaning while a question is open. */
const ANYWHERE = ['ctrl+z', 'ctrl+l'];

/** Keys that leave a question, seen or not. */
const LEAVES = ['esc', 'q', 'ctrl+c', 'ctrl+g'];

/** ms without a key before a menu shows the continuations. */
const MENU_MS = 300;

/** Longer text is not a locator. */
const MAX_PASTE = 4000;
const pasted = ({ text }: Key): string => sanitiseLine(text.trim().slice(0, MAX_PASTE));

export interface InputHost {
  readonly data: Data;
  readonly keymap: Keymap;
  state(): State;
  /** Whether the terminal shows this question. */
  isShown(question: State['replay']['question']): boolean;
  dispatch(action: Action): void;
  /** Passes bytes to the field of the open prompt. */
  type(bytes: string): Promise<void>;
}

/** Turns keys into actions: whatever is open takes them (a prompt, the editor, a menu, a question), else the keymap. */
export class Input {
  readonly #host: InputHost;
  readonly #resolver: Resolver;
  readonly #promptKeys: PromptKeys;
  #menuTimer: NodeJS.Timeout | undefined;

  constructor(host: InputHost) {
    this.#host = host;
    this.#resolver = new Resolver({
      keymap: host.keymap,
      pane: () => paneOf(host.state()),
      run: (resolved) => this.#run(resolved),
      searchBehind: (sequence) => host.dispatch({ type: 'help-behind', sequence }),
      pendingChanged: () => this.#pendingChanged(),
      unknown: (keys) => this.#unknown(keys),
    });
    this.#promptKeys = new PromptKeys({
      prompt: () => host.state().prompt,
      act: (action) => host.dispatch(action),
      type: (bytes) => host.type(bytes),
      pass: (key) => this.#take(key),
    });
  }

  /** A key is waiting to be handled. */
  get isBusy(): boolean {
    return this.#promptKeys.isBusy;
  }

  stop(): void {
    clearTimeout(this.#menuTimer);
  }

  press(keys: readonly Key[]): void {
    for (const [i, key] of keys.entries()) {
      if (key.name !== 'mouse' && (this.#host.state().prompt !== null || this.#promptKeys.isBusy)) {
        this.#promptKeys.feed(keys.slice(i).filter(({ name }) => name !== 'mouse'));
        return;
      }
      this.#take(key);
    }
  }

  /** Acts as if the command's key had been pressed. */
  command(id: string): void {
    const command = commandOf(id);
    if (command !== undefined) this.#run({ command, count: null });
  }

  #pendingChanged(): void {
    const { pending: typed, sequence } = this.#resolver;
    clearTimeout(this.#menuTimer);
    if (sequence !== '') this.#menuTimer = setTimeout(() => this.#host.dispatch({ type: 'keys-waited' }), MENU_MS);
    this.#host.dispatch({ type: 'keys-pending', typed, sequence });
  }

  #run({ command, count }: ResolvedCommand): void {
    const { state, data, dispatch } = this.#host;
    const reason = command.disabled?.(state(), data) ?? null;
    if (reason !== null) dispatch({ type: 'say', text: reason, kind: 'info' });
    else dispatch(command.action(count));
  }

  #unknown(keys: string): void {
    const help = this.#host.keymap.label('help');
    const text = `${sanitiseLine(keyLabel(keys))} does nothing here; ${help} lists what does`;
    this.#host.dispatch({ type: 'say', text, kind: 'info' });
  }

  /** Handles a key while no prompt is open. */
  #take(key: Key): void {
    const { editor, list, replay } = this.#host.state();
    const isAsked = !ANYWHERE.includes(key.name);
    const act = this.#host.dispatch;
    if (key.name === 'mouse') {
      if (editor === null) this.#mouse(key);
    } else if (isAsked && editor !== null) act({ type: 'editor-key', key: key.name, text: key.text });
    else if (isAsked && list.menu !== null) act({ type: 'menu-key', key: key.name });
    else if (isAsked && replay.question !== null) {
      // Keys typed before a question can be read answer nothing: the answer may run code.
      if (this.#host.isShown(replay.question) || LEAVES.includes(key.name)) act({ type: 'replay-key', key: key.name });
    }
    // A paste is usually a locator: it opens the line that takes one.
    else if (key.name === 'paste') act({ type: 'prompt-open', prompt: 'command', value: pasted(key) });
    else if (key.name.startsWith('alt+') && !this.#host.keymap.isKnown(key.name)) this.press(afterEsc(key));
    else this.#resolver.press(key);
  }

  #mouse(key: Key): void {
    const event = mouseEvent(key.raw);
    const { prompt, editor } = this.#host.state();
    // The mouse does not reach the panes below the editor.
    if (event === null || editor !== null) return;
    if (prompt === null) this.#host.dispatch({ type: 'mouse', event });
    else if (event.kind === 'wheel') this.#host.dispatch({ type: 'prompt-move', by: event.by });
  }
}
