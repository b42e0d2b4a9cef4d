import type { Key } from '../screen/keys.ts';
import type { KeyPane } from '../state/panes.ts';
import type { Command } from './command.ts';
import type { Keymap } from './keymap.ts';

const MAX_COUNT = 1e9;

export interface ResolvedCommand {
  command: Command;
  count: number | null;
}

export interface ResolverHost {
  readonly keymap: Keymap;
  /** The pane with the keyboard focus. */
  pane(): KeyPane;
  run(resolved: ResolvedCommand): void;
  /** The user asked for help in the middle of a sequence: it lists the continuations. */
  searchBehind(sequence: string): void;
  /** The keys typed so far have changed. */
  pendingChanged(): void;
  /** Receives keys that no command has, so that none is dropped silently. */
  unknown(keys: string): void;
}

/**
 * Turns keys into commands: with counts before them (`5j`, `12G`), and sequences of several keys. A key that begins a sequence never acts
 * by itself, however long the next one takes, so typing a sequence slowly cannot do anything else.
 */
export class Resolver {
  readonly #host: ResolverHost;
  #count = '';
  #sequence = '';

  constructor(host: ResolverHost) {
    this.#host = host;
  }

  /** The start of a sequence; '' outside one. */
  get sequence(): string {
    return this.#sequence;
  }

  /** Count and sequence of an unfinished command, for the footer. */
  get pending(): string {
    return this.#count === '' || this.#sequence === ''
      ? this.#count + this.#sequence
      : `${this.#count} ${this.#sequence}`;
  }

  /** A key without meaning here is dropped, along with what was typed before it. */
  press(key: Key): void {
    const { keymap, unknown, searchBehind } = this.#host;
    const isCount = this.#count === '' ? /^[1-9]$/ : /^[0-9]$/;
    if (this.#sequence === '' && isCount.test(key.name)) {
      this.#become(this.#count + key.name, '');
      return;
    }
    const begun = this.#sequence;
    const sequence = begun === '' ? key.name : `${begun} ${key.name}`;
    const pane = this.#host.pane();
    const command = keymap.command(sequence, pane);
    if (keymap.isPrefix(sequence, pane)) this.#become(this.#count, sequence);
    else if (command !== undefined) this.#run(command);
    else {
      this.#become('', '');
      if (begun !== '' && keymap.command(key.name, pane)?.id === 'help') searchBehind(begun);
      // Esc leaves a sequence; terminal reports are not keys.
      else if (key.name !== 'esc' && key.name !== 'unknown') unknown(sequence);
    }
  }

  #run(command: Command): void {
    const count = this.#count === '' ? null : Math.min(MAX_COUNT, Number(this.#count));
    this.#become('', '');
    this.#host.run({ command, count });
  }

  #become(count: string, sequence: string): void {
    if (this.#count === count && this.#sequence === sequence) return;
    this.#count = count;
    this.#sequence = sequence;
    this.#host.pendingChanged();
  }
}
