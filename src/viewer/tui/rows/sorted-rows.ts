import type { Place } from '../../../core/dump/dump.ts';
import type { DumpFile } from '../../../core/dump/dump-file.ts';
import { uint32At } from '../../../core/lists/at.ts';
import type { Rows } from '../state/rows.ts';
import type { FilteredFile } from './filtered-file.ts';
import { nearestIn, positionIn } from './rows.ts';
import { SortTable } from './sort-table.ts';

/** Rows in the table's current order. A record's position is found by binary search, which avoids a second list of a million. */
export function sortedRows(table: SortTable, parts: ReadonlyMap<DumpFile, FilteredFile>): Rows {
  const { order } = table;
  const rowOf = (place: Place, find: typeof positionIn): number => {
    const part = parts.get(place.file);
    if (part === undefined) return -1;
    const { file, records, ids } = part;
    const at = find({ file, length: records.length, records: records.values }, place.record);
    return at < 0 ? -1 : SortTable.indexIn(table, order, ids.at(at));
  };
  return {
    length: order.length,
    at: (index) => (index < 0 || index >= order.length ? null : table.place(uint32At(order, index))),
    indexOf: (place) => rowOf(place, positionIn),
    near: (place) => rowOf(place, nearestIn),
  };
}
