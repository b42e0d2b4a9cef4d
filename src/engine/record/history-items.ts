import { anyMessages } from '../../core/formats/any-message.ts';
import { printJson } from '../../core/json/print.ts';
import { type JsonObject, type JsonValue, keysIn, plainJson } from '../../core/json/value.ts';
import type { Turn } from '../../core/rollout/rollout.ts';
import { withSortedKeys } from './values.ts';

/** Differences between two runs of an agent that do not matter. `--exact` disables each. */
const RULES = {
  dates: 'dates, times of day and seconds since 1970',
  durations: 'seconds with a decimal point, in results',
  ids: 'UUIDs, long hexadecimal numbers, ids of calls and messages',
  directories: 'the folders of absolute paths; the name of a file counts',
  'tool-order': 'the order of tools, and that of the results of parallel calls',
  spaces: 'blank space',
} as const;

export type HistoryRule = keyof typeof RULES;
export const HISTORY_RULES = keysIn(RULES);
export type HistoryRules = ReadonlySet<HistoryRule>;

/** A message of a history, whoever wrote it down. */
export interface HistoryItem {
  role: string;
  text: string;
  calls: { name: string | null; arguments: JsonValue }[];
}

/** The messages of an agent's request. Reasoning is left out: not every agent sends it back. */
export function requestItems(messages: readonly JsonObject[]): HistoryItem[] {
  return messages
    .flatMap((message) => anyMessages(message, ''))
    .map(({ role, texts, calls }) => ({
      role: role === 'developer' ? 'system' : role,
      text: texts
        .filter(({ isThought }) => !isThought)
        .map(({ text }) => text)
        .join('\n'),
      calls: (calls ?? []).map(({ name, arguments: args }) => ({ name, arguments: argumentsValue(args) })),
    }))
    .filter(isTelling);
}

/** The turns of a recorded history. */
export function turnItems(turns: readonly Turn[]): HistoryItem[] {
  return turns
    .map((turn) => ({
      role: turn.role === 'function_call' || turn.role === 'given_assistant' ? 'assistant' : turn.role,
      text: turn.parts
        .filter(({ kind }) => kind === 'text')
        .map(({ start, end }) => turn.text.slice(start, end))
        .join(''),
      calls: turn.toolCalls.map((call) => ({
        name: call.name,
        arguments: call.error === null ? call.arguments : call.raw,
      })),
    }))
    .filter(isTelling);
}

const isTelling = ({ text, calls }: HistoryItem): boolean => text.trim() !== '' || calls.length > 0;

function argumentsValue(args: JsonValue | undefined): JsonValue {
  if (typeof args !== 'string') return args ?? null;
  try {
    return plainJson(args);
  } catch {
    return args;
  }
}

/** The text of an item for a person, and for a comparison by lines. */
export const itemText = ({ role, text, calls }: HistoryItem): string =>
  [
    `${role}:`,
    ...(text.trim() === '' ? [] : [text]),
    ...calls.map(({ name, arguments: args }) => `${name ?? 'a call'} ${printJson(args)}`),
  ].join('\n');

/** One key for all histories that are equal under the rules. */
export const historyKey = (items: readonly HistoryItem[], rules: HistoryRules): string =>
  itemKeys(items, rules).join('\0');

/** The place of the first difference; null if they are equal. */
export function differenceAt(
  recorded: readonly HistoryItem[],
  fresh: readonly HistoryItem[],
  rules: HistoryRules,
): number | null {
  const [one, two] = [itemKeys(recorded, rules), itemKeys(fresh, rules)];
  for (let at = 0; at < Math.max(one.length, two.length); at++) if (one[at] !== two[at]) return at;
  return null;
}

function itemKeys(items: readonly HistoryItem[], rules: HistoryRules): string[] {
  const keys = items.map((item) => itemKey(item, rules));
  if (!rules.has('tool-order')) return keys;
  // Results of one reply may come in any order.
  for (let from = 0; from < items.length; from++) {
    let to = from;
    while (items[to]?.role === 'tool') to++;
    if (to > from + 1) keys.splice(from, to - from, ...keys.slice(from, to).sort());
    from = Math.max(from, to - 1);
  }
  return keys;
}

const itemKey = ({ role, text, calls }: HistoryItem, rules: HistoryRules): string =>
  JSON.stringify([
    role,
    // Readers set the blocks of a message side by side or below each other.
    role === 'tool' ? plainText(timeless(text, rules), rules, ' ') : plainText(text, rules, ''),
    calls.map(({ name, arguments: args }) => [name, plainText(printJson(withSortedKeys(args)), rules, ' ')]),
  ]);

const MONTH = '(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*';
const DATES = new RegExp(
  [
    String.raw`\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z| ?[+-]\d\d:?\d\d)?)?`,
    String.raw`(?:(?:Mon|Tues?|Wed(?:nes)?|Thu(?:rs)?|Fri|Sat(?:ur)?|Sun)(?:day)?,? )?(?:${MONTH} \d{1,2},? \d{4}|\d{1,2} ${MONTH},? \d{4}|${MONTH} \d{1,2})`,
    String.raw`\b\d{1,2}/\d{1,2}/\d{4}\b`,
    String.raw`\b\d\d:\d\d:\d\d(?:\.\d+)?\b`,
    String.raw`\b1[5-9]\d{8}(?:\d{3})?(?:\.\d+)?\b`,
  ].join('|'),
  'g',
);
const DURATIONS = /\b\d+\.\d+ ?(?:ms|milliseconds?|s|secs?|seconds?)\b/g;
const IDS =
  /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b|\b(?:call|toolu|msg|chatcmpl|resp|fc|rs|ses|req)[_-][\w-]{4,}|\b(?=[0-9a-f]*\d)[0-9a-f]{12,}\b|(?<=\bID: ?)[0-9a-f]{6,}\b/gi;
const DIRECTORIES = /(?<![\w.:/])(?:\/[\w.@+~-]+)+\/?/g;

const timeless = (text: string, rules: HistoryRules): string =>
  rules.has('durations') ? text.replace(DURATIONS, '<duration>') : text;

/** @param space what is left of blank space */
function plainText(text: string, rules: HistoryRules, space: string): string {
  let result = text;
  if (rules.has('directories')) result = result.replace(DIRECTORIES, folderless);
  if (rules.has('ids')) result = result.replace(IDS, '<id>');
  if (rules.has('dates')) result = result.replace(DATES, '<date>');
  return rules.has('spaces') ? result.replaceAll(/\s+/g, space).trim() : result;
}

/** A last part with an ending is a file, and its name counts. */
const folderless = (path: string): string => {
  const last = path.slice(path.lastIndexOf('/') + 1);
  return /\.\w{1,8}$/.test(last) ? `<dir>/${last}` : '<dir>';
};
