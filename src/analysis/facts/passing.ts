import type { Dump } from '../../core/dump/dump.ts';
import type { DumpFile } from '../../core/dump/dump-file.ts';
import { ASK, YES } from '../query/evaluator.ts';
import type { KeptLookup } from '../query/kept.ts';
import { verdictOn } from '../query/on-columns.ts';
import type { Query } from '../query/query.ts';
import { Subject } from '../query/subject.ts';

/** Records decided per batch: matches are reported before all of a long file is known. */
const TOGETHER = 4096;

/**
 * The records of an indexed file that pass a filter, in order. If the filter needs facts, threads find them and they
 * are kept for the next question. Columns decide then, and only records that they leave open are read.
 * @param needsFacts something else will ask for them
 */
export async function* passing(
  dump: Dump,
  file: DumpFile,
  filter: Query | null,
  kept?: KeptLookup,
  needsFacts = false,
): AsyncGenerator<number> {
  const asksFacts = needsFacts || filter?.cost === 'facts';
  const known = file.index.looked;
  for (let from = 0; from < file.count; from += TOGETHER) {
    const to = Math.min(file.count, from + TOGETHER);
    if (asksFacts)
      await dump.lookAt(
        file,
        Array.from({ length: to - from }, (_, at) => from + at),
      );
    const accepts = filter === null ? () => true : accepter(filter, file, kept);
    for (let record = from; record < to; record++) if (accepts(record)) yield record;
  }
  if (file.index.looked > known && dump.isLooked(file)) file.keep();
}

/** Whether a record of a file passes a filter, by the columns, or else by reading the record. */
export function accepter(filter: Query, file: DumpFile, kept?: KeptLookup): (record: number) => boolean {
  const verdictOf = verdictOn(filter.expression, file);
  return (record) => {
    const verdict = verdictOf(record);
    return verdict === YES || (verdict === ASK && filter.accepts(Subject.of({ file, record }, kept)));
  };
}
