import type { Command } from './command.ts';

const times = (count: number | null): number => count ?? 1;

/** How a record is shown. */
export const READING_COMMANDS: readonly Command[] = [
  {
    id: 'view.next',
    category: 'View',
    title: 'chat, raw text, JSON, fields, details',
    hint: 'view',
    action: (n) => ({ type: 'view-next', by: times(n) }),
  },
  { id: 'wrap', category: 'View', title: 'wrap lines, or not', action: () => ({ type: 'wrap' }) },
  { id: 'right', category: 'View', title: 'scroll right', action: (n) => ({ type: 'sideways', by: times(n) }) },
  { id: 'left', category: 'View', title: 'scroll left', action: (n) => ({ type: 'sideways', by: -times(n) }) },
  { id: 'field.hide', category: 'View', title: 'hide the field', action: () => ({ type: 'field-hide' }) },
  { id: 'field.show', category: 'View', title: 'show hidden fields', action: () => ({ type: 'field-show-all' }) },
];
