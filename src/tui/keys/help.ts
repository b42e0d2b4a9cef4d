import type { Data } from '../rows/data.ts';
import type { Focus, State } from '../state/state.ts';
import { CATEGORIES, type Category, type Command } from './command.ts';
import { COMMANDS } from './commands.ts';
import { keyLabel } from './keymap.ts';

/** A command of the help: its keys here, and why it cannot act now. */
export interface HelpEntry {
  command: Command;
  /** The heading that it is listed under: its kind, or the pane that it needs. */
  heading: Category | 'In the list' | 'In the transcript';
  keys: readonly string[];
  reason: string | null;
}

const PANE_NAMES: Record<Focus, 'In the list' | 'In the transcript'> = {
  list: 'In the list',
  transcript: 'In the transcript',
};

/** Commands of this pane, then those of the other one; of those, the ones that hold every word that is typed. */
export function helpEntries(state: State, data: Data, typed: string): HelpEntry[] {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  const { focus } = state;
  const isHere = ({ when }: Command): boolean => when === undefined || when === focus;
  const ordered = CATEGORIES.flatMap((category) => COMMANDS.filter((one) => one.category === category && isHere(one)));
  const elsewhere = COMMANDS.filter((command) => !isHere(command));
  const entries: HelpEntry[] = [];
  for (const command of [...ordered, ...elsewhere]) {
    const keys = data.keys.keysOf(command.id, command.when ?? focus).map(keyLabel);
    const text = [command.title, command.id, command.category, ...keys].join(' ').toLowerCase();
    if (!words.every((word) => text.includes(word))) continue;
    const other = isHere(command) ? null : PANE_NAMES[command.when!];
    const reason =
      other === null
        ? (command.disabled?.(state, data) ?? null)
        : `${other.toLowerCase()}; ${data.keys.label('focus.next', focus)} goes there`;
    entries.push({ command, heading: other ?? command.category, keys, reason });
  }
  return entries;
}
