import { isJsonObject, objectIn } from '../json/value.ts';
import { messageFormat } from './build.ts';
import { type Format, NO_TRAINING } from './format.ts';
import { given } from './given.ts';
import { chatMessage } from './openai-message.ts';
import { idOf, objectsOf, recordedReward } from './values.ts';

/** A line of MINT's `results.jsonl` (`mint/main.py`): the state of a task with its history. */
export const mint: Format = messageFormat({
  name: 'mint',
  ...NO_TRAINING,
  basis: 'documentation',
  mapping: {
    turns: 'state.history',
    score: 'state.success',
    status: 'state.terminate_reason',
    group: 'task.task_id',
    'ground truth': 'task.reference',
  },
  detects: ({ state, task }) => isJsonObject(state) && isJsonObject(task) && Array.isArray(state.history),
  find(record) {
    const state = objectIn(record.state);
    const task = objectIn(record.task);
    const history = objectsOf(state.history);
    // Examples are in the prompt: the first user message holds the whole question.
    const first = history.findIndex(({ role }) => role === 'user');
    return {
      known: new Set(['state']),
      messages: history.map((message, at) => {
        const one = chatMessage(message, `/state/history/${at}`);
        return at < first ? given(one) : one;
      }),
      score: recordedReward(state.success),
      status: idOf(state.terminate_reason),
      group: idOf(task.task_id),
      groundTruth: task.reference,
      extras: isJsonObject(state.token_counter) ? { usage: state.token_counter } : {},
    };
  },
});
