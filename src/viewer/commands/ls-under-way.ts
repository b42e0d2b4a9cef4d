import { hostname } from 'node:os';
import { underWayReport } from '../../analysis/report/under-way.ts';
import { Dump, type DumpOptions } from '../../core/dump/dump.ts';
import { LiveReader } from '../../core/dump/live-reader.ts';
import { ANSWER_IS_NO, DONE } from './output.ts';
import { type PrintFlags, printReport } from './print-report.ts';

/** Unfinished rollouts; without any, the exit status is 1. */
export async function lsUnderWay(paths: readonly string[], flags: PrintFlags, options: DumpOptions): Promise<number> {
  const dump = Dump.open(paths, { ...options, waits: true });
  try {
    const states = await new LiveReader(dump, hostname()).states();
    const rows = states.flatMap((writer) =>
      writer.rollouts.map((one) => ({ ...one, writer, ended: null, place: null })),
    );
    await printReport(underWayReport(states, rows, Date.now()), flags);
    return rows.length > 0 ? DONE : ANSWER_IS_NO;
  } finally {
    dump.close();
  }
}
