import { type JsonObject, listIn } from '../json/value.ts';
import { resultMessage } from './blocks.ts';
import { type FoundMessage, messageFormat } from './build.ts';
import { type Format, NO_TRAINING } from './format.ts';
import { idOf, recordedReward } from './values.ts';

/**
 * A question of ToRA's inference (`src/infer/inference.py`) with its samples: in each, text of the model and of the
 * interpreter alternate.
 */
export const toraQuestion: Format = {
  name: 'tora-question',
  ...NO_TRAINING,
  mapping: { rollouts: 'each place of code, pred, report and score' },
  detects: (record) =>
    typeof record.question === 'string' &&
    Array.isArray(record.code) &&
    record.code.every((one) => typeof one === 'string') &&
    Array.isArray(record.pred),
  split(record) {
    const count = listIn(record.code).length;
    return Array.from({ length: count }, (_, at): JsonObject => {
      const one: JsonObject = { tora_sample: at };
      for (const [key, value] of Object.entries(record))
        one[key] = Array.isArray(value) && value.length === count ? (value[at] ?? null) : value;
      return one;
    });
  },
  read: (record, context) => tora.read(record, context),
};

export const tora: Format = messageFormat({
  name: 'tora',
  ...NO_TRAINING,
  basis: 'documentation',
  mapping: {
    turns: 'question, then code, cut at each block of output',
    calls: 'blocks of python with an output behind them',
    score: 'score',
    'ground truth': 'gt, else answer',
    group: 'idx',
  },
  detects: (record) => record.tora_sample !== undefined && typeof record.code === 'string',
  find: (record) => ({
    known: new Set(['question', 'code', 'tora_sample']),
    messages: [
      { role: 'user', texts: [{ pointer: '/question', text: idOf(record.question) ?? '' }] },
      ...pieces(idOf(record.code) ?? ''),
    ],
    hasCallsApart: true,
    score: recordedReward(record.score),
    group: idOf(record.idx),
    groundTruth: record.gt ?? record.answer,
  }),
});

const OUTPUT = /```output[ \t]*\n([\s\S]*?)(?:```|$)/g;
const PROGRAM = /```python[ \t]*\n([\s\S]*?)```(?![\s\S]*```python)/;

/** The interpreter wrote the contents of output blocks; offsets into the record's single text. */
function pieces(text: string): FoundMessage[] {
  const messages: FoundMessage[] = [];
  let from = 0;
  for (const { index, 0: block, 1: said } of text.matchAll(OUTPUT)) {
    const own = text.slice(from, index);
    const program = PROGRAM.exec(own)?.[1];
    messages.push({
      role: 'assistant',
      texts: [{ pointer: `/code#${from}`, text: own }],
      ...(program === undefined
        ? {}
        : { calls: [{ id: null, name: 'python', arguments: { code: program }, raw: program }] }),
    });
    messages.push(resultMessage(null, `/code#${index}`, (said ?? '').trimEnd()));
    from = index + block.length;
  }
  const rest = text.slice(from);
  if (rest.trim() !== '') messages.push({ role: 'assistant', texts: [{ pointer: `/code#${from}`, text: rest }] });
  return messages;
}
