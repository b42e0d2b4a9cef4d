import { finishedBetweenKeys } from '../../../core/async/finished.ts';
import type { Place } from '../../../core/dump/dump.ts';
import type { DumpRecord } from '../../../core/dump/dump-file.ts';
import { type PlannedCall, planningCalls } from '../../../replay/index.ts';
import { keyOfHash, recordKey } from '../../../replay/journal/record-key.ts';
import type { RunnerContext } from './context.ts';

/** The recordKey of what the screen shows, whatever its file holds by now. */
export const keyOfRow = (row: DumpRecord): string =>
  row.hash === undefined ? recordKey(row.raw) : keyOfHash(row.hash);

/** The record on the screen and its calls, however many; null if the screen shows another by then, or it is no rollout. */
export async function plannedCalls(
  { options, tools }: RunnerContext,
  { place, session = false }: { place: Place; session?: boolean },
): Promise<{ row: DumpRecord; plans: PlannedCall[] } | null> {
  const row = await options.whole(place);
  if (row === null || row.rollout === null) return null;
  return { row, plans: await finishedBetweenKeys(planningCalls(row, keyOfRow(row), { tools, session })) };
}
