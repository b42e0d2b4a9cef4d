import { sizeText } from '../text/quantities.ts';

/** Bytes of the program beside the records: up to 250 MB were measured on the screen with 100,000 rollouts. */
const OWN = 250e6;

/** Bytes of a thread that reads short records. */
const THREAD = 60e6;

/** Bytes that reading a record takes for each byte of its text: 8 to 10 were measured with turns of 2 kB and with one text. */
const PER_BYTE = 10;

/** Bytes for each key, with its part of a turn or its row on the screen: 1.4 to 2.3 kB of a message's two, up to 3 kB of the record's own. */
const PER_KEY = 2000;

/** Less is not enough for the program and one record of a few megabytes. */
export const LEAST_MEMORY = 400e6;

/** Threads of one kind that a limit leaves room for, beside records. @param limit bytes */
export const threadsWithin = (limit: number): number => Math.max(1, Math.floor((limit - OWN) / 2 / THREAD));

/** Bytes that one record may take: others are read at the same time, and the one before it is still kept. @param limit bytes */
export const recordWithin = (limit: number): number => Math.max(0, (limit - OWN) / 3);

/**
 * Why a record is not read; null if it may be.
 * @param most bytes that a record may take; undefined for no limit
 * @param length bytes of its text
 * @param text if it is known
 */
export function tooLarge(most: number | undefined, length: number, text = ''): string | null {
  if (most === undefined) return null;
  const bytes = length * PER_BYTE + keysIn(text) * PER_KEY;
  if (bytes <= most) return null;
  return `to read it takes some ${sizeText(bytes)}, and --memory leaves ${sizeText(most)} for a record`;
}

/** Keys of JSON within a text of it have a backslash, and are no keys of the record. */
function keysIn(text: string): number {
  let count = 0;
  for (let at = text.indexOf(':'); at !== -1; at = text.indexOf(':', at + 1)) {
    let before = at - 1;
    while (text[before] === ' ') before--;
    if (text[before] === '"' && text[before - 1] !== '\\') count++;
  }
  return count;
}
