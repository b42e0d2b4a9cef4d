import { hash } from 'node:crypto';

/**
 * Identifies a record by its content, so that a verdict belongs to what was judged: a step rewritten by a resumed run is a different
 * record, and a moved file holds the same ones. 128 bits of SHA-256 over the record's text as UTF-8.
 */
export const recordKey = (text: string): string => keyOfHash(hash('sha256', text));

/** The same from the whole hash of the text, in hexadecimal. */
export const keyOfHash = (sha256: string): string => sha256.slice(0, 32);
