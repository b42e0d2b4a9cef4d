import { type Command, times } from './command.ts';
import { firstReason, noCallHere, noRecord, noRollout, noSearch, noTurns, type Reason } from './reasons.ts';

const wrapped: Reason = ({ display }, { keys }) =>
  display.wrap ? `lines are wrapped; ${keys.label('wrap')} ends that` : null;

const noField: Reason = ({ display }, { keys }) =>
  display.view === 'fields' ? null : `fields are hidden in the view of fields; ${keys.label('view.next')} goes there`;

const noFold: Reason = ({ display }) =>
  display.view === 'chat' || display.view === 'json' ? null : 'nothing to fold in this view';

/** How a record is shown. */
export const READING_COMMANDS: readonly Command[] = [
  {
    id: 'view.next',
    category: 'View',
    title: 'chat, raw text, JSON, fields, details',
    action: (n) => ({ type: 'view-next', by: times(n) }),
    disabled: noRecord,
  },
  {
    id: 'fold',
    category: 'View',
    title: 'fold or unfold the turn',
    action: () => ({ type: 'fold' }),
    disabled: firstReason(noTurns, noFold),
  },
  {
    id: 'fold.all',
    category: 'View',
    title: 'unfold everything, then a line for each turn',
    action: () => ({ type: 'fold-all' }),
    disabled: noTurns,
  },
  { id: 'wrap', category: 'View', title: 'wrap lines, or not', action: () => ({ type: 'wrap' }) },
  {
    id: 'zoom',
    category: 'View',
    title: 'this pane in the whole width, or both',
    action: () => ({ type: 'zoom' }),
  },
  {
    id: 'right',
    category: 'View',
    title: 'scroll right',
    action: (n) => ({ type: 'sideways', by: times(n) }),
    disabled: wrapped,
  },
  {
    id: 'left',
    category: 'View',
    title: 'scroll left',
    action: (n) => ({ type: 'sideways', by: -times(n) }),
    disabled: wrapped,
  },
  {
    id: 'field.hide',
    category: 'View',
    title: 'hide the field',
    action: () => ({ type: 'field-hide' }),
    disabled: noField,
  },
  {
    id: 'field.show',
    category: 'View',
    title: 'show hidden fields',
    action: () => ({ type: 'field-show-all' }),
    disabled: ({ display }) => (display.hidden.length === 0 ? 'no field is hidden' : null),
  },
  {
    id: 'search',
    category: 'Search',
    title: 'search this sample',
    action: () => ({ type: 'prompt-open', prompt: 'search' }),
    disabled: noRecord,
  },
  {
    id: 'search.next',
    category: 'Search',
    title: 'next hit, then the next sample',
    action: (n) => ({ type: 'search-next', by: times(n) }),
    disabled: noSearch,
  },
  {
    id: 'search.previous',
    category: 'Search',
    title: 'previous hit',
    action: (n) => ({ type: 'search-next', by: -times(n) }),
    disabled: noSearch,
  },
  {
    id: 'search.word',
    category: 'Search',
    title: 'next place of this tool',
    action: (n) => ({ type: 'search-word', by: times(n) }),
    disabled: noCallHere,
  },
  {
    id: 'search.word.back',
    category: 'Search',
    title: 'previous place of this tool',
    action: (n) => ({ type: 'search-word', by: -times(n) }),
    disabled: noCallHere,
  },
  {
    id: 'yank.turn',
    category: 'Take away',
    title: 'copy the turn',
    action: () => ({ type: 'copy-text', what: 'turn' }),
    disabled: firstReason(noRollout, noTurns),
  },
  {
    id: 'yank.call',
    category: 'Take away',
    title: 'copy the call as a shell command',
    action: () => ({ type: 'copy-text', what: 'call' }),
    disabled: firstReason(noRollout, noCallHere),
  },
  {
    id: 'yank.prompt',
    category: 'Take away',
    title: 'copy the prompt',
    action: () => ({ type: 'copy-text', what: 'prompt' }),
    disabled: noRollout,
  },
  {
    id: 'yank.json',
    category: 'Take away',
    title: 'copy the record as JSON',
    action: () => ({ type: 'copy-text', what: 'json' }),
    disabled: noRecord,
  },
  {
    id: 'yank.link',
    category: 'Take away',
    title: 'copy the locator of the turn',
    action: () => ({ type: 'copy-text', what: 'link' }),
    disabled: noRecord,
  },
  {
    id: 'edit',
    category: 'Take away',
    title: 'open a copy in $EDITOR or $PAGER',
    action: () => ({ type: 'edit' }),
    disabled: noRecord,
  },
  {
    id: 'pipe',
    category: 'Take away',
    title: 'give it to a shell command',
    action: () => ({ type: 'prompt-open', prompt: 'pipe' }),
    disabled: noRecord,
  },
];
