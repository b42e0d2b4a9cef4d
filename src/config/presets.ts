/** Keys of each command, by its id. The first is the one that hints show; a sequence is written with blanks: `y t`. */
export type Keys = Readonly<Record<string, readonly string[]>>;

const vim: Keys = {
  'turn.next': ['l', 'right'],
  'turn.previous': ['h', 'left'],
  'turn.first': ['0'],
  'turn.last': ['$'],
  'line.down': ['j', 'down', 'ctrl+e'],
  'line.up': ['k', 'up', 'ctrl+y'],
  'half.down': ['ctrl+d'],
  'half.up': ['ctrl+u'],
  'page.down': ['space', 'pagedown', 'ctrl+f'],
  'page.up': ['b', 'pageup', 'ctrl+b'],
  // The second press does not wait for the longer sequences that begin with g.
  top: ['g', 'g g', 'home'],
  bottom: ['G', 'end'],
  'sample.next': ['J'],
  'sample.previous': ['K'],
  'step.next': ['L'],
  'step.previous': ['H'],
  follow: ['F'],
  open: ['enter'],
  back: ['esc', 'backspace'],
  'focus.next': ['tab', 'shift+tab'],
  zoom: ['_'],
  fold: ['x'],
  'fold.all': ['X'],

  'error.next': ['e'],
  'error.previous': ['E'],
  'warning.next': ['w'],
  'warning.previous': ['W'],
  'call.next': ['t'],
  'call.previous': ['T'],
  'reward.next': ['] r'],
  'reward.previous': ['[ r'],
  tokens: ['g t'],
  mapping: ['g k'],
  'surprise.next': ['] s'],
  'surprise.previous': ['[ s'],
  'drift.next': ['] d'],
  'drift.previous': ['[ d'],
  'jump.back': ['<'],
  'jump.forward': ['>'],

  replay: ['!'],
  'replay.all': ['g !'],
  fork: ['a'],
  branches: ['A'],
  rescore: ['r'],
  'rescore.all': ['g r'],

  'view.next': ['v'],
  wrap: ['z'],
  right: [')'],
  left: ['('],
  'field.hide': ['-'],
  'field.show': ['+'],
  search: ['/'],
  'search.next': ['n'],
  'search.previous': ['N'],
  'search.word': ['*'],
  'search.word.back': ['#'],
  'yank.turn': ['y t'],
  'yank.call': ['y c'],
  'yank.prompt': ['y p'],
  'yank.json': ['y j'],
  'yank.link': ['y l'],
  edit: ['V'],
  pipe: ['|'],

  filter: ['&'],
  sort: ['s'],
  'sort.reverse': ['S'],
  columns: ['c'],
  group: ['p'],
  'group.next': ['}'],
  'group.previous': ['{'],
  mark: ['m'],
  'mark.row': ['space'],
  'mark.go': ["'"],
  'mark.next': ['] m'],
  'mark.previous': ['[ m'],
  undo: ['u'],
  redo: ['U'],

  command: [':'],
  help: ['?', 'f1', 'ctrl+p'],
  mouse: ['f2', 'g m'],
  repaint: ['ctrl+l'],
  reload: ['R'],
  suspend: ['ctrl+z'],
  cancel: ['ctrl+c'],
  quit: ['q', 'Q'],
};

/** Keys with changes: what a changed command takes leaves the others. */
export function withKeys(base: Keys, changes: Keys): Keys {
  const taken = new Set(Object.values(changes).flat());
  const kept = Object.entries(base).map(([id, keys]) => [id, keys.filter((key) => !taken.has(key))]);
  return { ...Object.fromEntries(kept), ...changes };
}

/** The keys of less that fit: paging, `<` `>`, `v` for the editor, `h` for help. */
const less = withKeys(vim, {
  'turn.next': ['right', 'l', '.'],
  'turn.previous': ['left', ','],
  'line.down': ['j', 'down', 'ctrl+e', 'ctrl+n'],
  'line.up': ['k', 'up', 'ctrl+y', 'ctrl+p'],
  'half.down': ['d', 'ctrl+d'],
  'half.up': ['u', 'ctrl+u'],
  'page.down': ['space', 'f', 'pagedown', 'ctrl+f', 'ctrl+v'],
  'mark.row': ['space'],
  'page.up': ['b', 'pageup', 'ctrl+b'],
  top: ['g', 'g g', '<', 'home'],
  bottom: ['G', '>', 'end'],
  'jump.back': ['ctrl+o', '[ j'],
  'jump.forward': ['] j'],
  edit: ['v'],
  'view.next': ['V'],
  help: ['h', '?', 'f1'],
  repaint: ['ctrl+l', 'ctrl+r'],
  undo: ['g u'],
  redo: ['U', 'g U'],
});

const emacs = withKeys(vim, {
  'turn.next': ['right', 'ctrl+f', 'l'],
  'turn.previous': ['left', 'ctrl+b', 'h'],
  'turn.first': ['0', 'ctrl+a'],
  'turn.last': ['ctrl+e', '$'],
  'line.down': ['ctrl+n', 'down', 'j'],
  'line.up': ['ctrl+p', 'up', 'k'],
  'page.down': ['ctrl+v', 'pagedown', 'space'],
  'mark.row': ['space'],
  'page.up': ['pageup', 'alt+v', 'b'],
  top: ['home', 'alt+<', 'g', 'g g'],
  bottom: ['end', 'alt+>', 'G'],
  'sample.next': ['n', 'J'],
  'sample.previous': ['p', 'K'],
  'step.next': ['N', 'L'],
  'step.previous': ['P', 'H'],
  'focus.next': ['tab', 'shift+tab', 'ctrl+x o'],
  zoom: ['ctrl+x 1', '_'],
  group: ['g p'],
  undo: ['u', 'ctrl+x u'],
  search: ['/', 'ctrl+s'],
  'search.next': ['.', 'ctrl+r'],
  'search.previous': [','],
  command: [':', 'alt+x'],
  cancel: ['ctrl+c', 'ctrl+g'],
  quit: ['q', 'Q', 'ctrl+x ctrl+c'],
});

/** Actions of verl's own viewer keep the keys that they have there. */
const verl = withKeys(vim, {
  'sample.next': ['n', 'J'],
  'sample.previous': ['p', 'K'],
  'step.next': ['N', 'L'],
  'step.previous': ['P', 'H'],
  'page.down': ['j', 'space', 'pagedown'],
  'mark.row': ['space'],
  'page.up': ['k', 'b', 'pageup'],
  'line.down': ['down', 'ctrl+e', 'ctrl+n'],
  'line.up': ['up', 'ctrl+y', 'ctrl+p'],
  'view.next': ['s', 'v'],
  sort: ['o'],
  group: ['g p'],
  search: ['f', '/'],
  'search.next': ['.'],
  'search.previous': [','],
});

export const PRESETS = { vim, less, emacs, verl } as const;
export type PresetName = keyof typeof PRESETS;
export const PRESET_NAMES = Object.keys(PRESETS) as PresetName[];

export const isPreset = (name: string): name is PresetName => Object.hasOwn(PRESETS, name);
