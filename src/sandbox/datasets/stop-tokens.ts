// Finds the end of a completion that only continues a prompt.

import { RE2JS } from 're2js';
import { errorMessage } from '../../core/text/thrown.ts';
import { RequestError } from '../request-error.ts';
import { isSpaceAt } from './python-text.ts';

/** A problem's pattern is untrusted, so it is matched in linear time, and on at most this many characters. */
const LONGEST_MATCHED = 200_000;
const PATTERN = 're:';
/** Would cut every completion at its first empty line. */
const IGNORED = '\n\n';

/** Each stop token cuts what the previous ones left; `re:PATTERN` is a regular expression. */
export function trimAtStops(completion: string, stops: unknown): string {
  let text = completion;
  for (const stop of Array.isArray(stops) ? stops.map(String) : []) {
    if (stop === IGNORED) continue;
    const at = stop.startsWith(PATTERN) ? searchPattern(text, stop.slice(PATTERN.length).trim()) : text.indexOf(stop);
    if (at >= 0) text = text.slice(0, at);
  }
  return text;
}

function searchPattern(text: string, pattern: string): number {
  let compiled: RE2JS;
  try {
    compiled = RE2JS.compile(pattern);
  } catch (error) {
    throw new RequestError(500, `the stop token re:${pattern} cannot be used here: ${errorMessage(error)}`);
  }
  if (text.length > LONGEST_MATCHED) {
    throw new RequestError(413, `the completion is over ${LONGEST_MATCHED} characters, too long for a stop pattern`);
  }
  const matcher = compiled.matcher(text);
  return matcher.find() ? matcher.start() : -1;
}

/** Python: at the first line that is not indented, as HumanEval's function bodies end. */
export function trimAtUnindented(completion: string): string {
  for (let at = completion.indexOf('\n'); at >= 0; at = completion.indexOf('\n', at + 1)) {
    if (at + 1 < completion.length && !isSpaceAt(completion, at + 1)) return completion.slice(0, at);
  }
  return completion;
}
