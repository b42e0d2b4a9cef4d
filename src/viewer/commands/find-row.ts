import type { Dump } from '../../core/dump/dump.ts';
import type { DumpRecord } from '../../core/dump/dump-file.ts';
import { endingOf, type Locator } from '../../core/dump/locator.ts';
import { UsageError } from '../../core/dump/paths.ts';
import { say } from './output.ts';

/** The first and the last line of a file that anything will be asked about. */
export interface LineRange {
  first: number;
  last: number;
}

/**
 * The record that a locator names.
 * @param range a file whose records are copied out of it is read no further, and not before, if that is possible
 * @throws UsageError that says what exists instead
 */
export async function findRow(
  dump: Dump,
  place: Locator,
  range: LineRange = { first: 1, last: Number.POSITIVE_INFINITY },
): Promise<DumpRecord> {
  const { path, line, turn } = place;
  const [file] = dump.files;
  // A folder that is one rollout, such as a trial, is named by its path.
  if (file === undefined || (file.path !== path && (line !== null || dump.files.length > 1)))
    throw new UsageError(`${path}: not one file; name one, such as ${file?.path ?? path}:1`);
  if (file.state === 'waiting')
    await file.buildIndex(() => file.copiedBytes === 0 || !file.isPast(range.last), range.first);
  if (file.error !== null) {
    if (file.count === 0) throw new UsageError(`${path}: ${file.error}`);
    say(`${path}: ${file.error}`);
  }
  const record = file.recordAt(place);
  if (record === -1) throw new UsageError(`${path}${endingOf(place)}: ${file.whyNot(place)}`);
  const row = file.read(record);
  const turns = row.rollout?.turns.length ?? 0;
  if (turn !== null && turn >= turns)
    throw new UsageError(
      `${path}${line === null ? '' : `:${line}`}#t${turn}: this rollout has ${turns} turns, t0 to t${turns - 1}`,
    );
  return row;
}
