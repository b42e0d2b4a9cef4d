/** Rows sorted by the values of a column, those without a value last; the sort is stable. */
export function byColumn<Row>(
  rows: readonly Row[],
  valueIn: (row: Row) => number | string | null,
  descending: boolean,
): Row[] {
  const keyed = rows.map((row) => ({ row, value: valueIn(row) }));
  const isNone = (value: number | string | null): value is null => value === null || Number.isNaN(value);
  keyed.sort(({ value: a }, { value: b }) => {
    if (isNone(a) || isNone(b)) return Number(isNone(a)) - Number(isNone(b));
    const order = a < b ? -1 : a > b ? 1 : 0;
    return descending ? -order : order;
  });
  return keyed.map(({ row }) => row);
}
