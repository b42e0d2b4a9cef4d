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
  { id: 'yank.turn', category: 'Take away', title: 'copy the turn', action: () => ({ type: 'yank', what: 'turn' }) },
  {
    id: 'yank.call',
    category: 'Take away',
    title: 'copy the call as a shell command',
    action: () => ({ type: 'yank', what: 'call' }),
  },
  {
    id: 'yank.prompt',
    category: 'Take away',
    title: 'copy the prompt',
    action: () => ({ type: 'yank', what: 'prompt' }),
  },
  {
    id: 'yank.json',
    category: 'Take away',
    title: 'copy the record as JSON',
    action: () => ({ type: 'yank', what: 'json' }),
  },
  {
    id: 'yank.link',
    category: 'Take away',
    title: 'copy the locator of the turn',
    action: () => ({ type: 'yank', what: 'link' }),
  },
  { id: 'edit', category: 'Take away', title: 'open a copy in $EDITOR or $PAGER', action: () => ({ type: 'edit' }) },
  {
    id: 'pipe',
    category: 'Take away',
    title: 'give it to a shell command',
    action: () => ({ type: 'prompt-open', prompt: 'pipe' }),
  },
];
