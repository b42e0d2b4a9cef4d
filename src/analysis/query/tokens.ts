import { lazily } from '../../core/text/lazily.ts';
import { type DateLiteral, dateOf } from './dates.ts';
import { QueryError } from './query-error.ts';

export type Token =
  | { kind: 'number'; value: number; at: number }
  | { kind: 'date'; value: DateLiteral; at: number }
  | { kind: 'string'; value: string; at: number }
  | { kind: 'pattern'; source: string; ignoresCase: boolean; at: number }
  | { kind: 'name'; value: string; at: number }
  | { kind: 'sign'; value: string; at: number }
  | { kind: 'end'; at: number };

/** Longer expressions are assumed to be a mistake. */
const MAX_QUERY_LENGTH = 10_000;

const NUMBER = /[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|Infinity|inf)(?!\w|\.(?!\.))/y;
const DATE = /\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2})?)?(?![\w-])/y;
const nameForm = lazily(() => /[\p{L}_][\p{L}\p{N}_-]*(?:\.[\p{L}\p{N}_-]+)*/uy);
const SIGN = /\.\.|&&|\|\||==|!=|<=|>=|!~|[<>=~!():]/y;

/** @throws QueryError */
export function tokensOf(text: string): Token[] {
  if (text.length > MAX_QUERY_LENGTH)
    throw new QueryError(`longer than ${MAX_QUERY_LENGTH} characters`, MAX_QUERY_LENGTH);
  const tokens: Token[] = [];
  let at = 0;
  const match = (pattern: RegExp): string | null => {
    pattern.lastIndex = at;
    return pattern.exec(text)?.[0] ?? null;
  };
  for (;;) {
    at += match(/\s*/y)!.length;
    if (at >= text.length) break;
    const character = text[at];
    if (character === '"' || character === "'") {
      const end = closing(text, at, character);
      tokens.push({ kind: 'string', value: unescaped(text.slice(at + 1, end), character), at });
      at = end + 1;
      continue;
    }
    if (character === '/') {
      const end = closing(text, at, '/');
      const flags = /[a-z]*/y;
      flags.lastIndex = end + 1;
      const flag = flags.exec(text)![0];
      if (flag !== '' && flag !== 'i')
        throw new QueryError(`the flag ${flag} is not known, only i (ignore case)`, end + 1);
      // Only `\/` is an escape of the slashes rather than of the pattern.
      tokens.push({
        kind: 'pattern',
        source: text.slice(at + 1, end).replaceAll('\\/', '/'),
        ignoresCase: flag === 'i',
        at,
      });
      at = end + 1 + flag.length;
      continue;
    }
    const date = match(DATE);
    if (date !== null) {
      const value = dateOf(date);
      if (value === null) throw new QueryError(`${date} is not a date`, at);
      tokens.push({ kind: 'date', value, at });
      at += date.length;
      continue;
    }
    const number = match(NUMBER);
    if (number !== null) {
      tokens.push({ kind: 'number', value: Number(number.replace(/inf$/, 'Infinity')), at });
      at += number.length;
      continue;
    }
    const name = match(nameForm());
    if (name !== null) {
      tokens.push(name === 'NaN' ? { kind: 'number', value: Number.NaN, at } : { kind: 'name', value: name, at });
      at += name.length;
      continue;
    }
    const sign = match(SIGN);
    if (sign === null) throw new QueryError(unknownSign(text, at), at);
    tokens.push({ kind: 'sign', value: sign, at });
    at += sign.length;
  }
  tokens.push({ kind: 'end', at: text.length });
  return tokens;
}

function unknownSign(text: string, at: number): string {
  if (text[at] === '&') return 'write && for "and"';
  if (text[at] === '|') return 'write || for "or"';
  const word = /[.\d][\p{L}\p{N}_.]*/uy;
  word.lastIndex = at;
  const digits = word.exec(text)?.[0];
  if (digits !== undefined) return `${digits} is not a number; text goes in "quotes"`;
  return `${String.fromCodePoint(text.codePointAt(at) ?? 0)} means nothing here`;
}

/** The end of the string or pattern that starts at `at`. */
function closing(text: string, at: number, mark: string): number {
  for (let i = at + 1; i < text.length; i++) {
    if (text[i] === '\\') i++;
    else if (text[i] === mark) return i;
  }
  throw new QueryError(`no closing ${mark}`, at);
}

const unescaped = (text: string, mark: string): string =>
  text.replace(/\\([\s\S])/g, (whole, character: string) =>
    character === mark || character === '\\' ? character : character === 'n' ? '\n' : character === 't' ? '\t' : whole,
  );
