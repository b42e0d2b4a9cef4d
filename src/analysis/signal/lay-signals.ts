import type { Dump } from '../../core/dump/dump.ts';
import type { DumpFile } from '../../core/dump/dump-file.ts';
import { itemAt } from '../../core/lists/at.ts';
import type { Rest } from '../rest.ts';
import { readSignal } from './read-signal.ts';
import { auditSignal } from './signal-audit.ts';

/** Stores the findings of whole steps on the files, for a filter that names one. Reads every record. */
export async function laySignals(dump: Dump, rest: Rest = () => undefined): Promise<void> {
  const found = new Map<DumpFile, Map<number, string[]>>(dump.files.map((file) => [file, new Map()]));
  for await (const { rows } of readSignal(dump, null, rest)) {
    for (const { check, rows: own } of auditSignal(rows).findings)
      for (const row of own) {
        const { file, record } = itemAt(rows, row).at;
        const known = found.get(file)?.get(record);
        if (known) known.push(check);
        else found.get(file)?.set(record, [check]);
      }
  }
  for (const [file, signals] of found) file.signals = signals;
}
