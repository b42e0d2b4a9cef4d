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
  {
    id: 'search',
    category: 'Search',
    title: 'search this sample',
    hint: 'search',
    action: () => ({ type: 'prompt-open', prompt: 'search' }),
  },
  {
    id: 'search.next',
    category: 'Search',
    title: 'next hit, then the next sample',
    action: (n) => ({ type: 'search-next', by: times(n) }),
  },
  {
    id: 'search.previous',
    category: 'Search',
    title: 'previous hit',
    action: (n) => ({ type: 'search-next', by: -times(n) }),
  },
  {
    id: 'search.word',
    category: 'Search',
    title: 'next place of this tool',
    action: (n) => ({ type: 'search-word', by: times(n) }),
  },
  {
    id: 'search.word.back',
    category: 'Search',
    title: 'previous place of this tool',
    action: (n) => ({ type: 'search-word', by: -times(n) }),
  },
];
