import { shownPath } from '../text/shown-path.ts';
import type { Copy } from './containers/lines-in.ts';
import type { LineIndex } from './line-index.ts';
import { endingOf, type Locator } from './locator.ts';

interface NamedRecords {
  path: string;
  index: LineIndex;
  copy: Copy | null;
}

/** The locator of a record: `FILE:LINE`, with its part if a line holds several, or the path of an archive member. */
export const locatorIn = (records: NamedRecords, record: number): string =>
  shownPath(records.path) + placeInFile(records, record);

/** The part of a locator after the file's path. */
export function placeInFile({ index, copy }: NamedRecords, record: number): string {
  const line = index.line(record);
  const place = copy?.places[line - 1] ?? `:${line}`;
  const part = index.part(record);
  const isAlone = part <= 1 && index.line(record + 1) !== line;
  return place + (isAlone ? '' : `${/:\d+$/.test(place) ? '' : ':1'}.${part}`);
}

/**
 * The record of a locator's suffix (`:57`, `:57.2`, `/samples/1_epoch_1.json`, nothing for the whole file), or -1.
 */
export function recordNamed(records: NamedRecords, place: Pick<Locator, 'line' | 'part' | 'member'>): number {
  const { index, copy } = records;
  const { line, part, member } = place;
  if (member === '' && line !== null && !hasPlaces(copy)) return index.recordAtLine(line, part);
  // Lines are named by number even if there is only one.
  const isWhole = member === '' && copy !== null && (line === null || (line === 1 && part <= 1));
  const ending = endingOf(place);
  for (let record = 0; record < index.count; record++) {
    const own = placeInFile(records, record);
    if (own === ending || (isWhole && index.count === 1) || (part === 1 && own === ending.replace(/\.1$/, '')))
      return record;
  }
  return -1;
}

/** Its records are named by their places in the original, not by lines of the copy. */
const hasPlaces = (copy: Copy | null): boolean => copy?.places.some((one) => one !== undefined) === true;

/** All records up to this line are known, and with one of a later line the number of its parts. */
export const isPastLine = ({ index, copy }: NamedRecords, line: number): boolean =>
  index.count > 0 && !hasPlaces(copy) && index.line(index.count - 1) > line;

/** Why a locator matches none of the records, with an example that does. */
export function whyNowhere(
  records: NamedRecords,
  { line, part, member }: Pick<Locator, 'line' | 'part' | 'member'>,
): string {
  const { index } = records;
  if (index.count === 0) return 'it holds no rollout';
  const first = locatorIn(records, 0);
  if (member !== '') return `the archive has no such rollout; its first is ${first}`;
  if (line === null) return `which of its ${index.count} rollouts? write FILE:LINE, such as ${first}`;
  if (hasPlaces(records.copy)) return `its rollouts are named by their place in it, such as ${first}`;
  if (part > 0 && index.recordAtLine(line) !== -1) return 'the line holds no such rollout';
  const last = index.line(index.count - 1);
  if (line === 0) return `lines begin at 1; its last is ${last}`;
  return line > last ? `its last line is ${last}` : 'a blank line';
}
