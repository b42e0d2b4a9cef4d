import { CATEGORIES, type Command } from './command.ts';
import { LIVE_COMMANDS } from './live-commands.ts';
import { READING_COMMANDS } from './reading-commands.ts';

const times = (count: number | null): number => count ?? 1;

export const COMMANDS: readonly Command[] = [
  // Turns, samples and steps are three nested axes: h/l within J/K within H/L.
  {
    id: 'turn.next',
    category: 'Move',
    title: 'next turn',
    hint: 'turn',
    action: (n) => ({ type: 'turn', by: times(n) }),
  },
  { id: 'turn.previous', category: 'Move', title: 'previous turn', action: (n) => ({ type: 'turn', by: -times(n) }) },
  { id: 'turn.first', category: 'Move', title: 'first turn', action: () => ({ type: 'turn-edge', edge: 'first' }) },
  { id: 'turn.last', category: 'Move', title: 'last turn', action: () => ({ type: 'turn-edge', edge: 'last' }) },
  {
    id: 'line.down',
    category: 'Move',
    title: 'down a line',
    action: (n) => ({ type: 'scroll', by: times(n), unit: 'line' }),
  },
  {
    id: 'line.up',
    category: 'Move',
    title: 'up a line',
    action: (n) => ({ type: 'scroll', by: -times(n), unit: 'line' }),
  },
  {
    id: 'half.down',
    category: 'Move',
    title: 'down half a page',
    action: (n) => ({ type: 'scroll', by: times(n), unit: 'half' }),
  },
  {
    id: 'half.up',
    category: 'Move',
    title: 'up half a page',
    action: (n) => ({ type: 'scroll', by: -times(n), unit: 'half' }),
  },
  {
    id: 'page.down',
    category: 'Move',
    title: 'down a page',
    action: (n) => ({ type: 'scroll', by: times(n), unit: 'page' }),
  },
  {
    id: 'page.up',
    category: 'Move',
    title: 'up a page',
    action: (n) => ({ type: 'scroll', by: -times(n), unit: 'page' }),
  },
  { id: 'top', category: 'Move', title: 'top, or the line of the count', action: (n) => ({ type: 'top', line: n }) },
  {
    id: 'bottom',
    category: 'Move',
    title: 'bottom, or the line of the count',
    action: (n) => ({ type: 'bottom', line: n }),
  },
  {
    id: 'sample.next',
    category: 'Rollouts',
    title: 'next sample',
    hint: 'sample',
    action: (n) => ({ type: 'sample', by: times(n) }),
  },
  {
    id: 'sample.previous',
    category: 'Rollouts',
    title: 'previous sample',
    action: (n) => ({ type: 'sample', by: -times(n) }),
  },
  {
    id: 'step.next',
    category: 'Rollouts',
    title: 'next step, same prompt',
    hint: 'step',
    action: (n) => ({ type: 'step', by: times(n) }),
  },
  {
    id: 'step.previous',
    category: 'Rollouts',
    title: 'previous step, same prompt',
    action: (n) => ({ type: 'step', by: -times(n) }),
  },
  {
    id: 'open',
    category: 'Rollouts',
    title: 'open the rollout; in it, fold or unfold the turn',
    action: () => ({ type: 'open' }),
  },
  { id: 'back', category: 'Rollouts', title: 'back one level', action: () => ({ type: 'back' }) },
  { id: 'focus.next', category: 'Rollouts', title: 'other pane', hint: 'pane', action: () => ({ type: 'focus-next' }) },
  { id: 'fold', category: 'Fold', title: 'fold or unfold the turn', hint: 'fold', action: () => ({ type: 'fold' }) },
  {
    id: 'fold.all',
    category: 'Fold',
    title: 'unfold everything, then a line for each turn',
    action: () => ({ type: 'fold-all' }),
  },
  ...LIVE_COMMANDS,
  ...READING_COMMANDS,
  {
    id: 'replay',
    category: 'Run again',
    title: 'run the tool call of this turn again, edited or not; all of the rollout; all of the list',
    hint: 'again',
    action: () => ({ type: 'replay-ask' }),
  },
  {
    id: 'fork',
    category: 'Run again',
    title: 'go on from this turn with a live model',
    hint: 'fork',
    action: () => ({ type: 'fork-ask' }),
  },
  { id: 'branches', category: 'Run again', title: 'go to the branches', action: () => ({ type: 'branches' }) },
  {
    id: 'rescore',
    category: 'Run again',
    title: 'score the rollout again',
    action: () => ({ type: 'rescore', all: false }),
  },
  {
    id: 'rescore.all',
    category: 'Run again',
    title: 'score all of the list again',
    action: () => ({ type: 'rescore', all: true }),
  },
  {
    id: 'replay.cancel',
    category: 'Run again',
    title: 'cancel what is running (^c does it too)',
    action: () => ({ type: 'replay-cancel' }),
  },
  {
    id: 'command',
    category: 'Program',
    title: 'enter a command: step, id, …',
    action: () => ({ type: 'prompt-open', prompt: 'command' }),
  },
  { id: 'help', category: 'Program', title: 'what can be done here', hint: 'help', action: () => ({ type: 'help' }) },
  { id: 'reload', category: 'Program', title: 'read from disk again', action: () => ({ type: 'reload' }) },
  { id: 'repaint', category: 'Program', title: 'draw the screen again', action: () => ({ type: 'repaint' }) },
  { id: 'suspend', category: 'Program', title: 'suspend; fg comes back', action: () => ({ type: 'suspend' }) },
  { id: 'quit', category: 'Program', title: 'quit', hint: 'quit', action: () => ({ type: 'quit' }) },
];

/** Lines of the help: the commands, a heading for each category, and a blank between two. */
export const HELP_LINES = COMMANDS.length + 2 * CATEGORIES.length - 1;
