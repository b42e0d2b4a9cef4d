import type { DumpFile, DumpRecord } from '../../core/dump/dump-file.ts';
import type { RecordDetails } from '../../core/dump/record-details.ts';
import { printJson } from '../../core/json/print.ts';
import { FileGroups } from './file-groups.ts';
import { KeptRows } from './kept-row.ts';
import { LineWriter } from './output.ts';
import { csvLine } from './row-csv.ts';
import { rowJson } from './row-json.ts';
import { labelJson, type RowLabels } from './row-labels.ts';

/** Lines of JSON or CSV. Rows that were kept are printed many at a time, those that must be read one by one. */
export class DataLines extends LineWriter {
  readonly groups = new FileGroups();
  readonly #csv: boolean;
  readonly #labels: RowLabels;
  readonly #kept = new Map<DumpFile, KeptRows>();

  constructor(csv: boolean, labels: RowLabels) {
    super();
    this.#csv = csv;
    this.#labels = labels;
  }

  read(row: DumpRecord): string {
    const own = rowJson(row, this.groups.of(row.file, row));
    return this.#csv ? csvLine(own) : `${printJson({ ...own, labels: this.#labels.of(row.raw).map(labelJson) })}\n`;
  }

  addKept(file: DumpFile, record: number, details: RecordDetails): Promise<void> | undefined {
    let rows = this.#kept.get(file);
    if (rows === undefined) {
      rows = new KeptRows(file, this.#csv);
      this.#kept.set(file, rows);
    }
    const group = this.groups.ofKept(file, record, details);
    if (this.#csv) rows.csv(this.bytes, record, details, group);
    else {
      const labels = this.#labels.isEmpty ? '[]' : printJson(this.#labels.of(file.raw(record) ?? '').map(labelJson));
      rows.json(this.bytes, record, details, group, labels);
    }
    return this.ended();
  }
}
