import { finishedBetweenKeys } from '../../../core/async/finished.ts';
import type { Place } from '../../../core/dump/dump.ts';
import type { DumpRecord } from '../../../core/dump/dump-file.ts';
import { LONG_RECORD, recordPieces } from '../../../core/dump/long-record.ts';
import { type PlannedCall, planningCalls } from '../../../replay/index.ts';
import { keyOfPieces } from '../../../replay/journal/record-key.ts';
import type { RunnerContext } from './context.ts';

/** The recordKey of a record; keys are answered while that of a long one is computed. */
export function keyOfRow(row: DumpRecord): Promise<string> {
  const isLong = row.bytes > LONG_RECORD;
  return finishedBetweenKeys(keyOfPieces(isLong ? recordPieces(row.file.whereabouts(row.record)) : [row.raw]));
}

/** The record on the screen and its calls, however many; null if the screen shows another by then. */
export async function plannedCalls(
  { options, tools }: RunnerContext,
  { place, session = false }: { place: Place; session?: boolean },
): Promise<{ row: DumpRecord; plans: PlannedCall[] } | null> {
  const row = await options.whole(place);
  if (row === null) return null;
  return { row, plans: await finishedBetweenKeys(planningCalls(row, await keyOfRow(row), { tools, session })) };
}
