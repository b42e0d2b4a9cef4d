import { printJson } from '../json/print.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../json/value.ts';
import { buildRollout, type FoundMessage } from './build.ts';
import { contentText } from './content-text.ts';
import type { Format } from './format.ts';
import { type KeyMap, valueAt } from './key-map.ts';
import { chatMessage, roleOfMessage } from './openai-message.ts';
import { textRollout } from './text-rollout.ts';
import { idOf, numberOf, objectsOf, parsed } from './values.ts';

/** A format described by the user: it matches records that have the first entry of its map. */
export function mapped(map: KeyMap): Format {
  const { places } = map;
  const at = (record: JsonObject, word: string): JsonValue | undefined =>
    places[word] === undefined ? undefined : valueAt(record, places[word]);
  const main = ['turns', 'response', 'prompt'].find((word) => places[word] !== undefined);
  return {
    name: map.name,
    mapping: Object.fromEntries(Object.entries(places).map(([word, way]) => [word, way.join('.')])),
    detects: (record) => main !== undefined && at(record, main) !== undefined,
    read(record, context) {
      const common = {
        format: map.name,
        record,
        known: new Set(Object.values(places).map((way) => String(way[0]))),
        score: numberOf(at(record, 'score')),
        step: numberOf(at(record, 'step')),
        group: idOf(at(record, 'group')),
        groundTruth: at(record, 'ground_truth'),
        status: idOf(at(record, 'status')),
        tools: at(record, 'tools'),
      };
      const way = places.turns;
      const held = at(record, 'turns');
      const list = typeof held === 'string' ? parsed(held) : held;
      if (way !== undefined && Array.isArray(list)) {
        const pointer = `/${way.join('/')}`;
        const messages = objectsOf(list).map((one, i): FoundMessage => messageOf(one, `${pointer}/${i}`, places));
        return buildRollout({ ...common, messages }, context);
      }
      const text = (word: string) => mappedText(at(record, word));
      const field = (word: string) => `/${(places[word] ?? [word]).join('/')}`;
      return textRollout(
        {
          ...common,
          prompt: text('prompt'),
          response: text('response'),
          promptField: field('prompt'),
          responseField: field('response'),
        },
        context,
      );
    },
  };
}

/** A turn by the user's names of role and text, else as in chat messages. */
function messageOf(one: JsonObject, pointer: string, places: KeyMap['places']): FoundMessage {
  const message = chatMessage(one, pointer);
  const role = places.role === undefined ? undefined : valueAt(one, places.role);
  const text = places.text === undefined ? undefined : valueAt(one, places.text);
  return {
    ...message,
    ...(role === undefined ? {} : { role: roleOfMessage(role) }),
    ...(text === undefined
      ? {}
      : { texts: [{ pointer: `${pointer}/${places.text!.join('/')}`, text: mappedText(text) }] }),
  };
}

const mappedText = (value: JsonValue | undefined): string =>
  isJsonObject(value) && typeof value.text !== 'string' ? printJson(value) : contentText(value);
