import { type Command, times } from './command.ts';
import { noMarks, noRecord, noSort, nothingToRedo, nothingToUndo, notMarked } from './reasons.ts';

/** The rows of the list, and their order. */
export const LIST_COMMANDS: readonly Command[] = [
  {
    id: 'filter',
    category: 'List',
    title: 'filter the list; empty clears, ! before it inverts',
    action: () => ({ type: 'prompt-open', prompt: 'filter' }),
  },
  {
    id: 'sort',
    category: 'List',
    title: 'sort the list: best, worst, by a column',
    action: () => ({ type: 'list-menu', menu: 'sort' }),
  },
  {
    id: 'sort.reverse',
    category: 'List',
    title: 'reverse the sort',
    action: () => ({ type: 'sort-reverse' }),
    disabled: noSort,
  },
  {
    id: 'columns',
    category: 'List',
    title: 'choose the columns',
    action: () => ({ type: 'list-menu', menu: 'columns' }),
  },
  {
    id: 'group',
    category: 'List',
    title: 'the group of this prompt together; the list again',
    action: () => ({ type: 'group' }),
    disabled: noRecord,
  },
  {
    id: 'group.next',
    category: 'List',
    title: 'next rollout of the same prompt',
    action: (n) => ({ type: 'group-member', by: times(n) }),
    disabled: noRecord,
  },
  {
    id: 'group.previous',
    category: 'List',
    title: 'previous rollout of the same prompt',
    action: (n) => ({ type: 'group-member', by: -times(n) }),
    disabled: noRecord,
  },
  {
    id: 'mark',
    category: 'List',
    title: 'mark the turn with a letter',
    action: () => ({ type: 'list-menu', menu: 'mark' }),
    disabled: noRecord,
  },
  {
    id: 'mark.row',
    category: 'List',
    title: 'mark the row, or not, and go down',
    when: 'list',
    action: () => ({ type: 'mark-row' }),
    disabled: noRecord,
  },
  {
    id: 'mark.go',
    category: 'List',
    title: 'go to a mark',
    action: () => ({ type: 'list-menu', menu: 'go' }),
    disabled: noMarks,
  },
  {
    id: 'mark.next',
    category: 'List',
    title: 'next mark',
    action: (n) => ({ type: 'mark-next', by: times(n) }),
    disabled: notMarked,
  },
  {
    id: 'mark.previous',
    category: 'List',
    title: 'previous mark',
    action: (n) => ({ type: 'mark-next', by: -times(n) }),
    disabled: notMarked,
  },
  {
    id: 'undo',
    category: 'List',
    title: 'undo a filter, a sort, columns, marks',
    action: () => ({ type: 'undo' }),
    disabled: nothingToUndo,
  },
  { id: 'redo', category: 'List', title: 'do it again', action: () => ({ type: 'redo' }), disabled: nothingToRedo },
];
