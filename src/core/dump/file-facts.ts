import type { JsonValue } from '../json/value.ts';
import { float64At, itemAt } from '../lists/at.ts';
import type { Check } from '../rollout/checks.ts';
import { FACT_ROW, Facts } from '../rollout/fact-row.ts';
import { CellColumn, IN_RECORD } from './cell-column.ts';
import { NumberColumn } from './number-column.ts';
import { PackedDetails } from './packed-details.ts';
import { FAILED_TOOL_CELL, isOwnCell, MOST_CELLS, type RecordFacts, STATUS_CELL } from './record-facts.ts';

type ColumnName = 'looked' | `row.${number}` | 'groups' | 'prompts' | 'uids' | 'has_score' | 'scores';
const ROW_NAMES = Array.from({ length: FACT_ROW }, (_, at): ColumnName => `row.${at}`);

/** The facts of one file's records, one column each. A record that was not examined has none. */
export class FileFacts {
  /** The number of examined records. */
  looked = 0;
  readonly isLookedAt: NumberColumn;
  /** In the order of a row of facts. */
  readonly rows: readonly NumberColumn[];
  readonly groups: NumberColumn;
  readonly prompts: NumberColumn;
  /** NaN if the record has none, or it names its group. */
  readonly uids: NumberColumn;
  /** 1 if the record has a score; NaN among the scores is a recorded NaN. */
  readonly hasScore: NumberColumn;
  readonly scores: NumberColumn;
  readonly cells: Map<string, CellColumn>;
  /** Keys with single values in the records, which a filter or a column may name. */
  readonly extras: Set<string>;
  /** There were more names than are kept. */
  hasMoreCells = false;
  /** Other values that a list shows of a record. */
  details = new PackedDetails();
  /** Every finding that any record had. */
  readonly #found = new Set<Check>();
  /** The previous record's value: most records repeat it. */
  #lastFound = Number.NaN;

  /** @param known kept columns by name; empty by default */
  constructor(
    known: (name: ColumnName) => NumberColumn = () => new NumberColumn(),
    cells = new Map<string, CellColumn>(),
    extras: Iterable<string> = [],
  ) {
    this.isLookedAt = known('looked');
    this.rows = ROW_NAMES.map(known);
    this.groups = known('groups');
    this.prompts = known('prompts');
    this.uids = known('uids');
    this.hasScore = known('has_score');
    this.scores = known('scores');
    this.cells = cells;
    this.extras = new Set(extras);
    if (this.isLookedAt.same === 1) this.looked = this.isLookedAt.length;
    else for (let record = 0; record < this.isLookedAt.length; record++) if (this.isLooked(record)) this.looked++;
    for (const check of Facts.allFound(this.rows, this.isLookedAt.length)) this.#found.add(check);
  }

  /** Every column except cells, by the name under which it is kept. */
  get columns(): [ColumnName, NumberColumn][] {
    return [
      ['looked', this.isLookedAt],
      ...this.rows.map((column, at): [ColumnName, NumberColumn] => [itemAt(ROW_NAMES, at), column]),
      ['groups', this.groups],
      ['prompts', this.prompts],
      ['uids', this.uids],
      ['has_score', this.hasScore],
      ['scores', this.scores],
    ];
  }

  isLooked(record: number): boolean {
    return this.isLookedAt.at(record) === 1;
  }

  /** The score of an examined record; null if it has none. */
  score(record: number): number | null {
    return this.hasScore.at(record) === 1 ? this.scores.at(record) : null;
  }

  set(record: number, { row, score, group, cells }: RecordFacts): void {
    if (!this.isLooked(record)) this.looked++;
    this.isLookedAt.set(record, 1);
    for (let at = 0; at < row.length; at++) itemAt(this.rows, at).set(record, float64At(row, at));
    this.groups.set(record, group.group);
    this.prompts.set(record, group.prompt);
    this.uids.set(record, group.uid);
    this.hasScore.set(record, score === null ? 0 : 1);
    this.scores.set(record, score ?? Number.NaN);
    for (const [name, value] of cells) {
      let column = this.cells.get(name);
      if (column === undefined) {
        if (this.cells.size >= MOST_CELLS && !isOwnCell(name)) {
          this.hasMoreCells = true;
          continue;
        }
        column = new CellColumn();
        this.cells.set(name, column);
      }
      column.set(record, value);
    }
    if (cells.size >= MOST_CELLS) this.hasMoreCells = true;
    const found = Facts.foundIn(row);
    if (found === this.#lastFound) return;
    this.#lastFound = found;
    for (const check of new Facts(row).findings) this.#found.add(check);
  }

  hasAny(checks: readonly Check[]): boolean {
    return checks.some((check) => this.#found.has(check));
  }

  row(record: number): Float64Array {
    return Float64Array.from(this.rows, (column) => column.at(record));
  }

  /** The value under one of the record's keys, as far as it is kept; undefined if it has none. */
  cell(record: number, path: string): JsonValue | undefined | typeof IN_RECORD {
    const own = this.cells.get(path);
    if (own !== undefined) return own.at(record);
    if (this.hasMoreCells) return IN_RECORD;
    // Values inside a list, or deeper, are only in the record itself.
    const dot = path.indexOf('.');
    if (dot === -1) return undefined;
    const outer = this.cells.get(path.slice(0, dot));
    return outer?.at(record) === IN_RECORD ? IN_RECORD : undefined;
  }

  status(record: number): string | null | typeof IN_RECORD {
    const status = this.cells.get(STATUS_CELL)?.at(record);
    return typeof status === 'string' || status === IN_RECORD ? status : null;
  }

  /** The tool of the failed calls that `error.kind` names; null if none failed, or its name is too long to keep. */
  failedTool(record: number): string | null {
    const tool = this.cells.get(FAILED_TOOL_CELL)?.at(record);
    return typeof tool === 'string' ? tool : null;
  }

  /** The names of all such tools. */
  get failedTools(): readonly string[] {
    return this.cells.get(FAILED_TOOL_CELL)?.texts ?? [];
  }

  /** Takes no more room than the records that there are: those that came in another order were given some for each value. */
  settle(): void {
    for (const [, column] of this.columns) column.settle();
    for (const column of this.cells.values()) column.settle();
  }

  truncate(count: number): void {
    for (let record = count; record < this.isLookedAt.length; record++) if (this.isLooked(record)) this.looked--;
    for (const [, column] of this.columns) column.truncate(count);
    for (const column of this.cells.values()) column.truncate(count);
    this.details.truncate(count);
  }
}
