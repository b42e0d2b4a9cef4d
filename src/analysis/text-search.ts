import { RE2JS } from 're2js';
import { errorMessage } from '../core/text/thrown.ts';

export interface Hit {
  block: string;
  start: number;
  end: number;
}

/** The prefix for literal text. */
export const LITERAL = '\\V';

const META = /[\\^$.|?*+()[\]{}]/;

export interface Matcher {
  /** Calls `found` for each match, in order, until that returns false. */
  find(text: string, found: (start: number, end: number) => boolean): void;
  /** UTF-16 units of the following text that a slice must include, so that no match across its end is missed. */
  overlap: number;
}

/**
 * Compiles the text of a search. Smart case: a capital letter makes it case-sensitive. Patterns run on RE2, in linear
 * time, so none can hang the screen.
 * @throws Error for a pattern that RE2 rejects
 */
export function matcher(value: string): Matcher {
  const isLiteral = value.startsWith(LITERAL);
  const text = isLiteral ? value.slice(LITERAL.length) : value;
  const exact = /\p{Lu}/u.test(isLiteral ? text : text.replace(/\\./g, ''));
  if (text === '') return { find: () => {}, overlap: 0 };
  if ((isLiteral || !META.test(text)) && (exact || /^[\x20-\x7e]*$/.test(text))) return literalMatcher(text, exact);
  const pattern = compiled(
    isLiteral ? RE2JS.quote(text) : text,
    RE2JS.MULTILINE | (exact ? 0 : RE2JS.CASE_INSENSITIVE),
  );
  return {
    // How far a pattern reaches is not known: a match across the end of a slice is missed, where one line is longer than that.
    overlap: isLiteral ? text.length : 0,
    find(body, found) {
      const matches = pattern.matcher(body);
      while (matches.find()) {
        // An empty match shows nothing.
        if (matches.end() > matches.start() && !found(matches.start(), matches.end())) return;
      }
    },
  };
}

/** @throws Error that says what is wrong, without flags that the user did not type */
function compiled(text: string, flags: number): RE2JS {
  try {
    return RE2JS.compile(text, flags);
  } catch (error) {
    const said = errorMessage(error)
      .replace(/^error parsing regexp: /, '')
      .replace(/: `.*$/s, '');
    throw new Error(`the pattern cannot be read: ${said}`);
  }
}

function literalMatcher(text: string, exact: boolean): Matcher {
  const wanted = exact ? text : text.toLowerCase();
  return {
    overlap: wanted.length - 1,
    find(body, found) {
      const lower = exact ? body : body.toLowerCase();
      // A few letters change length in lower case (İ), which would shift offsets, so only ASCII is lowered there.
      const where = lower.length === body.length ? lower : body.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
      for (let at = where.indexOf(wanted); at >= 0; at = where.indexOf(wanted, at + wanted.length)) {
        if (!found(at, at + wanted.length)) return;
      }
    },
  };
}

/**
 * Whether a record's raw text may contain a match, without a parse. Only plain words can be checked there: JSON escapes
 * much else, and a pattern may match across escapes. Words that the screen adds (score, think) are not the record's.
 */
export function rawFilter(value: string): (raw: string) => boolean {
  const text = value.startsWith(LITERAL) ? value.slice(LITERAL.length) : value;
  if (!/^[A-Za-z0-9_ ]+$/.test(text)) return () => true;
  const { find } = matcher(value);
  return (raw) => {
    let holds = false;
    find(raw, () => {
      holds = true;
      return false;
    });
    return holds;
  };
}
