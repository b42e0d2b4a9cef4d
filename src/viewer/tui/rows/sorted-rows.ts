import type { Place } from '../../../core/dump/dump.ts';
import type { DumpFile } from '../../../core/dump/dump-file.ts';
import { uint32At } from '../../../core/lists/at.ts';
import type { Rows } from '../state/rows.ts';
import type { FilteredFile } from './filtered-file.ts';
import { nearestIn } from './rows.ts';
import { SortTable } from './sort-table.ts';

/** Rows in the table's current order. A record's position is found by binary search, which avoids a second list of a million. */
export function sortedRows(table: SortTable, parts: ReadonlyMap<DumpFile, FilteredFile>): Rows {
  const { order } = table;
  const indexOf = (place: Place): number => {
    const id = table.idOf(place);
    return id < 0 ? -1 : SortTable.indexIn(table, order, id);
  };
  return {
    length: order.length,
    at: (index) => (index < 0 || index >= order.length ? null : table.place(uint32At(order, index))),
    indexOf,
    near({ file, record }) {
      const part = parts.get(file);
      if (part === undefined) return -1;
      const { length, values } = part.records;
      const at = nearestIn({ file, length, records: values }, record);
      return at < 0 ? -1 : indexOf({ file, record: values === null ? at : uint32At(values, at) });
    },
  };
}
