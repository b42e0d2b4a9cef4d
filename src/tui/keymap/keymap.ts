import { type Keys, PRESETS } from '../../config/presets.ts';
import type { Command } from './command.ts';
import { COMMANDS } from './commands.ts';

/** Which command a sequence of keys means. */
export class Keymap {
  readonly #commands = new Map<string, Command>();
  readonly #prefixes = new Set<string>();
  readonly #keys: Keys;

  constructor(keys: Keys = PRESETS.vim) {
    this.#keys = keys;
    for (const command of COMMANDS) {
      for (const sequence of keys[command.id] ?? []) {
        this.#commands.set(sequence, command);
        const parts = sequence.split(' ');
        for (let i = 1; i < parts.length; i++) this.#prefixes.add(parts.slice(0, i).join(' '));
      }
    }
  }

  command(sequence: string): Command | undefined {
    return this.#commands.get(sequence);
  }

  /** More keys may follow. */
  isPrefix(sequence: string): boolean {
    return this.#prefixes.has(sequence);
  }

  keysOf(id: string): readonly string[] {
    return this.#keys[id] ?? [];
  }
}

const SIGNS: Record<string, string> = {
  space: 'space',
  enter: 'Enter',
  esc: 'Esc',
  tab: 'Tab',
  'shift+tab': '⇧Tab',
  up: '↑',
  down: '↓',
  left: '←',
  right: '→',
  home: 'Home',
  end: 'End',
  pageup: 'PgUp',
  pagedown: 'PgDn',
};

/** A key as people write it: '^d', 'g g', 'Enter'. */
export const keyLabel = (sequence: string): string =>
  sequence
    .split(' ')
    .map(
      (key) =>
        SIGNS[key] ?? (key.startsWith('ctrl+') ? `^${key.slice(5)}` : /^f\d+$/.test(key) ? key.toUpperCase() : key),
    )
    .join(' ');
