import type { Dump } from '../../core/dump/dump.ts';
import type { DumpFile } from '../../core/dump/dump-file.ts';
import type { Query } from '../query/query.ts';
import { Subject } from '../query/subject.ts';
import type { Rest } from '../rest.ts';
import { inGroups, type SignalRow, signalRow } from './signal-row.ts';

/** The place of a row of a step. */
interface SignalPlace {
  file: DumpFile;
  record: number;
}

/** The rows that a trainer judged together. */
export interface SignalStep {
  stream: string;
  /** null if neither record nor file says. */
  step: number | null;
  rows: SignalRow<SignalPlace>[];
  /** Rollouts that are not trained on, and records that are not rollouts; excluded from all figures. */
  leftOut: number;
}

/**
 * The steps of a dump, each once, in order of completion. Several files may hold one step (one file per rank); only
 * steps that continue in a later file are kept in memory. Builds the files' indexes if nobody did.
 */
export async function* readSignal(
  dump: Dump,
  filter: Query | null,
  rest: Rest = () => undefined,
): AsyncGenerator<SignalStep> {
  const lastFile = new Map<string, number>();
  for (const [at, file] of dump.files.entries()) {
    if (file.state !== 'ready') await file.buildIndex(() => true);
    for (let record = 0; record < file.count; record++) lastFile.set(recordKey(file, record), at);
  }
  const open = new Map<string, SignalStep>();
  for (const [at, file] of dump.files.entries()) {
    for (let record = 0; record < file.count; record++) {
      const key = recordKey(file, record);
      const step = open.get(key) ?? { stream: file.stream, step: file.stepOf(record), rows: [], leftOut: 0 };
      open.set(key, step);
      await rest();
      dump.reached(file, record);
      const row = file.read(record);
      if (filter !== null && !filter.accepts(Subject.read(row))) continue;
      const signal = row.rollout === null ? null : signalRow(row.rollout, { file, record });
      if (signal === null) step.leftOut++;
      else step.rows.push(signal);
    }
    for (const [key, step] of open) {
      if (lastFile.get(key)! > at) continue;
      open.delete(key);
      yield { ...step, rows: inGroups(step.rows) };
    }
  }
}

const recordKey = (file: DumpFile, record: number): string => `${file.stream}\0${file.stepOf(record)}`;
