import { CATEGORIES, type Command } from './command.ts';
import { COMMANDS } from './commands.ts';
import { Keymap, keyLabel } from './keymap.ts';
import { PRESETS } from './presets.ts';

/** Two directions of one thing: `turn.next` and `turn.previous` share an entry. */
const PAIRS: readonly (readonly [string, string])[] = [
  ['.next', '.previous'],
  ['.down', '.up'],
  ['.first', '.last'],
  ['.back', '.forward'],
];

const inCode = (key: string): string => `\`${keyLabel(key).replaceAll('|', '\\|')}\``;

/** The keys of the vim preset as a Markdown table, one row per category. */
export function keyTable(): string {
  const keymap = new Keymap(PRESETS.vim);
  const rows = CATEGORIES.map((category) => {
    const left = COMMANDS.filter((command) => command.category === category);
    const cells: string[] = [];
    for (let command = left.shift(); command !== undefined; command = left.shift()) {
      const id = command.id;
      const pair = PAIRS.find(([one]) => id.endsWith(one));
      const at = pair === undefined ? -1 : left.findIndex((other) => other.id === id.replace(pair[0], pair[1]));
      const other = at < 0 ? undefined : left.splice(at, 1)[0];
      const both = other === undefined ? [command] : [command, other];
      cells.push(`${both.map((one) => shownKeys(keymap, one)).join(' ')} ${titleOf(command, other)}`);
    }
    return `| ${category} | ${cells.join(' · ')} |`;
  });
  return `| | |\n|---|---|\n${rows.join('\n')}`;
}

const shownKeys = (keymap: Keymap, { id }: Command): string => keymap.keysOf(id).slice(0, 1).map(inCode).join(' ');

/** 'next, previous turn' for 'next turn' and 'previous turn'. */
function titleOf({ title }: Command, other: Command | undefined): string {
  if (other === undefined) return title;
  const [a, b] = [title.split(' '), other.title.split(' ')];
  const same = a.length === b.length && a.slice(1).every((word, i) => word === b[i + 1]);
  return same ? `${a[0]}, ${b[0]} ${a.slice(1).join(' ')}` : `${title}, ${other.title}`;
}
