import { printJson } from '../json/print.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../json/value.ts';
import { itemAt } from '../lists/at.ts';
import { outcomeIn } from '../rollout/outcome.ts';
import { resultMessage } from './blocks.ts';
import { type FoundMessage, messageFormat } from './build.ts';
import { contentText } from './content-text.ts';
import { type Format, NO_TRAINING } from './format.ts';
import { idOf, objectsOf, parsed, recordedReward } from './values.ts';

/** A round of OWL: what one agent asks, and the calls and the answer of the other. */
export const isOwlRound = (one: JsonObject): boolean =>
  typeof one.user === 'string' && typeof one.assistant === 'string' && one.tool_calls !== undefined;

/**
 * A task of GAIA by OWL (`owl/utils/gaia.py`), or the chat history of any other society: exchanges of two agents; `assistant` has the
 * tools.
 */
export const owl: Format = messageFormat({
  name: 'owl',
  ...NO_TRAINING,
  basis: 'files',
  mapping: {
    turns: 'question, then history[]: user, tool_calls with their results, assistant',
    score: 'score',
    'ground truth': 'ground_truth',
    group: 'task_id',
  },
  detects: (record) =>
    typeof record.question === 'string'
      ? objectsOf(record.history).some((one) => typeof one.assistant === 'string' && one.user !== undefined)
      : objectsOf(record.history).length > 0 && objectsOf(record.history).every(isOwlRound),
  find: (record) => ({
    known: new Set(['question', 'history']),
    messages: [
      ...(typeof record.question === 'string'
        ? [{ role: 'user', texts: [{ pointer: '/question', text: record.question }] }]
        : []),
      ...objectsOf(record.history).flatMap((one, at) => answeredMessages(one, `/history/${at}`)),
    ],
    hasCallsApart: true,
    score: recordedReward(record.score),
    group: idOf(record.task_id),
    groundTruth: record.ground_truth,
  }),
});

function answeredMessages(one: JsonObject, at: string): FoundMessage[] {
  const made = objectsOf(typeof one.tool_calls === 'string' ? parsed(one.tool_calls) : one.tool_calls);
  const calls = made.map((call, i) => ({
    id: idOf(call.tool_call_id) ?? `${at}/${i}`,
    name: idOf(call.func_name ?? call.tool_name ?? call.name ?? null),
    arguments: call.args ?? call.arguments,
  }));
  const results = made.flatMap((call, i): FoundMessage[] =>
    call.result === undefined
      ? []
      : [resultMessage(itemAt(calls, i).id, `${at}/tool_calls/${i}/result`, wordsOrJson(call.result), outcomeIn(call))],
  );
  const said = (key: string, role: string): FoundMessage[] => {
    const text = contentText(one[key]);
    return text === '' ? [] : [{ role, texts: [{ pointer: `${at}/${key}`, text }] }];
  };
  const called: FoundMessage[] = calls.length === 0 ? [] : [{ role: 'function_call', texts: [], calls }];
  return [...said('user', 'user'), ...called, ...results, ...said('assistant', 'assistant')];
}

const wordsOrJson = (value: JsonValue): string =>
  isJsonObject(value) || Array.isArray(value) ? printJson(value) : contentText(value);

/**
 * A task of Reflexion's programming runs: successive implementations, each followed by the test output and a
 * reflection.
 */
export const reflexion: Format = messageFormat({
  name: 'reflexion',
  ...NO_TRAINING,
  basis: 'documentation',
  mapping: {
    turns: 'prompt, then implementations, test_feedback and reflections in turn, and solution',
    score: 'is_solved',
    group: 'task_id, else name',
  },
  detects: (record) =>
    typeof record.prompt === 'string' && record.is_solved !== undefined && typeof record.solution === 'string',
  find(record) {
    const list = (key: string): JsonValue[] => (Array.isArray(record[key]) ? record[key] : []);
    const [made, feedback, thoughts] = ['implementations', 'test_feedback', 'reflections'].map(list);
    const messages: FoundMessage[] = [
      { role: 'user', texts: [{ pointer: '/prompt', text: idOf(record.prompt) ?? '' }] },
    ];
    const add = (role: string, pointer: string, value: JsonValue | undefined) => {
      const text = contentText(value);
      if (text !== '')
        messages.push({ role, texts: [{ pointer, text }], ...(role === 'tool' ? { trained: false } : {}) });
    };
    for (const [i, one] of made!.entries()) {
      add('assistant', `/implementations/${i}`, one);
      add('tool', `/test_feedback/${i}`, feedback![i]);
      add('assistant', `/reflections/${i}`, thoughts![i]);
    }
    if (made!.at(-1) !== record.solution) add('assistant', '/solution', record.solution);
    return {
      known: new Set(['prompt', 'implementations', 'test_feedback', 'reflections', 'solution']),
      messages,
      score: recordedReward(record.is_solved),
      group: idOf(record.task_id ?? record.name ?? null),
      groundTruth: record.canonical_solution ?? undefined,
    };
  },
});
