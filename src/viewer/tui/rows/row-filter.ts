import type { GroupMeasure } from '../../../analysis/facts/group-measures.ts';
import { BLOCK, numberBlocks, type RecordBlock, verdictBlocks } from '../../../analysis/query/column-blocks.ts';
import { ASK, type FilterVerdict, NO, YES } from '../../../analysis/query/evaluator.ts';
import { fieldCost } from '../../../analysis/query/fields.ts';
import { type KeptLookup, NOTHING_KEPT } from '../../../analysis/query/kept.ts';
import { type FieldReader, knownValue, verdictOn } from '../../../analysis/query/on-columns.ts';
import { compileQuery, type Query } from '../../../analysis/query/query.ts';
import type { QueryThreadRequest } from '../../../analysis/query/query-thread.ts';
import { parseSort, type SortOrder, type SortValue, sortable, sortValue } from '../../../analysis/query/sort.ts';
import { type RecordSource, Subject } from '../../../analysis/query/subject.ts';
import { IN_RECORD } from '../../../core/dump/cell-column.ts';
import type { Dump, Place } from '../../../core/dump/dump.ts';
import type { DumpFile } from '../../../core/dump/dump-file.ts';
import { bad, type ParsedLine } from '../../../core/dump/parse-line.ts';
import { float64At, itemAt, numberInAt, uint8At } from '../../../core/lists/at.ts';
import type { FilterChoice, SortChoice } from '../state/list.ts';
import type { QueryPool } from './query-pool.ts';

/** null: not in the list; else its sort value (also null without a sort). */
export type RowAnswer = { value: SortValue } | null;

/** The answers of columns for neighbours, whose order is by numbers or none. */
interface KnownRows {
  /** Those that are in the list. */
  records: Uint32Array;
  /** The number of each, NaN for none. */
  numbers: Float64Array;
  /** The first one that they do not decide, or the end. */
  end: number;
}

/** Replaces a record that is too large for a thread's memory. */
const UNREADABLE: RecordSource<ParsedLine> = {
  read: () => bad(undefined, 'more than the memory holds'),
  hasRaw: () => true,
};

/** Bytes of records that fit into any thread's memory. */
const LITTLE = 4 << 20;
const filterHere = ({ file, record }: Place): RecordSource<ParsedLine> => ({
  read: () => file.read(record),
  hasRaw: () => true,
});

const UNSORTED: RowAnswer = { value: null };

/** A sort value that is a number, NaN for none; null if it is something else, or not known. */
function numericField(value: ReturnType<FieldReader>): number | null {
  if (typeof value === 'number') return Number.isNaN(value) ? null : value;
  if (value === undefined || value === null) return Number.NaN;
  return typeof value === 'boolean' ? Number(value) : null;
}

/** All records of a block. */
function sequence(records: Uint32Array, { from, count }: RecordBlock): Uint32Array {
  for (let i = 0; i < count; i++) records[i] = from + i;
  return records.subarray(0, count);
}

/** The answers that a file's columns give. */
interface ColumnAnswers {
  columns: DumpFile['index']['columns'];
  /** null without a filter. */
  verdict: ((record: number) => FilterVerdict) | null;
  /** The sort value; null without an order. */
  value: FieldReader | null;
}

/** Decides whether records are in the list, and their sort values: from the columns at once, else from a thread. */
export class RowFilter {
  readonly #query: Query | null;
  readonly #isInverted: boolean;
  readonly #order: SortOrder | null;
  readonly #asked: QueryThreadRequest;
  readonly #dump: Dump;
  readonly #pool: QueryPool;
  readonly #answers = new WeakMap<DumpFile, ColumnAnswers>();
  readonly #extra: ((place: Place) => SortValue) | null;
  readonly #kept: () => Promise<KeptLookup>;
  readonly #verdictsOf: ReturnType<typeof verdictBlocks> | null;
  readonly #numbersOf: ReturnType<typeof numberBlocks>;
  readonly #verdicts = new Uint8Array(BLOCK);
  readonly #records = new Uint32Array(BLOCK);
  readonly #numbers = new Float64Array(BLOCK);

  /**
   * @param extra values that the dump does not hold, such as replay results
   * @param kept results kept beside the dump, for a filter that needs them
   */
  constructor(
    filter: FilterChoice | null,
    sort: SortChoice | null,
    dump: Dump,
    pool: QueryPool,
    extra: ((place: Place) => SortValue) | null = null,
    kept: () => Promise<KeptLookup> = async () => () => NOTHING_KEPT,
  ) {
    this.#query = filter === null ? null : compileQuery(filter.text);
    this.#isInverted = filter?.isInverted ?? false;
    this.#order = sort === null || extra !== null ? null : parseSort(sort.key);
    this.#verdictsOf = this.#query === null ? null : verdictBlocks(this.#query.expression);
    this.#numbersOf = this.#order === null ? null : numberBlocks(this.#order.field);
    this.#dump = dump;
    this.#pool = pool;
    this.#extra = extra;
    this.#kept = kept;
    this.#asked = { filter, sort: this.#order?.key ?? null, columns: [] };
  }

  /** Needs only columns, so it waits for nothing but their facts. */
  get needsFactsAlone(): boolean {
    if (this.#query?.asksKept) return false;
    return this.#query?.cost !== 'record' && (this.#order === null || fieldCost(this.#order.field) !== 'record');
  }

  /** Measures that depend on what all rollouts of a group show together. */
  get measures(): readonly GroupMeasure[] {
    const fields = [...(this.#query?.fields ?? []), ...(this.#order === null ? [] : [this.#order.field])];
    return fields.flatMap((field) => (field.type === 'group' ? [field.name] : []));
  }

  /** It depends on what all rollouts of a step show together. */
  get asksSignals(): boolean {
    return this.#query?.asksSignals === true;
  }

  /** The same as `atOnce` for many records, without an object for each. @returns parts of lists that the next call overwrites */
  inSequence(file: DumpFile, from: number, to: number): KnownRows {
    const [verdicts, records, numbers] = [this.#verdicts, this.#records, this.#numbers];
    const isHere = this.needsFactsAlone && this.#extra === null && file.index.looked >= file.count;
    const count = isHere ? Math.max(0, Math.min(to, file.count, from + BLOCK) - from) : 0;
    const block = { file, from, count };
    const value =
      this.#order === null || this.#numbersOf?.(block, numbers) === true ? null : this.#answersOf(file).value;
    if (this.#verdictsOf === null) {
      if (value === null)
        return { records: sequence(records, block), numbers: numbers.subarray(0, count), end: from + count };
      verdicts.fill(YES, 0, count);
    } else this.#verdictsOf(block, verdicts);
    const wanted = this.#isInverted ? NO : YES;
    let length = 0;
    let i = 0;
    for (; i < count; i++) {
      const verdict = uint8At(verdicts, i);
      if (verdict === ASK) break;
      if (verdict !== wanted) continue;
      const number = value === null ? float64At(numbers, i) : numericField(value(from + i));
      if (number === null) break;
      numbers[length] = number;
      records[length++] = from + i;
    }
    return { records: records.subarray(0, length), numbers: numbers.subarray(0, length), end: from + i };
  }

  /** undefined if the columns cannot decide, or not yet. */
  atOnce(place: Place): RowAnswer | undefined {
    // A file may have lost the record since the request.
    if (this.#query?.asksKept || place.record >= place.file.count) return undefined;
    const answers = this.#answersOf(place.file);
    const verdict = answers.verdict?.(place.record) ?? null;
    if (verdict === ASK) return undefined;
    if (verdict !== null && (verdict === YES) === this.#isInverted) return null;
    return this.#valueIn(place, answers);
  }

  /** The sort value of a record that is known to be in the list. */
  valueAtOnce(place: Place): RowAnswer | undefined {
    return this.#valueIn(place, this.#answersOf(place.file));
  }

  #valueIn(place: Place, { value: read }: ColumnAnswers): RowAnswer | undefined {
    if (this.#extra !== null) return { value: this.#extra(place) };
    if (read === null) return UNSORTED;
    const value = read(place.record);
    return value === IN_RECORD ? undefined : { value: sortable(value) };
  }

  #answersOf(file: DumpFile): ColumnAnswers {
    const { columns } = file.index;
    let answers = this.#answers.get(file);
    if (answers === undefined || answers.columns !== columns) {
      const verdict = this.#query === null ? null : verdictOn(this.#query.expression, file);
      answers = { columns, verdict, value: this.#order === null ? null : knownValue(file, this.#order.field) };
      this.#answers.set(file, answers);
    }
    return answers;
  }

  /** @param isIn whether they are known to be in the list @returns null when the program ends */
  async read(file: DumpFile, records: readonly number[], isIn = false): Promise<RowAnswer[] | null> {
    const isOfMany = (this.#query?.asksGroups || this.#query?.asksSignals) && this.#query.cost === 'record';
    if ((this.#query?.asksKept || isOfMany) && !isIn) {
      // Threads have no access to the journal, nor to the other rollouts of a group or step.
      const kept = await this.#kept();
      return records.map((record) => this.#judge({ file, record }, filterHere({ file, record }), kept));
    }
    if (this.needsFactsAlone) {
      await this.#dump.lookAt(file, records);
      if (this.#pool.isClosed) return null;
      const verdicts = records.map((record) =>
        isIn ? this.valueAtOnce({ file, record }) : this.atOnce({ file, record }),
      );
      if (verdicts.every((verdict) => verdict !== undefined)) return verdicts;
    }
    const answer = await this.#pool.ask(file, records, isIn ? { ...this.#asked, filter: null } : this.#asked);
    if (answer !== null)
      return records.map((record, i) => {
        if (answer.accepted[i] !== 1) return null;
        if (this.#extra !== null) return { value: this.#extra({ file, record }) };
        return this.#order === null ? UNSORTED : { value: itemAt(answer.values, i) };
      });
    if (this.#pool.isClosed) return null;
    // No thread could be started, since records this small cannot exhaust one: read them here.
    if (records.reduce((sum, record) => sum + file.index.length(record), 0) < LITTLE)
      return records.map((record) => this.#judge({ file, record }, filterHere({ file, record })));
    if (records.length === 1) return [this.#judge({ file, record: numberInAt(records, 0) }, UNREADABLE)];
    // One of them crashed the thread; asking for each alone finds out which.
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
