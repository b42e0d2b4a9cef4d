import { ThreadClient } from '../../core/async/thread-client.ts';
import type { DumpFile } from '../../core/dump/dump-file.ts';
import type { ReadContext } from '../../core/formats/format.ts';
import type { JsonValue } from '../../core/json/value.ts';
import { FACT_ROW } from '../../core/rollout/fact-row.ts';
import type { SortValue } from './sort.ts';

/** The question for each record. */
export interface QueryThreadRequest {
  /** null lets every record through. */
  filter: { text: string; isInverted: boolean } | null;
  /** The name of the field to sort by. */
  sort: string | null;
  /** Names of fields whose values are shown. */
  columns: readonly string[];
}

export interface QueryRequest extends QueryThreadRequest {
  path: string;
  context: ReadContext;
  stream: string;
  /** PLACE numbers a record: offset, bytes, record, step (NaN: none), 0 = score unknown, 1 = none, 2 = known; the score; its place on its line, 0 = it has it alone; 1 = it was read, 0 = not, NaN = nobody keeps that; its row of facts. */
  places: Float64Array;
}

const HEAD = 8;
export const PLACE = HEAD + FACT_ROW;
/** The offset of the facts in a place. */
export const FACTS_AT = HEAD;

/** For each record, in the order of the places. */
export interface QueryAnswer {
  accepted: Uint8Array;
  /** A value for each accepted record, null for the others; empty without a sort order. */
  values: SortValue[];
  /** Values to show, record by record; may be empty. */
  columns: (JsonValue | undefined)[];
}

/** A thread that reads and parses records to answer what their index cannot. */
export class QueryThread extends ThreadClient<QueryRequest, QueryAnswer> {
  constructor() {
    super('query-worker');
  }

  askFor(file: DumpFile, records: readonly number[], asked: QueryThreadRequest): Promise<QueryAnswer | null> {
    const { index } = file;
    const places = new Float64Array(records.length * PLACE);
    for (const [i, record] of records.entries()) {
      const score = file.score(record);
      const known = score === undefined ? 0 : score === null ? 1 : 2;
      const step = file.stepOf(record) ?? Number.NaN;
      const isRead = Number(file.isRead(record) ?? Number.NaN);
      const where = [index.offset(record), index.length(record), record, step];
      places.set([...where, known, score ?? 0, index.part(record), isRead], i * PLACE);
      if (index.isLooked(record)) places.set(index.columns.row(record), i * PLACE + FACTS_AT);
    }
    const { readablePath: path, context, stream } = file;
    return this.ask({ ...asked, path, context, stream, places }, [places.buffer]);
  }
}
