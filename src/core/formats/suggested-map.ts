import { isJsonObject, type JsonObject, type JsonValue } from '../json/value.ts';
import { numberOf, parsed } from './values.ts';

const ROLE = /^(?:role|from|who|speaker|sender|author|source|type|name)$/i;
const TEXT = /^(?:content|value|text|said|message|body|utterance|output)$/i;
const PROMPT = /prompt|question|instruction|input|query|problem|task|context/i;
const RESPONSE = /response|completion|output|answer|generat|reply|prediction|trajectory/i;
const SCORE = /^(?:score|reward|quality|rating|correct|is_correct|passed|success)$|reward|score/i;
/** Deeper lists are not found by a guess. */
const DEPTH = 3;
/** A record has few parts worth a look. */
const MOST = 400;

interface ValuePlace {
  way: string;
  value: JsonValue;
}

/**
 * The `--map` that would probably read a record of no known form: a guess from the names and shapes of its values; null if nothing
 * looks like a conversation.
 */
export function suggestedMap(record: JsonObject): string | null {
  const places = valuePlaces(record);
  const turns = places.flatMap(({ way, value }) => {
    const list = typeof value === 'string' && /^\s*\[/.test(value) ? parsed(value) : value;
    const keys = Array.isArray(list) ? turnKeys(list) : null;
    return keys === null ? [] : [[`turns=${way}`, ...keys]];
  });
  const [words] = turns.sort((a, b) => b.length - a.length);
  const parts = words ?? textsIn(places);
  if (parts === null) return null;
  const score = places.find(({ way, value }) => SCORE.test(lastOf(way)) && numberOf(value) !== null);
  return [...parts, ...(score === undefined ? [] : [`score=${score.way}`])].join(',');
}

/** `role=` and `text=` of a list of turns, where they differ from the usual names; null if it is no such list. */
function turnKeys(list: readonly JsonValue[]): string[] | null {
  const objects = list.filter(isJsonObject);
  const [first] = objects;
  if (first === undefined || objects.length < list.length) return null;
  const has = (key: string): boolean => objects.every((one) => typeof one[key] === 'string');
  const keys = Object.keys(first);
  const role = keys.find((key) => ROLE.test(key) && has(key));
  const text = keys.find((key) => TEXT.test(key) && key !== role && objects.some((one) => couldBeText(one[key])));
  if (role === undefined || text === undefined) return null;
  return [...(role === 'role' ? [] : [`role=${role}`]), ...(text === 'content' ? [] : [`text=${text}`])];
}

const couldBeText = (value: JsonValue | undefined): boolean => typeof value === 'string' || Array.isArray(value);

function textsIn(places: readonly ValuePlace[]): string[] | null {
  const texts = places.filter(({ value }) => typeof value === 'string' && value.length > 0);
  const response = texts.find(({ way }) => RESPONSE.test(lastOf(way)));
  if (response === undefined) return null;
  const prompt = texts.find((one) => one !== response && PROMPT.test(lastOf(one.way)));
  return [...(prompt === undefined ? [] : [`prompt=${prompt.way}`]), `response=${response.way}`];
}

const lastOf = (way: string): string => way.slice(way.lastIndexOf('.') + 1);

/** The values of a record and their paths, nearest first; lists are not entered. */
function valuePlaces(record: JsonObject): ValuePlace[] {
  const found: ValuePlace[] = [];
  let level: ValuePlace[] = [{ way: '', value: record }];
  for (let depth = 0; depth < DEPTH; depth++) {
    const next: ValuePlace[] = [];
    for (const { way, value } of level) {
      if (!isJsonObject(value)) continue;
      for (const [key, one] of Object.entries(value)) {
        if (found.length >= MOST || one === undefined || !/^[\p{L}_$][\p{L}\p{N}_$-]*$/u.test(key)) continue;
        const place = { way: way === '' ? key : `${way}.${key}`, value: one };
        found.push(place);
        next.push(place);
      }
    }
    level = next;
  }
  return found;
}
