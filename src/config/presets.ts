/** Keys of each command, by its id. The first is the one that hints show. */
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
  top: ['g', 'home'],
  bottom: ['G', 'end'],
  'sample.next': ['J'],
  'sample.previous': ['K'],
  'step.next': ['L'],
  'step.previous': ['H'],
  open: ['enter'],
  back: ['esc'],
  'focus.next': ['tab'],
  fold: ['x'],
  'fold.all': ['X'],
  'view.next': ['v'],
  wrap: ['z'],
  right: [')'],
  left: ['('],
  'field.hide': ['-'],
  'field.show': ['+'],
  command: [':'],
  help: ['?', 'f1'],
  repaint: ['ctrl+l'],
  suspend: ['ctrl+z'],
  quit: ['q', 'Q', 'ctrl+c'],
};

export const PRESETS = { vim } as const;
