import { completions } from '../../../analysis/query/complete.ts';
import { valueName } from '../../../analysis/query/fields.ts';
import { QueryError } from '../../../analysis/query/query-error.ts';
import { sanitiseLine } from '../../../core/text/sanitise.ts';
import { filterText } from '../state/list.ts';
import { filterFromText } from './list.ts';
import type { PromptKind } from './prompt-kind.ts';

/** `&`: filters the list. */
export const filterPrompt: PromptKind = {
  sign: '&',
  hint: (value, { list }) => {
    const { filter } = list.choice;
    if (value === '!') return filter === null ? 'and what is to be left out' : 'Enter: what the filter leaves out now';
    if (value !== '') return 'Enter filters, Tab completes';
    if (filter !== null) return `Enter clears ${sanitiseLine(filterText(filter))}`;
    return 'score<0.5 && turns>4   output ~ /sorry/i   finding:tool_error   ! inverts';
  },
  check: (value, { list }) => {
    try {
      filterFromText(value, list.choice.filter);
      return null;
    } catch (error) {
      if (!(error instanceof QueryError)) throw error;
      return { message: error.message, at: error.at };
    }
  },
  submit: (text) => ({ type: 'filter', text }),
  complete: (value, _state, data) => completions(value, [...data.dump.extras].map(valueName)),
};
