import { itemAt } from '../lists/at.ts';

/**
 * How turns begin and end where their template leaves no trace, by what the records of a dump repeat. Each record shows
 * where one reply begins, at its response; and between two replies lies exactly one place at which the first of them ends.
 */
export interface Forms {
  /** How replies begin. */
  opens: ReadonlySet<string>;
  /** The last line before a reply, if it is a sign and not words. */
  asks: ReadonlySet<string>;
  /** The signs at which a reply ends and another speaks, the most frequent first. */
  ends: readonly string[];
  /** The words that all prompts begin with. */
  heads: readonly string[];
}

/** A record as texts. */
export interface AskedText {
  prompt: string;
  response: string;
}

/** More records show nothing new. */
export const FORM_RECORDS = 64;
/** A text in as many records is a form. */
const LEAST_RECORDS = 3;
/** Fewer places may have a sign in common by chance. */
const LEAST_ENDS = 2;

/** A name before what somebody says, or the tag around it. */
const LABEL = String.raw`\p{Lu}[\p{L}_]{2,15}(?: \p{L}{2,12}){0,2}:(?=\s)|<[A-Za-z_-]{2,20}>|\p{Lu}{4,20}(?=\n)|\[[A-Z][^\]\n]{1,30}\]|\(\p{Lu}[\p{L} ]{2,20}(?=:)`;
const OPENS = new RegExp(String.raw`^\s*(${LABEL})`, 'u');
/** Two texts without a blank between them: a label behind the first, or the closing sign of a block before the second. */
const TOUCHING = new RegExp(
  String.raw`(?<=[^\s\p{L}"'\x60([{<*#])(?=(${LABEL}))|(?<=\n(\x60\x60\x60)|[^\s<](</[\w-]{2,20}>)|\n(</[\w-]{2,20}>))(?=[^\s\x60<])`,
  'gu',
);

const MAX_OPEN = 80;
const MAX_ASK = 60;
const MIN_ASK = 4;

const openOf = ({ response }: AskedText): string | null => OPENS.exec(response.slice(0, MAX_OPEN))?.[1] ?? null;

function askOf({ prompt }: AskedText): string | null {
  const end = prompt.slice(-MAX_ASK - 1);
  const line = end.slice(end.lastIndexOf('\n') + 1);
  return line.length >= MIN_ASK && line.length <= MAX_ASK && !/^[\p{L}\d ,.'?!]*$/u.test(line) ? line : null;
}

/** @param records those at the start of a dump, or one */
export function formsOf(records: readonly AskedText[]): Forms {
  const opens = repeatedIn(records.map(openOf));
  const asks = repeatedIn(records.map(askOf));
  const ends = new Map<string, number>();
  for (const { prompt, response } of records) {
    const text = prompt + response;
    for (const { isLast, signs } of stretchesIn(text, prompt.length, { opens, asks }))
      if (!isLast)
        for (const [sign, at] of signs) if (at !== null && !opens.has(sign)) ends.set(sign, (ends.get(sign) ?? 0) + 1);
  }
  const frequent = [...ends].filter(([, times]) => times >= LEAST_ENDS).sort(([, a], [, b]) => b - a);
  return { opens, asks, ends: frequent.map(([sign]) => sign), heads: headsOf(records) };
}

function repeatedIn(found: readonly (string | null)[]): Set<string> {
  const times = new Map<string, number>();
  for (const one of found) if (one !== null) times.set(one, (times.get(one) ?? 0) + 1);
  const least = Math.min(LEAST_RECORDS, found.length);
  return new Set([...times].filter(([, count]) => count >= least).map(([one]) => one));
}

/** A reply, and what another says before the next one. */
interface Stretch {
  start: number;
  isLast: boolean;
  /** The place of each sign in it; null if it has several. */
  signs: ReadonlyMap<string, number | null>;
}

const MAX_STRETCHES = 400;

function stretchesIn(text: string, from: number, forms: Pick<Forms, 'opens' | 'asks'>): Stretch[] {
  const starts = [from, ...replyStarts(text, from, forms)];
  if (starts.length > MAX_STRETCHES) return [];
  const found = starts.map((start) => ({ start, signs: new Map<string, number | null>() }));
  let stretch = 0;
  TOUCHING.lastIndex = from + 1;
  for (const { index, 1: label, 2: fence, 3: closing, 4: alone } of text.matchAll(TOUCHING)) {
    while (index >= (starts[stretch + 1] ?? Number.POSITIVE_INFINITY)) stretch++;
    const { start, signs } = itemAt(found, stretch);
    const sign = label ?? fence ?? closing ?? alone;
    if (sign !== undefined && index > start) signs.set(sign, signs.has(sign) ? null : index);
  }
  return found.map((one, i) => ({ ...one, isLast: i === found.length - 1 }));
}

/** The starts of replies after the first: a form of theirs behind another's text, or text right behind a last line. */
function replyStarts(text: string, from: number, { opens, asks }: Pick<Forms, 'opens' | 'asks'>): number[] {
  const starts = new Set<number>();
  for (const open of opens)
    for (let at = text.indexOf(open, from + 1); at !== -1; at = text.indexOf(open, at + 1)) {
      const start = /[.!?)]\s$/.test(text.slice(at - 2, at)) && text[at - 1] === ' ' ? at - 1 : at;
      if (start > from && /[^\s"'`([{]/.test(text[start - 1] ?? ' ')) starts.add(start);
    }
  for (const ask of asks)
    for (let at = text.indexOf(ask, from); at !== -1; at = text.indexOf(ask, at + 1)) {
      const start = at + ask.length;
      if (/\S/.test(text[start] ?? ' ') && text[at - 1] === '\n') starts.add(start);
    }
  return [...starts].sort((a, b) => a - b);
}

/** The starts of turns after the first reply: another's, a reply, another's … @returns null if the forms do not show it */
export function bordersByForms({ prompt, response }: AskedText, given: Forms | null): number[] | null {
  const own = formsOf([{ prompt, response }]);
  const opens = new Set([...own.opens, ...(given?.opens ?? [])]);
  const asks = new Set([...own.asks, ...(given?.asks ?? [])]);
  const ends = new Set([...(given?.ends ?? []), ...own.ends]);
  const stretches = stretchesIn(prompt + response, prompt.length, { opens, asks });
  if (stretches.length < 2) return null;
  const [most] = ends;
  const borders: number[] = [];
  for (const [i, { signs, isLast }] of stretches.entries()) {
    if (isLast) return most !== undefined && signs.has(most) ? null : borders;
    const end = [...ends].map((sign) => signs.get(sign)).find((at) => at !== undefined && at !== null);
    if (end === undefined || end === null) return null;
    borders.push(end, itemAt(stretches, i + 1).start);
  }
  return null;
}

/** Prompts that begin alike are of one task's form. */
const ALIKE = 64;
/** A shorter beginning may be a phrase that many prompts have. */
const LEAST_HEAD = 256;

function headsOf(records: readonly AskedText[]): string[] {
  const alike = new Map<string, Set<string>>();
  for (const { prompt } of records) {
    const start = prompt.slice(0, ALIKE);
    const same = alike.get(start) ?? new Set();
    alike.set(start, same.add(prompt));
  }
  return [...alike.values()].flatMap((same) => {
    if (same.size < LEAST_RECORDS) return [];
    const [first = '', ...others] = same;
    let length = first.length;
    for (const other of others) {
      let at = 0;
      while (at < length && first[at] === other[at]) at++;
      length = at;
    }
    // Words that begin alike differ as a whole.
    const isWithin = [...same].every((prompt) => /\p{Ll}/u.test(prompt[length] ?? ''));
    const head = first.slice(0, length).replace(isWithin ? /\p{L}+$/u : /$/, '');
    return head.length < LEAST_HEAD ? [] : [head];
  });
}

/** A place that may be the end of one text and the start of another. */
const MAY_TOUCH = /[^\s\p{L}"'\x60([{<*_#/\\-](?=\p{Lu}[\p{Ll}'’]+[ ,'’])/u;

/** A prompt whose own words follow a blank behind what others have too, and in which nothing reads like two texts. */
export const isOneText = (prompt: string, head: string): boolean =>
  prompt.startsWith(head) && /\s$/.test(head) && !MAY_TOUCH.test(prompt);
