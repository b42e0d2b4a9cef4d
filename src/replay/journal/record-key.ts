import { createHash } from 'node:crypto';
import { finished } from '../../core/async/finished.ts';

/**
 * Identifies a record by its content, so that a verdict belongs to what was judged: a step rewritten by a resumed run is a different
 * record, and a moved file holds the same ones. 128 bits of SHA-256 over the record's text as UTF-8.
 */
export const recordKey = (text: string): string => finished(keyOfPieces([text]));

/** The same of a text in pieces, with a pause after each. */
export function* keyOfPieces(pieces: Iterable<string>): Generator<void, string> {
  const hash = createHash('sha256');
  for (const piece of pieces) {
    hash.update(piece);
    yield;
  }
  return hash.digest('hex').slice(0, 32);
}
