import { isJsonObject, type JsonObject } from '../json/value.ts';
import { type FoundMessage, messageFormat } from './build.ts';
import { type Format, NO_TRAINING } from './format.ts';
import { idOf, objectsOf } from './values.ts';

/** The marker of an example that was split off. */
const EXAMPLE = 'webarena_example';

/** WebArena's `html2json.py`: all examples of a run in one object, by `example_N`. */
export const webArena: Format = {
  name: 'webarena',
  ...NO_TRAINING,
  basis: 'documentation',
  mapping: { rollouts: 'example_N' },
  detects(record) {
    const entries = Object.entries(record);
    return (
      entries.length > 0 &&
      entries.every(
        ([key, one]) => /^example_\d+$/.test(key) && isJsonObject(one) && objectsOf(one.messages).every(isSide),
      )
    );
  },
  split: (record) =>
    Object.entries(record).flatMap(([key, one]) => (isJsonObject(one) ? [{ ...one, [EXAMPLE]: key }] : [])),
  read: (record, context) => webArenaExample.read({ ...record, messages: [] }, context),
};

/** A page as the agent saw it, with its screenshot; or what the agent said. */
const isSide = (message: JsonObject): boolean =>
  typeof message.user === 'string' || typeof message.assistant === 'string';

export const webArenaExample: Format = messageFormat({
  name: 'webarena',
  ...NO_TRAINING,
  basis: 'documentation',
  mapping: {
    turns: 'messages[].user with image, messages[].assistant',
    score: 'success',
    'ground truth': 'reference_answers, else reference_url',
    uid: 'task_id',
  },
  detects: (record) => record[EXAMPLE] !== undefined && Array.isArray(record.messages),
  find(record) {
    const messages = objectsOf(record.messages).map((message, i): FoundMessage => {
      const at = `/messages/${i}`;
      if (typeof message.assistant === 'string')
        return { role: 'assistant', texts: [{ pointer: `${at}/assistant`, text: message.assistant }] };
      const image =
        typeof message.image === 'string' ? [{ pointer: `${at}/image`, text: `[image ${message.image}]` }] : [];
      const page = typeof message.user === 'string' ? [{ pointer: `${at}/user`, text: message.user }] : [];
      return { role: 'user', trained: false, texts: [...page, ...image] };
    });
    return {
      known: new Set([EXAMPLE, 'messages', 'success', 'reference_answers', 'reference_url']),
      messages,
      // The agent's answers are written in words of its prompt, not as calls.
      hasCallsApart: true,
      uid: idOf(record.task_id ?? record[EXAMPLE] ?? null),
      score: typeof record.success === 'boolean' ? Number(record.success) : null,
      groundTruth: record.reference_answers ?? record.reference_url,
    };
  },
});
