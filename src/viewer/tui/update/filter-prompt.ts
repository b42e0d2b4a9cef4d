import { completions } from '../../../analysis/query/complete.ts';
import { valueName } from '../../../analysis/query/fields.ts';
import { QueryError } from '../../../analysis/query/query-error.ts';
import type { Place } from '../../../core/dump/dump.ts';
import { sanitiseLine } from '../../../core/text/sanitise.ts';
import type { Data } from '../rows/data.ts';
import { filterText } from '../state/list.ts';
import { filterFromText } from './list.ts';
import type { PromptKind } from './prompt-kind.ts';

/** `&`: filters the list. */
export const filterPrompt: PromptKind = {
  sign: '&',
  hint: (value, { list }, data) => {
    const { filter } = list.choice;
    if (value === '!') return filter === null ? 'and what is to be left out' : 'Enter: what the filter leaves out now';
    if (value !== '') return 'Enter filters, Tab completes';
    if (filter !== null) return `Enter clears ${sanitiseLine(filterText(filter))}`;
    const examples = 'turns>4   output ~ /sorry/i   finding:tool_error   ! inverts';
    const failures = failuresOfStep(list.cursor, data);
    return failures === null ? `score<0.5 && ${examples}` : `Tab: ${failures}   ${examples}`;
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
  complete: (value, { list }, data) => {
    const names = completions(value, [...data.dump.extras].map(valueName));
    const failures = value === '' ? failuresOfStep(list.cursor, data) : null;
    return failures === null ? names : [failures, ...names];
  },
};

/** Scores of the step that are looked at for their range. */
const MOST = 1000;

/** The filter for rollouts of the cursor's step with a score in the lower half; null if there is no such half. */
function failuresOfStep(cursor: Place | null, { dump }: Data): string | null {
  const step = cursor === null ? null : cursor.file.stepOf(cursor.record);
  if (cursor === null || step === null) return null;
  const { file } = cursor;
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (
    let record = Math.max(0, cursor.record - MOST / 2);
    record < file.count && record < cursor.record + MOST / 2;
    record++
  ) {
    const score = file.stepOf(record) === step ? file.score(record) : null;
    if (score == null || !Number.isFinite(score)) continue;
    [low, high] = [Math.min(low, score), Math.max(high, score)];
  }
  // A step whose scores are all equal is compared with the usual range.
  const middle = low < high ? (low + high) / 2 : 0.5;
  const stream = dump.files.some((other) => other.stream !== file.stream)
    ? `stream == ${JSON.stringify(file.stream)} && `
    : '';
  return `${stream}step == ${step} && score < ${Number(middle.toPrecision(3))}`;
}
