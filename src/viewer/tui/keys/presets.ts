import { lazily } from '../../../core/text/lazily.ts';
import type { PresetName } from '../../config/preset-names.ts';
import { COMMANDS } from './commands.ts';

/** The keys of each command, by its id. Hints show the first; a sequence is written with spaces: `y t`. */
export type Keys = Readonly<Record<string, readonly string[]>>;

/** The keys that the commands declare. */
const vim: Keys = Object.fromEntries(COMMANDS.map(({ id, keys }) => [id, keys]));

/** Whether a sequence equals another one or extends it. */
export const startsWith = (sequence: string, start: string): boolean => `${sequence} `.startsWith(`${start} `);

/**
 * Changes the keys of some commands. Keys that a changed command takes, and sequences that begin with them, are removed from the others.
 */
export function withKeys(base: Keys, changes: Keys): Keys {
  const taken = Object.values(changes).flat();
  const free = (key: string): boolean => !taken.some((one) => startsWith(key, one));
  const kept = Object.entries(base).map(([id, keys]) => [id, keys.filter(free)]);
  return { ...Object.fromEntries(kept), ...changes };
}

/** The keys of less: paging, `<` `>`, `v` for the editor, `h` for help. */
const less = lazily(() =>
  withKeys(vim, {
    'turn.next': ['right', 'l', '.'],
    'turn.previous': ['left', ','],
    'line.down': ['j', 'down', 'ctrl+e', 'ctrl+n'],
    'line.up': ['k', 'up', 'ctrl+y', 'ctrl+p'],
    'half.down': ['d', 'ctrl+d'],
    'half.up': ['u', 'ctrl+u'],
    'page.down': ['space', 'f', 'pagedown', 'ctrl+f', 'ctrl+v'],
    'mark.row': ['space'],
    'column.next': ['l', 'right', '.'],
    'column.previous': ['h', 'left', ','],
    'page.up': ['b', 'pageup', 'ctrl+b'],
    top: ['g g', '<', 'home'],
    bottom: ['G', '>', 'end'],
    'jump.back': ['ctrl+o', '[ j'],
    'jump.forward': ['] j'],
    edit: ['v'],
    'view.next': ['V'],
    'page.numbers': ['V'],
    help: ['h', '?', 'f1'],
    repaint: ['ctrl+l', 'ctrl+r'],
    undo: ['g u'],
    redo: ['U', 'g U'],
  }),
);

/** `n` and `p` move between samples, with shift between steps. */
const nextAndPrevious: Keys = {
  'sample.next': ['n', 'J'],
  'sample.previous': ['p', 'K'],
  'step.next': ['N', 'L'],
  'step.previous': ['P', 'H'],
  'page.group': ['g P'],
  group: ['g p'],
};

const emacs = lazily(() =>
  withKeys(vim, {
    ...nextAndPrevious,
    'turn.next': ['right', 'ctrl+f', 'l'],
    'turn.previous': ['left', 'ctrl+b', 'h'],
    'turn.first': ['0', 'ctrl+a'],
    'turn.last': ['ctrl+e', '$'],
    'line.down': ['ctrl+n', 'down', 'j'],
    'line.up': ['ctrl+p', 'up', 'k'],
    'page.down': ['ctrl+v', 'pagedown', 'space'],
    'mark.row': ['space'],
    'column.next': ['l', 'right', 'ctrl+f'],
    'column.previous': ['h', 'left', 'ctrl+b'],
    'page.up': ['pageup', 'alt+v', 'b'],
    top: ['home', 'alt+<', 'g g'],
    bottom: ['end', 'alt+>', 'G'],
    'focus.next': ['tab', 'shift+tab', 'ctrl+x o'],
    zoom: ['ctrl+x 1', '_'],
    undo: ['u', 'ctrl+x u'],
    search: ['/', 'ctrl+s'],
    'search.next': ['.', 'ctrl+r'],
    'search.previous': [','],
    command: [':', 'alt+x'],
    cancel: ['ctrl+c', 'ctrl+g'],
    quit: ['q', 'Q', 'ctrl+x ctrl+c'],
  }),
);

/** Actions of verl's own viewer keep their keys from there. */
const verl = lazily(() =>
  withKeys(vim, {
    ...nextAndPrevious,
    'page.down': ['j', 'space', 'pagedown'],
    'mark.row': ['space'],
    'page.up': ['k', 'b', 'pageup'],
    'line.down': ['down', 'ctrl+e', 'ctrl+n'],
    'line.up': ['up', 'ctrl+y', 'ctrl+p'],
    'view.next': ['s', 'v'],
    sort: ['o'],
    'page.sort': ['o', 's'],
    'page.numbers': ['v'],
    search: ['f', '/'],
    'search.next': ['.'],
    'search.previous': [','],
  }),
);

export const PRESETS: Readonly<Record<PresetName, Keys>> = {
  vim,
  get less() {
    return less();
  },
  get emacs() {
    return emacs();
  },
  get verl() {
    return verl();
  },
};
