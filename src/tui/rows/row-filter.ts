import { type KeptLookup, NOTHING_KEPT } from '../../analysis/query/kept.ts';
import { compileQuery, type Query } from '../../analysis/query/query.ts';
import type { Asked } from '../../analysis/query/query-thread.ts';
import { parseSort, type SortOrder, type SortValue, sortValue } from '../../analysis/query/sort.ts';
import { type RecordSource, Subject } from '../../analysis/query/subject.ts';
import type { Place } from '../../dump/dump.ts';
import type { DumpFile } from '../../dump/dump-file.ts';
import { bad, type ParsedLine } from '../../dump/parse-line.ts';
import type { FilterChoice, SortChoice } from '../state/list.ts';
import type { QueryPool } from './query-pool.ts';

/** null: not in the list; else what it is sorted by (null too where nothing is sorted). */
export type RowAnswer = { value: SortValue } | null;

/** One object, thrown a million times: it carries no stack. */
const NEEDS_RECORD = { needs: 'record' };
const needsRecord = (): never => {
  throw NEEDS_RECORD;
};
const ELSEWHERE: RecordSource<ParsedLine> = { read: needsRecord, fields: needsRecord, hasRaw: needsRecord };
/** Stands for a record that is more than a thread has memory for. */
const UNREADABLE: RecordSource<ParsedLine> = {
  read: () => bad(undefined, 'more than the memory holds'),
  hasRaw: () => true,
};

/** Bytes of records that every thread has the memory for. */
const LITTLE = 4 << 20;
const here = ({ file, record }: Place): RecordSource<ParsedLine> => ({
  read: () => file.read(record),
  hasRaw: () => true,
});

const UNSORTED: RowAnswer = { value: null };

/** Says of records whether they are in the list, and what they are sorted by: from the index at once, else from a thread. */
export class RowFilter {
  readonly #query: Query | null;
  readonly #isInverted: boolean;
  readonly #order: SortOrder | null;
  readonly #asked: Asked;
  readonly #pool: QueryPool;
  readonly #extra: ((place: Place) => SortValue) | null;
  readonly #kept: () => Promise<KeptLookup>;

  /**
   * @param extra values of what the dump does not hold, such as the results of replays
   * @param kept what is kept beside the dump, for a filter that asks
   */
  constructor(
    filter: FilterChoice | null,
    sort: SortChoice | null,
    pool: QueryPool,
    extra: ((place: Place) => SortValue) | null = null,
    kept: () => Promise<KeptLookup> = async () => () => NOTHING_KEPT,
  ) {
    this.#query = filter === null ? null : compileQuery(filter.text);
    this.#isInverted = filter?.isInverted ?? false;
    this.#order = sort === null || extra !== null ? null : parseSort(sort.key);
    this.#pool = pool;
    this.#extra = extra;
    this.#kept = kept;
    this.#asked = { filter, sort: this.#order?.key ?? null, columns: [] };
  }

  /** undefined where the record itself has to be read. */
  atOnce(place: Place): RowAnswer | undefined {
    if (this.#query?.asksKept) return undefined;
    try {
      return this.#judge(place, ELSEWHERE);
    } catch (error) {
      if (error !== NEEDS_RECORD) throw error;
      return undefined;
    }
  }

  /** The value of a record whose being in the list is known. */
  valueAtOnce(place: Place): RowAnswer | undefined {
    try {
      return this.#valued(place, new Subject(place, ELSEWHERE));
    } catch (error) {
      if (error !== NEEDS_RECORD) throw error;
      return undefined;
    }
  }

  /** @param isIn whether they are known to be in the list @returns null when the program ends */
  async read(file: DumpFile, records: readonly number[], isIn = false): Promise<RowAnswer[] | null> {
    if (this.#query?.asksKept && !isIn) {
      // No thread has the journal.
      const kept = await this.#kept();
      return records.map((record) => this.#judge({ file, record }, here({ file, record }), kept));
    }
    const answer = await this.#pool.ask(file, records, isIn ? { ...this.#asked, filter: null } : this.#asked);
    if (answer !== null)
      return records.map((record, i) => {
        if (answer.accepted[i] !== 1) return null;
        if (this.#extra !== null) return { value: this.#extra({ file, record }) };
        return this.#order === null ? UNSORTED : { value: answer.values[i]! };
      });
    if (this.#pool.isClosed) return null;
    // No thread can be had, as so little cannot be too much for one: it is read here.
    if (records.reduce((sum, record) => sum + file.index.length(record), 0) < LITTLE)
      return records.map((record) => this.#judge({ file, record }, here({ file, record })));
    if (records.length === 1) return [this.#judge({ file, record: records[0]! }, UNREADABLE)];
    // One of them took the thread with it. Which one, is found by asking for each alone.
    const verdicts: RowAnswer[] = [];
    for (const record of records) {
      const one = await this.read(file, [record], isIn);
      if (one === null) return null;
      verdicts.push(...one);
    }
    return verdicts;
  }

  #judge(place: Place, source: RecordSource<ParsedLine>, kept?: KeptLookup): RowAnswer {
    const subject = new Subject(place, source, () => kept?.(place.file.raw(place.record) ?? '') ?? NOTHING_KEPT);
    if (this.#query !== null && this.#query.accepts(subject) === this.#isInverted) return null;
    return this.#valued(place, subject);
  }

  #valued(place: Place, subject: Subject): RowAnswer {
    if (this.#extra !== null) return { value: this.#extra(place) };
    return this.#order === null ? UNSORTED : { value: sortValue(this.#order, subject) };
  }
}
