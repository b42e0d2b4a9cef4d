import { printJson } from '../json/print.ts';
import { isJsonObject, type JsonObject, type JsonValue, objectIn } from '../json/value.ts';
import { resultMessage } from './blocks.ts';
import { type FoundMessage, messageFormat } from './build.ts';
import { contentText } from './content-text.ts';
import { type Format, NO_TRAINING } from './format.ts';
import { idOf, numberOf } from './values.ts';

/** InterCode's results (`experiments/eval_*.py`): a file of tasks by their number. */
export const interCodeRun: Format = {
  name: 'intercode-run',
  ...NO_TRAINING,
  mapping: { rollouts: 'each value that has a turn_history, of the file or of its logs' },
  detects: (record) => {
    const values = Object.values(tasksOf(record));
    return values.length > 0 && values.every((one) => isJsonObject(one) && isHistory(one.turn_history));
  },
  split: (record) => Object.values(tasksOf(record)).filter(isJsonObject),
  read: (record, context) => interCode.read(record, context),
};

/** Runs that plan first (`experiments/eval_plan_solve.py`) keep their arguments beside the tasks. */
const tasksOf = ({ meta, logs, ...rest }: JsonObject): JsonObject =>
  isJsonObject(meta) && isJsonObject(logs) && Object.keys(rest).length === 0
    ? logs
    : { ...rest, ...(meta === undefined ? {} : { meta }) };

/** One task of InterCode: the question, and actions with an observation and a reward each. */
export const interCode: Format = messageFormat({
  name: 'intercode',
  ...NO_TRAINING,
  basis: 'files',
  mapping: {
    turns: 'query, then turn_history.thoughts or steps and actions, observations',
    score: 'summary.max_reward',
    rewards: 'turn_history.rewards',
  },
  detects: (record) => isHistory(record.turn_history),
  find(record) {
    const history = objectIn(record.turn_history);
    const summary = objectIn(record.summary);
    const list = (key: string): JsonValue[] => (Array.isArray(history[key]) ? history[key] : []);
    const [observations, rewards, valid] = ['observations', 'rewards', 'valid_action'].map(list);
    const said = ['thoughts', 'steps'].find((key) => Array.isArray(history[key])) ?? 'thoughts';
    const thoughts = list(said);
    const query = idOf(record.query);
    const messages: FoundMessage[] =
      query === null ? [] : [{ role: 'user', texts: [{ pointer: '/query', text: query }] }];
    for (const [i, action] of list('actions').entries()) {
      const text = contentText(thoughts[i]);
      const command = textOrNothing(action);
      messages.push({
        role: 'assistant',
        texts: [
          {
            pointer: text === '' ? `/turn_history/actions/${i}` : `/turn_history/${said}/${i}`,
            text: text || command,
          },
        ],
        calls: [{ id: null, name: 'execute', arguments: { action: command }, raw: command }],
        reward: numberOf(rewards![i]),
      });
      if (observations![i] === undefined) continue;
      messages.push(
        resultMessage(
          null,
          `/turn_history/observations/${i}`,
          textOrNothing(observations![i]),
          valid![i] === false ? { isFailure: true, evidence: 'valid_action false' } : undefined,
        ),
      );
    }
    return {
      known: new Set(['turn_history', 'query']),
      messages,
      hasCallsApart: true,
      score: numberOf(summary.max_reward ?? record.reward),
      group: idOf(record.task_id),
      groundTruth: record.gold ?? undefined,
    };
  },
});

const isHistory = (value: JsonValue | undefined): boolean =>
  isJsonObject(value) && Array.isArray(value.actions) && Array.isArray(value.observations);

/** Database rows are not text. */
const textOrNothing = (value: JsonValue | undefined): string =>
  typeof value === 'string' ? value : value === undefined || value === null ? '' : printJson(value);
