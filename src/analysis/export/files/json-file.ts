import { printJson } from '../../../core/json/print.ts';
import type { ExportRow } from '../format.ts';
import { packOf } from './pack.ts';
import type { RowFile } from './row-file.ts';
import { WholeFile } from './whole-file.ts';

/** JSON lines, or one JSON array. */
export class JsonFile extends WholeFile implements RowFile {
  readonly #isArray: boolean;
  #rows = 0;

  constructor(path: string, isArray: boolean) {
    super(path, packOf(path));
    this.#isArray = isArray;
  }

  add(row: ExportRow): void {
    const before = this.#isArray ? (this.#rows === 0 ? '[\n' : ',\n') : '';
    this.#rows++;
    this.write(before + printJson(row) + (this.#isArray ? '' : '\n'));
  }

  override async finish(): Promise<void> {
    if (this.#isArray) this.write(this.#rows === 0 ? '[]\n' : '\n]\n');
    super.finish();
  }
}
