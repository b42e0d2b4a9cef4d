import { type Command, times } from './command.ts';
import { noOtherRow, noOtherStep, noRecord, noTurns } from './reasons.ts';

/** Turns, samples and steps are three nested axes: h/l within J/K within H/L. */
export const MOVE_COMMANDS: readonly Command[] = [
  {
    id: 'turn.next',
    category: 'Move',
    title: 'next turn',
    action: (n) => ({ type: 'turn', by: times(n) }),
    disabled: noTurns,
  },
  {
    id: 'turn.previous',
    category: 'Move',
    title: 'previous turn',
    action: (n) => ({ type: 'turn', by: -times(n) }),
    disabled: noTurns,
  },
  {
    id: 'turn.first',
    category: 'Move',
    title: 'first turn',
    action: () => ({ type: 'turn-edge', edge: 'first' }),
    disabled: noTurns,
  },
  {
    id: 'turn.last',
    category: 'Move',
    title: 'last turn',
    action: () => ({ type: 'turn-edge', edge: 'last' }),
    disabled: noTurns,
  },
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
    action: (n) => ({ type: 'sample', by: times(n) }),
    disabled: noOtherRow,
  },
  {
    id: 'sample.previous',
    category: 'Rollouts',
    title: 'previous sample',
    action: (n) => ({ type: 'sample', by: -times(n) }),
    disabled: noOtherRow,
  },
  {
    id: 'step.next',
    category: 'Rollouts',
    title: 'next step, same prompt',
    action: (n) => ({ type: 'step', by: times(n) }),
    disabled: noOtherStep,
  },
  {
    id: 'step.previous',
    category: 'Rollouts',
    title: 'previous step, same prompt',
    action: (n) => ({ type: 'step', by: -times(n) }),
    disabled: noOtherStep,
  },
  {
    id: 'open',
    category: 'Rollouts',
    title: 'open the rollout; in it, fold or unfold the turn',
    action: () => ({ type: 'open' }),
    disabled: noRecord,
  },
  { id: 'back', category: 'Rollouts', title: 'back one level', action: () => ({ type: 'back' }) },
  { id: 'focus.next', category: 'Rollouts', title: 'other pane', action: () => ({ type: 'focus-next' }) },
];
