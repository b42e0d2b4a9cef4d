import type { DumpFile } from '../../core/dump/dump-file.ts';
import { isWorthSaying, type UnknownRecords, unknownText } from '../../core/dump/unknown-records.ts';
import { isJsonObject } from '../../core/json/value.ts';
import { plural } from '../../core/text/numbers.ts';
import { say } from './output.ts';

/**
 * Says which files hold no rollout, and what is in them.
 * @param isNothing no rollout was found where all were asked for: then every such file is worth a word
 * @param unknown the rows that no format knows, by file
 */
export function sayWithoutRollouts(
  files: readonly DumpFile[],
  isNothing: boolean,
  unknown: ReadonlyMap<DumpFile, UnknownRecords> = unknownIn(files),
): void {
  const part = isNothing ? files.find((file) => file.part !== null) : undefined;
  if (part !== undefined) say(`${part.path}: ${part.part}`);
  let untold = 0;
  for (const { leftOut, path } of files) {
    if (leftOut === null) continue;
    if (isWorthSaying(leftOut) || (isNothing && untold === 0)) say(`${path}: ${unknownText(leftOut)}`);
    if (!isWorthSaying(leftOut)) untold++;
  }
  if (isNothing && untold > 1) say(`${plural(untold - 1, 'more file')} of no known form`);
  for (const [{ path }, records] of unknown) say(`${path}: ${unknownText(records)}`);
}

/** The same for a command that has read all facts, with what could not be read. */
export function sayOfFiles(files: readonly DumpFile[], isNothing: boolean): void {
  for (const { path, error } of files) if (error !== null) say(`${path}: ${error}`);
  sayWithoutRollouts(files, isNothing);
}

/** Records of a file that are read again to count those of no known form. */
const MOST_COUNTED = 1000;

function unknownIn(files: readonly DumpFile[]): Map<DumpFile, UnknownRecords> {
  const found = new Map<DumpFile, UnknownRecords>();
  for (const file of files) {
    const isBad = (record: number): boolean => file.facts(record)?.findings.includes('bad_record') ?? true;
    // To parse the first record of each of ten thousand files takes longer than many an answer.
    if (file.count === 0 || file.isAway || !isBad(0)) continue;
    const first = file.read(0);
    if (first.isUnknown !== true || !isJsonObject(first.json)) continue;
    let count = 1;
    const counted = Math.min(MOST_COUNTED, file.count);
    for (let record = 1; record < counted; record++) if (isBad(record) && file.read(record).isUnknown) count++;
    found.set(file, { count, first: first.json, ...(counted < file.count && { counted }) });
  }
  return found;
}

/** Steps are kept as numbers, which hold larger whole ones only roughly. */
export const isRoundedStep = (step: number | null): boolean =>
  step !== null && Math.abs(step) > Number.MAX_SAFE_INTEGER;

export const sayRoundedSteps = (): void =>
  say(`steps above ${Number.MAX_SAFE_INTEGER} are rounded: some that differ may be shown as one`);
