import type { Dump } from '../../core/dump/dump.ts';
import type { DumpFile } from '../../core/dump/dump-file.ts';
import { uint8At } from '../../core/lists/at.ts';
import { BLOCK, verdictBlocks } from '../query/column-blocks.ts';
import { ASK, YES } from '../query/evaluator.ts';
import type { KeptLookup } from '../query/kept.ts';
import { verdictOn } from '../query/on-columns.ts';
import type { Query } from '../query/query.ts';
import { Subject } from '../query/subject.ts';

/** Records decided per batch, the first and the most: matches are reported before all of a long file is known. */
const AT_FIRST = 64;
const TOGETHER = 4096;

/**
 * The records of an indexed file that pass a filter, in order. If the filter needs facts, threads find them and they
 * are kept for the next question. Columns decide then, and only records that they leave open are read.
 * @param needs something else will ask for their facts
 */
export async function* passing(
  dump: Dump,
  file: DumpFile,
  filter: Query | null,
  kept?: KeptLookup,
  needs: 'facts' | null = null,
): AsyncGenerator<number> {
  const accepts = filter === null ? () => true : accepter(filter, file, kept);
  for await (const [from, to] of stretches(dump, file, needs === 'facts' || filter?.cost === 'facts'))
    for (let record = from; record < to; record++) if (accepts(record)) yield record;
}

/** The same in lists, with what else a list shows of each: to wait for each record takes longer than to print it. */
export async function* passingWithDetails(
  dump: Dump,
  file: DumpFile,
  filter: Query | null,
  kept?: KeptLookup,
): AsyncGenerator<readonly number[]> {
  const accepted = filter === null ? null : acceptedBlocks(filter, kept);
  for await (const [from, to] of stretches(dump, file, filter?.cost === 'facts')) {
    const passed = accepted?.(file, from, to) ?? Array.from({ length: to - from }, (_, at) => from + at);
    await dump.lookAt(file, passed, true);
    yield passed;
  }
}

/** The records of a file, from and up to, once their facts are known if somebody asks for them. */
async function* stretches(dump: Dump, file: DumpFile, asksFacts: boolean): AsyncGenerator<[from: number, to: number]> {
  const known = knownOf(file);
  for (
    let from = 0, together = AT_FIRST;
    from < file.count;
    from += together, together = Math.min(TOGETHER, together * 2)
  ) {
    const to = Math.min(file.count, from + together);
    dump.reached(file, from);
    if (asksFacts)
      await dump.lookAt(
        file,
        Array.from({ length: to - from }, (_, at) => from + at),
      );
    yield [from, to];
  }
  if (knownOf(file) > known && dump.isLooked(file)) file.keep();
}

const knownOf = ({ index }: DumpFile): number => index.looked + index.columns.details.additions;

/** Whether a record of a file passes a filter, by the columns, or else by reading the record. */
export function accepter(filter: Query, file: DumpFile, kept?: KeptLookup): (record: number) => boolean {
  const verdictOf = verdictOn(filter.expression, file);
  return (record) => {
    const verdict = verdictOf(record);
    return verdict === YES || (verdict === ASK && filter.accepts(Subject.of({ file, record }, kept)));
  };
}

/** The same for neighbours: the records from one up to another that pass. */
export function acceptedBlocks(
  filter: Query,
  kept?: KeptLookup,
): (file: DumpFile, from: number, to: number) => number[] {
  const verdictsOf = verdictBlocks(filter.expression);
  const verdicts = new Uint8Array(BLOCK);
  return (file, first, end) => {
    const accepts = accepter(filter, file, kept);
    const isKnown = file.index.looked >= file.count;
    const accepted: number[] = [];
    for (let from = first; from < end; from += BLOCK) {
      const count = Math.min(BLOCK, end - from);
      if (isKnown) verdictsOf({ file, from, count }, verdicts);
      else verdicts.fill(ASK);
      for (let i = 0; i < count; i++) {
        const verdict = uint8At(verdicts, i);
        if (verdict === YES || (verdict === ASK && accepts(from + i))) accepted.push(from + i);
      }
    }
    return accepted;
  };
}
