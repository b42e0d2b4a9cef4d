import { type DriftTable, driftReport, TABLES } from '../../replay/index.ts';
import { print } from './output.ts';
import { printReport } from './print-report.ts';

/** Prints the tables of drift, an empty line after each for people. */
export async function printDrift(table: DriftTable, json: boolean): Promise<void> {
  for (const name of TABLES) {
    await printReport(driftReport(name, table.rows(name)), { json });
    if (!json) await print('\n');
  }
}
